"""Two virtual Pis wired pin to pin, as a bench is: each other's edges arrive exactly."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pigpio
import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.traces.recorder import Trace
from virtual_pigpiod.waiting import until


@pytest.fixture
def rig_board() -> Board:
    return Board()


@pytest.fixture
def rig(rig_board: Board) -> Iterator[pigpio.pi]:
    """The other side of the bench."""
    with VirtualPigpiod(rig_board) as daemon:
        client = pigpio.pi("127.0.0.1", daemon.port)
        yield client
        client.stop()


@pytest.mark.parametrize(("hertz", "pulses"), [(150, 60), (2000, 1000), (10_000, 4000)])
def test_tach_pulses_made_as_waves_on_one_are_counted_on_the_other(
    board: Board, pi: pigpio.pi, rig_board: Board, rig: pigpio.pi, hertz: int, pulses: int
) -> None:
    board.follow(24, rig_board, 17)
    counter = pi.callback(24, pigpio.RISING_EDGE)
    rig.set_mode(17, pigpio.OUTPUT)
    half_us = 500_000 // hertz
    rig.wave_add_generic([pigpio.pulse(1 << 17, 0, half_us), pigpio.pulse(0, 1 << 17, half_us)])
    number = rig.wave_create()
    rig.wave_chain([255, 0, number, 255, 1, pulses & 255, pulses >> 8])
    until(lambda: counter.tally() == pulses)
    time.sleep(0.01)
    assert counter.tally() == pulses


def test_motor_pwm_is_seen_through_the_wire(
    board: Board, pi: pigpio.pi, rig_board: Board, rig: pigpio.pi
) -> None:
    rig_board.follow(18, board, 18)
    pi.hardware_PWM(18, 20_000, 300_000)
    assert rig_board.duty(18) == 0.3
    with Trace(board, [18]) as here, Trace(rig_board, [18]) as there:
        time.sleep(0.02)
    assert there.edges(18)[:600] == [e for e in here.edges(18) if e >= there.edges(18)[0]][:600]
    assert rig.read(18) in (0, 1)


def test_a_cut_wire_leaves_the_input_to_its_pull(board: Board, rig_board: Board) -> None:
    rig_board.follow(5, board, 17)
    board.output(17, 0)
    assert rig_board.level(5) == 0
    rig_board.release(5)
    assert rig_board.level(5) == 1


def test_wires_in_a_circle_are_refused(board: Board, rig_board: Board) -> None:
    board.follow(17, rig_board, 17)
    rig_board.follow(17, board, 22)
    with pytest.raises(ValueError, match="itself"):
        board.follow(22, board, 17)
