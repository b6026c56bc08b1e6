"""Waves and chains: timing to the microsecond, numbers, room, and what the Python client does."""

from __future__ import annotations

import struct
import time
from itertools import pairwise

import pigpio
import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.tests.conftest import RawClient
from virtual_pigpiod.traces.recorder import Trace
from virtual_pigpiod.waiting import until

BIT = 1 << 17
WAVE_ADD_GENERIC = 28


def wave(pi: pigpio.pi, *pulses: tuple[int, int, int]) -> int:
    pi.wave_add_generic([pigpio.pulse(*pulse) for pulse in pulses])
    number: int = pi.wave_create()
    return number


def steps(trace: Trace, gpio: int = 17) -> list[int]:
    """Times between neighbouring edges."""
    return [later - earlier for (earlier, _), (later, _) in pairwise(trace.edges(gpio))]


def test_a_wave_plays_to_the_microsecond_and_leaves_the_last_level(
    board: Board, pi: pigpio.pi
) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    number = wave(pi, (BIT, 0, 7), (0, BIT, 1), (BIT, 0, 12_345), (0, BIT, 100), (BIT, 0, 50))
    with Trace(board, [17]) as trace:
        assert pi.wave_send_once(number) == 11  # control blocks, the initial delay included
        assert pi.wave_tx_busy() == 1
        assert pi.wave_tx_at() == number
        until(lambda: not pi.wave_tx_busy())
        time.sleep(0.001)
    assert steps(trace) == [7, 1, 12_345, 100]
    assert board.level(17) == 1
    assert pi.wave_tx_at() == pigpio.NO_TX_WAVE


def test_a_wave_does_not_set_the_mode(board: Board, pi: pigpio.pi) -> None:
    pi.wave_send_once(wave(pi, (BIT, 0, 10)))
    time.sleep(0.002)
    assert (board.mode(17), board.level(17)) == (pigpio.INPUT, 0)
    pi.set_mode(17, pigpio.OUTPUT)
    assert board.level(17) == 1


