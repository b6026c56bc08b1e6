"""Callbacks of the real client: nothing lost, times right, soon; watchdogs, filters, events."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace

import pigpio
import pytest

from virtual_pigpiod.client import hang_up
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.reports import alerts
from virtual_pigpiod.tests.conftest import RawClient
from virtual_pigpiod.waiting import until

SAMPLE_US = 5

Connect = Callable[[], RawClient]

Heard = list[tuple[int, int, int]]
"""(gpio, level, tick) as the client's callback was given them."""


def listen(pi: pigpio.pi, gpio: int, edge: int = pigpio.EITHER_EDGE) -> Heard:
    heard: Heard = []
    pi.callback(gpio, edge, lambda *report: heard.append(report))
    return heard


def square(board: Board, gpio: int, half_us: int, count: int) -> list[tuple[int, int]]:
    """`count` edges announced in pieces as a plant does, beginning in 5 ms."""
    start_us = board.now_us() + 5000
    edges = [(start_us + half_us * i, 1 - i % 2) for i in range(count)]
    for at in range(0, count, 100):
        board.edges(gpio, edges[at : at + 100])
    return edges


@pytest.mark.parametrize(
    ("hertz", "cycles"),
    [(1, 2), (10, 8), (100, 60), (150, 90), (1000, 500), (5000, 2500), (10_000, 5000)],
)
def test_a_square_wave_is_counted_without_loss_and_dated_within_a_sample(
    board: Board, pi: pigpio.pi, hertz: int, cycles: int
) -> None:
    heard = listen(pi, 24)
    half_us = 500_000 // hertz
    edges = square(board, 24, half_us, 2 * cycles)
    until(lambda: len(heard) >= 2 * cycles, limit_s=6)
    time.sleep(0.01)
    assert [(level, gpio) for gpio, level, _ in heard] == [(level, 24) for _, level in edges]
    late = [
        pigpio.tickDiff(at & 0xFFFFFFFF, tick)
        for (at, _), (_, _, tick) in zip(edges, heard, strict=True)
    ]
    assert min(late) >= 0
    assert max(late) < SAMPLE_US


def test_soft_pwm_at_8_khz_is_heard_edge_by_edge(pi: pigpio.pi) -> None:
    pi.set_PWM_frequency(17, 8000)
    heard = listen(pi, 17)
    pi.set_PWM_dutycycle(17, 128)
    time.sleep(0.2)
    pi.set_PWM_dutycycle(17, 0)
    time.sleep(0.01)
    heard.pop()  # cut short by the end
    steps = {pigpio.tickDiff(a, b) for (_, _, a), (_, _, b) in pairwise(heard)}
    assert len(heard) > 3000
    assert steps == {60, 65}


def test_an_edge_reaches_the_callback_in_about_a_millisecond(board: Board, pi: pigpio.pi) -> None:
    """The quickest only: other work on the machine, and Nagle's algorithm, delay the others."""
    delays: list[int] = []

    def heard(gpio: int, level: int, tick: int) -> None:
        delays.append(pigpio.tickDiff(tick, board.tick()))

    pi.callback(24, pigpio.EITHER_EDGE, heard)
    for level in [1, 0] * 50:
        board.drive(24, level)
        time.sleep(0.003)
    until(lambda: len(delays) == 100)
    assert sorted(delays)[10] < 2500
    assert sorted(delays)[50] > 500, "sooner than the real daemon looks at its samples"


def test_reports_come_only_for_the_pins_asked_for(board: Board, connect: Connect) -> None:
    one, other = Subscriber(connect, mask=1 << 24), Subscriber(connect, mask=1 << 25 | 1 << 24)
    board.drive(25, 1)
    assert other.next()[2] >> 25 & 1
    board.drive(24, 1)
    assert one.next()[2] >> 24 & 1
    assert other.next()[2] >> 24 & 1
    assert (one.sequence, other.sequence) == (1, 2)


