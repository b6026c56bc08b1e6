"""The unit's manners on a damaged line, and what its own damage looks like."""

from __future__ import annotations

import pytest
from pymodbus.framer import FramerRTU

from hil_tests.rig.lamp import LampBox
from hil_tests.rig.tests.bench_line import Pause, replies

SILENCE = b""


def frame(*body: int) -> bytes:
    return bytes(body) + FramerRTU.compute_CRC(bytes(body)).to_bytes(2, "big")


READ_MAGIC = frame(1, 3, 0, 0, 0, 1)
MAGIC = frame(1, 3, 2, 0x51, 0xB0)


@pytest.fixture
def box() -> LampBox:
    return LampBox(clock=Pause())


def test_a_request_is_answered(box):
    assert replies(box, READ_MAGIC) == [MAGIC]


def test_a_request_in_pieces_is_answered_once(box):
    pieces = [READ_MAGIC[at : at + 1] for at in range(len(READ_MAGIC))]
    assert replies(box, *pieces) == [MAGIC]


@pytest.mark.parametrize("cut", range(1, 8))
def test_an_unfinished_request_is_forgotten_after_silence(box, cut):
    assert replies(box, READ_MAGIC[:cut], SILENCE, READ_MAGIC) == [MAGIC]


@pytest.mark.parametrize("garbage", [b"\x00", b"\x01\x03", b"\xff" * 9, b"\x01\x10\x00\x40"])
def test_garbage_that_ends_in_silence_costs_no_request(box, garbage):
    assert replies(box, garbage, SILENCE, READ_MAGIC) == [MAGIC]


def test_a_wrong_checksum_is_never_answered(box):
    broken = READ_MAGIC[:-1] + bytes([READ_MAGIC[-1] ^ 1])
    assert replies(box, broken, SILENCE) == []


@pytest.mark.parametrize("bit", range(48))
def test_no_single_wrong_bit_is_answered_or_obeyed(box, bit):
    command = frame(1, 16, 0, 0x60, 0, 5, 10, 0, 9, 0, 4, 0, 0, 0, 7, 0, 3)
    damaged = bytearray(command)
    damaged[bit // 8] ^= 1 << bit % 8
    assert replies(box, bytes(damaged), SILENCE) == []
    assert box.read(0x0017, 1) == [0]


@pytest.mark.parametrize("unit", [0, 2, 247])
def test_other_units_requests_are_not_ours(box, unit):
    assert replies(box, frame(unit, 3, 0, 0, 0, 1)) == []


def test_functions_that_the_box_has_not_are_refused(box):
    assert replies(box, frame(1, 1, 0, 0, 0, 1)) == [frame(1, 0x81, 1)]
    assert replies(box, frame(1, 4, 0, 0, 0, 1)) == [frame(1, 0x84, 1)]


def test_a_single_register_is_no_block(box):
    assert replies(box, frame(1, 6, 0, 0x60, 0, 1)) == [frame(1, 0x86, 3)]


def test_a_reply_waits_for_the_silence_between_frames(box):
    pause = Pause()
    replies(box, READ_MAGIC, pause=pause)
    assert pause.slept == [0.00175]


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("lamp_silent", None),
        ("lamp_crc", MAGIC[:-2] + bytes([MAGIC[-2] ^ 0x55, MAGIC[-1]])),
        ("lamp_exception", frame(1, 0x83, 4)),
        ("lamp_other_unit", frame(2, 3, 2, 0x51, 0xB0)),
        ("lamp_not_a_box", frame(1, 3, 2, 0x4D, 0x42)),
    ],
)
def test_faults_do_what_the_catalogue_says(box, fault, seen):
    box.faults.inject(fault)
    assert replies(box, READ_MAGIC) == ([] if seen is None else [seen])


def test_truncation_and_garbage_leave_the_rest_of_the_reply_alone(box):
    box.faults.inject("lamp_truncated", bytes=4)
    assert replies(box, READ_MAGIC) == [MAGIC[:4]]
    box.faults.heal()
    box.faults.inject("lamp_garbage_before", bytes=5)
    [reply] = replies(box, READ_MAGIC)
    assert (len(reply), reply[5:]) == (12, MAGIC)
    box.faults.heal()
    box.faults.inject("lamp_garbage_after", bytes=5)
    [reply] = replies(box, READ_MAGIC)
    assert (len(reply), reply[:7]) == (12, MAGIC)
    box.faults.heal()
    box.faults.inject("lamp_garbage_inside", bytes=5)
    [reply] = replies(box, READ_MAGIC)
    assert (len(reply), reply[:3], reply[8:]) == (12, MAGIC[:3], MAGIC[3:])


def test_a_late_box_is_late(box):
    pause = Pause()
    box.faults.inject("lamp_late", delay_s=0.4)
    replies(box, READ_MAGIC, pause=pause)
    assert pause.slept == [0.4]


def test_a_box_that_is_starting_says_nothing():
    clock = Pause()
    box = LampBox(clock=clock)
    box.restart(down_s=0.5)
    assert replies(box, READ_MAGIC) == []
    clock.now += 0.5
    assert replies(box, READ_MAGIC) == [MAGIC]