def test_a_repeated_wave_has_no_gap_and_halts_where_it_is(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    number = wave(pi, (BIT, 0, 300), (0, BIT, 700))
    with Trace(board, [17]) as trace:
        pi.wave_send_repeat(number)
        time.sleep(0.1)
        pi.wave_tx_stop()
        level = board.level(17)
        time.sleep(0.005)
    assert set(steps(trace)) == {300, 700}
    assert len(trace.edges(17)) >= 190
    assert board.level(17) == level


def test_a_synchronised_wave_begins_at_the_end_of_the_cycle(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    slow = wave(pi, (BIT, 0, 6000), (0, BIT, 4000))
    fast = wave(pi, (BIT, 0, 200), (0, BIT, 300))
    with Trace(board, [17]) as trace:
        pi.wave_send_repeat(slow)
        time.sleep(0.024)
        pi.wave_send_using_mode(fast, pigpio.WAVE_MODE_REPEAT_SYNC)
        assert pi.wave_tx_at() == slow
        until(lambda: pi.wave_tx_at() == fast)
        time.sleep(0.01)
        pi.wave_send_using_mode(slow, pigpio.WAVE_MODE_ONE_SHOT_SYNC)
        until(lambda: not pi.wave_tx_busy())
    found = steps(trace)
    change = found.index(200)
    assert found[:change] == [6000, 4000] * (change // 2)
    back = found.index(6000, change)
    assert found[change:back] == [200, 300] * ((back - change) // 2)
    assert found[back:] == [6000]


def test_a_wave_sent_at_once_cuts_off_what_plays(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    long = wave(pi, (BIT, 0, 500_000), (0, BIT, 500_000))
    short = wave(pi, (0, BIT, 100), (BIT, 0, 100), (0, BIT, 0))
    pi.wave_send_repeat(long)
    time.sleep(0.005)
    with Trace(board, [17]) as trace:
        pi.wave_send_once(short)
        until(lambda: not pi.wave_tx_busy())
        time.sleep(0.001)
    assert [level for _, level in trace.edges(17)] == [0, 1, 0]
    assert steps(trace) == [100, 100]


def test_added_trains_run_from_a_common_start(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    pi.set_mode(22, pigpio.OUTPUT)
    pi.wave_add_generic([pigpio.pulse(BIT, 0, 100), pigpio.pulse(0, BIT, 100)])
    other = 1 << 22
    count = pi.wave_add_generic(
        [pigpio.pulse(other, 0, 30), pigpio.pulse(0, other, 70), pigpio.pulse(other, 0, 300)]
    )
    assert count == 3, "at 0 and 100 two pulses have become one"
    assert pi.wave_get_micros() == 400
    with Trace(board, [17, 22]) as trace:
        pi.wave_send_once(pi.wave_create())
        time.sleep(0.005)
    assert steps(trace, 17) == [100]
    assert steps(trace, 22) == [30, 70]
    assert trace.edges(17)[0][0] == trace.edges(22)[0][0]


def test_a_chain_plays_nested_loops_and_delays(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    one = wave(pi, (BIT, 0, 100), (0, BIT, 100))
    two = wave(pi, (BIT, 0, 50), (0, BIT, 50))
    with Trace(board, [17]) as trace:
        chain = [255, 0, one, 255, 0, two, 255, 1, 3, 0, 255, 2, 0x10, 0x27, 255, 1, 2, 0]
        pi.wave_chain([*chain, 255, 0, one, 255, 1, 0, 0, two])  # a loop of 0 is skipped
        until(lambda: not pi.wave_tx_busy())
        time.sleep(0.001)
    once = [100, 100, 50, 50, 50, 50, 50, 10_050]
    assert steps(trace) == once + once + [50]


def test_a_chain_can_loop_for_ever(board: Board, pi: pigpio.pi) -> None:
    pi.set_mode(17, pigpio.OUTPUT)
    one = wave(pi, (BIT, 0, 2000), (0, BIT, 2000))
    pi.wave_chain([255, 0, one, 255, 2, 100, 0, 255, 3])
    with Trace(board, [17]) as trace:
        time.sleep(0.1)
    assert set(steps(trace)) == {2000, 2100}
    assert pi.wave_tx_busy() == 1


@pytest.mark.parametrize(
    ("chain", "result"),
    [
        (bytes([255]), -116),
        (bytes([255, 1, 0]), -116),
        (bytes([255, 0] + [0] * 2 + [255, 1, 2, 0]) * 20, 0),
        (bytes([255, 0] + [0] * 2 + [255, 1, 2, 0]) * 21, -115),
        (bytes([0]) * 598, 0),
        (bytes([0]) * 599, -119),
    ],
)
def test_the_limits_of_a_chain(pi: pigpio.pi, raw: RawClient, chain: bytes, result: int) -> None:
    wave(pi, (BIT, 0, 10))
    assert raw.ask(93, extension=chain) == result


def test_a_refused_chain_has_stopped_what_played(pi: pigpio.pi, raw: RawClient) -> None:
    pi.wave_send_repeat(wave(pi, (BIT, 0, 10_000), (0, BIT, 10_000)))
    assert raw.ask(93, extension=bytes([9])) == -66
    assert pi.wave_tx_busy() == 0


def test_ids_are_given_again_as_the_daemon_does_it(pi: pigpio.pi) -> None:
    small = [(BIT, 0, 10), (0, BIT, 10)]
    ids = [wave(pi, *small) for _ in range(4)]
    assert ids == [0, 1, 2, 3]
    pi.wave_delete(1)
    assert wave(pi, *small, *small) == 4, "another size does not fit into the hole"
    assert wave(pi, *small) == 1, "the same size does"
    pi.wave_delete(3)
    pi.wave_delete(4)
    assert wave(pi, (BIT, 0, 1)) == 3, "deleting the top id frees those deleted below it"


def test_padded_waves_share_the_room_by_percent(pi: pigpio.pi) -> None:
    for _ in range(2):
        pi.wave_add_generic([pigpio.pulse(BIT, 0, 10)])
        pi.wave_create_and_pad(50)
    pi.wave_add_generic([pigpio.pulse(BIT, 0, 10)])
    with pytest.raises(pigpio.error, match="No more CBs"):
        pi.wave_create_and_pad(1)


def test_too_many_pulses_are_refused(raw: RawClient) -> None:
    pulses = struct.pack("<3I", BIT, 0, 1) * 4000
    shifted = struct.pack("<3I", 0, 0, 4000) + pulses
    assert raw.ask(28, extension=pulses) == 4000
    assert raw.ask(28, extension=shifted) == 8000
    later = struct.pack("<3I", 0, 0, 8000) + pulses
    assert raw.ask(28, extension=later) == -36
    assert raw.ask(35) == 8000, "what was there before stays"


@pytest.mark.parametrize("baud", [300, 9600, 115_200])
@pytest.mark.parametrize("data_bits", [7, 8, 16])
def test_serial_data_sent_as_a_wave_is_read_back_bit_by_bit(
    board: Board, pi: pigpio.pi, baud: int, data_bits: int
) -> None:
    text = b"\x55\x00\x7f Sic Bo" if baud > 300 else b"\x55 \x7f!"
    pi.set_mode(17, pigpio.OUTPUT)
    pi.write(17, 1)
    board.follow(24, board, 17)
    pi.bb_serial_read_open(24, baud, data_bits)
    pi.wave_add_serial(17, baud, text, bb_bits=data_bits)
    pi.wave_send_once(pi.wave_create())
    until(lambda: not pi.wave_tx_busy())
    time.sleep(0.005 if baud > 300 else 0.05)
    assert pi.bb_serial_read(24) == (len(text), bytearray(text))
    pi.bb_serial_read_close(24)


def test_serial_bits_do_not_drift(board: Board, pi: pigpio.pi) -> None:
    """115200 Bd: a bit is 8.68 us; after ten bits the error is still below a microsecond."""
    pi.set_mode(17, pigpio.OUTPUT)
    pi.write(17, 1)
    pi.wave_add_serial(17, 115_200, b"\x55")
    with Trace(board, [17]) as trace:
        pi.wave_send_once(pi.wave_create())
        time.sleep(0.005)
    falls = [at for at, level in trace.edges(17) if level == 0]
    start = falls[0]
    exact = [start + 2 * bit * 1e6 / 115_200 for bit in range(5)]
    assert all(abs(fall - at) <= 1 for fall, at in zip(falls, exact, strict=True))


@pytest.mark.parametrize("extension", [b"", b"abcd", b"abcdefghijk"])
def test_a_train_without_a_whole_pulse_adds_nothing_and_ends_nobody(
    pi: pigpio.pi, raw: RawClient, extension: bytes
) -> None:
    pi.wave_clear()
    assert raw.ask(WAVE_ADD_GENERIC, extension=extension) == 0
    assert pi.wave_add_generic([pigpio.pulse(BIT, 0, 7)]) == 1
    assert raw.ask(WAVE_ADD_GENERIC, extension=extension) == 1