def test_changes_within_one_sample_make_one_report_and_a_glitch_none(
    board: Board, connect: Connect
) -> None:
    reports = Subscriber(connect, mask=3 << 24)
    sample = board.now_us() // 5 * 5 + 5000
    board.edges(24, [(sample + 1, 1), (sample + 11, 0), (sample + 13, 1)])
    board.edges(25, [(sample + 4, 1)])
    assert reports.next()[1:] == ((sample + 5) & 0xFFFFFFFF, board.word(0))
    time.sleep(0.01)
    board.drive(25, 0)
    assert reports.next()[2] >> 24 & 3 == 1


def test_a_pin_moved_before_the_subscription_is_not_reported(
    board: Board, connect: Connect
) -> None:
    board.drive(24, 1)
    reports = Subscriber(connect, mask=1 << 24)
    board.drive(24, 0)
    assert reports.next()[2] >> 24 & 1 == 0


class Subscriber:
    """An in-band handle, read report by report."""

    def __init__(self, connect: Connect, mask: int) -> None:
        self.notify = connect()
        handle = self.notify.ask(99)
        assert connect().ask(19, handle, mask) == 0
        self.sequence = 0

    def next(self) -> tuple[int, int, int]:
        """(flags, tick, levels); the sequence number is checked here."""
        sequence, *report = struct.unpack("<HHII", self.notify.payload(12))
        assert sequence == self.sequence
        self.sequence += 1
        return tuple(report)


