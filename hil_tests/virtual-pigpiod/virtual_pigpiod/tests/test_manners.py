"""How the daemon lives and dies, as the real one was seen to: what clients and pins notice."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pigpio
import pytest

from virtual_pigpiod import server
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.tests.conftest import RawClient
from virtual_pigpiod.traces.recorder import Trace
from virtual_pigpiod.waiting import until

PIGPV = 26

CLIENT = """
import sys, time, pigpio
pi = pigpio.pi("127.0.0.1", int(sys.argv[1]))
pi.write(23, 1)
pi.set_PWM_dutycycle(17, 128)
pi.hardware_PWM(18, 20000, 500000)
pi.set_watchdog(24, 20)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def client(daemon: VirtualPigpiod) -> Iterator[subprocess.Popen[str]]:
    """A pigpio program in another process, driving three pins."""
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(daemon.port)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
def test_outputs_go_on_when_their_client_dies_or_stops(
    board: Board, daemon: VirtualPigpiod, client: subprocess.Popen[str], sent: signal.Signals
) -> None:
    os.kill(client.pid, sent)
    if sent == signal.SIGKILL:
        until(lambda: daemon.connections == 0)
    with Trace(board, [17]) as trace:
        time.sleep(0.05)
    assert board.level(23) == 1
    assert board.duty(18) == 0.5
    rises = sum(level for _, level in trace.edges(17))
    assert abs(rises - (trace.end_us - trace.start_us) * 800 / 1e6) <= 1


def test_the_handles_of_a_lost_client_are_freed(
    daemon: VirtualPigpiod, client: subprocess.Popen[str], raw: RawClient
) -> None:
    assert raw.ask(19, 0, 0) == 0
    client.kill()
    until(lambda: raw.ask(19, 0, 0) == -25)


def test_termination_leaves_pins_as_outputs_at_whatever_level_they_have(board: Board) -> None:
    """Recorded from the real daemon: at duty 200/255 the pin was left high in 7 of 8 stops."""
    left = []
    for number in range(24):
        with VirtualPigpiod(board) as daemon:
            client = RawClient(daemon.port)
            client.ask(5, 17, 200)
            client.ask(86, 18, 20_000, (500_000).to_bytes(4, "little"))
            time.sleep(0.003 + number / 24 / 800)  # stops at every phase of the 800 Hz alike
            client.socket.close()
        with Trace(board, [17]) as trace:
            time.sleep(0.004)
        assert trace.edges(17) == []
        left.append(board.level(17))
        assert board.mode(17) == Mode.OUTPUT
        assert (board.mode(18), board.duty(18)) == (Mode.ALT5, 0.5)
    assert sum(left) >= 12


def test_a_killed_daemon_leaves_pwm_and_waves_running_and_scripts_dead(board: Board) -> None:
    daemon = VirtualPigpiod(board)
    daemon.start()
    client = RawClient(daemon.port)
    client.ask(5, 17, 128)
    client.ask(0, 22, 1)
    client.ask(38, extension=b"tag 0 w 23 1 mils 1 w 23 0 mils 1 jmp 0")
    until(lambda: client.ask(40, 0) == 0)
    pulses = b"".join(word.to_bytes(4, "little") for word in (1 << 22, 0, 700, 0, 1 << 22, 300))
    client.ask(28, extension=pulses)
    client.ask(52, client.ask(49))
    daemon.kill()
    client.socket.close()
    with Trace(board, [17, 22, 23]) as trace:
        time.sleep(0.05)
    assert len(trace.edges(17)) >= 78
    assert len(trace.edges(22)) >= 98
    assert trace.edges(23) == []
    with daemon, Trace(board, [17, 22]) as after:  # a new daemon takes the DMA channel
        time.sleep(0.02)
    assert after.edges(17) == after.edges(22) == []


def test_a_new_daemon_writes_no_register_and_remembers_nothing(board: Board) -> None:
    daemon = VirtualPigpiod(board)
    with daemon:
        client = RawClient(daemon.port)
        client.ask(4, 23, 1)
        client.ask(5, 17, 128)
        client.ask(6, 17, 1000)
        client.ask(38, extension=b"halt")
        client.socket.close()
    with daemon:
        client = RawClient(daemon.port)
        assert (board.level(23), board.mode(23)) == (1, Mode.OUTPUT)
        assert client.ask(22, 17) == 255
        assert client.ask(83, 17) == -92
        assert client.ask(45, 0) == -48
        client.socket.close()


