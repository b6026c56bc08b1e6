"""A long run: round after round, with faults of every kind in between, and what it leaves behind.

Owns which faults are thrown in (passing ones, and those that people mend), when, and the criterion
for growth: a straight line through the second half of the run, and the most that its slope can be
with 95 % confidence. That bound is compared with `ALLOWED`. So a run that is too short or too noisy
to exclude growth does not pass. The first half is warm-up: models, caches, the journal's page
cache. Restarts by the run itself do not happen: a leak must not be hidden by them.
"""

from __future__ import annotations

import random
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hil_tests.campaign import Campaign
from hil_tests.processes import in_status
from hil_tests.reliability.bench import Bench
from hil_tests.reliability.witness import Witness
from hil_tests.slope import slope
from hil_tests.table_under_test.rounds import check, rounds_of
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

SAMPLES = "samples.jsonl"
SAMPLE_S = 5.0
LOOK_S = 0.1
PASSING_S = (0.5, 2.5)
EVERY_S = (4.0, 12.0)
PATIENCE_S = 12.0
"""How long people watch a round that does not go on before they look at the machine. A cam that
jams in the instant in which it brakes leaves dice that nobody could call at rest."""

SHARE_STOPPING = 0.25
"""One in four faults stops the table; each such costs an inspection of a quarter of a minute."""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """What processes hold at one moment, service and camera process together."""

    t_s: float
    service_mb: float
    camera_mb: float
    handles: int
    threads: int
    camera_pid: int = 0


ALLOWED = {"service_mb": 12.0, "camera_mb": 12.0, "handles": 8.0, "threads": 4.0}
"""Most growth an hour, of the bound: what half an hour of samples can exclude. For comparison: one
picture of 100 kB kept a round would be 40 MB an hour, one handle a round 400."""

BLOCK_S = 60.0
"""Samples of one minute make one point of the fit: their median. A fault and its mending last less,
and what one of them borrows is no growth."""

MIN_BLOCKS = 6
CONFIDENCE_T = {4: 2.13, 5: 2.02, 6: 1.94, 8: 1.86, 10: 1.81, 13: 1.77, 20: 1.72, 30: 1.70}
"""Student's t, one-sided 95 %, by degrees of freedom; between two the larger holds."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Slope of one figure over the second half, and its upper bound at 95 %; units an hour."""

    per_hour: float
    at_most: float


def sample(service: int, camera: int | None, now_s: float) -> ResourceUse:
    """Read /proc of both (proc(5)): unshared resident memory, open handles, threads."""
    pids = [service] if camera is None else [service, camera]
    return ResourceUse(
        now_s,
        in_status(service, "RssAnon") / 1024,
        0.0 if camera is None else in_status(camera, "RssAnon") / 1024,
        sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids),
        sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in pids),
        camera or 0,
    )


