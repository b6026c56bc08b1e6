"""One fault at one moment of one round: played, watched, judged.

Owns the order of a trial. People act as the table asks them to; the fault comes at its moment; what
was seen is compared with what the catalogue requires. A trial in which the computer itself was late
proves nothing about the table: it is repeated, and the report says so.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hil_tests.processes import TrialError
from hil_tests.reliability import acts
from hil_tests.reliability.bench import Bench
from hil_tests.reliability.broken_start import broken
from hil_tests.reliability.catalogue import CatalogueFault
from hil_tests.reliability.harm import Harm, Tail, take_the_services_priority
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import Observation, RequiredEnding, judged
from hil_tests.reliability.witness import Evidence, Note, RecordedStep, Witness, judge
from hil_tests.table_under_test.session import COVERED
from hil_tests.table_under_test.table import UNDER_COVER
from shaker_ctl.console.client import ConsoleRefusedError, Reply
from shaker_ctl.errors import ShakerError

LOOK_S = 0.08
MAX_S = 40.0
"""Longest round, with whatever happens in it; then the bench gives up on it."""

STILL_RPM = 5.0
COVERED_S = 0.5
"""How long bets stay open over dice at rest under their cover, once something has failed there."""

LATE_S = 0.04
"""A computer that wakes a waiting thread so late is too busy for the table's own 50 ms."""

ATTEMPTS = 3
BETWEEN = ("ready", "pacing", "admitting")
"""Phases of an open table in which no round is in hand."""


