"""Only levels that lasted count, and a rise has the time of its own edge."""

from __future__ import annotations

import pytest

pytest.importorskip("gpiod")

from shaker_ctl.adapters.pins.gpiod_pins import SteadyLevel


def test_a_rise_is_told_once_with_its_own_time() -> None:
    steady = SteadyLevel(200, level=0)
    assert steady.rises([(1_000, 1)], upto_us=1_100) == []
    assert steady.rises([], upto_us=1_200) == [1_000]
    assert steady.rises([], upto_us=9_000) == []


def test_a_short_pulse_is_no_rise() -> None:
    steady = SteadyLevel(200, level=0)
    assert steady.rises([(1_000, 1), (1_040, 0)], upto_us=5_000) == []
    assert steady.rises([(6_000, 1), (8_000, 0)], upto_us=9_000) == [6_000]


def test_a_short_gap_is_no_second_rise() -> None:
    steady = SteadyLevel(200, level=0)
    found = steady.rises([(1_000, 1), (2_000, 0), (2_050, 1), (4_000, 0)], upto_us=5_000)
    assert found == [1_000]


def test_pulses_of_a_turning_cam_all_count() -> None:
    steady = SteadyLevel(200, level=1)
    edges = [edge for n in range(10) for edge in ((7_000 * n, 0), (7_000 * n + 3_500, 1))]
    assert steady.rises(edges, upto_us=80_000) == [7_000 * n + 3_500 for n in range(10)]
