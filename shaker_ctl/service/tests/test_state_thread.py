"""The state thread's promises: record, then act; stopping never waits; refusals change nothing."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from hil_tests.waiting import until
from shaker_ctl.errors import JournalError, JournalWriteError
from shaker_ctl.rules import commands, events, machine
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Lamps, Phase, TableState
from shaker_ctl.rules.vocabulary import Occasion, Person, Purpose, Role, Timer
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.state_thread import MAX_TOGETHER, PostOutcome, StateThread
from vision.reading import Verified

pytestmark = pytest.mark.timed


class HeldJournal:
    """A journal whose syncs happen when the test says so."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str, dict[str, Any]]] = []
        self.waiting: list[Callable[[], None]] = []
        self.failure: JournalWriteError | None = None

    def append(
        self, kind: str, body: Any, *, pictures: Any = None, synced: Any = None, waits: bool = False
    ) -> None:
        if self.failure is not None:
            raise self.failure
        self.bodies.append((kind, dict(body)))
        sequence = len(self.bodies)
        if synced is not None:
            self.waiting.append(lambda: synced(sequence))

    def sync(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


class Performed:
    """Takes down what was handed over."""

    def __init__(self) -> None:
        self.commands: list[commands.Command] = []

    def perform(self, command: commands.Command) -> None:
        self.commands.append(command)

    def timer_length_s(self, timer: Timer) -> float:
        return 0.01


Bench = tuple[StateThread, HeldJournal, Performed]


@pytest.fixture
def table() -> Iterator[Bench]:
    rules = rulebook(TableParameters())
    journal, performed = HeldJournal(), Performed()
    thread = StateThread(
        state=machine.initial(rules),
        rulebook=rules,
        journal=journal,
        performer=performed,
        heartbeat=Heartbeat(time.monotonic, 0.05),
    )
    thread.start()
    yield thread, journal, performed
    thread.stop()
    assert not thread.is_alive()


def wait_for(hold: threading.Event) -> None:
    """Keep the state thread in one turn until the test has posted all it wants."""
    assert hold.wait(2.0)


def confirmed(thread: StateThread) -> None:
    """The dealer says what the reader said: lamps are to be lit."""
    state, read = thread.state, Verified((1, 2, 3))
    phase = Phase.AWAITING_DEALER
    thread.state = dataclasses.replace(state, phase=phase, round=1, reading=read, lamps=Lamps.DARK)
    thread.post(events.ValuesConfirmed(Person("dan", Role.DEALER), 1, (1, 2, 3)))
    until(lambda: thread.state.phase is Phase.PUSHING)


def jog_asked(thread: StateThread, answer: Callable[[PostOutcome], None] | None = None) -> None:
    thread.post(events.JogRequested(TOM, 300.0, 2.0), answer=answer)
    until(lambda: thread.state.phase is Phase.JOGGING)


RESTARTED = events.Restarted(compartment_open=False, estop_pressed=False, cover_closed=False)
FAY = Person("fay", Role.FLOORPERSON)
TOM = Person("tom", Role.TECHNICIAN)


def test_nothing_is_performed_before_its_record_is_synced(table: Bench) -> None:
    thread, journal, performed = table
    thread.post(RESTARTED)
    until(lambda: journal.bodies)
    waiting = [c for c in performed.commands if not isinstance(c, commands.StopMotor)]
    assert waiting == []
    journal.sync()
    until(lambda: any(isinstance(c, commands.ShowPhase) for c in performed.commands))


def test_each_decision_is_kept_with_the_clause_of_each_of_its_rows(table: Bench) -> None:
    thread, journal, _ = table
    thread.state = dataclasses.replace(thread.state, phase=Phase.TOSSING, round=1)
    thread.post(events.ShakerFault(None, "stall"))
    until(lambda: any("because" in each for _, each in journal.bodies))
    body = next(each for _, each in journal.bodies if "because" in each)
    assert body["rows"] == ["shaker fault in the toss: void"]
    assert body["because"] == [thread._rulebook.cite("void.wagers").clause]


@pytest.mark.parametrize("error", [JournalError("no answer"), KeyError("a defect")])
def test_an_observer_that_fails_is_told_of_once_and_ends_no_thread(error: Exception) -> None:
    rules = rulebook(TableParameters())
    told, seen = list[Exception](), list[events.Event]()

    def fails(*_: object) -> None:
        raise error

    def tell(failed: Exception) -> None:
        told.append(failed)
        thread.post(events.ControllerFault("journal"))

    thread = StateThread(
        state=machine.initial(rules),
        rulebook=rules,
        journal=HeldJournal(),
        performer=Performed(),
        heartbeat=Heartbeat(time.monotonic, 0.05),
        observers=(fails, lambda _, event: seen.append(event)),
        observer_failed=tell,
    )
    thread.start()
    try:
        thread.post(RESTARTED)
        until(lambda: events.ControllerFault("journal") in seen)
        thread.between_events(fails)
        until(lambda: len(told) == 2)
        time.sleep(0.1)
        assert told == [error, error], "an observer's, and a look's"
        assert thread.is_alive()
    finally:
        thread.stop()


def test_stopping_the_motor_does_not_wait_for_the_journal(table: Bench) -> None:
    thread, journal, performed = table
    thread.state = dataclasses.replace(thread.state, phase=Phase.TOSSING, round=1)
    thread.post(events.EstopPressed())
    until(lambda: any(isinstance(c, commands.StopMotor) for c in performed.commands))
    assert journal.waiting, "the record of the stop is still on its way"


def test_a_jog_that_was_stopped_before_its_record_was_synced_never_begins(table: Bench) -> None:
    thread, journal, performed = table
    thread.state = dataclasses.replace(thread.state, phase=Phase.CLOSED, cover_closed=True)
    jog_asked(thread)
    thread.post(events.InspectionAbandoned(TOM))
    until(lambda: thread.state.phase is Phase.INSPECTION_DUE)
    journal.sync()
    until(lambda: any(isinstance(c, commands.ClearLamps) for c in performed.commands))
    assert any(isinstance(c, commands.StopMotor) for c in performed.commands)
    assert not any(isinstance(c, commands.Jog) for c in performed.commands)
    jog_asked(thread)
    journal.sync()
    until(lambda: any(isinstance(c, commands.Jog) for c in performed.commands))


def test_a_sync_that_ends_after_the_journal_has_failed_releases_nothing(table: Bench) -> None:
    """A medium hangs for seconds, the table stops; then the jog's record is synced after all."""
    thread, journal, performed = table
    thread.state = dataclasses.replace(thread.state, phase=Phase.CLOSED, cover_closed=True)
    answers: list[PostOutcome] = []
    jog_asked(thread, answers.append)
    journal.failure = JournalWriteError("a sync takes longer than 2 s")
    thread.post(events.ControllerFault("journal-write"))
    until(lambda: thread.journal_failure is not None)
    until(lambda: any(isinstance(c, commands.StopMotor) for c in performed.commands))
    assert thread.recorded.phase is Phase.JOGGING, "of the fault nothing is on record"
    journal.sync()
    assert not any(isinstance(c, commands.Jog) for c in performed.commands)
    (answer,) = answers
    assert not answer.is_taken


def test_lamps_that_were_darkened_are_not_lit_by_an_older_step(table: Bench) -> None:
    thread, journal, performed = table
    confirmed(thread)
    thread.post(events.LampFault(None, "lamp-readback"))
    until(lambda: thread.state.phase is Phase.AWAITING_PRESENCE)
    journal.sync()
    assert any(isinstance(c, commands.DarkenLamps) for c in performed.commands)
    assert not any(isinstance(c, commands.PushLamps) for c in performed.commands)


def test_lamps_go_before_the_phase_on_the_display(table: Bench) -> None:
    """On one serial line: what is won is lit first."""
    thread, journal, performed = table
    confirmed(thread)
    journal.sync()
    kinds = [type(command) for command in performed.commands]
    assert commands.ShowPhase in kinds
    assert kinds.index(commands.PushLamps) < kinds.index(commands.ShowPhase)


def test_a_refused_act_is_recorded_with_its_reason_and_changes_nothing(table: Bench) -> None:
    thread, journal, _ = table
    thread.post(RESTARTED)
    until(lambda: journal.bodies)
    before = thread.state
    outcomes: list[PostOutcome] = []
    thread.post(events.BetsRequested(Person("dan", Role.DEALER)), answer=outcomes.append)
    until(lambda: journal.bodies[-1][0] == "refused")
    journal.sync()
    until(lambda: outcomes)
    assert not outcomes[0].is_taken
    assert outcomes[0].text
    assert journal.bodies[-1][1]["reason"] == outcomes[0].text
    assert thread.state == before


def test_an_answer_comes_only_once_the_act_is_on_record(table: Bench) -> None:
    thread, journal, _ = table
    thread.post(RESTARTED)
    until(lambda: journal.bodies)
    journal.sync()
    outcomes: list[PostOutcome] = []
    thread.post(events.TimeConfirmed(FAY), answer=outcomes.append)
    until(lambda: len(journal.bodies) == 2)
    assert outcomes == []
    journal.sync()
    until(lambda: outcomes)
    assert outcomes[0] == PostOutcome(True, "ok", "", sequence=2)


def test_what_comes_in_one_turn_is_taken_the_gravest_first(table: Bench) -> None:
    thread, journal, _ = table
    occasion = Occasion(Purpose.PLAY, 1)
    thread.state = dataclasses.replace(thread.state, phase=Phase.READING, round=1)
    hold = threading.Event()
    thread._inbox.put(lambda: wait_for(hold))  # one long turn
    thread.post(events.ReadingMade(occasion, Verified((1, 2, 3), 0.99)))
    thread.post(events.CompartmentOpened())
    hold.set()
    until(lambda: journal.bodies)
    assert [body["event"]["type"] for _, body in journal.bodies] == ["CompartmentOpened"]
    assert thread.state.values is None


def test_a_restart_is_heard_before_any_fault_of_the_new_life(table: Bench) -> None:
    thread, journal, _ = table
    hold = threading.Event()
    thread._inbox.put(lambda: wait_for(hold))
    thread.post(events.ShakerFault(None, "driver-fault"))
    thread.post(RESTARTED)
    hold.set()
    until(lambda: len(journal.bodies) == 2)
    assert [body["event"]["type"] for _, body in journal.bodies] == ["Restarted", "ShakerFault"]


def test_a_flood_of_events_does_not_hold_back_the_beat(
    table: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread, _, _ = table
    hold = threading.Event()
    thread._inbox.put(lambda: wait_for(hold))
    for _ in range(5 * MAX_TOGETHER):
        thread.post(events.EstopReleased())
    turns: list[int] = []
    arrived = thread._arrived

    def counted(patience_s: float) -> Any:
        found = arrived(patience_s)
        turns.append(len(found))
        return found

    monkeypatch.setattr(thread, "_arrived", counted)
    hold.set()
    until(lambda: sum(turns) >= 4 * MAX_TOGETHER)
    assert max(turns) == MAX_TOGETHER


def test_a_failed_journal_ends_play_with_the_motor_off(table: Bench) -> None:
    thread, journal, performed = table
    thread.post(RESTARTED)
    until(lambda: journal.bodies)
    performed.commands.clear()
    journal.failure = JournalWriteError("no space left", remedy="free some")
    outcomes: list[PostOutcome] = []
    thread.post(events.TimeConfirmed(FAY), answer=outcomes.append)
    until(lambda: outcomes)
    assert not outcomes[0].is_taken
    assert "no space left" in outcomes[0].text
    assert any(isinstance(c, commands.StopMotor) for c in performed.commands)
    thread.post(events.OpenRequested(FAY), answer=outcomes.append)
    until(lambda: len(outcomes) == 2)
    assert outcomes[1].code == "journal"


def test_the_first_record_carries_the_whole_state_for_a_restart(table: Bench) -> None:
    from shaker_ctl.rules.record import from_record

    thread, journal, _ = table
    thread.post(RESTARTED)
    until(lambda: journal.bodies)
    assert from_record(journal.bodies[0][1]["state"], TableState) == thread.state
    assert thread.state.phase is Phase.INSPECTION_DUE


def _has_more(journal: HeldJournal, than: int) -> bool:
    return len(journal.bodies) > than


def test_the_first_record_of_a_round_and_of_a_run_names_the_rules(table: Bench) -> None:
    thread, journal, _ = table
    named = "pa-625a, paytable A, entry dealer_confirm, 50 areas"
    for number in (0, 0, 1, 1, 2):
        thread.state = dataclasses.replace(thread.state, round=number)
        done = len(journal.bodies)
        thread.post(events.CompartmentOpened())
        until(partial(_has_more, journal, done))
    kept = [body.get("under") for kind, body in journal.bodies if kind == "step"]
    assert kept == [named, None, named, None, named]
