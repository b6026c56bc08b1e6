"""The unit's manners on a damaged line, and what its own damage looks like."""

from __future__ import annotations

import time

import pytest
from pymodbus.framer import FramerRTU

from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.lamp_box.modbus_unit import LATE_S
from hil_tests.rig.lamp_box.tests.conftest import rig_alone
from hil_tests.rig.wires.tests.bench_line import Pause, replies

SILENCE = b""


def frame(*body: int) -> bytes:
    return bytes(body) + FramerRTU.compute_CRC(bytes(body)).to_bytes(2, "big")


READ_MAGIC = frame(1, 3, 0, 0, 0, 1)
MAGIC = frame(1, 3, 2, 0x51, 0xB0)


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


def test_no_single_wrong_bit_is_answered_or_obeyed(box):
    command = frame(1, 16, 0, 0x60, 0, 5, 10, 0, 9, 0, 4, 0, 0, 0, 7, 0, 3)
    for bit in range(8 * len(command)):
        damaged = bytearray(command)
        damaged[bit // 8] ^= 1 << bit % 8
        assert replies(box, bytes(damaged), SILENCE) == [], bit
        assert box.read(0x0017, 1) == [0], bit


@pytest.mark.parametrize("unit", [0, 2, 247])
def test_other_units_requests_are_not_ours(box, unit):
    assert replies(box, frame(unit, 3, 0, 0, 0, 1)) == []


FUNCTIONS = (3, 6, 16, 23)


@pytest.mark.parametrize("body", [(), (0, 0, 0, 1)])
def test_functions_that_the_box_has_not_are_refused(box, body):
    for function in sorted({*range(1, 128)} - {*FUNCTIONS}):
        refused = frame(1, 0x80 | function, 1)
        assert replies(box, frame(1, function, *body), SILENCE) == [refused], function


def test_codes_that_are_no_function_get_no_answer(box):
    for code in (0, *range(128, 256)):
        assert replies(box, frame(1, code, 0, 0, 0, 1), SILENCE) == [], code


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("body", [(), (0,), (0, 0, 0), (0, 0, 0, 1, 0), (0,) * 9])
def test_a_request_of_another_length_than_its_functions_is_refused(box, function, body):
    assert replies(box, frame(1, function, *body), SILENCE) == [frame(1, 0x80 | function, 3)]
    assert box.read(0x0012, 1) == [0]


def inside(address: int, count: int) -> bool:
    return any(first <= address and address + count <= end for first, end in BLOCKS)


BLOCKS = (
    *((0x00, 0x10), (0x10, 0x30), (0x40, 0x51), (0x60, 0x65)),
    *((0x80, 0xC2), (0xD0, 0x112), (0x120, 0x13A), (0x140, 0x14B), (0x150, 0x169)),
)
WRITTEN = {0x40: 12, 0x60: 5, 0x80: 66, 0x150: 24}
ADDRESSES = sorted({*range(0x180), 0x3FF, 0x8000, 0xFFFE, 0xFFFF})
COUNTS = (0, 1, 5, 11, 12, 13, 24, 32, 66, 118, 121, 122, 125, 126, 0x7FFF, 0xFFFF)


def test_every_read_is_answered_as_the_page_says(box):
    for address in ADDRESSES:
        for count in COUNTS:
            request = frame(1, 3, *address.to_bytes(2, "big"), *count.to_bytes(2, "big"))
            [reply] = replies(box, request)
            if not 0 < count <= 125:
                assert reply == frame(1, 0x83, 3), (address, count)
            elif inside(address, count):
                assert reply[1:3] == bytes((3, 2 * count)), (address, count)
            else:
                assert reply == frame(1, 0x83, 2), (address, count)


@pytest.mark.parametrize("function", [16, 23])
def test_every_write_that_covers_no_block_is_answered_as_the_page_says(box, function):
    most = {16: 123, 23: 121}[function]
    for address in ADDRESSES:
        begun = next((first for first, end in BLOCKS if first <= address < end), None)
        for count in sorted({1, 4, 5, 12, 24, 25, 66, most, most + 1} - {WRITTEN.get(address)}):
            reading = (0, 0x10, 0, 1) if function == 23 else ()
            written = (*address.to_bytes(2, "big"), 0, count, 2 * count)
            request = frame(1, function, *reading, *written, *([0] * 2 * count))
            [reply] = replies(box, request)
            if count > most:
                code, refusal = 3, None
            elif begun not in WRITTEN:
                code, refusal = 2, None
            else:
                code, refusal = 3, 10
            assert reply == frame(1, 0x80 | function, code), (hex(address), count)
            if refusal is not None:
                assert box.read(0x0012, 1) == [refusal]


def test_a_byte_count_that_lies_is_refused_and_told_by_no_refusal(box):
    for count, size, words in ((5, 8, 4), (4, 10, 5), (5, 10, 4), (5, 10, 6), (0, 0, 0)):
        request = frame(1, 16, 0, 0x60, 0, count, size, *[0] * 2 * words)
        assert replies(box, request, SILENCE) == [frame(1, 0x90, 3)], (count, size, words)
        assert box.read(0x0012, 1) == [0]


@pytest.mark.parametrize("count", [0, 33, 126])
def test_a_write_whose_read_is_refused_writes_nothing(box, count):
    phase = (0, 0x60, 0, 5, 10, 0, 9, 0, 4, 0, 0, 0, 7, 0, 3)
    [reply] = replies(box, frame(1, 23, 0, 0x10, 0, count, *phase))
    assert reply == frame(1, 0x97, 2 if count == 33 else 3)
    assert box.read(0x0016, 2) == [0, 0]
    [reply] = replies(box, frame(1, 23, 0, 0x17, 0, 1, *phase))
    assert reply == frame(1, 23, 2, 0, 3)


def test_a_single_register_is_no_block(box):
    for first, end in BLOCKS:
        code = 3 if first in WRITTEN else 2
        for address in (first, end - 1):
            asked = frame(1, 6, *address.to_bytes(2, "big"), 0, 1)
            assert replies(box, asked) == [frame(1, 0x86, code)]


def test_junk_after_a_request_belongs_to_its_frame_and_spoils_it(box):
    assert replies(box, READ_MAGIC + READ_MAGIC, SILENCE, READ_MAGIC) == [MAGIC]


@rig_alone
def test_a_reply_waits_for_the_silence_between_frames(box):
    pause = Pause()
    replies(box, READ_MAGIC, pause=pause)
    assert pause.slept == [0.00175]


@rig_alone
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


@rig_alone
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


@rig_alone
def test_a_late_box_is_late(box):
    pause = Pause()
    box.faults.inject("lamp_late", delay_s=0.4)
    replies(box, READ_MAGIC, pause=pause)
    assert pause.slept == [0.4]


@rig_alone
def test_a_reply_that_the_computer_sent_too_late_is_counted(box):
    class Busy(Pause):
        def sleep(self, seconds: float) -> None:
            time.sleep(seconds + LATE_S)

    replies(box, READ_MAGIC)
    assert box.late_replies == 0
    replies(box, READ_MAGIC, pause=Busy())
    assert box.late_replies == 1


def test_a_box_that_is_starting_says_nothing():
    clock = Pause()
    box = LampBox(clock=clock)
    box.restart(down_s=0.5)
    assert replies(box, READ_MAGIC) == []
    clock.now += 0.5
    assert replies(box, READ_MAGIC) == [MAGIC]