@dataclass
class Lateness:
    """How late this computer wakes a thread that waits: its worst since `begin`."""

    worst_s: float = 0.0
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        threading.Thread(target=self._watch, name="lateness", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _watch(self) -> None:
        take_the_services_priority()
        while not self._ended.is_set():
            before_s = time.monotonic()
            time.sleep(0.005)
            self.worst_s = max(self.worst_s, time.monotonic() - before_s - 0.005)


@dataclass
class Result:
    """What became of one row. `differences` empty: as required."""

    fault: str
    moment: str
    seen: Observation
    differences: list[str]
    attempts: int = 1
    late_ms: float = 0.0
    took_s: float = 0.0
    note: str = ""

    @property
    def is_as_required(self) -> bool:
        return not self.differences

    @property
    def verdict(self) -> str:
        return "; ".join(self.differences) or "as required"


class Trials:
    """Plays rows on one bench."""

    def __init__(self, bench: Bench, witness: Witness) -> None:
        self._bench = bench
        self._witness = witness
        self._lateness = Lateness()
        self._lateness.start()

    def close(self) -> None:
        self._lateness.stop()

    def play(self, fault: CatalogueFault, moment: Moment) -> Result:
        """Play a row until it is as required, or differs while the computer was in time."""
        began_s = time.monotonic()
        late_s = 0.0
        for attempt in range(1, ATTEMPTS + 1):
            seen, found, was_late_s, why = self._once(fault, moment)
            late_s = max(late_s, was_late_s)
            if not found or (was_late_s < LATE_S and not why) or attempt == ATTEMPTS:
                break
        return Result(
            fault.name,
            moment.value,
            seen,
            found,
            attempts=attempt,
            late_ms=round(1000 * late_s, 1),
            took_s=round(time.monotonic() - began_s, 1),
            note=why,
        )

    # ── One attempt ─────────────────────────────────────────────────────────

    def _once(
        self, fault: CatalogueFault, moment: Moment
    ) -> tuple[Observation, list[str], float, str]:
        self._bench.make_ready()
        self._bench.await_sight()
        wrong = self._witness.account(self._witness.steps()[0])  # rounds since, of no row
        if lags := self._witness.second_lags():
            wrong.append(lags)
        for log in ("events", "lamps"):
            self._witness.notes(log)
        tosses = self._witness.notes("truth")
        late = self._late_acts()
        self._lateness.worst_s = 0.0
        round_ = _Round(self._bench, fault, moment)
        try:
            round_.play()
        finally:
            round_.end()
        seen = self._look(round_, tosses)
        seen.violations += wrong
        late_s = self._lateness.worst_s
        if self._late_acts() > late:
            late_s = max(late_s, 0.05)
        found = judged(fault.required[moment], seen)
        if round_.harm.failure:
            found.insert(0, f"the fault was not brought about: {round_.harm.failure}")
        return seen, found, late_s, self._chance(seen, fault, moment)

    def _late_acts(self) -> int:
        """How often the rig's machine or its lamp box was late."""
        status = self._bench.ask_rig("status")
        return int(status["late_turns"] + status["late_replies"])

    def _look(self, round_: _Round, tosses: list[Note]) -> Observation:
        steps, wrong = self._steps_with_end_of(round_.number)
        events = self._witness.notes("events")
        evidence = Evidence(
            number=round_.number,
            struck_s=_onset(round_, events),
            events=events,
            lamps=self._witness.notes("lamps"),
            tosses=tosses + self._witness.notes("truth"),
            steps=steps,
            seen_as=tuple(p for one in round_.required for p in one.seen_as),
        )
        seen = judge(evidence)
        seen.life, seen.codes = round_.life, sorted(round_.codes)
        seen.still_after_s, seen.start_said = round_.still_after_s, round_.start_said
        seen.violations += wrong
        seen.violations += self._witness.account(steps)
        if evidence.struck_s is None:
            seen.violations.append("the fault never came into force")
        if differs := self._witness.second_differs():
            seen.violations.append(differs)
        return seen

    def _steps_with_end_of(self, number: int) -> tuple[list[RecordedStep], list[str]]:
        """Read on until the round's end is on record: the writer may be a moment behind."""
        steps, wrong = self._witness.steps()
        until_s = time.monotonic() + 1.0
        while not wrong and time.monotonic() < until_s and not _ends(steps, number):
            time.sleep(0.05)
            more, wrong = self._witness.steps()
            steps += more
        return steps, wrong

    def _chance(self, seen: Observation, fault: CatalogueFault, moment: Moment) -> str:
        """Dice that did not fall flat play another round than the row is about."""
        if seen.ending == RequiredEnding.NO_ROLL and not seen.violations:
            wanted = {one.ending for one in fault.required[moment]}
            return "the dice did not lie flat" if RequiredEnding.NO_ROLL not in wanted else ""
        return ""


def _ends(steps: list[RecordedStep], number: int) -> bool:
    return any(one.number == number for step in steps for one in step.ended)


def _onset(round_: _Round, events: list[Note]) -> float | None:
    """When the fault began to count: its own moment, or EN where it could not show before."""
    struck_s = round_.harm.struck_s(events)
    if struck_s is None or not any(one.from_en for one in round_.required):
        return struck_s
    return next((n["t"] for n in events if n["what"] == "enable" and n["level"]), struck_s)


class _Round:
    """One round with its people, from `bets` to the table at rest again."""

    def __init__(self, bench: Bench, fault: CatalogueFault, moment: Moment) -> None:
        self._bench = bench
        self._fault = fault
        self._moment = moment
        self.required = fault.required[moment]
        self.harm = Harm(bench, fault.act, moment)
        self.number = 0
        self.life = ""
        self.codes: set[str] = set()
        self.still_after_s: float | None = None
        self.start_said: str | None = None
        self._struck = False
        self._prodded = False
        self._restarted = False
        self._until_s = 0.0
        self._tail = Tail(Path(bench.session.rig["events"]))
        self._faults_noted: list[Note] = []

    def play(self) -> None:
        self._until_s = time.monotonic() + MAX_S
        self._bench.round_begins()
        if not self._bench.act("dealer", "bets"):
            raise TrialError("the dealer's `bets` was refused at a table that is ready")
        self.number = self._bench.status()["round"]
        if self._moment is Moment.BETS:
            self._strike_and_dwell()
        elif not self.harm.waits_for_hand:
            self.harm.arm()
        self._activate()
        self._follow()
        self._hold()

    def end(self) -> None:
        """Undo the harm and let go of the rig's logbook. Idempotent."""
        self.harm.undo()
        self._tail.close()

    # ── Acts ────────────────────────────────────────────────────────────────

    @property
    def _is_covered(self) -> bool:
        return self._bench.session.plan.profile in COVERED

    def _activate(self) -> None:
        """No more bets, and shake; where the table has moved on already, nothing."""
        for verb in ("activate",) if self._is_covered else ("nmb", "activate"):
            with suppress(ShakerError, OSError):
                if not self._bench.act("dealer", f"{verb} {self.number}"):
                    return

    def _strike_and_dwell(self) -> None:
        """Do the harm, then leave the table alone until it has moved on or time has passed."""
        self._struck = True
        before = self._phase()
        self.harm.strike()
        if self._is_a_broken_medium():
            self._prod()
        until_s = time.monotonic() + self._fault.dwell_s
        while time.monotonic() < until_s:
            time.sleep(LOOK_S)
            if not self._bench.session.is_serving or self._phase() != before:
                return

    def _phase(self) -> str:
        with suppress(ShakerError, OSError):
            return str(self._look()["phase"])
        return ""

    def _look(self) -> Reply:
        status = self._bench.status()
        self.codes |= set(status["faults"])
        return status

    def _is_a_broken_medium(self) -> bool:
        act = self._fault.act.first if isinstance(self._fault.act, acts.Then) else self._fault.act
        return isinstance(act, acts.BreakMedium)

    def _prod(self) -> None:
        """Have something recorded now: an act that the table refuses is put on record, too."""
        self._prodded = True
        with suppress(ShakerError, OSError):
            self._bench.act("dealer", "bets")

    # ── Following ───────────────────────────────────────────────────────────

    def _follow(self) -> None:
        """Act as the table asks until the round is over. Raises `TrialError` where it never is."""
        while time.monotonic() < self._until_s:
            try:
                if self._step():
                    return
            except ConsoleRefusedError:
                continue
            except (ShakerError, OSError):
                self._bench.leave_consoles()
            time.sleep(LOOK_S)
        self.life = "the round never ended"

    def _step(self) -> bool:
        """One look and at most one act; True when the round is over."""
        if not self._bench.session.is_serving:
            self._start_again()
            return False
        if self.required[0].still_within_s is not None and self.still_after_s is None:
            self._watch_cam()
        if self._moment is Moment.TOSS and self._is_a_broken_medium() and not self._prodded:
            self._prod_when_struck()
        status = self._look()
        if self._needs_restart():
            self._start_again()
            return False
        self.life = status["life"]
        if status["life"] != "open" or status["phase"] in BETWEEN:
            return True
        if self._moment is Moment.LIT and not self._struck and status["phase"] == "collecting":
            self._strike_and_dwell()
            return False
        if not (self._uncovers(status) or self._bench.prompt(status)):
            self._bench.settle(status)
        return False

    def _uncovers(self, status: Reply) -> bool:
        """The dealer's next act at a covered table. What fails at rest fails under open bets."""
        verb = UNDER_COVER.get(status["phase"]) if self._is_covered else None
        if verb is None:
            return False
        if verb == "nmb" and self._moment is Moment.REST and not self._is_due(COVERED_S):
            return False
        return self._bench.act("dealer", f"{verb} {self.number}")

    def _is_due(self, after_s: float) -> bool:
        """True when the fault has been there for so long."""
        notes = [note for note in self._tail.take() if note["what"] == "fault"]
        self._faults_noted += notes
        struck_s = self.harm.struck_s(self._faults_noted)
        return struck_s is not None and time.monotonic() - struck_s > after_s

    def _prod_when_struck(self) -> None:
        if self.harm.struck_s([]) is not None:
            self._prod()

    def _needs_restart(self) -> bool:
        """A journal that has failed is mended by a person, who then restarts the service."""
        wanted = set(self.required[0].codes)
        return self._fault.restarts and not self._restarted and bool(wanted & self.codes)

    def _watch_cam(self) -> None:
        """Note when the cam stands still: it shows that the motor is off if the daemon fails."""
        name = self._fault.act.name if isinstance(self._fault.act, acts.InjectFault) else ""
        struck = [n["t"] for n in self._tail.take() if n["what"] == "fault" and n["name"] == name]
        until_s = time.monotonic() + 3.0
        while struck and time.monotonic() < until_s:
            if self._bench.ask_rig("status")["speed_rpm"] < STILL_RPM:
                self.still_after_s = round(time.monotonic() - struck[0], 3)
                return
            time.sleep(0.01)

    def _start_again(self) -> None:
        """Start as the service manager or a person does; once wrongly, if the row says so."""
        self._restarted = True
        self.harm.undo()
        self._bench.session.kill_service() if not self._fault.restarts else self._end_in_order()
        if isinstance(self._fault.act, acts.BreakStart) and self.start_said is None:
            start = broken(self._fault.act)
            start.wrong(self._bench)
            try:
                self._bench.restart_service()
                self.start_said = "it started"
            except ShakerError as error:
                self.start_said = str(error)
            finally:
                self._bench.session.kill_service()
                start.right(self._bench)
        self._bench.restart_service()

    def _end_in_order(self) -> None:
        self._bench.leave_consoles()
        self._bench.session.stop_service()

    def _hold(self) -> None:
        """Leave the fault for what shows only later, until a required code stands; a person then
        restarts the service, where that is its remedy."""
        until_s = time.monotonic() + self._fault.hold_s
        wanted = {code for one in self.required for code in one.codes}
        while True:
            with suppress(ShakerError, OSError):
                self.life = self._look()["life"]
            if time.monotonic() > until_s or wanted & self.codes:
                break
            time.sleep(LOOK_S)
        if self._needs_restart():
            self._start_again()
            self.life = self._look()["life"]
