"""The table as a console meets it: snapshots out, acts in. Stands behind `console.desk.Desk`.

Owns the way of an act to the state thread and back, and the acts on a device that is no part of
the table's state. Must not judge: what is allowed now is asked of the rules themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from shaker_ctl.console import desk as console
from shaker_ctl.console.desk import Actor, Announcement, Answer, Note, Parcel
from shaker_ctl.console.grammar import TypedCommand
from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.journal.meters import CLEARED
from shaker_ctl.rules import blind, events
from shaker_ctl.rules.agreement import agree
from shaker_ctl.rules.phases import AT_HAND
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Barrier, Condition, Part, Person
from shaker_ctl.service.fault_queue import WORDS
from shaker_ctl.service.state_thread import PostOutcome
from shaker_ctl.view import table_view
from shaker_ctl.view.allowed_acts import DEVICE_ACTS, allowed_verbs, made, person
from shaker_ctl.view.table_view import TableFacts

NOT_NOW, NO_ANSWER, FAILED = "not-now", "no-answer", "failed"
OLDEST_ANSWER_S = 1.0
"""Oldest answer of the lamp box that still counts; the box is asked five times a second."""
MIN_JOG_RPM = 60.0
SECOND_WITHIN_S = 300.0
"""Longest time in seconds between the two persons who clear the meters."""


class TableDesk:
    """Implements `console.desk.Desk` for all consoles at once."""

    def __init__(self, facts: TableFacts) -> None:
        self._c = facts
        self.archive = facts.archive
        self._lock = threading.Lock()
        self._subscribers: list[Callable[[Announcement], None]] = []
        self._allowed: tuple[TableState | None, frozenset[str]] = (None, frozenset())
        self._clearing: tuple[Person, float] | None = None
        """Who asked first that the meters be cleared, and when (monotonic, s)."""

    # ── Asking ──────────────────────────────────────────────────────────────

    def view(self) -> console.TableView:
        """Compose the newest snapshot; see `Desk.view`."""
        return table_view.compose(self._c, self._allowed_now(self._c.state.state))

    def meters(self) -> Mapping[str, object]:
        """See `Desk.meters`."""
        found = self._c.meters()
        if found is None:
            raise RefusedError("the meters are still being counted", remedy="Ask again in a moment")
        since = {"since": found.since, "cleared_by": found.cleared_by} if found.since else {}
        return {**found.counts, **since, "counted_to_record": found.sequence}

    def keyed_answer(self, seed: str) -> str:
        """See `Desk.keyed_answer`."""
        return self._c.keyed_answer(seed)

    def fault_codes(self) -> Mapping[str, str]:
        """See `Desk.fault_codes`."""
        return {code: cause for code, (cause, _remedy) in WORDS.items()}

    def snap(self) -> Parcel:
        """See `Desk.snap`."""
        state = self._c.state.state
        if blind.awaits_entry(state, self._c.rulebook.in_use(manual=state.manual)):
            raise RefusedError(
                "the dealer reads the dice by eye: no picture is given before the entry",
                remedy="ask again after the entry",
            )
        jpeg = self._c.reader.snap()
        if not jpeg:
            raise RefusedError("no picture is taken between cover-closed and reveal")
        return Parcel("camera.jpg", jpeg)

    # ── Acting ──────────────────────────────────────────────────────────────

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        """Hand an act to the rules and wait until it is recorded; see `Desk.submit`."""
        c = self._c
        if command.name == "meters clear":
            return self._clear_meters(actor)
        if command.name in DEVICE_ACTS:
            answer = self._at_a_device(command)
            self.note(Note(command.name, actor, f"{answer.code}: {answer.text}"))
            return answer
        try:
            event = made(command, person(actor), c.state.state, c.wall.now(), c.faults)
            if isinstance(event, events.JogRequested):
                self._check_jog(event)
            elif isinstance(event, events.LidRequested):
                c.check_lid()
            elif isinstance(event, events.OpenRequested):
                c.require_verified()
                self._require_unbarred()
            elif isinstance(event, events.BetsRequested):
                self._require_unbarred()
            elif isinstance(event, events.InspectionRequested) and event.part is Part.ALL:
                self._require_clock_and_dice()
        except RefusedError as error:
            return Answer.refused(NOT_NOW, error.line())
        answered = threading.Event()
        outcome: list[PostOutcome] = []

        def take(result: PostOutcome) -> None:
            outcome.append(result)
            answered.set()

        c.state.post(event, answer=take)
        if not answered.wait(deadline_s):
            return Answer.refused(NO_ANSWER, "the table did not decide in time; ask `status`")
        result = outcome[0]
        if not result.is_taken:
            text = self._why_not(command, result)
            return Answer(NOT_NOW, text, details={"reason": result.code, "recorded": True})
        state = c.state.state
        did = command.did(is_first=state.stated is not None)
        said = f"{did} {table_view.says(c, state)}{self._next()}"
        return Answer.ok(said, record=result.sequence)

    def note(self, note: Note) -> None:
        """Put a fact about a console on record."""
        actor = {
            "name": note.actor.name,
            "role": note.actor.role.value if note.actor.role else None,
            "number": note.actor.number,
            "port": note.actor.port,
        }
        body = {"note": note.kind, "text": note.text, "actor": actor}
        self._c.journal.append("console", body, waits=True)

    def subscribe(self, callback: Callable[[Announcement], None]) -> Callable[[], None]:
        """Call back with each announcement; returns the way to end it."""
        with self._lock:
            self._subscribers.append(callback)

        def end() -> None:
            with self._lock:
                if callback in self._subscribers:
                    self._subscribers.remove(callback)

        return end

    def tell(self, announcement: Announcement) -> None:
        """Pass an announcement to every console. Called by the service."""
        with self._lock:
            callbacks = tuple(self._subscribers)
        for callback in callbacks:
            callback(announcement)

    # ── Pieces ──────────────────────────────────────────────────────────────

    def _allowed_now(self, state: TableState) -> frozenset[str]:
        """Asked of the rules once for each state: a trial of every act takes a while on a Pi."""
        known_for, verbs = self._allowed
        if known_for is not state:
            verbs = allowed_verbs(state, self._c.rulebook, self._c.wall, self._c.faults)
            self._allowed = (state, verbs)
        return verbs

    def _why_not(self, command: TypedCommand, refused: PostOutcome) -> str:
        """The rules name their event; a person knows the command that they gave."""
        why = f"{refused.text.partition(': ')[2] or refused.text}."
        if refused.code == "not-now":
            why = f"not now. {table_view.says(self._c, self._c.state.state)}"
        waits = self.view().pending
        line = f" Asked for now: {waits.text}." if waits is not None else self._next()
        return f"{command.name}: {why}{line}"

    def _next(self) -> str:
        """What brings the table on, with the line to type; empty where nothing does."""
        step = self.view().next_step
        return f" Next: {step}." if step else ""

    def _at_a_device(self, command: TypedCommand) -> Answer:
        if self._c.state.state.phase not in AT_HAND:
            return Answer.refused(NOT_NOW, f"{command.name}: only while the table is closed")
        if command.name == "light":
            return self._light(command)
        return self._selftest()

    def _clear_meters(self, actor: Actor) -> Answer:
        """Two persons, one after the other; what stood before goes on record with both names."""
        c, now = self._c, self._c.monotonic()
        try:
            by = person(actor)
            if c.state.state.phase not in AT_HAND:
                raise RefusedError("meters clear: only while the table is closed")
            was = {name: count for name, count in self.meters().items() if isinstance(count, int)}
            with self._lock:
                first, self._clearing = self._clearing, (by, now)
                if first is None or not agree(first[0], by) or now - first[1] > SECOND_WITHIN_S:
                    return Answer.ok(
                        "noted; within five minutes a second person says: meters clear"
                    )
                self._clearing = None
            both = [f"{one.name} {one.number}".strip() for one in (first[0], by)]
            text = f"with {both[0]}; " + ", ".join(f"{count} {what}" for what, count in was.items())
            who = {**by.signature(), "port": actor.port}
            body = {"note": CLEARED, "text": text, "actor": who, "by": both, "was": was}
            c.journal.append("console", body)
        except ShakerError as error:
            return Answer.refused(NOT_NOW, error.line())
        return Answer.ok(f"the meters are cleared by {both[0]} and {both[1]}")

    def _light(self, command: TypedCommand) -> Answer:
        level = command.arguments["level"]
        assert isinstance(level, int | float)
        self._c.set_light(float(level))
        self._c.post(events.ConditionChanged(Condition.LIGHT))
        return Answer.ok(f"ring light at {float(level):.0%}")

    def _check_jog(self, asked: events.JogRequested) -> None:
        p = self._c.motion_parameters
        top_rpm = p.shake.band_high_rpm
        if not (MIN_JOG_RPM <= asked.rpm <= top_rpm and 0 < asked.seconds <= p.jog_limit_s):
            raise RefusedError(
                f"a jog is {MIN_JOG_RPM:g} to {top_rpm:g} rpm for up to {p.jog_limit_s:g} s",
                remedy="give both inside these bounds",
            )

    def _require_unbarred(self) -> None:
        """Raise `RefusedError` where the clock would let no table open, and no round begin."""
        c, state = self._c, self._c.state.state
        if state.phase in (Phase.INSPECTED, Phase.READY) and (why := table_view.barrier(c, state)):
            raise RefusedError(c.rulebook.explain(why), remedy=f"Next: {self.view().next_step}")

    def _require_clock_and_dice(self) -> None:
        """Raise `RefusedError` where an inspection would have to be made again: the dice to be
        recorded make a new one due, and no signature has a time.
        """
        c, state = self._c, self._c.state.state
        why = table_view.barrier(c, state) if state.phase is Phase.INSPECTION_DUE else None
        if why in (Barrier.TIME_UNTRUSTED, Barrier.DICE_UNKNOWN):
            raise RefusedError(c.rulebook.explain(why), remedy=f"Next: {self.view().next_step}")

    def _selftest(self) -> Answer:
        """Every device that can be asked without moving anything; a fault hides none of them."""
        view = self.view()
        wrong = [f"{f.code}: {f.cause}" for f in view.faults]
        good: list[str] = []
        for is_good, text in _devices(view):
            (good if is_good else wrong).append(text)
        if not wrong:
            return Answer.ok("; ".join(good))
        also = f". Good: {'; '.join(good)}" if good else ""
        return Answer.refused(FAILED, "; ".join(wrong) + also)


def _devices(view: console.TableView) -> Iterator[tuple[bool, str]]:
    """Each device: whether it is good, and what was seen of it."""
    camera, lamps = view.camera, view.lamps
    is_ready = camera.state == "ready" and bool(camera.fps)
    frames = f"{camera.fps or 0:g} frames a second"
    anew = "to measure it anew, stop the service: shaker-ctl calibrate camera"
    yield (
        is_ready,
        f"camera {frames}, where it was calibrated"
        if is_ready
        else f"camera: {camera.state}, {frames}; {anew}",
    )
    is_new = lamps.age_s is not None and lamps.age_s <= OLDEST_ANSWER_S
    yield is_new and lamps.is_healthy and not lamps.broken, f"lamp box: {lamps.box}"
    yield view.motor.link == "connected", f"GPIO: {view.motor.link}"
    yield view.journal.state == "good", f"journal: {view.journal.state}"
