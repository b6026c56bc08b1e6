"""A plan stays inside the approved shake, can be read again, and cannot be foreseen."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.motion import profile
from shaker_ctl.motion.parameters import MotionParameters, ShakeParameters
from shaker_ctl.rules.record import from_record, to_record
from shaker_ctl.rules.vocabulary import TossPlan

SHAKE = ShakeParameters(min_rpm=755.0, max_rpm=845.0)


@given(st.integers(0, 2**32))
def test_every_plan_stays_inside_the_approved_shake(seed: int) -> None:
    plan = profile.draw(SHAKE, random.Random(seed))
    shake = profile.unfold(plan, SHAKE)
    assert profile.is_approved(plan, SHAKE)
    assert SHAKE.min_s <= shake.duration_s <= SHAKE.max_s
    assert shake.points[0] == (0.0, 0.0)
    for _, speed in shake.points[1:]:
        assert SHAKE.min_rpm <= speed <= SHAKE.max_rpm
    times = [t for t, _ in shake.points]
    assert times == sorted(set(times))
    at_s = random.Random(seed).uniform(SHAKE.run_up_s, shake.duration_s - 1e-6)
    assert SHAKE.min_rpm <= shake.speed_rpm(at_s) <= SHAKE.max_rpm


@given(st.integers(0, 2**32))
def test_what_is_recorded_unfolds_to_what_was_driven(seed: int) -> None:
    plan = profile.draw(SHAKE, random.Random(seed))
    read_back = from_record(to_record(plan), TossPlan)
    assert profile.unfold(read_back, SHAKE) == profile.unfold(plan, SHAKE)


def test_one_known_plan_unfolds_the_same_for_ever() -> None:
    """A journal from years ago must still show what was driven."""
    plan = TossPlan(760.0, 2.0, profile.pattern(SHAKE), seed=12345)
    points = profile.unfold(plan, SHAKE).points
    assert points[:3] == ((0.0, 0.0), (0.3, 760.0), points[2])
    assert points[2] == (0.696, 755.915)


def test_plans_differ_by_the_operating_systems_chance() -> None:
    drawn = {profile.draw(SHAKE) for _ in range(50)}
    assert len(drawn) == 50
    assert len({profile.unfold(plan, SHAKE).points for plan in drawn}) == 50


def test_outside_its_time_a_plan_asks_for_nothing() -> None:
    shake = profile.unfold(profile.draw(SHAKE), SHAKE)
    assert shake.speed_rpm(-0.1) == 0.0
    assert shake.speed_rpm(shake.duration_s) == 0.0
    assert shake.acceleration_rpm_s(0.1) > 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"pattern": "steps forged"},
        {"duration_s": 0.5},
        {"duration_s": 60.0},
        {"speed_rpm": 500.0},
        {"speed_rpm": 899.0},
    ],
)
def test_a_plan_that_could_not_have_been_drawn_is_not_approved(change: dict[str, object]) -> None:
    fields = {"speed_rpm": 760.0, "duration_s": 2.0, "pattern": profile.pattern(SHAKE), "seed": 1}
    assert profile.is_approved(TossPlan(**fields), SHAKE)  # type: ignore[arg-type]
    assert not profile.is_approved(TossPlan(**{**fields, **change}), SHAKE)  # type: ignore[arg-type]


def test_another_shake_has_another_digest() -> None:
    other = ShakeParameters(min_s=1.7)
    assert profile.digest(other) != profile.digest(SHAKE)
    assert not profile.is_approved(profile.draw(other), SHAKE)


@pytest.mark.parametrize(
    "wrong", [{"min_rpm": 650.0}, {"max_rpm": 900.0}, {"min_s": 3.0}, {"min_step_s": 0.7}]
)
def test_bounds_out_of_order_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must hold"):
        ShakeParameters(**wrong)


def test_overspeed_inside_the_band_is_refused() -> None:
    with pytest.raises(ValueError, match="overspeed"):
        MotionParameters(shake=ShakeParameters(band_high_rpm=950.0))
