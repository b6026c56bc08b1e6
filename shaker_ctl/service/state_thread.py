"""The thread that owns the table's state: event, rules, journal, commands. It never blocks.

Theory of operation. Whatever happens is posted as a rules event. The thread takes one at a time,
calls the pure `step`, hands the record to the journal and goes on; the journal's own thread calls
back once the record is synced, and only then are the step's commands performed (decision 0002).
Two commands do not wait: `StopMotor` and `DarkenLamps` are performed before the record is written.

Every turn ends with a beat. The motion loop refreshes the motor's dead-man only while beats are
fresh, so a state thread that hangs stops the motor by itself (decision 0003).

A journal that cannot be written releases nothing, and keeps what waits in its order; the rules
hear of it as a `ControllerFault`. Only what never waits still happens (O-4, O-10).
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from shaker_ctl.journal.record import Entry, Record
from shaker_ctl.ports import Pictures
from shaker_ctl.rules import commands, events, machine
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Cause, Timer
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.timers import Timers

log = logging.getLogger(__name__)

URGENT = (commands.StopMotor, commands.DarkenLamps)
"""What never waits for the journal."""

TURN_S = 0.02
"""Longest wait for an event: with it an idle turn stays well inside the heartbeat's 50 ms."""

SNAPSHOT_EVERY = 64
"""Records between two that carry the whole state, besides the end of each round. A restart replays
from the newest one."""

TIMER = "table"
"""The machine runs one timer at a time; it has one token here."""


class RecordKeeper(Protocol):
    """The journal's writer as the state thread needs it."""

    def append(self, entry: Entry) -> Future[Record]:
        """Queue an entry and return at once; the future resolves, in order, when it is synced."""


class PictureKeeper(Protocol):
    """Where the pictures of decisions go."""

    def keep(self, occasion: str, pictures: Pictures) -> dict[str, str]:
        """Queue both pictures for writing; return their names and digests for the record."""


class Performer(Protocol):
    """Performs commands: at once from the state thread, or released by the journal's thread."""

    def perform(self, command: commands.Command) -> None:
        """Hand a command to the device's own thread; must not block, must not raise."""

    def timer_length_s(self, timer: Timer) -> float:
        """Length of a timer by the settings and the profile, counted from now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a posted event; for whoever asked."""

    is_taken: bool
    code: str
    text: str
    sequence: int | None = None
    """Of the journal record, once it is synced."""


@dataclass(frozen=True, slots=True)
class _Input:
    event: events.Event
    at_s: float
    pictures: Pictures | None
    answer: Callable[[Outcome], None] | None


class StateThread:
    """The owner of one table's state."""

    def __init__(
        self,
        *,
        state: TableState,
        rulebook: Rulebook,
        journal: RecordKeeper,
        pictures: PictureKeeper,
        performer: Performer,
        heartbeat: Heartbeat,
        observers: Iterable[Callable[[Step, events.Event], None]] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`observers` are told of every step, in the state thread; they must be quick."""
        self.state = state
        self._rulebook = rulebook
        self._journal = journal
        self._pictures = pictures
        self._performer = performer
        self._heartbeat = heartbeat
        self._observers = tuple(observers)
        self._now = now
        self._inbox: queue.SimpleQueue[_Input | Callable[[], None]] = queue.SimpleQueue()
        self._timers: Timers[str, events.Event] = Timers()
        self._since_snapshot = SNAPSHOT_EVERY
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="state", daemon=True)

    # ── From any thread ─────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin to take events."""
        self._thread.start()

    def stop(self) -> None:
        """End after the event in hand."""
        self._stopping.set()
        self._thread.join(timeout=3)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def post(
        self,
        event: events.Event,
        pictures: Pictures | None = None,
        answer: Callable[[Outcome], None] | None = None,
    ) -> None:
        """Leave an event. `answer` is called once, when it is refused or its record is synced."""
        self._inbox.put(_Input(event, self._now(), pictures, answer))

    # ── The thread ──────────────────────────────────────────────────────────

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._turn()
                self._heartbeat.beat()
        except Exception:
            # Without this thread nothing may move. Beats have ended, so the dead-man falls too.
            self._performer.perform(commands.StopMotor(Cause.CONTROLLER))
            log.exception("the state thread ended by a defect; the motor is off")
            raise

    def _turn(self) -> None:
        for event in self._timers.due(self._now()):
            self._take(_Input(event, self._now(), None, None))
        try:
            item = self._inbox.get(timeout=self._patience())
        except queue.Empty:
            return
        if isinstance(item, _Input):
            self._take(item)
        else:
            item()

    def _patience(self) -> float:
        due_s = self._timers.next_due()
        return TURN_S if due_s is None else min(TURN_S, max(0.0, due_s - self._now()))

    def _take(self, item: _Input) -> None:
        step = machine.step(self.state, item.event, self._rulebook)
        if step.refused is not None:
            self._refuse(item, step)
            return
        urgent = [c for c in step.commands if isinstance(c, URGENT)]
        for command in urgent:
            self._performer.perform(command)
        self.state = step.state
        recorded = self._journal.append(self._entry(item, step))
        recorded.add_done_callback(lambda done: self._release(item, step, done.result().sequence))
        for observer in self._observers:
            observer(step, item.event)

    def _refuse(self, item: _Input, step: Step) -> None:
        refusal = step.refused
        assert refusal is not None
        outcome = Outcome(False, refusal.code, refusal.reason)
        if item.answer is None:
            # A late or repeated answer of a device: expected, and without consequence.
            log.debug("refused %s: %s", item.event, refusal.reason)
            return
        entry = Entry(
            kind="refused",
            event=to_record(item.event),
            round=self.state.round or None,
            extra={"at_s": item.at_s, "code": refusal.code, "reason": refusal.reason},
        )
        self._journal.append(entry).add_done_callback(lambda _: self._answer(item, outcome))

    def _entry(self, item: _Input, step: Step) -> Entry:
        extra: dict[str, Any] = {"at_s": item.at_s, "rows": [row.name for row in step.rows]}
        if item.pictures is not None:
            name = f"{step.state.occasion.purpose.value}-{step.state.occasion.number}"
            extra["pictures"] = self._pictures.keep(name, item.pictures)
        self._since_snapshot += 1
        closes_round = any(isinstance(c, commands.RecordRound) for c in step.commands)
        if closes_round or self._since_snapshot >= SNAPSHOT_EVERY:
            self._since_snapshot = 0
            extra["state"] = to_record(step.state)
        return Entry(
            kind="step",
            event=to_record(item.event),
            decision=[to_record(command) for command in step.commands],
            round=step.state.round or None,
            extra=extra,
        )

    def _release(self, item: _Input, step: Step, sequence: int) -> None:
        """In the journal's thread: the record is synced, now act."""
        for command in step.commands:
            match command:
                case commands.StartTimer(timer, occasion):
                    expired = events.TimerExpired(timer, occasion)
                    due_s = self._now() + self._performer.timer_length_s(timer)
                    self._inbox.put(lambda e=expired, d=due_s: self._timers.start(TIMER, d, e))
                case commands.CancelTimer():
                    self._inbox.put(lambda: self._timers.cancel(TIMER))
                case _ if not isinstance(command, URGENT):
                    self._performer.perform(command)
        self._answer(item, Outcome(True, "ok", "", sequence))

    @staticmethod
    def _answer(item: _Input, outcome: Outcome) -> None:
        if item.answer is not None:
            item.answer(outcome)
