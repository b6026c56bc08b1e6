"""Wires between board and plant: contacts to levels, pulses to counts, nothing in between."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hil_tests.rig.machine import PlantThread
from hil_tests.rig.plant.joint import PlantOutputs
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.wires.wiring import DRIVER_FILTER_S, PinMap, Wiring
from hil_tests.waiting import until
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode

PINS = PinMap()


@pytest.fixture
def board() -> Board:
    return Board()


def drive_output(board: Board, gpio: int, level: int) -> None:
    board.set_mode(gpio, Mode.OUTPUT)
    board.write(level << gpio, (1 - level) << gpio)


@pytest.mark.parametrize(
    ("statement", "gpio", "level"),
    [
        ("compartment_open", PINS.compartment, 1),
        ("cover_open", PINS.cover, 1),
        ("estop_pressed", PINS.estop, 1),
        ("button_pressed", PINS.button, 0),
        ("driver_fault", PINS.driver_fault, 0),
    ],
)
def test_a_contact_is_wired_so_that_a_broken_wire_reads_unsafe(
    board: Board, statement: str, gpio: int, level: int
) -> None:
    wiring = Wiring(board, PINS)
    wiring.apply(PlantOutputs())
    assert board.level(gpio) == 1 - level
    said: dict[str, Any] = {statement: True}
    wiring.apply(PlantOutputs(**said))
    assert board.level(gpio) == level


def test_the_controllers_outputs_reach_the_machine(board):
    wiring = Wiring(board, PINS)
    assert not wiring.inputs().motor_enabled
    drive_output(board, PINS.motor_enable, 1)
    drive_output(board, PINS.cover_drive, 1)
    drive_output(board, PINS.latch_release, 1)
    inputs = wiring.inputs()
    assert inputs.motor_enabled
    assert inputs.cover_open_drive
    assert inputs.latch_release
    assert inputs.enable_pulses == 1


def test_every_pulse_on_enable_is_counted_and_none_reaches_the_driver(board):
    wiring = Wiring(board, PINS)
    drive_output(board, PINS.motor_enable, 1)
    for _ in range(5):
        drive_output(board, PINS.motor_enable, 0)
        assert wiring.inputs().motor_enabled
        drive_output(board, PINS.motor_enable, 1)
    assert wiring.inputs().enable_pulses == 6


def test_enable_that_stays_low_reaches_the_driver(board):
    wiring = Wiring(board, PINS)
    drive_output(board, PINS.motor_enable, 1)
    drive_output(board, PINS.motor_enable, 0)
    time.sleep(2 * DRIVER_FILTER_S)
    assert not wiring.inputs().motor_enabled


def test_the_machine_is_told_when_enable_changed_and_of_no_pulse(board):
    wiring = Wiring(board, PINS)
    before_s = time.monotonic()
    drive_output(board, PINS.motor_enable, 1)
    rose_s = wiring.inputs().enable_since_s
    assert before_s <= rose_s <= time.monotonic()
    drive_output(board, PINS.motor_enable, 0)
    fell_s = time.monotonic()
    time.sleep(0.02)
    since_s = wiring.inputs().enable_since_s
    assert rose_s + DRIVER_FILTER_S < since_s <= fell_s + DRIVER_FILTER_S


def test_tach_edges_keep_their_times(board):
    wiring = Wiring(board, PINS)
    with board.locked():
        tap = board.tap(PINS.tach)
    now = time.monotonic()
    time.sleep(0.004)
    wiring.apply(PlantOutputs(tach_edges=[(now + 0.001, 1), (now + 0.002, 0)]))
    with board.locked():
        edges = list(tap.take(board.now_us()))
    assert [level for _, level in edges] == [1, 0]
    assert [round(at - now * 1e6, -1) for at, _ in edges] == [1000, 2000]


def test_a_machine_turns_when_driven_and_stops_within_its_time(board):
    machine = PlantThread(Wiring(board, PINS), Plant(seed=2))
    happened: list[str] = []
    machine.counted = lambda event, times: happened.append(event)
    machine.start()
    try:
        drive_output(board, PINS.motor_pwm, 1)
        drive_output(board, PINS.motor_enable, 1)
        until(lambda: machine.outputs.speed_rpm > 200)
        drive_output(board, PINS.motor_enable, 0)
        began = time.monotonic()
        until(lambda: machine.outputs.speed_rpm == 0)
        assert time.monotonic() - began < 1.0
        assert happened[:2] == ["enable", "start"]
        assert {"edges", "disable"} <= set(happened)
    finally:
        machine.stop()
    assert machine.failure is None
