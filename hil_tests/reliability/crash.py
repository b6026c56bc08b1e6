"""SIGKILL of the service at every append and every output of a round, and at any other moment.

Owns the points at which it is killed, and what must hold when it has been started again:

- the journal verifies, both copies of it;
- the round in hand has exactly one outcome, and rounds are numbered without a gap;
- the motor was off within 150 ms of the kill, and did not move again in that round;
- no value but the truth was committed, and the lamps that burnt are those that the journal says:
  the winning areas of a settled round, none of a void one.

Appends are counted from outside, in the journal's own thread, at the end of each sync: recorded,
and not acted on; or at the first write after the sync before it: decided, and not recorded. Outputs
are counted on the rig's wires: done, and perhaps not recorded as done.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from hil_tests.campaign import Campaign
from hil_tests.processes import BenchError, TrialError, end_at_once
from hil_tests.reliability import tracer
from hil_tests.reliability.bench import Bench
from hil_tests.reliability.required import Observation, RequiredEnding, RequiredLamps
from hil_tests.reliability.witness import Evidence, Note, RecordedStep, Witness, drives, judge
from shaker_ctl.console.client import Reply
from shaker_ctl.errors import ShakerError

OUTPUTS: tuple[tuple[str, str], ...] = (
    ("phase: bets open", "1 phase"),
    ("phase: no more bets", "2 phase"),
    ("EN rises", "1 enable"),
    ("phase: tossing", "3 phase"),
    ("motor turns", "1 edges"),
    ("motor at speed", "150 edges"),
    ("EN falls", "1 disable"),
    ("ring light dips", "1 light"),
    ("ring light is back", "2 light"),
    ("phase: reading", "4 phase"),
    ("stage", "1 stage"),
    ("commit", "1 commit"),
    ("phase: result", "5 phase"),
    ("clear", "1 clear"),
)
"""Every output of a round on the rig's wires, in their order, and how the rig waits for it."""

APPENDS = (
    *("BetsRequested", "TimeChecked", "NoMoreBetsCalled", "ActivationRequested", "TossPlanDrawn"),
    *("LampsProvedDark", "TossStarted", "TossSettled", "AtRest", "ReadingMade", "LampsShown"),
    *("WagersSettled", "LampsOffRequested", "LampsDark", "TimerExpired"),
)
"""What a round records, in its order: each is to be the last thing on record at some kill."""

TRIES = 4
"""Kills that aim at an append which was missed: two records may share one sync, and a round may
have one more than another."""

CHANGE: tuple[tuple[str, str, int, bool], ...] = (
    ("before the new file has its name", "rename", 1, True),
    ("the new file has its name", "rename", 1, False),
    ("its name is synced", "fsync", 1, False),
)
"""Points of a change of volume: the n-th call of a kind in the journal's thread, counted from the
rename of the new volume on, and whether it is killed before the call. Every call of a change:
`power_cut`."""

CHANGE_RECORDS = 100
"""Records at which a volume ends at these tables, the fewest that the settings allow: a change
comes within eight rounds."""

NOTICES = ("bets_open", "no_more_bets", "result")
"""Announcements of a round on the consoles."""

MAX_ROUNDS = 12
"""Rounds that are played until a volume changes."""

TURN_S = 1.0
"""Longest time from the end of a round to the change of volume that is due, which the main thread
looks for twice a second."""

MAX_APPENDS = 40
"""A round makes 13 to 16 records; more than this is a round that does not end."""

RESTART_S, STARTS = 2.0, 5
"""Of the installed unit, which starts the service again where a start failed."""

IN_PLAY = "into play"

OFF_S = 0.15
LOOK_S = 0.05
MAX_S = 30.0
RANDOM_S = 14.0
"""Random kills in play fall within so long: two rounds."""
START_S = 54.0
"""Random kills after a start fall within so long: an inspection, whose walk over 52 lamps takes
half a minute, and the first of a round."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where the service is killed."""

    kind: str
    """`append`, `write`, `output`, `console`, `volume` or `random`."""
    what: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.what}"


