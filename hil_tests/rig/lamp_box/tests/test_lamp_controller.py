"""The lamp controller in a process of its own: reached by its device alone, and ended in order."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from hil_tests.rig.lamp_box.modbus_unit import checksum
from hil_tests.rig.lamp_box.tests.test_lamp_document import examples, matches
from hil_tests.rig.wires.uart import Framing

START_S = 20.0
SILENCE_S = Framing(115200).silence_s


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    words = [str(tmp_path / "box"), "--log", str(tmp_path / "lamps.jsonl")]
    program = subprocess.Popen([sys.executable, "-m", "hil_tests.rig.lamp_box.program", *words])
    ends_at = time.monotonic() + START_S
    while not (tmp_path / "box").exists():
        assert time.monotonic() < ends_at
        time.sleep(0.02)
    yield tmp_path
    program.terminate()
    assert program.wait(5) == 0
    assert not (tmp_path / "box").is_symlink()


def test_it_answers_by_its_device_and_notes_its_lamps(folder: Path) -> None:
    (_, [(asked, expected)]), *_ = examples()
    light = bytes((1, 16, 0, 0x60, 0, 5, 10, 0, 8, 0, 5, 0, 0, 0, 0, 0, 11))
    with serial.Serial(str(folder / "box"), 115200, timeout=5) as line:
        line.write(bytes.fromhex(asked))
        reply = line.read(37)
        time.sleep(2 * SILENCE_S)  # what the line needs, and no machine's business
        line.write(light + checksum(light))
        assert line.read(8)[1] == 16
    assert matches(expected, reply)
    notes = (folder / "lamps.jsonl").read_text().splitlines()
    assert json.loads(notes[-1])["areas"] == ["triple-6"]
