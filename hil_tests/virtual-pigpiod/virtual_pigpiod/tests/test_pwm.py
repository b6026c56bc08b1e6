"""Soft PWM, servo pulses, hardware PWM and clocks: as commanded, measured at the pins."""

from __future__ import annotations

import time
from itertools import pairwise

import pigpio
import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.tests.conftest import RawClient
from virtual_pigpiod.traces.recorder import Trace

FREQUENCIES = [8000, 4000, 2000, 1600, 1000, 800, 500, 400, 320, 250, 200, 160, 100, 80, 50, 40]
FREQUENCIES += [20, 10]
PINS = [*range(2, 18), 22, 23]
SAMPLE_US = 5


@pytest.mark.parametrize("duty", [1, 64, 128, 200, 254])
def test_soft_pwm_at_each_frequency_has_its_edges_at_their_times(
    board: Board, pi: pigpio.pi, duty: int
) -> None:
    """All 18 frequencies at once, a pin each."""
    for gpio, frequency in zip(PINS, FREQUENCIES, strict=True):
        assert pi.set_PWM_frequency(gpio, frequency) == frequency
        pi.set_PWM_dutycycle(gpio, duty)
    time.sleep(0.11)  # every pin has begun its first whole period
    with Trace(board, PINS) as trace:
        time.sleep(0.35)
    seconds = (trace.end_us - trace.start_us) / 1e6
    starts = []
    for gpio, frequency in zip(PINS, FREQUENCIES, strict=True):
        period_us = 1_000_000 // frequency
        steps = duty * pi.get_PWM_real_range(gpio) // 255
        edges = trace.edges(gpio)
        if steps == 0:
            assert edges == [], "a duty too small for one step makes no pulse"
            continue
        rises = [at for at, level in edges if level == 1]
        # The window's ends cut a period each, and are read up to a millisecond late.
        assert abs(len(rises) - seconds * frequency) < 1.5 + 0.001 * frequency
        assert {later - earlier for earlier, later in pairwise(rises)} <= {period_us}
        widths = {fall - rise for (rise, level), (fall, _) in pairwise(edges) if level == 1}
        assert widths <= {steps * SAMPLE_US}
        starts.append(rises[0] % period_us)
        assert board.duty(gpio) == steps * SAMPLE_US / period_us
    origin = min(starts)
    assert all((start - origin) % 125 == 0 for start in starts), "all soft PWM rises together"


def test_full_duty_is_constantly_high_and_none_is_low(board: Board, pi: pigpio.pi) -> None:
    pi.set_PWM_dutycycle(17, 255)
    time.sleep(0.003)
    with Trace(board, [17]) as trace:
        time.sleep(0.02)
        pi.set_PWM_dutycycle(17, 0)
        time.sleep(0.02)
    assert trace.first_level(17) == 1
    assert [level for _, level in trace.edges(17)] == [0]


def test_a_duty_changed_in_mid_cycle_never_gives_a_whole_cycle_high(
    board: Board, pi: pigpio.pi
) -> None:
    pi.set_PWM_frequency(17, 50)
    with Trace(board, [17]) as trace:
        for duty in (250, 20, 240, 10, 200, 5):
            pi.set_PWM_dutycycle(17, duty)
            time.sleep(0.033)
    edges = trace.edges(17)
    longest = max(fall - rise for (rise, up), (fall, _) in pairwise(edges) if up)
    assert longest < 20_000


def test_writing_the_latch_does_not_stop_pwm(board: Board, pi: pigpio.pi) -> None:
    pi.set_PWM_frequency(17, 100)
    pi.set_PWM_dutycycle(17, 128)
    time.sleep(0.02)
    with Trace(board, [17]) as trace:
        for _ in range(5):
            pi.clear_bank_1(1 << 17)
            time.sleep(0.01)
    assert pi.get_PWM_dutycycle(17) == 128
    assert sum(level for _, level in trace.edges(17)) >= 4


def test_a_write_stops_pwm(board: Board, pi: pigpio.pi) -> None:
    pi.set_PWM_dutycycle(17, 128)
    pi.write(17, 1)
    with Trace(board, [17]) as trace:
        time.sleep(0.01)
    assert trace.edges(17) == []
    assert board.level(17) == 1


