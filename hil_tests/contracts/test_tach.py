"""What every tach must keep: each edge once, in order, with true gaps."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from hil_tests.contracts.gpio_bench import GpioBench, Pins, until
from shaker_ctl.adapters.pigpio_tach import TickUnwrapper


def test_each_pulse_is_one_edge_with_its_true_gap(bench: GpioBench, pins: Pins) -> None:
    bench.board.drive(bench.pins.tach, 0)
    time.sleep(0.1)
    pins.tach.edges()
    start_us = bench.board.now_us() + 5_000
    rising = [start_us + n * 7_000 for n in range(20)]
    bench.board.edges(bench.pins.tach, [e for at in rising for e in ((at, 1), (at + 3_500, 0))])
    until(lambda: len(pins.tach._ticks) >= 20)
    ticks = list(pins.tach.edges())
    gaps = [b - a for a, b in pairwise(ticks)]
    assert len(ticks) == 20
    assert all(abs(gap - 7_000) <= 10 for gap in gaps)


def test_edges_are_given_once(bench: GpioBench, pins: Pins) -> None:
    bench.pulses(4, 0.006)
    until(lambda: len(pins.tach._ticks) >= 4)
    assert len(pins.tach.edges()) >= 4
    time.sleep(0.05)
    assert list(pins.tach.edges()) == []


def test_glitches_shorter_than_the_filter_do_not_count(bench: GpioBench, pins: Pins) -> None:
    bench.board.drive(bench.pins.tach, 0)
    time.sleep(0.1)
    pins.tach.edges()
    start_us = bench.board.now_us() + 5_000
    glitches = [start_us + n * 2_000 for n in range(20)]
    bench.board.edges(bench.pins.tach, [e for at in glitches for e in ((at, 1), (at + 40, 0))])
    time.sleep(0.15)
    assert list(pins.tach.edges()) == []


def test_edges_keep_increasing_over_a_daemon_that_was_restarted(
    bench: GpioBench, pins: Pins
) -> None:
    bench.pulses(3, 0.006)
    time.sleep(0.08)
    before = list(pins.tach.edges())
    bench.daemon.kill()
    until(lambda: pins.link.trouble() is not None)
    bench.daemon.start()
    until(lambda: pins.link.trouble() is None, limit_s=4.0)
    bench.pulses(3, 0.006)
    time.sleep(0.1)
    after = list(pins.tach.edges())
    assert after
    assert before[-1] < after[0]
    assert after == sorted(after)


@pytest.mark.parametrize("start", [0, 5_000, 0xFFFF_FF00])
def test_ticks_wrap_without_a_jump(start: int) -> None:
    unwrapper = TickUnwrapper()
    ticks = [(start + n * 1_000) % (1 << 32) for n in range(10)]
    unwrapped = [unwrapper.unwrap(tick) for tick in ticks]
    assert [b - a for a, b in pairwise(unwrapped)] == [1_000] * 9
