"""The witness sees what may never be: wrong values, rounds twice or never, a motor moving again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hil_tests.reliability.required import RequiredLamps, RequiredMotor
from hil_tests.reliability.witness import Evidence, RecordedStep, Witness, describe, judge
from hil_tests.table_under_test.lamps import against_truth
from shaker_ctl.journal.history import Round

VALUES = (1, 2, 4)
FLAT = [{"value": value, "flat": True} for value in VALUES]
WINNING = sorted(against_truth((), FLAT, "pa-625a").missing)
Note = dict[str, Any]


def toss(*values: int, flat: bool = True) -> Note:
    dice = [{"value": value, "flat": flat} for value in values]
    return {"t_start": 10.05, "t_rest": 12.4, "dice": dice}


def en(at_s: float, level: bool) -> Note:
    return {"t": at_s, "what": "enable", "level": level}


def commit(at_s: float, *values: int) -> Note:
    return {"t": at_s, "what": "commit", "round": 7, "argument": 0, "values": list(values)}


def lamps(at_s: float, areas: Sequence[str]) -> Note:
    return {"t": at_s, "round": 7, "areas": list(areas)}


def fault_shown(at_s: float) -> Note:
    return {"t": at_s, "what": "phase", "round": 0, "argument": 12 | 256}


def ended(number: int, at_s: float = 14.0) -> RecordedStep:
    told = Round(number=number, ending="settled", wagers="settled", source="verified")
    return RecordedStep(at_s, "LampsDark", number, (), (told,))


ROUND = (en(10.0, True), en(11.8, False), commit(12.6, *VALUES))
SHOWN = (lamps(12.61, WINNING), lamps(13.5, []))


def evidence(**changes: Any) -> Evidence:
    whole: dict[str, Any] = {
        "number": 7,
        "struck_s": 10.6,
        "events": list(ROUND),
        "lamps": list(SHOWN),
        "tosses": [toss(*VALUES)],
        "steps": [ended(7)],
        "seen_as": (),
    }
    return Evidence(**{**whole, **changes})


def test_a_round_as_it_should_be_has_nothing_against_it() -> None:
    seen = judge(evidence())
    assert (seen.ending, seen.wagers, seen.source) == ("settled", "settled", "verified")
    assert (seen.motor, seen.lamps, seen.violations) == (
        RequiredMotor.FINISHED,
        RequiredLamps.TRUTH,
        [],
    )


def test_a_value_that_is_not_the_dices_is_a_violation() -> None:
    seen = judge(evidence(tosses=[toss(1, 2, 5)]))
    assert any("WRONG VALUE committed" in one for one in seen.violations)
    assert seen.lamps == RequiredLamps.WRONG_THEN_DARK


@pytest.mark.parametrize(
    "changes",
    [
        {"tosses": [toss(*VALUES, flat=False)]},
        {"tosses": []},
        {"events": [*ROUND, {**commit(12.9, 1, 2, 5), "what": "correct"}]},
    ],
    ids=["dice that do not lie flat", "without any toss", "a correction"],
)
def test_a_value_that_no_dice_show_is_a_violation(changes: dict[str, Any]) -> None:
    (said,) = judge(evidence(**changes)).violations
    assert "WRONG VALUE committed" in said


def test_an_inspections_commit_is_no_round() -> None:
    entry = {**commit(12.6, 6, 6, 6), "round": 0}
    seen = judge(evidence(events=[*ROUND[:2], entry], lamps=[]))
    assert seen.violations == []


def test_a_motor_that_rises_twice_in_a_round_is_a_violation() -> None:
    again = [*ROUND, en(12.7, True), en(14.5, False)]
    assert judge(evidence(events=again)).violations == ["EN rose 2 times in round 7"]


def test_a_long_pulse_of_the_dead_man_is_no_second_rise() -> None:
    pulsed = [en(10.0, True), en(11.0, False), en(11.0004, True), en(11.8, False)]
    seen = judge(evidence(events=[*pulsed, ROUND[2]]))
    assert (seen.motor, seen.violations) == (RequiredMotor.FINISHED, [])


@pytest.mark.parametrize(
    ("events", "motor", "after_s"),
    [
        ([], RequiredMotor.NEVER, None),
        ([en(10.0, True), en(10.7, False)], RequiredMotor.STOPPED, 0.1),
        ([en(10.0, True), en(11.8, False)], RequiredMotor.FINISHED, 1.2),
        ([en(10.0, True)], "EN still high", None),
    ],
)
def test_what_the_motor_did_is_read_at_its_pin(
    events: list[Note], motor: str, after_s: float | None
) -> None:
    seen = judge(evidence(events=events, lamps=[]))
    assert seen.motor == motor
    assert seen.motor_after_s == (None if after_s is None else pytest.approx(after_s))


def test_lamps_that_never_burnt_are_dark() -> None:
    assert judge(evidence(lamps=[])).lamps == RequiredLamps.DARK


def test_wrong_lamps_are_timed_until_dark_and_until_the_fault_is_shown() -> None:
    wrong = [lamps(12.61, [*WINNING, "any-triple"]), lamps(12.75, [])]
    seen = judge(evidence(lamps=wrong, events=[*ROUND, fault_shown(12.9)]))
    assert seen.lamps == RequiredLamps.WRONG_THEN_DARK
    assert seen.dark_after_s == pytest.approx(0.14)
    assert seen.fault_shown_after_s == pytest.approx(0.29)


def test_a_lamp_that_burns_for_good_is_stuck_and_more_than_one_is_wrong() -> None:
    assert judge(evidence(lamps=[lamps(12.0, ["big"])])).lamps == RequiredLamps.STUCK
    many = judge(evidence(lamps=[lamps(12.0, ["big", "one-6"])]))
    assert many.lamps == "wrong for good: big, one-6"


def test_the_first_event_that_is_required_gives_the_time_of_detection() -> None:
    steps = [
        RecordedStep(10.5, "ShakerFault:motor-stall", 7, ()),
        RecordedStep(10.8, "EstopPressed", 7, ()),
        RecordedStep(10.9, "ShakerFault:motor-stall", 7, ()),
    ]
    seen = judge(evidence(steps=steps, seen_as=("ShakerFault:motor",)))
    assert seen.detected_after_s == pytest.approx(0.3)
    assert seen.events == ["EstopPressed", "ShakerFault:motor-stall"]


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    return Witness({"events": str(tmp_path / "events.jsonl")}, tmp_path / "a", tmp_path / "b")


def test_a_round_that_ends_twice_and_one_that_never_does_are_found(witness: Witness) -> None:
    assert witness.account([ended(1), ended(2)]) == []
    assert witness.account([ended(2)]) == ["round 2 ended 2 times"]
    assert witness.account([ended(4)]) == ["round 3 never ended, round 4 did"]


def test_a_log_is_read_on_by_whole_lines(witness: Witness) -> None:
    path = Path(witness.rig["events"])
    path.write_text('{"t": 1, "what": "a"}\n{"t": 2, "wh')
    assert [note["t"] for note in witness.notes("events")] == [1]
    path.write_text('{"t": 1, "what": "a"}\n{"t": 2, "what": "b"}\n')
    assert [note["t"] for note in witness.notes("events")] == [2]
    assert witness.notes("events") == []


def test_a_journal_that_cannot_be_read_is_said(witness: Witness) -> None:
    steps, wrong = witness.steps()
    assert steps == []
    assert "cannot be read" in wrong[0]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"type": "EstopPressed"}, "EstopPressed"),
        ({"type": "ShakerFault", "code": "motor-stall"}, "ShakerFault:motor-stall"),
        ({"type": "TimerExpired", "timer": "rest"}, "TimerExpired:rest"),
        (
            {"type": "ReadingMade", "verdict": {"type": "Unreadable", "reason": "no-dip"}},
            "ReadingMade:Unreadable no-dip",
        ),
        ({"type": "ReadingMade", "verdict": {"type": "Verified"}}, "ReadingMade:Verified"),
    ],
)
def test_events_are_described_by_what_tells_them_apart(event: Note, text: str) -> None:
    assert describe(event) == text