def test_a_new_range_keeps_the_share_of_a_running_pwm(board: Board, pi: pigpio.pi) -> None:
    pi.set_PWM_dutycycle(17, 128)
    before = board.duty(17)
    pi.set_PWM_range(17, 1000)
    assert pi.get_PWM_dutycycle(17) == 501
    assert board.duty(17) == pytest.approx(before, abs=0.005)


def test_servo_pulses_come_50_times_a_second(board: Board, pi: pigpio.pi) -> None:
    pi.set_servo_pulsewidth(17, 1503)
    time.sleep(0.03)
    with Trace(board, [17]) as trace:
        time.sleep(0.11)
    rises = [at for at, level in trace.edges(17) if level]
    widths = {f - r for (r, up), (f, _) in pairwise(trace.edges(17)) if up}
    assert {b - a for a, b in pairwise(rises)} == {20_000}
    assert widths == {1500}  # whole samples
    pi.set_servo_pulsewidth(17, 0)
    assert board.level(17) == 0


def test_hardware_pwm_runs_at_20_khz_and_can_be_read_back(board: Board, pi: pigpio.pi) -> None:
    pi.hardware_PWM(18, 20_000, 250_000)
    assert board.mode(18) == Mode.ALT5
    assert board.duty(18) == 0.25
    assert (pi.get_PWM_dutycycle(18), pi.get_PWM_range(18)) == (250_000, 1_000_000)
    assert (pi.get_PWM_frequency(18), pi.get_PWM_real_range(18)) == (20_000, 12_500)
    with Trace(board, [18]) as trace:
        time.sleep(0.05)
    edges = trace.edges(18)
    widths = {f - r for (r, up), (f, _) in pairwise(edges) if up}
    rises = [at for at, level in edges if level]
    assert widths <= {12, 13}  # 12.5 us, in whole microseconds
    assert {b - a for a, b in pairwise(rises)} == {50}


def test_hardware_pwm_shows_at_both_pins_of_its_channel(board: Board, pi: pigpio.pi) -> None:
    pi.hardware_PWM(18, 1000, 300_000)
    pi.hardware_PWM(12, 1000, 600_000)
    assert (board.duty(12), board.duty(18)) == (0.6, 0.6)


def test_a_write_takes_a_pin_from_hardware_pwm(board: Board, pi: pigpio.pi) -> None:
    pi.hardware_PWM(18, 20_000, 500_000)
    pi.write(18, 0)
    assert (board.duty(18), board.mode(18)) == (0.0, Mode.OUTPUT)
    pi.set_mode(18, pigpio.ALT5)
    assert board.duty(18) == 0.5, "the peripheral ran on behind the pin"


def test_frequency_0_disables_the_channel_and_keeps_the_mode(board: Board, pi: pigpio.pi) -> None:
    pi.hardware_PWM(18, 20_000, 500_000)
    pi.hardware_PWM(18, 0, 0)
    assert (board.duty(18), board.mode(18)) == (0.0, Mode.ALT5)


def test_waves_and_hardware_pwm_exclude_each_other(board: Board, pi: pigpio.pi) -> None:
    pi.wave_add_generic([pigpio.pulse(1 << 17, 0, 50_000), pigpio.pulse(0, 1 << 17, 50_000)])
    wave = pi.wave_create()
    pi.hardware_PWM(18, 20_000, 500_000)
    pi.wave_send_repeat(wave)
    assert (board.duty(18), board.mode(18)) == (0.0, Mode.ALT5)
    pi.hardware_PWM(18, 20_000, 500_000)
    assert pi.wave_tx_busy() == 0


@pytest.mark.parametrize(("gpio", "mode"), [(4, Mode.ALT0), (6, Mode.ALT0), (20, Mode.ALT5)])
def test_a_hardware_clock_has_half_duty(board: Board, pi: pigpio.pi, gpio: int, mode: Mode) -> None:
    pi.hardware_clock(gpio, 10_000)
    assert (board.duty(gpio), board.mode(gpio)) == (0.5, mode)
    assert pi.get_PWM_frequency(gpio) == 10_000


def test_the_reserved_clock_needs_its_password(raw: RawClient) -> None:
    assert raw.ask(85, 5, 10_000) == -99
    assert raw.ask(85, 0x5A000000 | 5, 10_000) == 0
    assert raw.ask(85, 4, 4000) == -98
    assert raw.ask(85, 7, 10_000) == -94
