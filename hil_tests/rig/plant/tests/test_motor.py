"""The motor keeps its promises: speed, stop, tach, and each way to fail."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.plant.motor import EDGES_PER_TURN, STEP_S, Motor, MotorDrive

NOMINAL = MotorDrive(duty=0.765, enabled=True)
OFF = MotorDrive(duty=0.0, enabled=False)


def turn(
    motor: Motor, drive: MotorDrive, seconds: float, start_s: float = 0.0
) -> list[tuple[float, int]]:
    edges = []
    for k in range(round(seconds / STEP_S)):
        edges += motor.step(start_s + k * STEP_S, drive)
    return edges


def motor_with(*faults: str, **parameters: Any) -> Motor:
    active = PlantFaults()
    for name in faults:
        active.inject(name, **parameters)
    return Motor(active, seed=1)


def test_nominal_duty_reaches_720_rpm_within_0_4_s() -> None:
    motor = motor_with()
    turn(motor, NOMINAL, 0.4)
    assert motor.speed_rpm == pytest.approx(720.0, rel=0.03)


@pytest.mark.parametrize("phase", range(24))
def test_released_shaft_rests_at_its_lowest_point_within_0_4_s(phase: int) -> None:
    motor = motor_with()
    turn(motor, NOMINAL, 0.6 + phase * 0.0035)
    turn(motor, OFF, 0.4)
    assert motor.is_still(OFF)
    assert motor.plate_height_m < 0.0001


def test_tach_gives_twelve_pulses_a_turn_at_even_times() -> None:
    motor = motor_with()
    turn(motor, NOMINAL, 1.0)
    before = motor.angle_rad
    edges = turn(motor, NOMINAL, 1.0, start_s=1.0)
    turns = (motor.angle_rad - before) / math.tau
    assert len(edges) == pytest.approx(turns * EDGES_PER_TURN, abs=1)
    assert all(a[1] != b[1] for a, b in itertools.pairwise(edges))
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(edges)]
    even = 60.0 / motor.speed_rpm / EDGES_PER_TURN
    assert max(abs(gap - even) for gap in gaps) < 0.02 * even


def test_jam_draws_the_limit_and_trips_the_driver() -> None:
    motor = motor_with("jam")
    turn(motor, NOMINAL, 0.1)
    assert motor.speed_rpm == 0.0
    assert motor.current_a == motor.design.current_limit_a
    assert not motor.fault_reported
    turn(motor, NOMINAL, 0.4)
    assert motor.fault_reported
    assert motor.current_a == 0.0


def test_silent_tach_hides_a_turning_shaft() -> None:
    motor = motor_with("tach_silent")
    assert turn(motor, NOMINAL, 0.5) == []
    assert motor.speed_rpm > 600.0


def test_fault_begins_after_so_many_edges() -> None:
    faults = PlantFaults()
    faults.inject("tach_silent", after=(12, "edges"))
    motor = Motor(faults, seed=1)
    rising = [edge for edge in turn(motor, NOMINAL, 1.0) if edge[1] == 1]
    assert len(rising) == 11  # The twelfth is the one that falls silent.


@pytest.mark.parametrize(
    ("fault", "low_rpm", "high_rpm"),
    [
        ("overspeed", 880.0, 1100.0),
        ("driver_fault", 0.0, 0.0),
        ("driver_dead", 0.0, 0.0),
        ("supply_low", 300.0, 500.0),
    ],
)
def test_fault_shows_in_the_speed(fault: str, low_rpm: float, high_rpm: float) -> None:
    motor = motor_with(fault)
    turn(motor, NOMINAL, 1.0)
    assert low_rpm <= motor.speed_rpm <= high_rpm
    assert motor.fault_reported == (fault == "driver_fault")


def test_stuck_driver_keeps_turning_without_enable() -> None:
    motor = motor_with("no_stop")
    turn(motor, OFF, 1.0)
    assert motor.speed_rpm > 500.0
    assert not motor.is_still(OFF)
