"""What the slow outputs must keep, whichever way leads to the pins."""

from __future__ import annotations

import pytest

from hil_tests.contracts.gpio_bench import GpioBench
from hil_tests.contracts.pins import Pins
from hil_tests.waiting import until


@pytest.mark.parametrize("level", [0.55, 1.0, 0.0])
def test_the_light_has_the_level_that_was_asked_for(
    bench: GpioBench, pins: Pins, level: float
) -> None:
    pins.outputs.set_light(level)
    # The daemon's timed PWM has 25 levels at 8 kHz.
    until(lambda: bench.board.duty(bench.pins.ring_light) == pytest.approx(level, abs=0.041))


def test_a_level_outside_the_scale_is_the_nearest_on_it(bench: GpioBench, pins: Pins) -> None:
    pins.outputs.set_light(1.7)
    until(lambda: bench.board.duty(bench.pins.ring_light) == 1.0)
    pins.outputs.set_light(-0.2)
    until(lambda: bench.board.duty(bench.pins.ring_light) == 0.0)


def test_cover_and_latch_have_a_pin_each(bench: GpioBench, pins: Pins) -> None:
    board, names = bench.board, bench.pins
    assert (board.level(names.cover_drive), board.level(names.latch_release)) == (0, 0)
    pins.outputs.drive_cover(True)
    assert (board.level(names.cover_drive), board.level(names.latch_release)) == (1, 0)
    pins.outputs.release_latch(True)
    assert (board.level(names.cover_drive), board.level(names.latch_release)) == (1, 1)
    pins.outputs.drive_cover(False)
    pins.outputs.release_latch(False)
    assert (board.level(names.cover_drive), board.level(names.latch_release)) == (0, 0)
