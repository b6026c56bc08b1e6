"""What every tach must keep: each edge once, in order, with true gaps."""

from __future__ import annotations

import time
from itertools import pairwise

from hil_tests.contracts.gpio_bench import GpioBench, fetch_edges
from hil_tests.contracts.pins import Pins


def test_each_pulse_is_one_edge_with_its_true_gap(bench: GpioBench, pins: Pins) -> None:
    bench.board.drive(bench.pins.tach, 0)
    time.sleep(0.1)
    pins.tach.edges()
    start_us = bench.board.now_us() + 5_000
    rising = [start_us + n * 7_000 for n in range(20)]
    bench.board.edges(bench.pins.tach, [e for at in rising for e in ((at, 1), (at + 3_500, 0))])
    ticks = fetch_edges(pins.tach, 20)
    gaps = [b - a for a, b in pairwise(ticks)]
    assert len(ticks) == 20
    assert all(abs(gap - 7_000) <= 10 for gap in gaps)


def test_edges_are_given_once(bench: GpioBench, pins: Pins) -> None:
    bench.pulses(4, 0.006)
    ticks = fetch_edges(pins.tach, 4)
    time.sleep(0.1)
    ticks += pins.tach.edges()  # whatever was still on its way
    assert len(ticks) >= 4
    assert len(set(ticks)) == len(ticks)
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
