"""The desk's promises: an act is judged by the rules, named as it was given, and on record."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from hil_tests.waiting import until
from shaker_ctl.console.desk import Actor, Announcement
from shaker_ctl.console.grammar import ACTS, BY_NAME, Form, TypedCommand, parse
from shaker_ctl.journal.meters import CLEARED
from shaker_ctl.lamp.registers import BoxState, Flag, LampStatus
from shaker_ctl.motion.reports import JogEnded
from shaker_ctl.rules import commands
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import from_record, to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.tests.playing import NOON
from shaker_ctl.rules.vocabulary import (
    Cause,
    Ending,
    FaultKind,
    Occasion,
    Part,
    Person,
    Purpose,
    Role,
    Source,
    Timer,
    TimeTrust,
    WagersDo,
)
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.lamp_thread import LampPicture
from shaker_ctl.service.lid import Lid
from shaker_ctl.service.state_thread import StateThread
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.view.announcer import Announcer
from shaker_ctl.view.desk import TableDesk
from shaker_ctl.view.tests.paper import facts

TOM = Actor("tom", Role.TECHNICIAN, "technician")
FAY = Actor("fay", Role.FLOORPERSON, "technician")


class PromptJournal:
    """Synced as soon as it is written."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Mapping[str, Any]]] = []

    def append(self, kind: str, body: Mapping[str, Any], *, synced: Any = None, **_: Any) -> None:
        self.kept.append((kind, body))
        if synced is not None:
            synced(len(self.kept))


class Performer:
    def perform(self, command: commands.Command) -> None:
        pass

    def timer_length_s(self, timer: Timer) -> float:
        return 60.0


class Room:
    """A desk with a real state thread and paper devices."""

    def __init__(self, phase: Phase = Phase.CLOSED) -> None:
        rules = rulebook(TableParameters())
        self.journal, self.faults = PromptJournal(), FaultQueue()
        self.light: list[float] = []
        self.announcer = Announcer()
        self.still_s = 60.0
        self.state = StateThread(
            state=TableState(phase),
            rulebook=rules,
            journal=self.journal,
            performer=Performer(),
            heartbeat=Heartbeat(time.monotonic, 0.05),
        )
        self.desk = TableDesk(
            facts(
                rules,
                self.state,
                faults=self.faults,
                journal=self.journal,
                set_light=self.light.append,
                announcer=self.announcer,
                check_lid=self.check_lid,
            )
        )

    def check_lid(self) -> None:
        Lid(Any, lambda: self.still_s, 3.0).check()  # type: ignore[arg-type]


def typed(line: str) -> TypedCommand:
    found = parse(line)
    assert isinstance(found, TypedCommand)
    return found


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    made.state.start()
    yield made
    made.state.stop()


def test_an_act_that_is_taken_says_where_the_table_stands_and_what_comes_next(room: Room) -> None:
    answer = room.desk.submit(typed("open"), FAY)
    assert answer.is_ok
    assert answer.text.startswith("The opening is asked for. An opening inspection is due. Next: ")
    assert answer.details["record"] == 1


def test_each_act_has_a_sentence_of_what_it_did() -> None:
    said = {form: form.typed_samples()[-1].did(is_first=False) for form in ACTS}

    assert len(set(said.values())) == len(said)
    assert said[BY_NAME["time confirm"]] == "The clock is confirmed."
    assert said[BY_NAME["dice changed"]] == "Dice x.1 x.2 x.3 are recorded."
    assert said[BY_NAME["correct"]] == "The correction is agreed: no roll."


@pytest.mark.parametrize("form", ACTS, ids=lambda form: form.name)
def test_each_act_makes_an_event_that_a_record_can_hold(form: Form) -> None:
    known = {"person": Person("x", Role.DEALER), "round": 12, "at": NOON, "kind": FaultKind.SHAKER}
    for command in form.typed_samples():
        event = command.event(known)
        assert from_record(to_record(event), type(event)) == event


def test_one_of_two_persons_has_put_no_serials_right() -> None:
    corrected = typed("dice corrected A1 A2 A3")

    first = corrected.did(is_first=True)
    assert first == "Dice A1 A2 A3 are named; a second person repeats the same command."
    assert "second one repeats" in typed("dice same").did(is_first=True)
    second = corrected.did(is_first=False)
    assert second == "Serials are put right: dice A1 A2 A3 are recorded."


