"""What every motor behind its dead-man must keep, whichever way leads to the pins."""

from __future__ import annotations

import statistics
import threading
import time
from itertools import pairwise

import pytest

from hil_tests.contracts.gpio_bench import GpioBench
from hil_tests.contracts.pins import Pins


def test_opening_leaves_the_motor_off(bench: GpioBench, pins: Pins) -> None:
    assert not bench.is_enabled()
    assert bench.duty() == 0.0
    assert not pins.motor.is_enabled()


def test_refreshed_it_is_enabled_with_the_duty_asked_for(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    pins.keep_driving(0.3, duty=0.42)
    assert bench.is_enabled()
    assert bench.duty() == pytest.approx(0.42, abs=bench.duty_error)


def test_without_refreshes_enable_falls_within_the_dead_mans_time(
    bench: GpioBench, pins: Pins
) -> None:
    pins.motor.arm()
    pins.keep_driving(0.2)
    assert bench.seconds_until_off() <= 0.12
    time.sleep(0.03)
    assert bench.duty() == 0.0


def test_driving_alone_does_not_enable(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    pins.motor.drive(0.5)
    time.sleep(0.05)
    assert not bench.is_enabled()


def test_stop_takes_effect_at_once_and_holds_until_armed(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    pins.keep_driving(0.2)
    pins.motor.stop()
    assert bench.seconds_until_off() <= 0.03
    pins.keep_driving(0.1)
    assert not bench.is_enabled()
    assert bench.duty() == 0.0
    pins.motor.arm()
    pins.keep_driving(0.1)
    assert bench.is_enabled()


def test_stop_from_another_thread_wins_over_a_driving_loop(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    loop = threading.Thread(target=pins.keep_driving, args=(0.5,))
    loop.start()
    time.sleep(0.2)
    pins.motor.stop()
    assert bench.seconds_until_off() <= 0.03
    loop.join()
    assert not bench.is_enabled()


def test_stop_never_raises_even_before_opening_and_after_closing(bench: GpioBench) -> None:
    pins = bench.controller()
    pins.motor.stop()
    pins.link.open()
    pins.link.close()
    pins.motor.stop()


def test_the_enable_line_gets_a_fresh_edge_every_turn_for_the_monostable(
    bench: GpioBench, pins: Pins
) -> None:
    edges: list[float] = []
    was = [0]

    def count(gpio: int) -> None:
        if gpio == bench.pins.motor_enable:
            level = bench.board.level(gpio)
            if level and not was[0]:
                edges.append(time.monotonic())
            was[0] = level

    bench.board.on_output(count)
    pins.motor.arm()
    pins.keep_driving(0.5)
    gaps = [b - a for a, b in pairwise(edges)]
    assert len(edges) > 30
    assert statistics.median(gaps) < 0.02
    assert max(gaps) < 0.1  # A busy machine runs the fake wires late, too.


def test_stopped_and_started_the_motor_has_its_duty_again(bench: GpioBench) -> None:
    """What every crash, upgrade and visit of `doctor` does: the stop script runs in between."""
    for duty in (0.42, 0.31):
        with bench.controller() as pins:
            pins.motor.arm()
            pins.keep_driving(0.3, duty=duty)
            assert bench.is_enabled()
            assert bench.duty() == pytest.approx(duty, abs=bench.duty_error)
        bench.run_stop_script()
        assert not bench.is_enabled()
        assert bench.duty() == 0.0


def test_the_stop_script_stops_a_motor_whose_controller_left_it_on(bench: GpioBench) -> None:
    with bench.controller() as pins:
        pins.motor.arm()
        pins.keep_driving(0.3, duty=0.42)
        bench.run_stop_script()
        assert bench.duty() == 0.0
