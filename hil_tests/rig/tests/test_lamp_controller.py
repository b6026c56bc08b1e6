"""The lamp controller in its own process, from REGISTERS.md: each example, and its line."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import serial

from hil_tests.rig.lamp_controller import Controller, answer, checksum, winners
from hil_tests.rig.lamp_layout import winning_lamps
from hil_tests.rig.tests.bench_line import Pause
from hil_tests.rig.tests.test_lamp_document import examples, matches


@pytest.fixture
def clock() -> Pause:
    return Pause()


@pytest.fixture
def box(tmp_path: Path, clock: Pause) -> Controller:
    return Controller(tmp_path / "memory.json", tmp_path / "lamps.jsonl", clock)


def test_every_example_of_the_document_is_answered_as_written(box: Controller, clock: Pause):
    for wait_ms, pairs in examples():
        clock.now += wait_ms / 1000
        for request, expected in pairs:
            reply = answer(box, bytes.fromhex(request))
            assert reply is not None
            assert matches(expected, reply), f"{request}: {reply.hex(' ').upper()}"


def test_two_people_who_read_the_same_document_light_the_same_lamps():
    for values in [(a, b, c) for a in range(1, 7) for b in range(1, 7) for c in range(1, 7)]:
        for layout in (50, 52):
            for options in range(4):
                assert winners(values, layout, options) == winning_lamps(
                    values,
                    areas=layout,
                    double_on_triple=bool(options & 1),
                    even_odd_on_triple=bool(options & 2),
                )


@pytest.mark.parametrize("damage", [b"", b"\x02\x03\x00\x00\x00\x10", b"\x00\x03\x00\x00\x00\x01"])
def test_other_units_broadcasts_and_noise_get_no_answer(box: Controller, damage: bytes):
    assert answer(box, damage + checksum(damage)) is None
    assert answer(box, b"\x01\x03\x00\x00\x00\x10\x44\x07") is None


def test_the_round_committed_last_survives_a_power_cut(tmp_path: Path, clock: Pause):
    first = Controller(tmp_path / "memory.json", None, clock)
    for _, pairs in examples()[:3]:
        for request, _ in pairs:
            answer(first, bytes.fromhex(request))
    again = Controller(tmp_path / "memory.json", None, clock)
    words = again.read(0x0010, 32)
    assert words[12:14] == [0, 4711]
    assert words[3] == 2
    assert words[14:18] == [0, 0, 0, 0]


def test_it_is_reached_by_its_device_alone(tmp_path: Path):
    device = tmp_path / "box"
    program = subprocess.Popen([sys.executable, "-m", "hil_tests.rig.lamp_controller", str(device)])
    try:
        ends_at = time.monotonic() + 20
        while not device.exists():
            assert time.monotonic() < ends_at
            time.sleep(0.02)
        with serial.Serial(str(device), 115200, timeout=2) as line:
            line.write(bytes.fromhex("010300000010") + checksum(bytes.fromhex("010300000010")))
            reply = line.read(37)
        assert reply[:5] == bytes.fromhex("01032051b0")
        assert checksum(reply[:-2]) == reply[-2:]
    finally:
        program.terminate()
        program.wait(5)
    assert not device.is_symlink()
