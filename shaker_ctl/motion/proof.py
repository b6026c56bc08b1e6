"""Proof that a toss was a toss, decided from the tach before any value is read.

Owns the judgement on one run's edges. The other half of the proof, that the dice lie otherwise
than before, is the camera's (`reading/toss_session.py`): it needs pictures, this needs none. It
must not know what the dice show.
"""

from __future__ import annotations

from collections.abc import Sequence

from shaker_ctl.frozen import frozen
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.profile import ShakePlan
from shaker_ctl.motion.speed import turn_speeds

_LATE_S = 0.10
"""How much shorter than planned the time in the band may be: the last turn is not complete when EN
falls, and the first one is complete only a turn after the run-up."""


@frozen
class TachProof:
    """What the tach says about one toss. `why_not` is empty exactly when it proves the toss."""

    why_not: str
    edges: int
    in_band_s: float
    needed_s: float
    slowest_rpm: float
    fastest_rpm: float
    mean_rpm: float
    trace: tuple[tuple[float, float], ...] = ()
    """(seconds after EN, speed of the full turn that ends there), for the record and screens."""

    @property
    def is_proved(self) -> bool:
        return not self.why_not


def needed_in_band_s(plan: ShakePlan, parameters: MotionParameters) -> float:
    """Return the least time, in seconds, that full turns must lie inside the mixing band."""
    return plan.duration_s - parameters.watch.start_s - _LATE_S


def prove(
    plan: ShakePlan,
    ticks: Sequence[int],
    parameters: MotionParameters,
    *,
    started_tick: int,
    driven_s: float,
) -> TachProof:
    """Judge the edges (us) between EN high and EN low.

    From the first full turn inside the band until EN fell, every full turn must be inside it, and
    that time must be the plan's less the run-up. `driven_s` is how long EN really was high.
    """
    shake = parameters.shake
    turns = turn_speeds(ticks, parameters.pulses_per_turn)
    trace = tuple(((tick - started_tick) / 1e6, rpm) for tick, rpm in turns)
    first = next((i for i, (_, rpm) in enumerate(trace) if rpm >= shake.band_low_rpm), None)
    needed_s = needed_in_band_s(plan, parameters)
    if first is None:
        top = max((rpm for _, rpm in trace), default=0.0)
        return TachProof(
            f"the cam never reached the mixing band (fastest turn {top:.0f} rpm, "
            f"{shake.band_low_rpm:.0f} needed)",
            len(ticks), 0.0, needed_s, top, top, top, trace,
        )  # fmt: skip
    run = trace[first:]
    speeds = [rpm for _, rpm in run]
    in_band_s = run[-1][0] - run[0][0]
    why_not = ""
    if strayed := [(t, rpm) for t, rpm in run if not _is_in_band(rpm, parameters)]:
        why_not = (
            f"the cam left the mixing band: {strayed[0][1]:.0f} rpm {strayed[0][0]:.2f} s after EN "
            f"({shake.band_low_rpm:.0f}-{shake.band_high_rpm:.0f} needed)"
        )
    elif driven_s < plan.duration_s - 0.02:
        why_not = f"driven for {driven_s:.2f} s of {plan.duration_s:.2f} s planned"
    elif in_band_s < needed_s:
        why_not = f"in the mixing band for {in_band_s:.2f} s, {needed_s:.2f} s needed"
    return TachProof(
        why_not,
        len(ticks),
        in_band_s,
        needed_s,
        min(speeds),
        max(speeds),
        sum(speeds) / len(speeds),
        trace,
    )


def _is_in_band(rpm: float, parameters: MotionParameters) -> bool:
    return parameters.shake.band_low_rpm <= rpm <= parameters.shake.band_high_rpm
