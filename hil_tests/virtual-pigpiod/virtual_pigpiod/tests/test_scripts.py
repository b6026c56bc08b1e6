"""Scripts in the daemon: every operation, states, and the dead man's script that owns EN."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable

import pigpio
import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.tests.conftest import RawClient
from virtual_pigpiod.traces.recorder import Trace
from virtual_pigpiod.waiting import until

INITIALISING, HALTED, RUNNING, WAITING, FAILED = range(5)

DEAD_MAN = "tag 0 mils p3 lda p0 cmp 1 jm 9 w p2 1 dcr p0 jmp 0 tag 9 w p2 0 mics 20 w p1 0 jmp 0"
"""p0 ticks left, p1 PWM pin, p2 EN, p3 tick in ms."""


def run(pi: pigpio.pi, text: str, *parameters: int) -> tuple[int, tuple[int, ...]]:
    """Store and run a script to its end: (state, parameters)."""
    number = store(pi, text)
    pi.run_script(number, parameters)
    until(lambda: pi.script_status(number)[0] not in (INITIALISING, RUNNING))
    state, after = pi.script_status(number)
    return state, after


def store(pi: pigpio.pi, text: str) -> int:
    number: int = pi.store_script(text.encode())
    until(lambda: pi.script_status(number)[0] != INITIALISING)
    return number


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("lda 7 add 5", 12),
        ("lda 7 sub 9", -2),
        ("lda 0x7fffffff inra", -(2**31)),
        ("lda -7 mlt 3", -21),
        ("lda -7 div 2", -3),
        ("lda -7 mod 2", -1),
        ("lda 12 and 10", 8),
        ("lda 12 or 3", 15),
        ("lda 12 xor 10", 6),
        ("lda 3 rla 4", 48),
        ("lda -48 rra 4", -3),
        ("lda 5 dcra", 4),
        ("ld v149 3 inr v149 lda v149", 4),
        ("ld v1 3 dcr v1 lda v1", 2),
        ("ld v1 1 rl v1 31 lda v1", -(2**31)),
        ("ld v1 -16 rr v1 2 lda v1", -4),
        ("ld v1 4 ld v2 9 x v1 v2 lda v1 mlt 10 add v2", 94),
        ("ld v1 4 lda 9 xa v1 mlt 10 add v1", 49),
        ("ld v3 6 push v3 lda 5 pusha pop v4 popa mlt v4", 30),
        ("lda 77 stab 5 lda 0 ldab 5", 77),
        ("lda 1 jmp 2 tag 1 lda 9 halt tag 2 add 1", 2),
        ("lda 5 cmp 5 jz 1 lda 0 halt tag 1 add 1", 6),
        ("lda 5 cmp 4 jnz 1 lda 0 halt tag 1 add 1", 6),
        ("lda 5 cmp 6 jm 1 lda 0 halt tag 1 add 1", 6),
        ("lda 5 cmp 5 jp 1 lda 0 halt tag 1 add 1", 6),
        ("lda 1 call 1 add 1 sta p9 halt tag 1 mlt 10 ret", 11),
        ("ld v0 10 lda 0 tag 1 add v0 dcr v0 jnz 1", 55),
        ("LDA 0X1F", 31),
        ("lda 017", 15),
        ("w 17 2", -5),
        ("mics 1000001", -64),
        ("write 17 1 r 17", 1),
        ("pfs 17 900", 1000),
        ("m 17 w mg 17", 1),
        ("pud 24 u r 24", 1),
        ("sys nothing", -140),
        ("nop pigpv", 79),
    ],
)
def test_operations_leave_their_result_in_the_accumulator(
    pi: pigpio.pi, text: str, result: int
) -> None:
    ends = text if "sta p9" in text else f"{text} sta p9"
    state, parameters = run(pi, ends.replace("halt", "sta p9 halt"))
    assert (state, parameters[9]) == (HALTED, result)


@pytest.mark.parametrize(
    "text", ["popa", "ret", "tag 1 pusha jmp 1", "lda 1 div 0", "lda 1 mod v0"]
)
def test_a_script_that_cannot_go_on_has_failed(pi: pigpio.pi, text: str) -> None:
    assert run(pi, text)[0] == FAILED


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("lda", -55),
        ("lda x", -55),
        ("ld 5 1", -55),
        ("w -1 0", -55),
        ("ld p10 1", -55),
        ("jmp v1", -55),
        ("m 4 q", -55),
        ("procr 0", -55),
        ("wvag 1 0 1", -55),
        ("call 4", -63),
        ("tag 4 tag 4 foo", -53),
        (" ".join(f"tag {n}" for n in range(51)), -54),
        (" ".join(f"tag {n}" for n in range(50)), 0),
    ],
)
def test_wrong_texts_are_refused_with_the_daemons_reason(
    raw: RawClient, text: str, refusal: int
) -> None:
    assert raw.ask(38, extension=text.encode()) == refusal


def test_parameters_stay_between_runs_and_can_be_overwritten(pi: pigpio.pi) -> None:
    number = store(pi, "inr p0 inr p1")
    pi.run_script(number, [10, 20])
    until(lambda: pi.script_status(number)[0] == HALTED)
    pi.run_script(number, [50])
    until(lambda: pi.script_status(number)[1][1] == 22)
    assert pi.script_status(number)[1][:2] == (51, 22)
    pi.update_script(number, [1, 2, 3])
    assert pi.script_status(number)[1][:4] == (1, 2, 3, 0)


def test_a_script_just_stored_is_not_ready(raw: RawClient) -> None:
    store, start = struct.pack("<4I4s", 38, 0, 0, 4, b"halt"), struct.pack("<4I", 40, 0, 0, 0)
    raw.socket.sendall(store + start)
    assert raw.reply()[3] == 0
    assert raw.reply()[3] == -62


def test_waiting_for_pins_and_events(board: Board, pi: pigpio.pi) -> None:
    number = store(pi, f"wait {1 << 24 | 1 << 25} sta p0 evtwt 0x88 sta p1")
    pi.run_script(number)
    until(lambda: pi.script_status(number)[0] == WAITING)
    board.drive(24, 1)
    until(lambda: pi.script_status(number)[1][0] == 1 << 24)
    until(lambda: pi.script_status(number)[0] == WAITING)
    pi.event_trigger(2)
    pi.event_trigger(3)
    until(lambda: pi.script_status(number)[0] == HALTED)
    assert pi.script_status(number)[1][1] == 8


def test_a_waiting_script_can_be_stopped(pi: pigpio.pi) -> None:
    number = store(pi, "wait 1")
    pi.run_script(number)
    until(lambda: pi.script_status(number)[0] == WAITING)
    pi.stop_script(number)
    until(lambda: pi.script_status(number)[0] == HALTED)


def test_a_spinning_script_does_not_stop_the_daemon(pi: pigpio.pi) -> None:
    number = store(pi, "tag 0 inr p0 jmp 0")
    pi.run_script(number)
    begun = time.monotonic()
    assert all(pi.read(24) == 0 for _ in range(100))
    assert time.monotonic() - begun < 2.0
    until(lambda: pi.script_status(number)[1][0] > 1000)
    pi.stop_script(number)
    until(lambda: pi.script_status(number)[0] == HALTED)


def test_scripts_outlive_their_client_and_slots_are_not_reclaimed(
    connect: Callable[[], RawClient],
) -> None:
    for number in range(32):
        leaking = connect()
        assert leaking.ask(38, extension=b"halt") == number
        leaking.socket.close()
    client = connect()
    assert client.ask(38, extension=b"halt") == -57
    assert client.ask(39, 7) == 0
    assert client.ask(38, extension=b"halt") == 7


def test_a_script_times_pulses_by_its_delays(board: Board, pi: pigpio.pi) -> None:
    with Trace(board, [17]) as trace:
        run(pi, "tag 0 w 17 1 mils 5 w 17 0 mils 5 dcr p0 jnz 0", 10)
    edges = trace.edges(17)
    assert len(edges) == 20
    assert edges[-1][0] - edges[0][0] == pytest.approx(19 * 5000, abs=20_000)


def test_a_countdown_keeps_its_time_while_the_process_is_busy(board: Board, pi: pigpio.pi) -> None:
    """Python lets another thread go on for milliseconds; the delays must not add that up."""
    number = store(pi, "tag 0 mils 10 dcr p0 jnz 0 w 23 1")
    is_over = threading.Event()

    def compute() -> None:
        while not is_over.is_set():
            sum(range(1000))

    busy = threading.Thread(target=compute)
    busy.start()
    began = time.monotonic()
    pi.run_script(number, [20])
    until(lambda: board.level(23) == 1)
    took = time.monotonic() - began
    is_over.set()
    busy.join()
    assert 0.15 <= took <= 0.28


def test_the_dead_man_lets_the_motor_go_when_nobody_refreshes(board: Board, pi: pigpio.pi) -> None:
    pi.write(18, 0)
    number = store(pi, DEAD_MAN)
    pi.run_script(number, [0, 18, 23, 10])
    for _ in range(20):
        pi.update_script(number, [10])
        pi.hardware_PWM(18, 20_000, 500_000)
        time.sleep(0.01)
    assert (board.level(23), board.duty(18)) == (1, 0.5)
    last = time.monotonic()
    until(lambda: board.level(23) == 0)
    assert time.monotonic() - last <= 0.150
    until(lambda: board.duty(18) == 0, limit_s=0.05)
    pi.update_script(number, [10])
    until(lambda: board.level(23) == 1, limit_s=0.1)


def test_nobody_outside_sees_the_middle_of_a_scripts_pulse(board: Board, pi: pigpio.pi) -> None:
    """The dead-man pulses EN low for microseconds. Where this computer goes elsewhere in between,
    the plant would brake for that long."""
    seen: list[int] = []
    lookers: list[threading.Thread] = []

    def look_while_low(gpio: int) -> None:
        if gpio == 23 and lookers == [] and board.level(23) == 0:
            lookers.append(threading.Thread(target=lambda: seen.append(board.level(23))))
            lookers[0].start()
            time.sleep(0.02)  # the daemon's thread is away

    pi.write(23, 1)
    board.on_output(look_while_low)
    run(pi, "w 23 0 w 23 1 halt")
    lookers[0].join(timeout=5.0)
    assert seen == [1]
