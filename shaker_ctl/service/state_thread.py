"""The thread that owns the table's state: event, rules, journal, commands. It never blocks.

Theory of operation. Everything that happens is posted as a rules event. In each turn the thread
takes the posted events, the gravest first. It calls the pure `step` with each event, gives the
record to the journal, and continues. The journal's own thread calls back when the record is synced.
Only then are the step's commands performed (decision 0002). Two commands do not wait: `StopMotor`
and `DarkenLamps` are performed before the record is written.

Every turn ends with a beat. The motion loop refreshes the motor's dead-man only while beats are
fresh, so a state thread that hangs stops the motor by itself (decision 0003).

A journal that has failed ends play: the motor is stopped, nothing further is released, and every
event is refused until a person mends the medium and restarts the service (O-4, O-10).
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from shaker_ctl.errors import JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import UNDER
from shaker_ctl.ports import Pictures
from shaker_ctl.rules import blind, commands, events, machine
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Cause, Timer
from shaker_ctl.service.heartbeat import Heartbeat

log = logging.getLogger(__name__)

URGENT = (commands.StopMotor, commands.DarkenLamps)
"""What never waits for the journal."""

OVERTAKEN: dict[type[commands.Command], type[commands.Command]] = {
    commands.StartToss: commands.StopMotor,
    commands.Jog: commands.StopMotor,
    commands.PushLamps: commands.DarkenLamps,
    commands.ProveEachLamp: commands.DarkenLamps,
}
"""What an urgent command undoes, also while its record is still on its way to the disk: a toss that
was decided before a stop must not begin after it."""

TURN_S = 0.02
"""Longest wait for an event: with it an idle turn stays well inside the heartbeat's 50 ms."""

SNAPSHOT_EVERY = 64
"""Records between two that carry the whole state, besides the end of each round. A restart replays
from the newest one."""

MAX_TOGETHER = 32
"""Events taken in one turn, so that no flood of them can hold back the beat."""


def _is_for_eyes(command: commands.Command) -> bool:
    """True for the phase on the lamp box's display: 12 ms of the line that lamps would wait for."""
    return isinstance(command, commands.ShowPhase)


class RecordKeeper(Protocol):
    """The journal's writer as the state thread needs it."""

    def append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        pictures: Pictures | None = None,
        synced: Callable[[int], None] | None = None,
        waits: bool = False,
    ) -> None:
        """Queue a record and return at once; `synced(sequence)` follows, in order.

        Raises a leaf of `JournalError` when the journal has already failed; but what `waits` is
        kept until it can be written.
        """


class Performer(Protocol):
    """Performs commands: at once from the state thread, or released by the journal's thread."""

    def perform(self, command: commands.Command) -> None:
        """Hand a command to the device's own thread; must not block, must not raise."""

    def timer_length_s(self, timer: Timer) -> float:
        """Length of a timer by the settings and the profile, counted from now."""


@frozen
class PostOutcome:
    """What became of a posted event; for whoever asked."""

    is_taken: bool
    code: str
    text: str
    sequence: int | None = None
    """Of the journal record, once it is synced."""


@frozen
class _Input:
    event: events.Event
    at_s: float
    pictures: Pictures | None
    answer: Callable[[PostOutcome], None] | None


