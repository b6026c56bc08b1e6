"""What every set of contacts must keep: the unsafe statement for an open wire, and news at once."""

from __future__ import annotations

import time
from dataclasses import asdict

import pytest

from hil_tests.contracts.gpio_bench import GpioBench
from hil_tests.contracts.pins import Pins
from hil_tests.waiting import seconds_until
from shaker_ctl.ports import Interlocks

AT_REST = Interlocks(
    compartment_open=False,
    cover_open=False,
    estop_pressed=False,
    driver_fault=False,
    button_pressed=False,
)

CONTACTS = [
    ("compartment", 1, "compartment_open coil_broken"),
    ("cover", 1, "cover_open"),
    ("estop", 1, "estop_pressed coil_broken"),
    ("driver_fault", 0, "driver_fault"),
    ("button", 0, "button_pressed"),
]


def test_contacts_at_rest_deny_nothing(pins: Pins) -> None:
    assert pins.lines.read() == AT_REST


@pytest.mark.parametrize(("pin", "level", "statement"), CONTACTS)
def test_each_contact_says_its_own_statement(
    bench: GpioBench, pins: Pins, pin: str, level: int, statement: str
) -> None:
    gpio = getattr(bench.pins, pin)
    before = bench.board.level(gpio)
    bench.board.drive(gpio, level)
    said = pins.lines.read()
    assert [name for name, holds in asdict(said).items() if holds] == statement.split()
    bench.board.drive(gpio, before)
    assert pins.lines.read() == AT_REST


@pytest.mark.parametrize("pin", ["compartment", "cover", "estop"])
def test_a_broken_wire_reads_as_unsafe(bench: GpioBench, pins: Pins, pin: str) -> None:
    bench.board.release(getattr(bench.pins, pin))
    assert pins.lines.read() != AT_REST


@pytest.mark.parametrize(("pin", "level", "statement"), CONTACTS)
def test_a_change_is_reported_within_its_time(
    bench: GpioBench, pins: Pins, pin: str, level: int, statement: str
) -> None:
    seen: list[Interlocks] = []
    pins.lines.on_change(seen.append)
    time.sleep(0.1)
    seen.clear()
    bench.board.drive(getattr(bench.pins, pin), level)
    took_s = seconds_until(lambda: any(getattr(said, statement.split()[0]) for said in seen))
    assert took_s <= 0.06  # A first report after a quiet time may be 40 ms late by itself.


def test_bounces_shorter_than_the_filter_are_not_reported(bench: GpioBench, pins: Pins) -> None:
    seen: list[Interlocks] = []
    time.sleep(0.1)
    pins.lines.on_change(seen.append)
    start_us = bench.board.now_us() + 5_000
    bench.board.edges(bench.pins.estop, [(start_us, 1), (start_us + 100, 0)])
    time.sleep(0.15)
    assert not any(said.estop_pressed for said in seen)
