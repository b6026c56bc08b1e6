"""Soft PWM at every frequency that the daemon offers: periods, widths and counts, edge by edge."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from hil_tests.electrical.conftest import Wire
from hil_tests.report.measurement import Measure

pytestmark = [pytest.mark.rig, pytest.mark.timeout(60)]

SAMPLE_US = 5
FREQUENCIES_HZ = (
    *(8000, 4000, 2000, 1600, 1000, 800, 500, 400, 320),
    *(250, 200, 160, 100, 80, 50, 40, 20, 10),
)
DUTIES = (13, 64, 128, 191, 242)
"""Of 255: five, percent and a half each from the ends, and the quarters."""

SETTLED_S = 0.02
"""A duty that is lowered overlaps with one old period."""
MIN_S = 0.06
MIN_PERIODS = 6


@pytest.mark.parametrize("hertz", FREQUENCIES_HZ)
def test_periods_widths_and_counts_are_within_a_sample(
    wire: Wire, measure: Measure, hertz: int
) -> None:
    """Five duties at one frequency, seen by a client's callbacks with the daemon's own ticks."""
    pi, gpio = wire.maker, wire.made_at
    measure("frequency chosen", pi.set_PWM_frequency(gpio, hertz), "Hz", lower=hertz, upper=hertz)
    real = pi.get_PWM_real_range(gpio)
    period_us = real * SAMPLE_US
    periods = max(MIN_PERIODS, round(MIN_S * 1e6 / period_us))
    period_errors, width_errors, lost = [], [], 0
    for duty in DUTIES:
        pi.set_PWM_dutycycle(gpio, duty)
        time.sleep(2 * period_us * 1e-6 + SETTLED_S)
        edges = wire.whole_periods(periods, period_us)
        rises = [tick for tick, level in edges if level == 1]
        falls = [tick for tick, level in edges if level == 0]
        wanted_us = duty * real // 255 * SAMPLE_US
        period_errors += [abs(_apart(a, b) - period_us) for a, b in pairwise(rises)]
        width_errors += [abs(_apart(a, b) - wanted_us) for a, b in zip(rises, falls, strict=False)]
        lost += periods + 1 - len(rises) + periods - len(falls)
    measure("period, worst error", max(period_errors), "us", upper=SAMPLE_US)
    measure("high, worst error", max(width_errors), "us", upper=SAMPLE_US)
    measure("edges missing of five duties", lost, "edges", lower=0, upper=0)


def _apart(before: int, after: int) -> int:
    return (after - before) & 0xFFFFFFFF