class StateThread:
    """The owner of one table's state."""

    def __init__(
        self,
        *,
        state: TableState,
        rulebook: Rulebook,
        journal: RecordKeeper,
        performer: Performer,
        heartbeat: Heartbeat,
        observers: Iterable[Callable[[Step, events.Event], None]] = (),
        observer_failed: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        """`observers` are told of every step, in the state thread; they must be quick, and read no
        disk. What one of them raises is logged, and the first of it goes to `observer_failed`."""
        self.state = state
        self.recorded = state
        """As of the newest step that was handed to the journal."""
        self._rulebook = rulebook
        self._journal = journal
        self._performer = performer
        self._heartbeat = heartbeat
        self._observers = tuple(observers)
        self._observer_failed = observer_failed
        self._failed: set[Hashable] = set()
        """The observers of which it is told: telling it is a step, which they observe, too."""
        self._inbox: queue.SimpleQueue[_Input | Callable[[], None]] = queue.SimpleQueue()
        self._timer: tuple[float, events.Event] | None = None
        """When the machine's one timer expires (monotonic, s), and with which event."""
        self._since_snapshot = SNAPSHOT_EVERY
        self._named_round: int | None = None
        """Whose record names its rules: each round at its beginning, at its end, and after a start.
        """
        self._steps = 0
        self._last: dict[type[commands.Command], int] = {}
        """Number of the newest step that had this urgent command performed."""
        self._overtaking = threading.Lock()
        self._stopping = threading.Event()
        self.journal_failure: JournalError | None = None
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
        answer: Callable[[PostOutcome], None] | None = None,
    ) -> None:
        """Leave an event. `answer` is called once, when it is refused or its record is synced."""
        self._inbox.put(_Input(event, time.monotonic(), pictures, answer))

    def between_events(self, look: Callable[[], None]) -> None:
        """Have `look` called in the state thread, between two events; as an observer is."""
        self._inbox.put(partial(self._let, "look", look))

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
        found: list[_Input] = []
        now = time.monotonic()
        if self._timer is not None and self._timer[0] <= now:
            found.append(_Input(self._timer[1], now, None, None))
            self._timer = None
        found += self._arrived(0.0 if found else self._patience())
        for item in machine.gravest_first(found, lambda item: item.event):
            self._take(item)

    def _arrived(self, patience_s: float) -> list[_Input]:
        """Everything that has come by now; waits so long for the first of it."""
        arrived: list[_Input] = []
        with contextlib.suppress(queue.Empty):
            item = self._inbox.get(timeout=patience_s)
            while True:
                if isinstance(item, _Input):
                    arrived.append(item)
                else:
                    item()  # a timer to set or cancel, or somebody's look
                if len(arrived) == MAX_TOGETHER:
                    break
                item = self._inbox.get_nowait()
        return arrived

    def _patience(self) -> float:
        if self._timer is None:
            return TURN_S
        return min(TURN_S, max(0.0, self._timer[0] - time.monotonic()))

    def _set_timer(self, timer: tuple[float, events.Event] | None) -> None:
        self._timer = timer

    def _take(self, item: _Input) -> None:
        if self.journal_failure is not None:
            self._answer(item, PostOutcome(False, "journal", self.journal_failure.line()))
            return
        step = machine.step(self.state, item.event, self._rulebook)
        if step.refused is not None:
            self._refuse(item, step)
            return
        self._steps += 1
        number = self._steps
        for command in step.commands:
            if isinstance(command, URGENT):
                with self._overtaking:  # never held longer than it takes to hand a command over
                    self._last[type(command)] = number
                self._performer.perform(command)
        self.state = step.state
        try:
            self._journal.append(
                "step",
                self._body(item, step),
                pictures=item.pictures,
                synced=lambda sequence: self._release(item, step, number, sequence),
            )
        except JournalError as error:
            self._lose_journal(error)
            self._answer(item, PostOutcome(False, error.code, error.line()))
            return
        self.recorded = step.state
        for observer in self._observers:
            self._let(observer, partial(observer, step, item.event))

    def _let(self, who: Hashable, look: Callable[[], None]) -> None:
        """Let somebody look. What fails there never ends the table's own thread."""
        try:
            look()
        except Exception as error:
            log.exception("an observer of the state thread has failed")
            if who not in self._failed:
                self._failed.add(who)
                self._observer_failed(error)

    def _refuse(self, item: _Input, step: Step) -> None:
        refusal = step.refused
        assert refusal is not None
        outcome = PostOutcome(False, refusal.code, refusal.reason)
        if item.answer is None:
            # A late or repeated answer of a device: expected, and without consequence.
            log.debug("refused %s: %s", item.event, refusal.reason)
            return
        body = {
            "round": self.state.round or None,
            "event": to_record(item.event),
            "at_s": item.at_s,
            "code": refusal.code,
            "reason": refusal.reason,
        }
        try:
            self._journal.append("refused", body, synced=lambda _: self._answer(item, outcome))
        except JournalError as error:
            self._lose_journal(error)
            self._answer(item, outcome)

    def _body(self, item: _Input, step: Step) -> dict[str, Any]:
        body: dict[str, Any] = {
            "round": step.state.round or None,
            "event": to_record(item.event),
            "at_s": item.at_s,
            "rows": [row.name for row in step.rows],
            "because": [cited.clause for _, cited in step.because()],
            "decision": [to_record(command) for command in step.commands],
        }
        if self._rulebook.marks:
            body["marks"] = list(self._rulebook.marks)
        rules = self._rulebook.in_use(manual=step.state.manual)
        closes_round = any(isinstance(c, commands.RecordRound) for c in step.commands)
        if closes_round or step.state.round != self._named_round:
            body[UNDER] = rules.named
            self._named_round = step.state.round
        if step.state.reading is not None and blind.awaits_entry(step.state, rules):
            body[blind.KEY] = True
        self._since_snapshot += 1
        if closes_round or self._since_snapshot >= SNAPSHOT_EVERY:
            self._since_snapshot = 0
            body["state"] = to_record(step.state)
        return body

    def _release(self, item: _Input, step: Step, number: int, sequence: int) -> None:
        """In the journal's thread: the record is synced, now act; not after the journal has failed,
        where a sync that hung ends late.
        """
        if (failure := self.journal_failure) is not None:
            self._answer(item, PostOutcome(False, failure.code, failure.line(), sequence))
            return
        for command in sorted(step.commands, key=_is_for_eyes):
            match command:
                case commands.StartTimer(timer, occasion):
                    expired = events.TimerExpired(timer, occasion)
                    due_s = time.monotonic() + self._performer.timer_length_s(timer)
                    self._inbox.put(partial(self._set_timer, (due_s, expired)))
                case commands.CancelTimer():
                    self._inbox.put(partial(self._set_timer, None))
                case _ if type(command) in OVERTAKEN:
                    self._perform_unless_overtaken(command, number)
                case _ if not isinstance(command, URGENT):
                    self._performer.perform(command)
        self._answer(item, PostOutcome(True, "ok", "", sequence))

    def _perform_unless_overtaken(self, command: commands.Command, number: int) -> None:
        by = OVERTAKEN[type(command)]
        with self._overtaking:
            if self.journal_failure is None and self._last.get(by, 0) <= number:
                self._performer.perform(command)
                return
        log.info("%s is not performed: %s came first", type(command).__name__, by.__name__)

    def _lose_journal(self, error: JournalError) -> None:
        with self._overtaking:
            self.journal_failure = error
        self._performer.perform(commands.StopMotor(Cause.CONTROLLER))
        log.error("%s. Nothing further is released; the table stops.", error.line())

    @staticmethod
    def _answer(item: _Input, outcome: PostOutcome) -> None:
        if item.answer is not None:
            item.answer(outcome)