def test_an_inspection_waits_for_clock_and_dice_as_the_opening_does(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust = TimeTrust.NONE
    monkeypatch.setattr(WallTime, "trust", lambda _: trust)
    room.state.state = TableState(Phase.INSPECTION_DUE)
    everything = typed("inspect all")

    answer = room.desk.submit(everything, FAY)
    assert (answer.code, "time confirm" in answer.text) == ("not-now", True)
    trust = TimeTrust.RTC
    answer = room.desk.submit(everything, FAY)
    assert answer.code == "not-now"
    assert answer.text.endswith(
        "Next: floorperson or supervisor: dice changed SERIAL SERIAL SERIAL"
    )
    answer = room.desk.submit(typed("dice changed A1 A2 A3"), FAY)
    assert answer.text.startswith("Dice A1 A2 A3 are recorded. ")
    assert room.desk.submit(everything, FAY).is_ok


def test_a_return_with_a_fault_standing_is_told_to_clear_it(room: Room) -> None:
    room.state.state = TableState(Phase.OUT_OF_SERVICE, faults=frozenset({FaultKind.SHAKER}))
    room.faults.raise_(FaultKind.SHAKER, "motor-slow-start", 0.0)

    answer = room.desk.submit(typed("return-to-service"), TOM)

    assert answer.text.startswith("return-to-service: a fault has to be cleared first. Next: ")
    assert "fault clear motor-slow-start" in answer.text


def test_what_stands_in_the_way_of_a_first_opening_is_named_in_order_before_anybody_inspects(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust = TimeTrust.NONE
    monkeypatch.setattr(WallTime, "trust", lambda _: trust)
    status = room.desk.view()
    assert "the wall clock is not trusted" in status.says
    assert status.next_step.endswith("time confirm")
    trust = TimeTrust.RTC
    status = room.desk.view()
    assert "nobody has recorded which dice" in status.says
    assert status.next_step.endswith("dice changed SERIAL SERIAL SERIAL")
    room.desk.submit(typed("dice changed A1 A2 A3"), TOM)
    assert (
        room.desk.view().next_step == "floorperson or supervisor: open; an inspection comes first"
    )


@pytest.mark.parametrize(("phase", "verb"), [(Phase.INSPECTED, "open"), (Phase.READY, "bets")])
def test_an_act_that_the_clock_would_bar_is_refused_and_says_what_comes_first(
    monkeypatch: pytest.MonkeyPatch, phase: Phase, verb: str
) -> None:
    monkeypatch.setattr(WallTime, "trust", lambda _: TimeTrust.NONE)
    room = Room(phase)
    actor = FAY if verb == "open" else Actor("dan", Role.DEALER, "dealer")
    answer = room.desk.submit(typed(verb), actor)
    assert (answer.code, "time confirm" in answer.text) == ("not-now", True)
    assert room.journal.kept == []


def test_a_refusal_names_the_command_that_was_given_and_is_on_record(room: Room) -> None:
    answer = room.desk.submit(typed("sign"), FAY)
    assert answer.code == "not-now"
    assert answer.text.startswith("sign: not now. The table is closed. Next: floorperson or")
    answer = room.desk.submit(typed("inspect seen"), FAY)
    assert answer.text.startswith("inspect seen: not now. ")
    answer = room.desk.submit(typed("jog 300 1"), FAY)
    assert answer.text.startswith("jog: it takes a technician. Next: ")
    assert [kind for kind, _ in room.journal.kept] == ["refused"] * 3


def test_a_jog_outside_of_the_motor_s_bounds_never_reaches_the_rules(room: Room) -> None:
    answer = room.desk.submit(TypedCommand(BY_NAME["jog"], {"rpm": 300.0, "seconds": 90.0}), TOM)
    assert answer.code == "not-now"
    assert "a jog is 60 to" in answer.text
    assert room.journal.kept == []


@pytest.mark.parametrize("line", ["light 50", "selftest"])
def test_an_act_on_a_device_is_noted_with_who_asked_and_what_came_of_it(
    room: Room, line: str
) -> None:
    answer = room.desk.submit(typed(line), TOM)
    ((kind, body),) = room.journal.kept
    assert (kind, body["note"], body["actor"]["name"]) == ("console", line.split()[0], "tom")
    assert body["text"] == f"{answer.code}: {answer.text}"


def test_the_light_is_the_technician_s_only_while_nobody_can_play(room: Room) -> None:
    room.state.state = TableState(Phase.BETTING, round=3)
    assert room.desk.submit(typed("light 50"), TOM).code == "not-now"
    assert room.light == []
    room.state.state = TableState(Phase.OUT_OF_SERVICE)
    assert room.desk.submit(typed("light 50"), TOM).is_ok
    assert room.light == [0.5]


def test_a_light_that_a_technician_changed_takes_back_what_was_inspected(room: Room) -> None:
    inspected = TableState(Phase.INSPECTION_DUE, passed=frozenset({Part.LAMPS}))
    room.state.state = inspected
    assert room.desk.submit(typed("light 50"), TOM).is_ok
    until(lambda: room.state.state.passed == frozenset())


def test_a_lid_waits_for_a_shaker_that_moved_just_now(room: Room) -> None:
    room.still_s = 0.5
    answer = room.desk.submit(typed("lid"), FAY)
    assert (answer.code, "moved 0.5 s ago" in answer.text) == ("not-now", True)
    assert room.journal.kept == []
    room.still_s = 3.0
    assert room.desk.submit(typed("lid"), FAY).is_ok


def test_a_selftest_fails_by_name(room: Room) -> None:
    room.faults.raise_(FaultKind.SHAKER, "motor-stall", 0.0)
    answer = room.desk.submit(typed("selftest"), TOM)
    assert answer.code == "failed"
    assert "motor-stall" in answer.text
    assert "lamp box: the lamp box has not answered yet" in answer.text
    assert "Good: camera 30 frames a second" in answer.text


@pytest.mark.parametrize("flags", [Flag.MEASURED, Flag.MEASURED | Flag.HEALTHY])
def test_a_selftest_judges_the_lamp_box_by_what_it_says_of_itself(room: Room, flags: Flag) -> None:
    fields: dict[str, Any] = dict.fromkeys((one.name for one in dataclasses.fields(LampStatus)), 0)
    lit = dict.fromkeys(("driven", "glowing", "open_bulbs", "stuck_bulbs"), frozenset[str]())
    box = LampStatus(**{**fields, **lit, "state": BoxState.DARK, "flags": flags})
    picture = LampPicture(status=box, seen_at_s=time.monotonic())
    room.desk._c.lamps = SimpleNamespace(picture=picture)  # type: ignore[assignment]

    answer = room.desk.submit(typed("selftest"), TOM)

    assert answer.is_ok is (Flag.HEALTHY in flags), answer.text


def test_only_values_of_a_round_are_shown_as_a_result(room: Room) -> None:
    entered = TableState(Phase.LAMP_ENTRY, purpose=Purpose.INSPECTION, values=(1, 3, 4))
    room.state.state = entered
    assert room.desk.view().last_result is None
    room.state.state = TableState(
        Phase.COLLECTING, round=3, values=(1, 3, 4), source=Source.VERIFIED
    )
    assert room.desk.view().last_result == (1, 3, 4)


@pytest.mark.parametrize(
    ("ending", "values", "cause", "words"),
    [
        (Ending.SETTLED_BY_HAND, (1, 5, 5), Cause.LAMP, "settled by hand: 1 5 5"),
        (Ending.NO_ROLL, None, None, "no roll"),
        (Ending.VOID, None, Cause.COMPARTMENT, "void, because the compartment was opened"),
    ],
)
def test_a_round_that_is_over_is_told_as_what_it_was(
    room: Room, ending: Ending, values: Values | None, cause: Cause | None, words: str
) -> None:
    room.state.state = TableState(Phase.READY, round=3)
    record = commands.RecordRound(3, ending, WagersDo.RETURNED, cause, values, None, ())
    room.announcer.last_round = record
    assert room.desk.view().last_ended == words
    room.state.state = TableState(Phase.BETTING, round=4)
    assert room.desk.view().last_ended == ""


def test_a_round_without_result_is_told_as_such_before_it_is_settled(room: Room) -> None:
    phase = Phase.WITHOUT_RESULT
    room.state.state = TableState(phase, round=3, ending=Ending.VOID, cause=Cause.COMPARTMENT)
    assert room.desk.view().last_ended == "void, because the compartment was opened"
    room.state.state = TableState(phase, round=3, ending=Ending.NO_ROLL)
    assert room.desk.view().last_ended == "no roll"


def test_the_view_shows_the_last_run_in_sixty_points_and_how_it_ended(room: Room) -> None:
    room.announcer.last_run = JogEnded(1.0, Occasion(Purpose.TRIAL, 1))
    motor = room.desk.view().motor
    assert motor.last_toss_verdict == "jogged as asked"
    assert 60 <= len(motor.last_toss_rpm) <= 70
    assert motor.current_a is None
    assert ("compartment", "closed and locked") in motor.interlocks


def test_everybody_who_listens_hears_an_announcement_until_they_stop(room: Room) -> None:
    heard: list[Announcement] = []
    end = room.desk.subscribe(heard.append)
    room.desk.tell(Announcement("fault", "fault lamp: dark"))
    end()
    end()
    room.desk.tell(Announcement("fault", "again"))
    assert [said.text for said in heard] == ["fault lamp: dark"]


def test_the_meters_are_cleared_by_two_persons_and_what_stood_goes_on_record(room: Room) -> None:
    assert room.desk.meters() == {"rounds": 12, "void rounds": 1, "counted_to_record": 400}
    clear = typed("meters clear")
    assert room.desk.submit(clear, FAY).is_ok
    assert room.desk.submit(clear, FAY).is_ok
    assert room.journal.kept == [], "one person alone clears nothing"
    assert "fay and tom" in room.desk.submit(clear, TOM).text
    (kind, body), = room.journal.kept  # fmt: skip
    assert (kind, body["note"], body["by"]) == ("console", CLEARED, ["fay", "tom"])
    assert body["was"]["rounds"] == 12
    assert room.desk.submit(clear, TOM).is_ok
    assert len(room.journal.kept) == 1, "the next clearing begins with its first person"


def test_the_meters_of_a_table_in_play_are_not_cleared() -> None:
    room = Room(Phase.READY)
    assert room.desk.submit(typed("meters clear"), FAY).code == "not-now"
