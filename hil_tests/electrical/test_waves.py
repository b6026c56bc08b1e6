"""Waves to the microsecond, and tach-like square waves that a callback counts without loss."""

from __future__ import annotations

import random
import time
from itertools import accumulate

import pigpio
import pytest

from hil_tests.electrical.conftest import Wire, until
from hil_tests.report.measurement import Measure

pytestmark = [pytest.mark.rig, pytest.mark.timeout(60)]

SAMPLE_US = 5
PULSES = 400


@pytest.mark.parametrize(("grid_us", "limit_us"), [(SAMPLE_US, 0), (1, SAMPLE_US - 1)])
def test_a_wave_of_uneven_pulses_keeps_every_time(
    wire: Wire, measure: Measure, grid_us: int, limit_us: int
) -> None:
    """Edges whose times are multiples of the sample period are exact; others are seen at the next
    sample, and no error adds up."""
    chance = random.Random(grid_us)
    gaps = [chance.randint(4, 600) * SAMPLE_US for _ in range(PULSES)]
    if grid_us == 1:
        gaps = [gap + chance.randint(0, 4) for gap in gaps]
    bit = 1 << wire.made_at
    wire.maker.wave_add_generic(
        [
            pigpio.pulse(bit if index % 2 == 0 else 0, 0 if index % 2 == 0 else bit, gap)
            for index, gap in enumerate(gaps)
        ]
    )
    wave = wire.maker.wave_create()
    wire.maker.wave_send_once(wave)
    until(lambda: len(wire.edges) >= PULSES, 3.0)
    measure("edges seen", len(wire.edges), "edges", lower=PULSES, upper=PULSES)
    began = wire.edges[0][0]
    planned = [0, *accumulate(gaps)][:PULSES]
    errors = [
        abs(((tick - began) & 0xFFFFFFFF) - at)
        for (tick, _), at in zip(wire.edges, planned, strict=False)
    ]
    measure("edge against plan, worst", max(errors), "us", upper=limit_us)


@pytest.mark.parametrize("hertz", [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000])
def test_a_square_wave_is_counted_without_loss(wire: Wire, measure: Measure, hertz: int) -> None:
    """What a tach sends, from a turn in twelve seconds to fifty thousand turns a minute."""
    pulses = max(3, min(10_000, hertz))
    bit, half_us = 1 << wire.made_at, 500_000 // hertz
    wire.maker.wave_add_generic([pigpio.pulse(bit, 0, half_us), pigpio.pulse(0, bit, half_us)])
    wave = wire.maker.wave_create()
    counter = wire.seer.callback(wire.seen_at, pigpio.RISING_EDGE)
    wire.maker.wave_chain([255, 0, wave, 255, 1, pulses & 255, pulses >> 8])
    until(lambda: counter.tally() >= pulses, pulses / hertz + 2.0)
    time.sleep(0.05)
    measure("pulses counted", counter.tally(), "pulses", lower=pulses, upper=pulses)
    rises = wire.rises
    span_us = (rises[-1] - rises[0]) & 0xFFFFFFFF
    wanted_us = (len(rises) - 1) * 2 * half_us
    measure("length of all, error", abs(span_us - wanted_us), "us", upper=SAMPLE_US)
