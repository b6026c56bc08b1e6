"""What screens say of the state: every phase has its words, and nothing is claimed too early."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from shaker_ctl.console.desk import Announcement, PendingView
from shaker_ctl.rules import commands, events, machine
from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.phases import PASSING
from shaker_ctl.rules.regulation import EntryMode
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Condition,
    FaultKind,
    Notice,
    Part,
    Person,
    Purpose,
    Role,
    Shown,
    Source,
    play,
)
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.view import allowed_acts, standing
from shaker_ctl.view.announcer import Announcer
from shaker_ctl.view.phase_words import PHASE_WORDS
from shaker_ctl.view.why_due import WhyDue
from vision.reading import Kind, NoRoll, Unreadable, Verdict, Verified

RULES = rulebook(TableParameters())
DAN = Person("dan", Role.DEALER)
FAY = Person("fay", Role.FLOORPERSON)


CLOCK: Any = SimpleNamespace(monotonic=lambda: 1.0, wall=lambda: 1_790_000_000.0)


def verbs(state: TableState, faults: FaultQueue | None = None) -> frozenset[str]:
    return allowed_acts.allowed_verbs(state, RULES, WallTime(CLOCK, None), faults or FaultQueue())


def pending(state: TableState, entry: EntryMode = EntryMode.DEALER_CONFIRM) -> PendingView:
    waits = standing.pending(state, entry)
    assert waits is not None
    return waits


@pytest.mark.parametrize("phase", [p for p in Phase if p not in PASSING])
def test_every_phase_has_a_sentence_of_its_own(phase: Phase) -> None:
    assert PHASE_WORDS[phase].staff != PHASE_WORDS[Phase.CYCLE_DONE].staff


@pytest.mark.parametrize("phase", [Phase.CLOSED, Phase.OUT_OF_SERVICE, Phase.JOGGING])
def test_no_inspection_counts_as_signed_where_none_is(phase: Phase) -> None:
    purpose = Purpose.TRIAL if phase is Phase.JOGGING else Purpose.PLAY
    state = TableState(phase, purpose=purpose)
    assert standing.inspection(state, RULES).stage == "due"
    signed = TableState(Phase.READY, signed_by=FAY)
    assert standing.inspection(signed, RULES).stage == "signed"


def test_an_inspection_that_waits_for_its_signature_shows_what_was_done() -> None:
    state = TableState(
        Phase.TO_BE_SIGNED,
        purpose=Purpose.INSPECTION,
        passed=frozenset({Part.LAMPS}),
        inspector=FAY,
    )
    shown = standing.inspection(state, RULES, because="the controller was started")
    assert (shown.cycles_good, shown.lamps_proved, shown.lamps_seen_by) == (3, 50, "fay")
    assert (shown.entries_seen, shown.entries_of) == (3, 3)
    assert shown.reasons == ("the controller was started",)


def test_what_no_entry_has_shown_is_suggested_as_the_house_s_care() -> None:
    state = TableState(
        Phase.LAMP_VALUES_AWAITED,
        purpose=Purpose.INSPECTION,
        inspector=FAY,
        entry=1,
        shown=frozenset({Shown.PAIR, Shown.SMALL}),
    )
    waits = pending(state)
    assert waits.roles == (Role.FLOORPERSON,)
    assert "not seen yet: a triple, Big (the house's care)" in waits.text
    assert standing.inspection(state, RULES).unseen == ("a triple", "Big")


def test_only_the_inspecting_person_is_offered_the_next_step() -> None:
    state = TableState(Phase.CYCLE_AWAITED, purpose=Purpose.INSPECTION, inspector=FAY)
    assert "inspect cycle" in verbs(state)
    assert "inspect cycle" not in verbs(replace(state, inspector=None))


def test_the_walk_of_the_lamps_is_counted_lamp_by_lamp() -> None:
    state = TableState(Phase.EACH_LAMP, purpose=Purpose.INSPECTION)
    assert standing.inspection(state, RULES, tried=17).lamps_proved == 17


def test_device_acts_are_allowed_only_while_nobody_can_play() -> None:
    closed, ready = TableState(Phase.CLOSED), TableState(Phase.READY, signed_by=FAY)
    assert verbs(closed) >= allowed_acts.DEVICE_ACTS
    assert not verbs(ready) & allowed_acts.DEVICE_ACTS


def test_work_under_way_may_be_given_up_and_a_round_may_not() -> None:
    jogging = TableState(Phase.JOGGING, purpose=Purpose.TRIAL)
    assert "cancel" in verbs(jogging)
    assert "cancel" in verbs(TableState(Phase.TOSSING, purpose=Purpose.INSPECTION))
    assert "cancel" not in verbs(TableState(Phase.TOSSING, purpose=Purpose.PLAY, round=3))


def test_only_a_fault_that_stands_may_be_cleared() -> None:
    faults = FaultQueue()
    state = TableState(Phase.OUT_OF_SERVICE, faults=frozenset({FaultKind.SHAKER}))
    assert "fault clear" not in verbs(state, faults)
    faults.raise_(FaultKind.SHAKER, "motor-stall", 0.0)
    assert "fault clear" in verbs(state, faults)


def test_the_reason_of_an_inspection_is_the_event_that_made_it_due() -> None:
    why = WhyDue()
    state = replace(TableState(Phase.CLOSED), dice=None)
    for event, words in (
        (events.OpenRequested(FAY), "the table was closed"),
        (events.JogRequested(Person("tom", Role.TECHNICIAN), 300.0, 1.0), "the table was closed"),
    ):
        step = machine.step(state, event, RULES)
        assert step.refused is None
        why.observe(step, event)
        state = step.state
        assert why.words == words
    finished = events.JogFinished(state.occasion)
    why.observe(machine.step(state, finished, RULES), finished)
    assert why.words == "a technician turned the motor"


STOPPED = TableState(Phase.OUT_OF_SERVICE)


@pytest.mark.parametrize(
    ("state", "faults", "said"),
    [
        (STOPPED, ["motor-stall", "lamp"], "fault clear motor-stall"),
        (STOPPED, [], "technician: return-to-service"),
        (TableState(Phase.INSPECTION_DUE, compartment_open=True), [], "close the compartment"),
        (TableState(Phase.READY, round=3, shift_due=True), [], "supervisor: inspect shift"),
        (TableState(Phase.COVERING, round=3), [], "the floorperson: out-of-order"),
    ],
)
def test_a_table_that_waits_for_no_word_says_what_brings_it_on(
    state: TableState, faults: list[str], said: str
) -> None:
    assert said in standing.next_step(state, faults)
    assert standing.next_step(TableState(Phase.BETTING), []) == ""


def test_a_dealer_is_shown_the_act_that_comes_next_with_its_key() -> None:
    may = frozenset({"nmb", "close"})
    assert standing.next_step(TableState(Phase.BETTING), [], may=may) == "dealer: nmb (key *)"
    covered = frozenset({"activate", "nmb"})  # toss first, then no more bets
    assert standing.next_step(TableState(Phase.BETTING), [], may=covered).endswith("(key /)")


def test_at_the_reveal_nobody_is_shown_an_act_that_the_rules_refuse() -> None:
    state = TableState(Phase.REVEALING, round=3)
    assert not {"reveal", "cover off"} & verbs(state)
    assert standing.next_step(state, [], may=verbs(state)) == "take the cover off"
    late = replace(state, reveal_overdue=True)
    assert {"reveal", "cover off"} <= verbs(late)
    shown = standing.next_step(late, [], may=verbs(late))
    assert shown.endswith("dealer: reveal, and floorperson: cover off")
    said = replace(late, stated=Agreement(About.SEEN, Person("fay", Role.FLOORPERSON)))
    assert standing.next_step(said, []).endswith("cover off; fay has said so")


@pytest.mark.parametrize(
    ("reading", "entry", "kind", "line"),
    [
        (Verified((4, 4, 6)), EntryMode.DEALER_CONFIRM, "confirm", "type them: 446;"),
        (Verified((4, 4, 6)), EntryMode.DEALER_ENTRY, "enter", "such as 346;"),
        (NoRoll(0, Kind.TILTED), EntryMode.DEALER_CONFIRM, "enter", "does not lie flat"),
        (Unreadable.of("glare"), EntryMode.AUTO, "enter", "nothing was read (glare)"),
        (Unreadable.of("untaught: 4"), EntryMode.DEALER_ENTRY, "enter", "nothing was read; "),
    ],
)
def test_the_dealer_is_shown_the_line_to_type_and_what_was_read_only_where_they_repeat_it(
    reading: Verdict, entry: EntryMode, kind: str, line: str
) -> None:
    state = TableState(Phase.AWAITING_DEALER, round=4, reading=reading)
    waits = pending(state, entry)
    assert (waits.kind, waits.values) == (kind, (4, 4, 6) if kind == "confirm" else None)
    assert line in waits.text


@pytest.mark.parametrize(
    ("entered", "reading", "said"),
    [
        (
            (1, 1, 2),
            Verified((1, 1, 3)),
            "dealer: 1 1 2, reader: 1 1 3; say: decide 1 1 2 or decide 1 1 3 or "
            "decide no-roll (nobody saw one: void)",
        ),
        (
            None,
            Verified((1, 1, 3)),
            "dealer: no roll, reader: 1 1 3; say: decide 1 1 3 or decide no-roll",
        ),
        (
            (1, 1, 2),
            NoRoll(0, Kind.TILTED),
            "dealer: 1 1 2, reader: no roll; say: decide 1 1 2 or decide no-roll",
        ),
    ],
)
def test_who_decides_sees_what_dealer_and_reader_said(
    entered: Values | None, reading: Verdict, said: str
) -> None:
    state = TableState(Phase.DISPUTED, round=4, reading=reading)
    state = replace(state, stated=Agreement(About.VALUES, DAN, entered))
    waits = pending(state)
    assert waits.text == f"{said}; until then dan may put a typing error right: such as 346"


def test_interrupted_with_the_lid_s_flag_standing_the_table_waits_for_a_presence() -> None:
    state = TableState(Phase.INTERRUPTED, round=4)
    asked = pending(state)
    assert (asked.kind, Role.DEALER in asked.roles) == ("presence", False)
    assert "presence" in verbs(state)
    doubted = replace(state, dice_in_doubt=True)
    told = pending(doubted)
    assert told.kind == "in-view"
    assert "in-view" in verbs(doubted)
    assert "presence" not in verbs(doubted)


def test_a_dealer_knows_whether_the_reader_still_looks() -> None:
    state = TableState(Phase.AWAITING_DEALER, round=4, reading=Unreadable.of("blocked"))
    changes: list[tuple[dict[str, object], bool]] = [
        ({}, True),
        ({"cover_closed": True}, False),
        ({"camera_off": True}, False),
        ({"faults": frozenset({FaultKind.READER})}, False),
    ]
    for change, looks in changes:
        waits = pending(state.changed(change))
        assert ("the reader looks on" in waits.text) is looks


@pytest.mark.parametrize(
    ("values", "late", "said"),
    [
        ((1, 1, 1), Verified((6, 4, 6)), "the reader reads 6 4 6, and not 1 1 1"),
        ((1, 1, 1), NoRoll(0, Kind.TILTED), "the reader reads no roll, and not 1 1 1"),
        (None, Verified((6, 4, 6)), "the reader reads 6 4 6, and not no roll"),
        ((6, 6, 4), Verified((6, 4, 6)), ""),
        (None, NoRoll(0, Kind.TILTED), ""),
        ((1, 1, 1), None, ""),
    ],
)
def test_a_late_reading_of_another_result_stands_before_what_the_table_waits_for(
    values: Values | None, late: Verdict | None, said: str
) -> None:
    phase = Phase.WITHOUT_RESULT if values is None else Phase.COLLECTING
    waits = pending(
        TableState(phase, round=4, values=values, by_eye=late or Unreadable.of("a hand"))
    )
    assert waits.text.startswith(said)
    assert ("the reader reads" in waits.text) is bool(said)


def test_a_round_by_eye_and_a_late_reading_call_the_floorperson() -> None:
    told: list[Announcement] = []
    announcer = Announcer()
    announcer.speak_at(told.append)
    for notice in (Notice.BY_EYE, Notice.LATE_SAME, Notice.LATE_OTHER):
        announcer.notice(commands.Announce(play(4), notice, "", values=(6, 4, 6)))
    assert [each.is_alarm for each in told] == [True, False, True]
    assert all("6 4 6" in each.text for each in told)


def test_a_dealer_who_has_typed_once_is_asked_for_the_same_again() -> None:
    state = TableState(Phase.AWAITING_DEALER, round=4, reading=Unreadable.of("glare"))
    assert "typed once" not in pending(state).text
    again = pending(replace(state, stated=Agreement(About.VALUES, DAN, (1, 4, 5)))).text
    assert again == "typed once: 1 4 5; type the same values a second time"


def test_a_floorperson_sees_what_the_dealer_names_and_how_to_agree() -> None:
    state = TableState(
        Phase.COLLECTING,
        round=4,
        values=(1, 4, 5),
        source=Source.ENTERED,
        stated=Agreement(About.RESULT, DAN, (1, 4, 4)),
    )
    waits = pending(state)
    assert "dan names 1 4 4 in the place of 1 4 5" in waits.text
    assert "correct 1 4 4" in waits.text
    assert Role.FLOORPERSON in waits.roles
    assert "correct" in verbs(state)


def test_a_table_with_a_manual_shaker_offers_what_it_can_do() -> None:
    retired = TableState(Phase.INSPECTION_DUE, manual=True, compartment_open=True)
    assert {"shaker back", "inspect lamps", "dice changed"} <= verbs(retired)
    assert not {"jog", "test-toss"} & verbs(retired)
    said = standing.next_step(retired, [], Barrier.DICE_UNKNOWN)
    assert said.endswith("dice changed SERIAL SERIAL SERIAL"), "its open compartment is no matter"
    rules = RULES.in_use(manual=True)
    assert standing.inspection(replace(retired, phase=Phase.TO_BE_SIGNED), rules).cycles_of == 0
    assert "manual shaker" in rules.marks
    assert "manual shaker" not in RULES.marks


def test_a_dispute_names_who_may_put_a_typing_error_right_and_what_can_be_decided() -> None:
    state = TableState(
        Phase.DISPUTED,
        round=4,
        reading=Verified((1, 4, 4)),
        stated=Agreement(About.VALUES, DAN, (1, 4, 5)),
    )
    waits = pending(state)
    assert "decide 1 4 5" in waits.text
    assert "dan may put a typing error right" in waits.text
    assert {"enter", "no-roll", "decide"} <= verbs(state)
    by_another = Agreement(About.VALUES, Person("fay", Role.TECHNICIAN), (1, 4, 5))
    assert "enter" not in verbs(replace(state, stated=by_another))
    opened = pending(replace(state, dice_in_doubt=True))
    assert "decide 1 4 5" not in opened.text
    assert "decide 1 4 4" in opened.text


def test_other_rules_than_before_are_named_as_why_an_inspection_is_due() -> None:
    why = WhyDue("pa-625a, paytable A -> pa-625a, paytable B")
    due = Step(TableState(Phase.INSPECTION_DUE), (), ())
    why.observe(due, events.ConditionChanged(Condition.SETTINGS))
    assert why.words == "other rules: pa-625a, paytable A -> pa-625a, paytable B"
    why.observe(due, events.ConditionChanged(Condition.CALIBRATION))
    assert "calibration" in why.words
