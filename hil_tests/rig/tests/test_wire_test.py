"""The wires of a bench: good ones are passed, and a bad one is named for what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, fields, replace
from pathlib import Path

import pigpio
import pytest
from typer.testing import CliRunner

from hil_tests.rig.crossed import cross
from hil_tests.rig.main import app
from hil_tests.rig.reservation import Reservation
from hil_tests.rig.rigfile import host_and_port, load
from hil_tests.rig.wire_test import CheckedWire, examine
from hil_tests.rig.wires.bench import BenchWires
from hil_tests.rig.wires.wiring import PinMap
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod

CONTROLLER = PinMap()
RIG = PinMap()
"""The file's wiring: the same numbers at both ends."""

Bench = Callable[[PinMap], dict[str, CheckedWire]]


@pytest.fixture
def boards() -> tuple[Board, Board]:
    return Board(), Board()


@pytest.fixture
def bench(boards: tuple[Board, Board]) -> Iterator[Bench]:
    """Two daemons; call it with how the wires truly go."""
    with VirtualPigpiod(boards[0]) as one, VirtualPigpiod(boards[1]) as other:
        near, far = (pigpio.pi("127.0.0.1", daemon.port) for daemon in (one, other))

        def found(truly: PinMap) -> dict[str, CheckedWire]:
            cross(*boards, CONTROLLER, truly)
            return {wire.line: wire for wire in examine(near, far, CONTROLLER, RIG)}

        yield found
        near.stop()
        far.stop()


def test_a_bench_that_is_wired_as_its_file_says_passes_and_no_pin_stays_driven(
    bench: Bench, boards: tuple[Board, Board]
) -> None:
    wires = bench(RIG)
    assert set(wires) == {one.name for one in fields(PinMap)}
    assert all(wire.is_good for wire in wires.values()), wires
    for board in boards:
        for gpio in astuple(RIG):
            assert board.pins[gpio].mode == pigpio.INPUT


def test_two_crossed_wires_are_both_named(bench: Bench) -> None:
    wires = bench(replace(RIG, motor_enable=RIG.motor_pwm, motor_pwm=RIG.motor_enable))
    assert "crossed: it arrives where motor_pwm belongs" in wires["motor_enable"].said
    assert "crossed: it arrives where motor_enable belongs" in wires["motor_pwm"].said
    assert sum(not wire.is_good for wire in wires.values()) == 2


def test_a_wire_that_is_not_plugged_in_is_missing(bench: Bench) -> None:
    wires = bench(replace(RIG, ring_light=22))
    assert "missing: nothing arrives at the rig's GPIO 12" in wires["ring_light"].said
    assert sum(not wire.is_good for wire in wires.values()) == 1


def test_only_a_bench_has_wires_to_test(tmp_path: Path) -> None:
    file = tmp_path / "rig.toml"
    file.write_text("name = 'virtual'\n")
    ran = CliRunner().invoke(app, ["wires", "--rig", str(file)])
    assert ran.exit_code == 1
    assert "only a bench has wires" in ran.output


@pytest.fixture
def bench_file(tmp_path: Path) -> Iterator[Path]:
    """Of two daemons on boards without a wire."""
    with VirtualPigpiod(Board()) as one, VirtualPigpiod(Board()) as other:
        file = tmp_path / "rig.toml"
        places = f"controller = '127.0.0.1:{one.port}'\nrig = '127.0.0.1:{other.port}'\n"
        lock = f"[bench]\nlock = '{tmp_path / 'lock'}'\n"
        file.write_text(f"[gpio]\nwires = 'bench'\n{places}{lock}")
        yield file


def test_a_bench_that_somebody_here_has_is_left_alone(bench_file: Path) -> None:
    with Reservation(bench_file.with_name("lock"), "stories"):
        ran = CliRunner().invoke(app, ["wires", "--rig", str(bench_file)])
    assert (ran.exit_code, "reserved by" in ran.output) == (1, True)


def test_a_bench_that_a_rig_on_another_computer_has_is_left_alone(bench_file: Path) -> None:
    port = host_and_port(load(bench_file).gpio.rig)[1]
    other = BenchWires("127.0.0.1", port, RIG, motor_run_s=1.0)
    try:
        ran = CliRunner().invoke(app, ["wires", "--rig", str(bench_file)])
    finally:
        other.close()
    assert (ran.exit_code, "in use by process" in ran.output) == (1, True)


def test_a_free_bench_without_wires_is_told_so(bench_file: Path) -> None:
    ran = CliRunner().invoke(app, ["wires", "--rig", str(bench_file)])
    assert (ran.exit_code, ran.output.count("missing: nothing arrives")) == (1, 13)
