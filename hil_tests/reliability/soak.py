"""A long run: round after round, with faults of every kind in between, and what it leaves behind.

Owns which faults are thrown in (passing ones, and those that people mend), when, and the criterion
for growth: the median of the last quarter of the samples may not lie above that of the second
quarter by more than `ALLOWED`. The first quarter is warm-up: models, caches, the journal's page
cache. Restarts by the run itself do not happen: a leak must not be hidden by them.
"""

from __future__ import annotations

import random
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hil_tests.demo import report
from hil_tests.reliability.bench import Bench
from hil_tests.reliability.witness import Witness
from shaker_ctl.console.client import Reply
from shaker_ctl.errors import ShakerError
from shaker_ctl.service.status_socket import read_status

PASSING = (
    "camera_black",
    "camera_frozen",
    "camera_late seconds=1",
    "camera_garbled",
    "camera_slow fps=6",
    "camera_torn",
    "light_dead",
    "line_noise line=lamp per_byte=0.001",
    "line_noise line=dealer per_byte=0.2",
    "line_unplugged line=technician",
    "button_stuck",
)
"""Mended after a second or two by themselves; play goes on."""

STOPPING = (
    "jam after 60 edges",
    "tach_silent after 80 edges",
    "estop_contact_open after 60 edges",
    "lamp_silent after 1 stage",
    "lamps_shifted after 1 rest",
    "bulb_burnt area=small,big,any-triple after 1 rest",
    "line_unplugged line=lamp after 1 stage",
    "pigpiod_vanish after 60 edges",
    "pigpiod_hang after 1 rest",
    "camera_closed after 1 start",
)
"""People mend them, and inspect; or, the last ones, the service does by itself."""

SAMPLE_S = 5.0
LOOK_S = 0.1
PASSING_S = (0.5, 2.5)
EVERY_S = (4.0, 12.0)
SHARE_STOPPING = 0.25
"""One in four faults stops the table; each such costs an inspection of a quarter of a minute."""


@dataclass(frozen=True, slots=True)
class Use:
    """What processes hold at one moment, service and camera process together."""

    t_s: float
    service_mb: float
    camera_mb: float
    handles: int
    threads: int


ALLOWED = {"service_mb": 6.0, "camera_mb": 8.0, "handles": 3.0, "threads": 1.5}
"""Most growth between the second and the last quarter. Megabytes that the journal's page cache and
the picture of the last reading may still take; handles of a console that is being opened anew."""


def sample(service: int, camera: int | None, now_s: float) -> Use:
    """Read /proc of both (proc(5)): unshared resident memory, open handles, threads."""
    pids = [service] if camera is None else [service, camera]
    return Use(
        now_s,
        _anonymous_mb(service),
        0.0 if camera is None else _anonymous_mb(camera),
        sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids),
        sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in pids),
    )


def _anonymous_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


def growth(uses: list[Use]) -> dict[str, float]:
    """Growth of each figure from the second to the last quarter of the run; empty where there are
    too few samples for quarters."""
    quarter = len(uses) // 4
    if quarter < 2:
        return {}
    early, late = uses[quarter : 2 * quarter], uses[-quarter:]
    return {
        name: statistics.median(getattr(u, name) for u in late)
        - statistics.median(getattr(u, name) for u in early)
        for name in ALLOWED
    }


def too_much(grown: dict[str, float]) -> list[str]:
    """Figures that grew by more than is allowed."""
    return [
        f"{name} grew by {grown[name]:+.1f} (allowed {limit:g})"
        for name, limit in ALLOWED.items()
        if name in grown and grown[name] > limit
    ]


@dataclass
class Soak:
    """One run on one bench."""

    bench: Bench
    witness: Witness
    chance: random.Random
    uses: list[Use] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _passing: list[tuple[float, str]] = field(default_factory=list)
    _next_fault_s: float = 0.0
    _next_sample_s: float = 0.0
    _stopping: bool = False

    def run(self, seconds: float) -> None:
        """Play for so long; raises `BenchError` where the table does not come back."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            now_s = time.monotonic()
            self._heal_passing(now_s)
            self._sample(now_s)
            with suppress(ShakerError, OSError):
                self._step(now_s)
            time.sleep(LOOK_S)
        for _, name in self._passing:
            self.bench.rig(f"heal {name}")
        self.bench.make_ready()
        self._look()
        if differs := self.witness.second_differs(5.0):
            self.wrong.append(differs)

    @property
    def rounds(self) -> int:
        return len(self.witness.rounds)

    def verdict(self, even_odd: bool = False) -> list[str]:
        """Everything that was wrong: lamps and values against the truth, rounds, growth."""
        session = self.bench.session
        found = report.rounds_of(session.journal, session.rig, session.folder, session.plan.profile)
        tally = report.check(
            [r for r in found if r.verdict in ("verified", "entered")], even_odd=even_odd
        )
        return [*self.wrong, *tally.differences, *too_much(growth(self.uses))]

    # ── One turn ────────────────────────────────────────────────────────────

    def _step(self, now_s: float) -> None:
        status = self.bench.status()
        if status["life"] != "open":
            self._mend(status)
            return
        self._stopping = self._stopping and status["phase"] != "ready"
        if now_s >= self._next_fault_s and status["phase"] not in ("ready", ""):
            self._throw_in(now_s)
        if status["phase"] == "ready":
            self._look()
            self.bench.round_begins()
            self.bench.act("dealer", "bets")
            return
        verb = {"betting": "nmb", "no more bets": "activate"}.get(status["phase"])
        if verb:
            self.bench.act("dealer", f"{verb} {status['round']}")
        elif not self.bench.prompt(status):
            self.bench.settle(status)

    def _mend(self, status: Reply) -> None:
        """People find it out of service, or an inspection due: they mend, inspect, open."""
        if self._stopping or self._passing:
            self._stopping = False
            self._passing.clear()
            self.bench.mend_everything()
        self.bench.mend_step(status)

    def _throw_in(self, now_s: float) -> None:
        self._next_fault_s = now_s + self.chance.uniform(*EVERY_S)
        if self._stopping or self._passing:
            return
        if self.chance.random() < SHARE_STOPPING:
            sentence = self.chance.choice(STOPPING)
            self._stopping = True
        else:
            sentence = self.chance.choice(PASSING)
            until_s = now_s + self.chance.uniform(*PASSING_S)
            self._passing.append((until_s, sentence.split()[0]))
        self.bench.rig(f"inject {sentence}")
        self.faults.append(sentence.split()[0])

    def _heal_passing(self, now_s: float) -> None:
        for until_s, name in [one for one in self._passing if one[0] <= now_s]:
            self.bench.rig(f"heal {name}")
            self._passing.remove((until_s, name))
            if name.startswith("line_"):
                self.bench.reconnect()

    def _sample(self, now_s: float) -> None:
        pid = self.bench.session.service_pid
        if now_s < self._next_sample_s or pid is None:
            return
        self._next_sample_s = now_s + SAMPLE_S
        with suppress(OSError):
            camera = read_status(self.bench.session.runtime_dir)["camera_pid"]
            self.uses.append(sample(pid, camera, now_s))

    def _look(self) -> None:
        steps, wrong = self.witness.steps()
        self.wrong += [*wrong, *self.witness.account(steps)]
