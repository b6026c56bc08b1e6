"""The machine on real wires: two daemons, wired pin to pin, the rig a client of one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pigpio
import pytest

from hil_tests.rig.crossed import RIGS_SAMPLE_US, cross
from hil_tests.rig.plant.joint import PlantOutputs
from hil_tests.rig.wires.bench import DRIVER_FILTER_S, BenchWires, PwmLine, WiresError, duty_of
from hil_tests.rig.wires.tach_player import FORESIGHT_S
from hil_tests.rig.wires.wiring import PinMap
from hil_tests.waiting import seconds_until, until
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod

PINS = PinMap()
WIRING = PinMap(
    motor_pwm=17,
    motor_enable=27,
    tach=4,
    driver_fault=22,
    compartment=10,
    cover=9,
    estop=11,
    button=19,
    ring_light=26,
    cover_drive=8,
    latch_release=7,
    lid_flag=20,
    motor_supply=21,
)
RUN_S = 0.6


class Bench:
    """Both daemons, and a client as the controller is one."""

    def __init__(self) -> None:
        boards = Board(), Board()
        cross(*boards, PINS, WIRING)
        self.controllers, self.rigs = (
            VirtualPigpiod(boards[0]),
            VirtualPigpiod(boards[1], sample_us=RIGS_SAMPLE_US),
        )
        self.controllers.start()
        self.rigs.start()
        self.pi = pigpio.pi("127.0.0.1", self.controllers.port)
        for gpio in (PINS.compartment, PINS.cover, PINS.estop, PINS.driver_fault, PINS.button):
            self.pi.set_pull_up_down(gpio, pigpio.PUD_UP)

    def wires(self) -> BenchWires:
        return BenchWires("127.0.0.1", self.rigs.port, WIRING, motor_run_s=RUN_S)

    def close(self) -> None:
        self.pi.stop()
        self.controllers.terminate()
        self.rigs.terminate()


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def wires(bench: Bench) -> Iterator[BenchWires]:
    wires = bench.wires()
    yield wires
    wires.close()


def outputs(**said: bool) -> PlantOutputs:
    return PlantOutputs(until_s=time.monotonic(), **said)  # type: ignore[arg-type]


def periods(from_us: int, count: int, high: int = 25, whole: int = 50) -> list[tuple[int, int]]:
    """So many whole periods of PWM, with the rise that ends the last."""
    starts = [from_us + n * whole for n in range(count)]
    edges = [edge for start in starts for edge in ((start, 1), (start + high, 0))]
    return [(tick % 2**32, level) for tick, level in [*edges, (from_us + count * whole, 1)]]


@pytest.mark.parametrize(
    ("edges", "duty"),
    [
        (periods(0, 3, high=38), 0.76),
        ([(90, 0), *periods(100, 3, high=10), (345, 1)], 0.2),
        ([*periods(0, 3), *periods(9_000, 3)], 0.5),
        (periods(0xFFFF_FFF0, 4), 0.5),
        # Reports of EN in a pause between windows, and just before one.
        ([(0, 1), (10, 0), (10_000, 1), (10_010, 0), (20_000, 1), (20_010, 0)], None),
        ([(8_300, 1), (8_310, 0), *periods(10_000, 20, high=42), (12_000, 0)], 0.84),
        (periods(0, 2), None),
        ([], None),
    ],
)
def test_duty_is_that_of_whole_periods(edges: list[tuple[int, int]], duty: float | None) -> None:
    assert duty_of(edges) == (None if duty is None else pytest.approx(duty, abs=0.01))


def test_pwm_that_only_begins_is_no_level_and_a_level_that_stays_is_no_pwm() -> None:
    line = PwmLine()
    for _ in range(5):
        line.note([], 0.0)
    line.note([], 1.0)  # its reports are still on their way, and it happens to be high
    assert line.duty == 0.0
    line.note(periods(0, 30, high=10), 0.0)
    assert line.duty == pytest.approx(0.2)
    line.note([(2_000, 1)], 1.0)
    line.note([], 1.0)
    line.note([], 1.0)
    assert line.duty == pytest.approx(0.2)
    line.note([], 1.0)
    assert line.duty == 1.0


def test_a_long_pulse_of_enable_is_no_fall(bench: Bench, wires: BenchWires) -> None:
    bench.pi.write(PINS.motor_enable, 1)
    until(lambda: wires.inputs().motor_enabled)
    end_of_pulse = threading.Timer(0.001, lambda: bench.pi.write(PINS.motor_enable, 1))
    end_of_pulse.start()
    bench.pi.write(PINS.motor_enable, 0)
    began = time.monotonic()
    is_enabled = wires.inputs().motor_enabled
    took_s = time.monotonic() - began
    assert is_enabled or took_s > DRIVER_FILTER_S
    end_of_pulse.join()  # on a busy computer it may still be to come
    bench.pi.write(PINS.motor_enable, 0)
    time.sleep(0.01)
    assert not wires.inputs().motor_enabled


@pytest.mark.parametrize("percent", [12, 50, 76, 97])
def test_the_controllers_pwm_is_measured_through_the_wire(
    bench: Bench, wires: BenchWires, percent: int
) -> None:
    bench.pi.hardware_PWM(PINS.motor_pwm, 19_841, percent * 10_000)
    bench.pi.set_PWM_frequency(PINS.ring_light, 8000)
    bench.pi.set_PWM_dutycycle(PINS.ring_light, 153)
    until(lambda: abs(wires.inputs().motor_duty - percent / 100) < 0.02)
    until(lambda: wires.inputs().ring_light == pytest.approx(0.6, abs=0.01))
    bench.pi.write(PINS.motor_pwm, 0)
    until(lambda: wires.inputs().motor_duty == 0.0)


def test_levels_and_pulses_of_enable_pass(bench: Bench, wires: BenchWires) -> None:
    bench.pi.write(PINS.motor_enable, 1)
    for _ in range(5):
        time.sleep(0.01)
        bench.pi.gpio_trigger(PINS.motor_enable, 20, 0)
    until(lambda: wires.inputs().enable_pulses == 6)
    assert wires.inputs().motor_enabled
    bench.pi.write(PINS.cover_drive, 1)
    bench.pi.write(PINS.motor_enable, 0)
    assert not wires.inputs().motor_enabled
    assert wires.inputs().cover_open_drive
    assert not wires.inputs().latch_release


def test_tach_edges_arrive_with_their_gaps_true_to_the_sample(
    bench: Bench, wires: BenchWires
) -> None:
    ticks: list[int] = []
    # A fresh client: one from before the wires were taken believes the tach line to be high.
    pi = pigpio.pi("127.0.0.1", bench.controllers.port)
    pi.callback(PINS.tach, pigpio.RISING_EDGE, lambda gpio, level, tick: ticks.append(tick))
    time.sleep(0.05)
    began = time.monotonic() + 0.005
    planned = [began + 0.0055 * n for n in range(100)]
    edges = [e for at in planned for e in ((at, 1), (at + 0.0027, 0))]
    now = began
    while now < planned[-1] + 0.01:
        now = time.monotonic()
        coming = [edge for edge in edges if now < edge[0] <= now + FORESIGHT_S]
        wires.apply(PlantOutputs(until_s=now, coming_edges=coming, speed_rpm=900.0))
        time.sleep(0.003)
    until(lambda: len(ticks) >= 100, 1.0 + 100 * 0.0055)
    pi.stop()
    gaps = [(b - a) & 0xFFFFFFFF for a, b in pairwise(ticks)]
    # Edges that are off their times, at the start or after a late turn, come back by and by.
    assert max(abs(gap - 5500) for gap in gaps) < 660
    assert wires.underruns or len([gap for gap in gaps if abs(gap - 5500) > 20]) <= 8


def test_enable_that_stays_high_too_long_opens_the_e_stop_line_for_good(
    bench: Bench, wires: BenchWires
) -> None:
    bench.pi.write(PINS.motor_enable, 1)

    def turned_off() -> bool:
        wires.inputs()
        wires.apply(outputs())
        return bool(bench.pi.read(PINS.estop))

    assert RUN_S - 0.1 < seconds_until(turned_off) < RUN_S + 0.5
    assert "e-stop line was opened" in wires.trouble
    bench.pi.write(PINS.motor_enable, 0)
    wires.inputs()
    wires.apply(outputs())
    assert bench.pi.read(PINS.estop) == 1


def is_all_off(pi: pigpio.pi) -> bool:
    return [pi.read(gpio) for gpio in (PINS.estop, PINS.compartment, PINS.cover)] == [1, 1, 1]


def test_everything_is_off_at_the_end(bench: Bench) -> None:
    wires = bench.wires()
    wires.apply(outputs())
    assert not is_all_off(bench.pi)
    wires.close()
    wires.close()
    assert is_all_off(bench.pi)


RIG = """
import sys, time
from hil_tests.rig.wires.bench import BenchWires
from hil_tests.rig.plant.joint import PlantOutputs
from hil_tests.rig.wires.tests.test_bench import WIRING
wires = BenchWires("127.0.0.1", int(sys.argv[1]), WIRING, motor_run_s=9.0)
print("open", flush=True)
while True:
    wires.apply(PlantOutputs(until_s=time.monotonic()))
    time.sleep(0.02)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_everything_is_off_when_the_rig_is_killed_or_stopped(bench: Bench, end: int) -> None:
    rig = subprocess.Popen(
        [sys.executable, "-c", RIG, str(bench.rigs.port)], stdout=subprocess.PIPE, text=True
    )
    assert rig.stdout is not None
    try:
        assert rig.stdout.readline() == "open\n"
        until(lambda: not is_all_off(bench.pi))
        os.kill(rig.pid, end)
        assert seconds_until(lambda: is_all_off(bench.pi)) < 1.5
    finally:
        rig.kill()
        rig.wait()
        rig.stdout.close()