@dataclass
class Crash:
    """What became of one kill."""

    point: str
    after: str = ""
    """The last event on record when it was killed."""
    round: int = 0
    ending: str = ""
    motor_off_s: float | None = None
    wrong: list[str] = field(default_factory=list)
    is_beyond: bool = False
    """The round ended before this point came: it has no such point."""


def missed(hit: Iterable[str], tried: Iterable[str]) -> list[Point]:
    """The next point for each append that was never the last thing on record; none where it has
    been tried often enough."""
    found = []
    for number, event in enumerate(APPENDS, start=1):
        tries = sum(f"(for {event}" in name for name in tried)
        if event not in hit and tries < TRIES:
            found.append(Point("append", f"{number} (for {event}, {tries + 1})"))
    return found


def points(*, both_sides: bool) -> Iterator[Point]:
    """Appends without end (the first that is beyond the round ends them), then outputs."""
    for number in range(1, MAX_APPENDS + 1):
        yield Point("append", str(number))
    if both_sides:
        for number in range(1, MAX_APPENDS + 1):
            yield Point("write", str(number))
    for name, _ in OUTPUTS:
        yield Point("output", name)
    for notice in NOTICES:
        yield Point("console", notice)
    for name, *_ in CHANGE:
        yield Point("volume", name)


def random_points(count: int, seed: int) -> Iterator[Point]:
    """Moments after the start, whatever the table is at then, and moments of play, in turn."""
    chance = random.Random(seed)
    for number in range(count):
        in_play = number % 2 == 1
        after_s = chance.uniform(0.0, RANDOM_S if in_play else START_S)
        yield Point("random", f"{after_s:.3f} s {IN_PLAY if in_play else 'after the start'}")


