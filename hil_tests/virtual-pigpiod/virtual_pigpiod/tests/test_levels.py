"""Modes, latches, pulls, external drive: what a pin's level is, and who may change it."""

from __future__ import annotations

import time

import pigpio
import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.tests.conftest import RawClient


def test_an_input_follows_what_drives_it_and_else_its_pull(board: Board, pi: pigpio.pi) -> None:
    pi.set_pull_up_down(24, pigpio.PUD_UP)
    assert pi.read(24) == 1
    board.drive(24, 0)
    assert pi.read(24) == 0
    board.release(24)
    assert pi.read(24) == 1
    pi.set_pull_up_down(24, pigpio.PUD_DOWN)
    assert pi.read(24) == 0


def test_an_output_shows_its_latch_against_any_external_drive(board: Board, pi: pigpio.pi) -> None:
    pi.write(23, 1)
    board.drive(23, 0)
    assert pi.read(23) == 1
    pi.set_mode(23, pigpio.INPUT)
    assert pi.read(23) == 0


def test_the_latch_keeps_its_level_while_the_pin_is_an_input(board: Board, pi: pigpio.pi) -> None:
    pi.set_bank_1(1 << 17)
    assert board.level(17) == 0
    pi.set_mode(17, pigpio.OUTPUT)
    assert board.level(17) == 1


def test_the_plant_hears_of_an_output_before_the_client_gets_its_reply(
    board: Board, pi: pigpio.pi
) -> None:
    heard: list[tuple[int, int]] = []
    board.on_output(lambda gpio: heard.append((gpio, board.level(gpio))))
    pi.write(23, 1)
    pi.write(23, 0)
    assert heard == [(23, 1), (23, 0)]


def test_banks_are_written_as_far_as_permitted(board: Board, raw: RawClient) -> None:
    assert raw.ask(0, 17, 1) == 0
    assert raw.ask(14, 0xFFFFFFFF) == -42
    assert board.level(17) == 1
    assert raw.ask(12, 1 << 17) == 0
    assert board.level(17) == 0


@pytest.mark.parametrize(
    ("gpio", "result"), [(1, -41), (2, 0), (27, 0), (28, -41), (53, -41), (54, -3)]
)
def test_permission_comes_before_range(raw: RawClient, gpio: int, result: int) -> None:
    assert raw.ask(4, gpio, 1) == result
    assert raw.ask(5, gpio, 1) == (-2 if result == -3 else result)


def test_reading_needs_no_permission(raw: RawClient) -> None:
    assert [raw.ask(3, gpio) for gpio in (0, 1, 28, 53)] == [1, 1, 0, 1]


def test_a_trigger_pulse_has_its_length_and_leaves_the_mode(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(22, pigpio.OUTPUT)
    tap = board.tap(22)
    pi.gpio_trigger(22, 37, 1)
    edges = tap.take(board.now_us())
    assert [level for _, level in edges] == [1, 0]
    assert edges[1][0] - edges[0][0] == 37
    assert board.mode(22) == Mode.OUTPUT


def test_edges_announced_ahead_take_effect_at_their_own_time(board: Board) -> None:
    tap = board.tap(24)
    start = board.now_us() + 50_000
    board.edges(24, [(start, 1), (start + 7, 0), (start + 1000, 1)])
    assert board.level(24) == 0
    assert board.level(24, start + 3) == 1
    assert board.level(24, start + 8) == 0
    assert board.level(24, start + 1000) == 1
    assert tap.take(start + 1000) == [(start, 1), (start + 7, 0), (start + 1000, 1)]


def test_edges_handed_over_late_keep_their_times(board: Board) -> None:
    tap = board.tap(24)
    tap.take(board.now_us())
    late = board.now_us() - 2000
    board.edges(24, [(late, 1)])
    assert [level for _, level in tap.take(board.now_us())] == [1]
    assert board.level(24) == 1


def test_a_wired_input_shows_the_other_boards_output_edge_by_edge(board: Board) -> None:
    other = Board()
    other.follow(5, board, 17)
    tap, driven = other.tap(5), board.tap(17)
    time.sleep(0.001)
    for level in (1, 0, 1):
        board.output(17, level)
    time.sleep(0.001)
    upto_us = board.now_us()
    edges = tap.take(upto_us)
    assert [level for _, level in edges] == [1, 0, 1]
    assert edges == driven.take(upto_us)
    assert other.level(5) == 1


def test_pads_keep_their_strength(raw: RawClient) -> None:
    assert raw.ask(102, 0, 16) == 0
    assert raw.ask(103, 0) == 16
    assert raw.ask(102, 0, 17) == -127