def test_a_hanging_daemon_accepts_and_never_answers_while_its_scripts_go_on(
    board: Board, daemon: VirtualPigpiod, connect: Callable[[], RawClient]
) -> None:
    raw = connect()
    raw.ask(38, extension=b"tag 0 w 23 1 mils 2 w 23 0 mils 2 jmp 0")
    until(lambda: raw.ask(40, 0) == 0)
    daemon.hang()
    raw.send(PIGPV)
    newcomer = connect()
    newcomer.send(PIGPV)
    for client in (raw, newcomer):
        client.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.socket.recv(16)
    with Trace(board, [23]) as trace:
        time.sleep(0.1)
    assert len(trace.edges(23)) > 20
    daemon.resume()
    assert raw.reply()[3] == newcomer.reply()[3] == 79


def test_a_frozen_daemon_stops_its_scripts_but_not_its_pwm(
    board: Board, daemon: VirtualPigpiod, connect: Callable[[], RawClient]
) -> None:
    raw = connect()
    raw.ask(5, 17, 128)
    raw.ask(38, extension=b"tag 0 w 23 1 mils 2 w 23 0 mils 2 jmp 0")
    until(lambda: raw.ask(40, 0) == 0)
    daemon.freeze()
    time.sleep(0.01)
    newcomer = connect()
    with Trace(board, [17, 23]) as trace:
        newcomer.send(PIGPV)
        time.sleep(0.1)
    assert trace.edges(23) == []
    assert len(trace.edges(17)) > 150
    daemon.resume()
    assert newcomer.reply()[3] == 79
    with Trace(board, [23]) as trace:
        time.sleep(0.1)
    assert len(trace.edges(23)) > 20


@pytest.mark.parametrize("bad_manner", [VirtualPigpiod.hang, VirtualPigpiod.freeze])
def test_what_was_sent_to_a_daemon_that_then_dies_is_never_done(
    board: Board, bad_manner: Callable[[VirtualPigpiod], None]
) -> None:
    daemon = VirtualPigpiod(board)
    daemon.start()
    client = RawClient(daemon.port)
    client.ask(38, extension=b"tag 0 mils 10 w 22 1 jmp 0")
    client.ask(4, 23, 0)
    until(lambda: client.ask(40, 0) == 0)
    bad_manner(daemon)
    if bad_manner is VirtualPigpiod.freeze:
        time.sleep(0.005)
    client.send(4, 23, 1)
    time.sleep(0.03)
    script_ran = board.level(22)
    daemon.kill()
    assert board.level(23) == 0
    assert board.level(22) == script_ran == (bad_manner is VirtualPigpiod.hang)
    client.socket.close()


def test_a_delayed_answer_is_held_back_by_a_hang(daemon: VirtualPigpiod, raw: RawClient) -> None:
    raw.send(47, 20)  # MILS
    raw.send(PIGPV)
    time.sleep(0.005)
    daemon.hang()
    raw.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        raw.socket.recv(16)
    daemon.resume()
    raw.socket.settimeout(5)
    assert [raw.reply()[3], raw.reply()[3]] == [0, 79]


def test_a_rejected_client_is_accepted_and_closed(
    daemon: VirtualPigpiod, raw: RawClient, connect: Callable[[], RawClient]
) -> None:
    daemon.reject()
    rejected = connect()
    assert rejected.socket.recv(16) == b""
    assert raw.ask(PIGPV) == 79, "those who are in stay in"


def test_vanishing_closes_every_connection_and_changes_no_pin(
    board: Board, daemon: VirtualPigpiod, raw: RawClient
) -> None:
    raw.ask(4, 23, 1)
    daemon.vanish()
    assert raw.socket.recv(16) == b""
    assert board.level(23) == 1
    again = RawClient(daemon.port)
    assert again.ask(3, 23) == 1
    again.socket.close()


# Its reader thread may die of the reset connection, which it does not catch.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_python_client_does_not_notice_that_the_daemon_is_gone(
    daemon: VirtualPigpiod, pi: pigpio.pi
) -> None:
    """Why a client needs its own check of life."""
    daemon.kill()
    assert pi.connected
    with pytest.raises((OSError, struct.error)):
        pi.read(4)
    assert pi.connected


def test_faults_may_be_ordered_by_what_happens_on_a_pin(board: Board) -> None:
    """A listener runs in the daemon's own thread."""
    daemon = VirtualPigpiod(board)
    daemon.start()
    board.on_output(lambda gpio: daemon.kill() if gpio == 23 else None)
    client = RawClient(daemon.port)
    client.send(4, 23, 1)
    assert client.socket.recv(16) == b""
    until(lambda: not daemon.is_running)
    client.socket.close()
    assert board.level(23) == 1


def test_more_clients_than_it_takes_are_turned_away_and_the_others_served(
    daemon: VirtualPigpiod, connect: Callable[[], RawClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MAX_CLIENTS", 2)
    served = [connect(), connect()]
    until(lambda: daemon.connections == 2)
    assert connect().socket.recv(1) == b""
    assert [client.ask(PIGPV) for client in served] == [79, 79]