class Crashes:
    """Kills the service of one bench, and judges what follows."""

    def __init__(self, bench: Bench, witness: Witness) -> None:
        self._bench = bench
        self._witness = witness
        self._steps: list[RecordedStep] = []
        self._events: list[Note] = []
        self._lamps: list[Note] = []
        self._tosses: list[Note] = []
        self._ended_before: set[int] = set()
        self._children: list[int] = []

    # ── At a point of a round ───────────────────────────────────────────────

    def at(self, point: Point) -> Crash:
        """Play a round, kill at the point, start again, bring it to its end, judge.

        A round that chance ended early says nothing of what comes later: another one is played.
        """
        if point.kind == "random":
            return self._at_random(point)
        for _ in range(TRIES):
            crash = self._once_at(point)
            if not crash.is_beyond or self._has_settled():
                break
        return crash

    def _has_settled(self) -> bool:
        """Whether the round that was played whole had everything that a round has."""
        self._look()
        commands = [command for step in self._steps for command in step.commands]
        return any(one.get("ending") == RequiredEnding.SETTLED for one in commands)

    def _once_at(self, point: Point) -> Crash:
        self._bench.make_ready()
        self._bench.act("dealer", "whoami")  # logged in before: that is on record, too
        self._forget()
        crash = Crash(point.name)
        killer = self._arm(point)
        try:
            killed_s = self._play_until_killed(point)
            rounds = 1
            while point.kind == "volume" and killed_s is None and rounds < MAX_ROUNDS:
                time.sleep(TURN_S)  # the volume changes when the round is over
                self._bench.make_ready(unless=lambda: self._is_killed(killer))
                if self._is_killed(killer):
                    break
                killed_s = self._play_until_killed(point)
                rounds += 1
        finally:
            if killer is not None:
                killer.release()
        if killed_s is None and self._is_killed(killer):
            killed_s = time.monotonic()
        if killed_s is None:
            crash.is_beyond = True
            self._bench.ask_rig("heal all")
            return crash
        if killer is not None and killer.killed_s is not None:
            killed_s = killer.killed_s
        self._come_back(crash, killed_s)
        return crash

    @staticmethod
    def _is_killed(killer: tracer.KilledAt | None) -> bool:
        return killer is not None and killer.killed_s is not None

    def _arm(self, point: Point) -> tracer.KilledAt | None:
        pid = self._bench.session.service_pid
        assert pid is not None
        if point.kind == "output":
            after = dict(OUTPUTS)[point.what]
            self._bench.ask_rig(f"inject process_killed pid={pid} after {after}")
        if point.kind == "volume":
            call, count, before = next(at[1:] for at in CHANGE if at[0] == point.what)
            since = None if call == "rename" else "rename"
            killer = tracer.KilledAt(pid, "journal", call, count, before=before, since=since)
        elif point.kind == "append":
            killer = tracer.KilledAt(pid, "journal", "fsync", self._count(point))
        elif point.kind == "write":
            synced = self._count(point) - 1
            since = "fsync" if synced else None
            killer = tracer.KilledAt(
                pid, "journal", "pwrite", 1, before=True, since=since, since_count=synced
            )
        else:
            return None
        killer.start()
        killer.began.wait(2.0)
        if killer.failure:
            raise TrialError(killer.failure)
        return killer

    @staticmethod
    def _count(point: Point) -> int:
        return int(point.what.split()[0])

    def _play_until_killed(self, point: Point) -> float | None:
        """Play as a dealer does; return when the service was found dead, None for a whole round."""
        has_begun = False

        def is_over(status: Reply) -> bool:
            nonlocal has_begun
            if point.kind == "console" and self._was_announced(point.what):
                self._bench.session.kill_service()
                return False
            is_between = status["life"] != "open" or status["phase"] == "ready"
            was_begun, has_begun = has_begun, not is_between
            return was_begun and is_between

        return None if self._bench.play_until(is_over, MAX_S) else time.monotonic()

    def _was_announced(self, notice: str) -> bool:
        heard = [*self._bench.console("technician").events, *self._bench.console("dealer").events]
        return any(event.get("notice") == notice for event in heard)

    # ── At any moment ───────────────────────────────────────────────────────

    def _at_random(self, point: Point) -> Crash:
        """Kill at a moment of play, or from the start on."""
        after_s = float(point.what.split()[0])
        crash = Crash(point.name)
        if point.what.endswith(IN_PLAY):
            self._bench.make_ready()
        elif not self._bench.session.is_serving:
            self._bench.restart_service()
        self._forget()
        pid = self._bench.session.service_pid
        assert pid is not None
        killed_s: list[float] = []

        def kill() -> None:
            killed_s.append(time.monotonic())
            os.kill(pid, signal.SIGKILL)

        timer = threading.Timer(after_s, kill)
        timer.daemon = True
        timer.start()
        self._bench.play_until(lambda _: False, after_s + MAX_S)
        self._come_back(crash, killed_s[0], to_the_end=False)
        return crash

    # ── Afterwards ──────────────────────────────────────────────────────────

    def _forget(self) -> None:
        self._look()
        self._children = self._bench.session.children()
        self._ended_before = set(self._witness.rounds)
        for kept in (self._steps, self._events, self._lamps, self._tosses):
            kept.clear()

    def _look(self) -> list[str]:
        steps, wrong = self._witness.steps()
        self._steps += steps
        self._events += self._witness.notes("events")
        self._lamps += self._witness.notes("lamps")
        self._tosses += self._witness.notes("truth")
        return [*wrong, *self._witness.account(steps)]

    def _come_back(self, crash: Crash, killed_s: float, *, to_the_end: bool = True) -> None:
        """Start the service again, let people end the round, and judge it."""
        self._start_as_the_unit_does()
        crash.wrong += self._look()
        if differs := self._witness.second_differs():
            crash.wrong.append(differs)
        crash.after, crash.round = self._last_words()
        if crash.round:
            self._end_the_round(crash)
        crash.wrong += self._look()
        self._judge(crash, killed_s)
        if to_the_end:
            self._bench.make_ready()

    def _start_as_the_unit_does(self) -> None:
        """Kill what the killed service left, start, and start again where that failed.

        Its records process would hold a file of the journal.
        """
        for pid in self._children:
            end_at_once(pid)
        for _ in range(STARTS - 1):
            try:
                self._bench.restart_service()
            except BenchError:
                time.sleep(RESTART_S)
            else:
                return
        self._bench.restart_service()

    def _last_words(self) -> tuple[str, int]:
        """The last event before the restart, and the round that it left open (0: none)."""
        before = []
        for step in self._steps:
            if step.text == "Restarted":
                break
            before.append(step)
        last = before[-1] if before else None
        opened = [s.round for s in before if s.round]
        ended = {one.number for step in before for one in step.ended}
        number = opened[-1] if opened else 0
        is_open = bool(number) and number not in ended | self._ended_before
        return (last.text if last else "nothing"), (number or 0) if is_open else 0

    def _end_the_round(self, crash: Crash) -> None:
        until_s = time.monotonic() + MAX_S
        while crash.round not in self._witness.rounds:
            if time.monotonic() > until_s:
                crash.wrong.append(f"round {crash.round} has no outcome")
                return
            with suppress(ShakerError, OSError):
                status = self._bench.status()
                _ = self._bench.prompt(status) or self._bench.settle(status)
            time.sleep(LOOK_S)
            crash.wrong += self._look()

    def _judge(self, crash: Crash, killed_s: float) -> None:
        seen = judge(
            Evidence(
                number=crash.round,
                struck_s=None,
                events=self._since_bets(crash, self._events),
                lamps=self._since_bets(crash, self._lamps),
                tosses=self._tosses,
                steps=self._steps,
                seen_as=(),
            )
        )
        crash.ending = seen.ending or ""
        crash.wrong += seen.violations
        crash.wrong += self._disagreement(crash, seen)
        falls = [fell_s for _, fell_s in drives(self._events) if fell_s is not None]
        killed = [n["t"] for n in self._events if n.get("name") == "process_killed"]
        began_s = killed[0] if killed else killed_s
        if falls and falls[-1] > began_s:
            crash.motor_off_s = round(falls[-1] - began_s, 3)
            if crash.motor_off_s > OFF_S:
                crash.wrong.append(f"EN low {crash.motor_off_s} s after the kill")

    def _since_bets(self, crash: Crash, notes: list[Note]) -> list[Note]:
        """The rig's notes since the bets of this round; cycles of inspections are none of it."""
        opened = [s.at_s for s in self._steps if s.round == crash.round and crash.round]
        return [n for n in notes if opened and n["t"] >= min(opened)]

    @staticmethod
    def _disagreement(crash: Crash, seen: Observation) -> list[str]:
        if not crash.round or not seen.ending:
            return []
        if seen.ending == RequiredEnding.SETTLED and seen.lamps != RequiredLamps.TRUTH:
            return [f"journal: settled; lamps: {seen.lamps}"]
        if (
            seen.ending in (RequiredEnding.VOID, RequiredEnding.NOT_STARTED)
            and seen.lamps != RequiredLamps.DARK
        ):
            return [f"journal: {seen.ending}; lamps: {seen.lamps}"]
        return []


# ── What was kept ───────────────────────────────────────────────────────────


def is_well(kept: Campaign[Crash], point: Point) -> bool:
    """Whether it was killed at this point, and all was well."""
    crash = kept.find(point.name)
    return crash is not None and not crash.wrong


def appends(kept: Campaign[Crash]) -> dict[str, int]:
    """After which recorded event it was killed at an append, and how often."""
    return Counter(
        crash.after.split(":")[0] for case, crash in kept.all if case.startswith("append")
    )


def randoms(kept: Campaign[Crash]) -> int:
    """How often it was killed at a random moment."""
    return sum(case.startswith("random") for case, _ in kept.all)