def test_a_handle_without_reports_hears_that_the_daemon_lives(
    monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    assert alerts.KEEPALIVE_US == 60_000_000
    monkeypatch.setattr(alerts, "KEEPALIVE_US", 20_000)
    reports = Subscriber(connect, mask=1 << 24)
    first, *_, last = told = [reports.next() for _ in range(3)]
    assert [flags for flags, _, _ in told] == [0x40] * 3
    assert 40_000 <= pigpio.tickDiff(first[1], last[1]) < 1_000_000


def test_watchdogs_report_once_a_period_while_nothing_moves(board: Board, pi: pigpio.pi) -> None:
    heard = listen(pi, 24)
    pi.set_watchdog(24, 50)
    time.sleep(0.42)
    quiet = [report for report in heard if report[1] == pigpio.TIMEOUT]
    assert len(quiet) in (7, 8)
    square(board, 24, 5000, 40)
    time.sleep(0.1)
    moving = len(heard)
    time.sleep(0.08)
    assert all(level != pigpio.TIMEOUT for _, level, _ in heard[len(quiet) : moving])
    pi.set_watchdog(24, 0)


def test_a_watchdog_reports_inside_a_gap_however_late_the_daemon_looks(
    board: Board, pi: pigpio.pi
) -> None:
    seen: list[tuple[int, int]] = []
    pi.callback(24, pigpio.EITHER_EDGE, lambda _, level, tick: seen.append((level, tick)))
    pi.set_watchdog(24, 5)
    with board.locked():  # a daemon on a busy computer
        start_us = board.now_us() + 1_000
        board.edges(24, [(start_us, 1), (start_us + 9_000, 0)])
        time.sleep(0.03)
    pi.set_watchdog(24, 0)
    until(lambda: any(level == 0 for level, _ in seen))
    levels = [level for level, _ in seen]
    rose, fell = levels.index(1), levels.index(0)
    assert levels[rose : fell + 1] == [1, pigpio.TIMEOUT, 0]
    assert abs(seen[rose + 1][1] - seen[rose][1] - 5_000) <= 5


def test_watchdogs_change_no_output(board: Board, pi: pigpio.pi) -> None:
    pi.write(23, 1)
    pi.set_watchdog(23, 10)
    time.sleep(0.05)
    assert board.level(23) == 1


def test_a_glitch_filter_reports_a_level_only_once_it_is_steady(
    board: Board, pi: pigpio.pi
) -> None:
    pi.set_glitch_filter(24, 5000)
    heard = listen(pi, 24)
    start = board.now_us() + 5000
    board.edges(24, [(start, 1), (start + 4000, 0), (start + 20_000, 1), (start + 40_000, 0)])
    until(lambda: len(heard) == 2)
    time.sleep(0.01)
    assert [level for _, level, _ in heard] == [1, 0]
    late = [
        pigpio.tickDiff((start + at) & 0xFFFFFFFF, heard[i][2])
        for i, at in enumerate((20_000, 40_000))
    ]
    assert all(5000 <= us <= 5005 for us in late)
    assert pi.read(24) == 0


def test_a_noise_filter_opens_after_stillness_and_closes_again(board: Board, pi: pigpio.pi) -> None:
    pi.set_noise_filter(24, 10_000, 30_000)
    heard = listen(pi, 24)
    start = board.now_us() + 20_000
    opened = [(start, 1), (start + 1000, 0), (start + 2000, 1), (start + 3000, 0)]
    # Closed from 30 ms on: these come too close on one another to open it again.
    board.edges(24, [*opened, (start + 35_000, 1), (start + 36_000, 0)])
    until(lambda: len(heard) == 4)
    time.sleep(0.06)
    assert [level for _, level, _ in heard] == [1, 0, 1, 0]


def test_filters_outlive_the_client_that_set_them(
    board: Board, connect: Connect, pi: pigpio.pi
) -> None:
    other = connect()
    other.ask(97, 24, 300_000)
    other.socket.close()
    heard = listen(pi, 24)
    board.drive(24, 1)
    assert pi.read(24) == 1, "reads see through a filter"
    time.sleep(0.03)
    assert heard == []


def test_events_are_delivered_to_those_who_asked(pi: pigpio.pi) -> None:
    heard: list[int] = []
    pi.event_callback(7, lambda event, _: heard.append(event))
    pi.event_trigger(6)
    pi.event_trigger(7)
    until(lambda: heard == [7])


def test_every_slot_can_be_used_and_is_freed_with_its_connection(
    connect: Connect, raw: RawClient
) -> None:
    clients = [connect() for _ in range(32)]
    assert [client.ask(99) for client in clients] == list(range(32))
    assert raw.ask(99) == -24
    clients[5].socket.close()
    until(lambda: raw.ask(99) == 5)


def test_a_client_that_never_reads_holds_up_the_reports_of_all(
    board: Board, daemon: VirtualPigpiod, pi: pigpio.pi, connect: Connect
) -> None:
    """Also scripts that WAIT; but commands, PWM and the script loops that drive EN go on."""
    raw, lazy = connect(), connect()
    lazy.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    handle = lazy.ask(99)
    heard = listen(pi, 24)
    raw.ask(19, handle, 1 << 18)
    raw.ask(86, 18, 100_000, struct.pack("<I", 500_000))  # 200,000 reports a second
    until(lambda: daemon.is_blocked, limit_s=20)
    board.drive(24, 1)
    time.sleep(0.05)
    assert heard == []
    assert raw.ask(26) == 79
    lazy.socket.close()
    until(lambda: [level for _, level, _ in heard] == [1])


def test_a_client_is_ended_whose_thread_a_late_report_has_ended_first(
    daemon: VirtualPigpiod,
) -> None:
    client = pigpio.pi("127.0.0.1", daemon.port)
    notify = client._notify
    sock = notify.sl.s

    def send_too_late(data: bytes) -> int:
        sock.shutdown(socket.SHUT_RDWR)  # wakes the thread, as a report does
        notify.join(timeout=5)
        return sock.send(data)

    notify.sl.s = SimpleNamespace(send=send_too_late, close=sock.close)
    hang_up(client)
    assert not notify.is_alive()
    assert client.sl.s is None
    until(lambda: daemon.connections == 0)
