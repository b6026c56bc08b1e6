"""The statistics over outcomes ring as often as the power that they state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hil_tests.reliability.outcome_alarm import (
    count,
    flat,
    loaded,
    promised,
    unfair,
)
from hil_tests.rig.plant.physics import toss_run
from shaker_ctl.motion.outcome_health import OutcomeHealth
from shaker_ctl.rules.outcome import Values


def tosses_until_alarm(stream: Iterator[Values], most: int) -> int | None:
    """After how many tosses the continuous tests (O-18) take the table out of service."""
    health = OutcomeHealth()
    for toss in range(1, most + 1):
        if health.add(next(stream)) is not None:
            return toss
    return None


@pytest.mark.parametrize(
    ("excess", "dice", "tosses"),
    [(0.20, 3, 300), (0.20, 3, 1000), (0.20, 1, 3000), (0.05, 3, 3000)],
)
def test_the_alarm_rings_at_the_rate_that_its_power_states(
    excess: float, dice: int, tosses: int
) -> None:
    repeats = 60
    power = promised(excess, dice, tosses)
    spread = (max(power * (1 - power), 0.01) / repeats) ** 0.5
    assert count(excess, dice, tosses, repeats, seed=5) == pytest.approx(power, abs=4.0 * spread)


def test_a_die_that_is_loaded_in_the_physics_shows_the_far_face_more_often() -> None:
    first = [values[0] for values in flat(toss_run("standard", "approved", 20, 5, load_mm=4.0))]
    assert first.count(1) > first.count(6) + 3


def test_samples_of_tossed_dice_ring_at_the_rate_that_their_own_bias_promises() -> None:
    stream = unfair(0.20, 3, seed=5)
    tosses = [next(stream) for _ in range(18_000)]
    samples, rang, power = loaded(tosses, 300)
    assert samples == 60
    assert power == pytest.approx(promised(0.20, 3, 300), abs=0.08)
    assert rang / samples == pytest.approx(power, abs=4.0 * (power * (1 - power) / samples) ** 0.5)


def test_fair_dice_ring_one_time_in_a_hundred() -> None:
    assert count(0.0, 3, 300, 200, seed=5) <= 0.05


def test_a_die_that_always_shows_one_face_takes_the_table_out_of_service_within_a_few_tosses() -> (
    None
):
    assert (tosses_until_alarm(unfair(5.0, 3, seed=1), 100) or 100) <= 3
    assert tosses_until_alarm(unfair(0.0, 3, seed=1), 3000) is None