def growth(uses: list[ResourceUse]) -> dict[str, Growth]:
    """Trend of each figure over the second half; without those for which it is too short.

    A camera process that was started anew is another process: its memory is fitted where one of
    them lived longest.
    """
    late = uses[len(uses) // 2 :]
    found = {}
    for name in ALLOWED:
        of_it = _longest_life(late) if name == "camera_mb" else late
        if (trend := _fit([(u.t_s, float(getattr(u, name))) for u in of_it])) is not None:
            found[name] = trend
    return found


def _longest_life(uses: list[ResourceUse]) -> list[ResourceUse]:
    by_pid: dict[int, list[ResourceUse]] = {}
    for use in uses:
        by_pid.setdefault(use.camera_pid, []).append(use)
    return max(by_pid.values(), key=len, default=[])


def _fit(points: list[tuple[float, float]]) -> Growth | None:
    """Least squares through the medians of minutes; None where there are too few."""
    blocks: dict[int, list[tuple[float, float]]] = {}
    for t_s, value in points:
        blocks.setdefault(int((t_s - points[0][0]) / BLOCK_S), []).append((t_s, value))
    if len(blocks) < MIN_BLOCKS:
        return None
    hours = [statistics.fmean(t for t, _ in block) / 3600.0 for block in blocks.values()]
    values = [statistics.median(v for _, v in block) for block in blocks.values()]
    per_hour, error = slope(hours, values)
    freedom = len(blocks) - 2
    t = next(t for known, t in reversed(CONFIDENCE_T.items()) if known <= freedom)
    return Growth(per_hour, per_hour + t * error)


def too_much(grown: dict[str, Growth]) -> list[str]:
    """Figures whose growth is not excluded, and those of which nothing is known."""
    found = [f"{name}: the run was too short to tell growth" for name in ALLOWED.keys() - grown]
    return sorted(found) + [
        f"{name} grows by {grown[name].per_hour:+.1f} an hour, at most {grown[name].at_most:+.1f} "
        f"(allowed {limit:g})"
        for name, limit in ALLOWED.items()
        if name in grown and grown[name].at_most > limit
    ]


@dataclass
class Soak:
    """One run on one bench."""

    bench: Bench
    witness: Witness
    chance: random.Random
    samples: Campaign[ResourceUse]
    faults: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _passing: list[tuple[float, str]] = field(default_factory=list)
    _next_fault_s: float = 0.0
    _next_sample_s: float = 0.0
    _stopping: bool = False
    _stands: tuple[str, int | None] = ("", None)
    _stands_since_s: float = 0.0

    def run(self, seconds: float) -> None:
        """Play for so long; raises `TrialError` where the table does not come back."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            now_s = time.monotonic()
            self._heal_passing(now_s)
            self._sample(now_s)
            with suppress(ShakerError, OSError):
                self._step(now_s)
            time.sleep(LOOK_S)
        for _, name in self._passing:
            self.bench.ask_rig(f"heal {name}")
        self.bench.make_ready()
        self._look()
        if differs := self.witness.second_differs(5.0):
            self.wrong.append(differs)

    @property
    def uses(self) -> list[ResourceUse]:
        return [use for _, use in self.samples.all]

    @property
    def rounds(self) -> int:
        return len(self.witness.rounds)

    def verdict(self) -> list[str]:
        """Everything that was wrong: lamps and values against the truth, rounds, growth."""
        session = self.bench.session
        found = rounds_of(session.journal, session.rig, session.folder, session.plan.profile)
        # What burns in a round that people settle by hand is what the fault of the lamps lights.
        tally = check([r for r in found if r.verdict != "settled_by_hand"])
        return [*self.wrong, *tally.differences, *too_much(growth(self.uses))]

    # ── One turn ────────────────────────────────────────────────────────────

    def _step(self, now_s: float) -> None:
        status = self.bench.status()
        if status["life"] != "open":
            self._mend(status)
            return
        self._stopping = self._stopping and status["phase"] != "ready"
        self._look_after_it(status, now_s)
        if now_s >= self._next_fault_s and status["phase"] not in ("ready", ""):
            self._throw_in(now_s)
        if status["phase"] == "ready":
            self._look()
        self.bench.play_step(status)

    def _look_after_it(self, status: Reply, now_s: float) -> None:
        """Mend whatever is wrong with the machine where a round does not go on."""
        stands = (status["phase"], status["round"])
        if stands != self._stands:
            self._stands, self._stands_since_s = stands, now_s
        elif now_s - self._stands_since_s > PATIENCE_S:
            self._stands_since_s = now_s
            self.bench.mend_everything()

    def _mend(self, status: Reply) -> None:
        """People find it out of service, or an inspection due: they mend, inspect, open.

        A fault that waits for edges may have come into force a round later than it was thrown in:
        out of service, they look at everything.
        """
        if self._stopping or self._passing or status["life"] == "out of service":
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
        self.bench.ask_rig(f"inject {sentence}")
        self.faults.append(sentence.split()[0])

    def _heal_passing(self, now_s: float) -> None:
        for until_s, name in [one for one in self._passing if one[0] <= now_s]:
            self.bench.ask_rig(f"heal {name}")
            self._passing.remove((until_s, name))
            if name.startswith("line_"):
                self.bench.leave_consoles()

    def _sample(self, now_s: float) -> None:
        pid = self.bench.session.service_pid
        if now_s < self._next_sample_s or pid is None:
            return
        self._next_sample_s = now_s + SAMPLE_S
        with suppress(OSError):
            camera = read_status(self.bench.session.runtime_dir)["camera_pid"]
            self.samples.keep(f"{now_s:.0f} s", sample(pid, camera, now_s))

    def _look(self) -> None:
        steps, wrong = self.witness.steps()
        self.wrong += [*wrong, *self.witness.account(steps)]
