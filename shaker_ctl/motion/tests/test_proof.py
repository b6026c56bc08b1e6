"""A toss is proved by its edges or it is not, and the reason is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.profile import ShakePlan, steady
from shaker_ctl.motion.proof import TachProof, needed_in_band_s, prove

P = MotionParameters()
PLAN = steady(760.0, 2.0, 0.3)


def edges(speed_at: Callable[[float], float], until_s: float) -> list[int]:
    """Edges of a cam that turns at `speed_at(seconds)`."""
    at_s, turned, ticks = 0.0, 0.0, []
    while at_s < until_s:
        before = int(turned * P.pulses_per_turn)
        turned += speed_at(at_s) / 60.0 * 0.0001
        at_s += 0.0001
        if int(turned * P.pulses_per_turn) > before:
            ticks.append(round(at_s * 1e6))
    return ticks


def ramped(top: float) -> Callable[[float], float]:
    return lambda t: min(top, top * t / 0.3)


def judged(
    speed_at: Callable[[float], float], driven_s: float = 2.0, plan: ShakePlan = PLAN
) -> TachProof:
    return prove(plan, edges(speed_at, driven_s), P, started_tick=0, driven_s=driven_s)


def test_a_run_as_planned_is_proved() -> None:
    proof = judged(ramped(760.0))
    assert proof.is_proved
    assert proof.mean_rpm == pytest.approx(755.0, abs=15.0)
    assert proof.in_band_s >= needed_in_band_s(PLAN, P)
    assert len(proof.trace) == proof.edges - P.pulses_per_turn


@pytest.mark.parametrize(
    ("speed_at", "driven_s", "said"),
    [
        (ramped(600.0), 2.0, "never reached"),
        (lambda t: 0.0, 2.0, "never reached"),
        (ramped(950.0), 2.0, "left the mixing band"),
        (lambda t: 500.0 if 1.0 < t < 1.2 else ramped(760.0)(t), 2.0, "left the mixing band"),
        (ramped(760.0), 1.2, "driven for 1.20 s of 2.00 s"),
        (lambda t: min(760.0, 760.0 * t / 1.4), 2.0, "s needed"),
    ],
)
def test_anything_else_is_not_and_says_why(
    speed_at: Callable[[float], float], driven_s: float, said: str
) -> None:
    proof = judged(speed_at, driven_s)
    assert not proof.is_proved
    assert said in proof.why_not


def test_no_edges_at_all_is_no_proof() -> None:
    proof = prove(PLAN, [], P, started_tick=0, driven_s=2.0)
    assert not proof.is_proved
    assert proof.edges == 0


def test_the_shortest_approved_shake_proves_at_least_twelve_strokes() -> None:
    shortest = steady(P.shake.min_rpm, P.shake.min_s, P.shake.run_up_s)
    turns = needed_in_band_s(shortest, P) * P.shake.min_rpm / 60.0
    assert turns >= 12.0
