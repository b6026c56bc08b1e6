"""The plan of one toss: speed over time, drawn by chance inside the approved shake.

Owns how a plan is drawn, named in a record, and unfolded again into speed over time. It must not
know of duty, pins or rounds. Chance comes from the operating system (`secrets.SystemRandom`), so
that nobody can know or choose a plan. What was drawn is recorded as four plain figures from which
the very same speeds follow, so that everybody can read afterwards what was driven.
"""

from __future__ import annotations

import hashlib
import json
import random
import secrets
from bisect import bisect_right

from shaker_ctl.frozen import frozen
from shaker_ctl.motion.parameters import ShakeParameters
from shaker_ctl.rules.vocabulary import TossPlan

_DECIMALS = 3
"""Kept of every drawn number: the record is then exactly what was driven."""

_SEED_BITS = 53
"""So that every reader of JSON keeps the seed exact."""


@frozen
class ShakePlan:
    """Planned cam speed: straight lines between `points` of (seconds, rpm), then off.

    The first point is (0, 0) and the last one's time is the duration.
    """

    points: tuple[tuple[float, float], ...]

    @property
    def duration_s(self) -> float:
        """Time from EN high to EN low."""
        return self.points[-1][0]

    def speed_rpm(self, at_s: float) -> float:
        """Planned speed `at_s` seconds after EN; 0 before and after the plan."""
        if not 0.0 <= at_s < self.duration_s:
            return 0.0
        (t0, v0), (t1, v1) = self._leg(at_s)
        return v0 + (v1 - v0) * (at_s - t0) / (t1 - t0)

    def acceleration_rpm_s(self, at_s: float) -> float:
        """Planned change of speed, in rpm per second."""
        if not 0.0 <= at_s < self.duration_s:
            return 0.0
        (t0, v0), (t1, v1) = self._leg(at_s)
        return (v1 - v0) / (t1 - t0)

    def _leg(self, at_s: float) -> tuple[tuple[float, float], tuple[float, float]]:
        index = bisect_right(self.points, at_s, key=lambda point: point[0])
        return self.points[index - 1], self.points[index]


def digest(shake: ShakeParameters) -> str:
    """SHA-256 over the approved shake, as hex. Two tables with one digest shake alike."""
    text = json.dumps(shake.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def pattern(shake: ShakeParameters) -> str:
    """Return the name under which a drawn plan is recorded: kind, version and digest."""
    return f"steps {shake.version} sha256:{digest(shake)[:32]}"


def draw(shake: ShakeParameters, chance: random.Random | None = None) -> TossPlan:
    """Draw one toss: duration, speed, and what its steps vary by.

    `chance` is the operating system's unless a test passes its own.
    """
    chance = chance or secrets.SystemRandom()
    return TossPlan(
        speed_rpm=round(chance.uniform(shake.min_rpm, shake.max_rpm), _DECIMALS),
        duration_s=round(chance.uniform(shake.min_s, shake.max_s), _DECIMALS),
        pattern=pattern(shake),
        seed=chance.getrandbits(_SEED_BITS),
    )


def unfold(plan: TossPlan, shake: ShakeParameters) -> ShakePlan:
    """Return the speeds that `plan` stands for: its first speed, then a new one at each step.

    The same plan and shake give the same speeds on every machine and Python version: only
    `random.Random(seed).random()` is used, whose sequence the language guarantees.
    """
    steps = random.Random(plan.seed)

    def between(low: float, high: float) -> float:
        return round(low + (high - low) * steps.random(), _DECIMALS)

    points = [(0.0, 0.0), (shake.run_up_s, plan.speed_rpm)]
    while True:
        step_s = between(shake.min_step_s, shake.max_step_s)
        at_s = round(points[-1][0] + step_s, _DECIMALS)
        if at_s + shake.min_step_s > plan.duration_s:
            break
        points.append((at_s, between(shake.min_rpm, shake.max_rpm)))
    points.append((plan.duration_s, between(shake.min_rpm, shake.max_rpm)))
    return ShakePlan(tuple(points))


def steady(speed_rpm: float, duration_s: float, run_up_s: float) -> ShakePlan:
    """Return a plan of one speed, for a technician's jog. It is no approved shake."""
    run_up_s = min(run_up_s, duration_s / 2)
    return ShakePlan(((0.0, 0.0), (run_up_s, speed_rpm), (duration_s, speed_rpm)))


def is_approved(plan: TossPlan, shake: ShakeParameters) -> bool:
    """Return whether `plan` could have been drawn from `shake`: the last look before EN."""
    return (
        plan.pattern == pattern(shake)
        and shake.min_s <= plan.duration_s <= shake.max_s
        and shake.min_rpm <= plan.speed_rpm <= shake.max_rpm
    )
