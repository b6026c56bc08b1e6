"""A restart finds the state that was left, and refuses one that it cannot understand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import Record
from shaker_ctl.rules import events, machine
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import Rulebook, rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Condition, FaultKind, Part, Person, Purpose, Role
from shaker_ctl.service.recovery import changed_conditions, may_be_left, recover, standing_faults

FAY = Person("fay", Role.FLOORPERSON)
TOM = Person("tom", Role.TECHNICIAN)
STORY: tuple[events.Event, ...] = (
    events.Restarted(compartment_open=False, estop_pressed=False, cover_closed=False),
    events.TimeConfirmed(FAY),
    events.InspectionRequested(FAY, Part.ALL),
    events.ShakerFault(None, "motor-no-stop"),
)


def told(rules: Rulebook) -> tuple[TableState, list[Record]]:
    """Play the story; return its last state and its records, newest first."""
    state, records = machine.initial(rules), []
    for number, event in enumerate(STORY, start=1):
        step = machine.step(state, event, rules)
        assert step.refused is None, step.refused
        plain: dict[str, Any] = {
            "sequence": number,
            "kind": "step",
            "wall": "2026-11-21T03:00:00.000+00:00",
            "event": to_record(event),
            "rows": [row.name for row in step.rows],
            "decision": [to_record(command) for command in step.commands],
        }
        if number == 1:
            plain["state"] = to_record(step.state)
        records.append(Record(number, b"", json.dumps(plain).encode()))
        state = step.state
    return state, list(reversed(records))


def test_the_state_is_the_one_that_was_left() -> None:
    rules = rulebook(TableParameters())
    state, records = told(rules)
    found = recover(iter(records), rules)
    assert found.state == state
    assert found.wall is not None


def test_an_empty_journal_gives_a_new_table() -> None:
    rules = rulebook(TableParameters())
    found = recover(iter([]), rules)
    assert found.state == machine.initial(rules)
    assert found.wall is None


def test_a_fault_that_stood_at_power_off_comes_back_with_its_code() -> None:
    rules = rulebook(TableParameters())
    state, records = told(rules)
    assert FaultKind.SHAKER in state.faults
    ((kind, code, _),) = standing_faults(iter(records), state.faults)
    assert (kind, code) == (FaultKind.SHAKER, "motor-no-stop")


def test_a_record_that_decides_otherwise_today_halts_the_start() -> None:
    rules = rulebook(TableParameters())
    _, records = told(rules)
    plain = records[0].plain
    plain["rows"] = ["some other row"]
    records[0] = Record(records[0].sequence, b"", json.dumps(plain).encode())
    with pytest.raises(JournalCorruptError, match="some other row"):
        recover(iter(records), rules)


def closed(state: TableState, records: list[Record]) -> list[Record]:
    """The same, stopped in order."""
    plain = {
        "sequence": len(records) + 1,
        "kind": "closing",
        "wall": "2026-11-21T04:00:00.000+00:00",
        "in_order": True,
        "state": to_record(state),
    }
    return [Record(len(records) + 1, b"", json.dumps(plain).encode()), *records]


def test_a_table_that_was_stopped_with_no_round_in_hand_takes_other_rules() -> None:
    """An upgrade names a row anew, or a setting changes: nothing of a round hangs on it."""
    rules = rulebook(TableParameters())
    state, records = told(rules)
    assert may_be_left(state)
    plain = records[0].plain
    plain["rows"] = ["a row of another release"]
    records[0] = Record(records[0].sequence, b"", json.dumps(plain).encode())
    records = closed(state, records)
    found = recover(iter(records), rulebook(TableParameters(profile="ma", cover_fitted=False)))
    assert found.state == state
    assert found.wall == "2026-11-21T04:00:00.000+00:00"


def test_what_happened_after_a_start_is_replayed_from_the_state_that_was_left() -> None:
    rules = rulebook(TableParameters())
    state, records = told(rules)
    step = machine.step(state, STORY[0], rules)
    plain = {
        "sequence": 6,
        "kind": "step",
        "wall": "2026-11-21T05:00:00.000+00:00",
        "event": to_record(STORY[0]),
        "rows": [row.name for row in step.rows],
    }
    again = Record(6, b"", json.dumps(plain).encode())
    found = recover(iter([again, *closed(state, records)]), rules)
    assert found.state == step.state
    assert found.wall == "2026-11-21T05:00:00.000+00:00"


@pytest.mark.parametrize(
    ("phase", "purpose", "may"),
    [
        (Phase.CLOSED, Purpose.PLAY, True),
        (Phase.OUT_OF_SERVICE, Purpose.TRIAL, True),
        (Phase.READY, Purpose.PLAY, True),
        (Phase.TOSSING, Purpose.INSPECTION, True),
        (Phase.TOSSING, Purpose.PLAY, False),
        (Phase.BETTING, Purpose.PLAY, False),
        (Phase.DISPUTED, Purpose.PLAY, False),
        (Phase.WITHOUT_RESULT, Purpose.PLAY, False),
    ],
)
def test_a_round_in_hand_is_left_to_the_rules_that_it_began_under(
    phase: Phase, purpose: Purpose, may: bool
) -> None:
    assert may_be_left(TableState(phase, purpose=purpose)) is may


def test_an_unknown_event_halts_the_start_and_names_its_record() -> None:
    rules = rulebook(TableParameters())
    _, records = told(rules)
    plain = records[1].plain
    plain["event"]["type"] = "PigsFlew"
    records[1] = Record(records[1].sequence, b"", json.dumps(plain).encode())
    with pytest.raises(JournalCorruptError, match="journal record 3"):
        recover(iter(records), rules)


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        ({}, ()),
        ({"settings": "other"}, (Condition.SETTINGS,)),
        ({"profile": "other"}, (Condition.SETTINGS,)),
        ({"calibration": "other"}, (Condition.CALIBRATION,)),
        ({"software": "other"}, ()),
    ],
)
def test_what_differs_from_the_newest_step_is_said_at_start(
    now: dict[str, str], changed: tuple[Condition, ...]
) -> None:
    then = {"settings": "a", "profile": "b", "calibration": "c", "software": "d"}
    wall = "2026-11-27T12:00:00+00:00"
    plain = json.dumps({"sequence": 1, "kind": "step", "wall": wall, "digests": then}).encode()
    note = json.dumps({"sequence": 2, "kind": "opening", "wall": wall, "digests": {}}).encode()
    records = [Record(2, b"", note), Record(1, b"", plain)]
    assert changed_conditions(iter(records), then | now) == changed
    assert changed_conditions(iter(()), then) == ()