def test_a_second_rig_is_told_whose_the_daemon_is_and_moves_no_pin(
    bench: Bench, wires: BenchWires
) -> None:
    wires.apply(outputs())
    until(lambda: bench.pi.read(PINS.estop) == 0)
    with pytest.raises(WiresError, match=rf"in use by process {os.getpid()} on 127\.0\.0\.1 since"):
        bench.wires()
    assert bench.pi.read(PINS.estop) == 0
    wires.close()
    bench.wires().close()


def test_a_rig_after_a_killed_one_takes_the_daemon_over(bench: Bench) -> None:
    silent = []
    for _ in range(3):
        silent.append(bench.wires())
        silent[-1]._ended.set()  # it falls silent without closing
    wires = bench.wires()
    try:
        wires.apply(outputs())
        assert not is_all_off(bench.pi)
    finally:
        wires.close()
        for one in silent:
            one._ended.clear()
            one.close()


def test_no_daemon_is_said_with_its_remedy(bench: Bench) -> None:
    port = bench.rigs.port
    bench.rigs.terminate()
    with pytest.raises(WiresError, match="start one there"):
        BenchWires("127.0.0.1", port, WIRING, motor_run_s=1.0)


def test_two_wires_at_one_pin_are_refused(bench: Bench) -> None:
    both = PinMap(estop=5)
    with pytest.raises(WiresError, match="two wires"):
        BenchWires("127.0.0.1", bench.rigs.port, both, motor_run_s=1.0)
