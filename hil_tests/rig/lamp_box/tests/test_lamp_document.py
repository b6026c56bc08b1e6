"""The examples of the register map, sent to a lamp box that was built from it alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from pymodbus.framer import FramerRTU

from hil_tests.rig.lamp_box import firmware
from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.wires.tests.bench_line import Pause, replies

DOCUMENT = Path(__file__).parents[4] / "shaker_ctl" / "lamp" / "register_examples.txt"
EXAMPLE = re.compile(r"```modbus(?: after (?P<ms>\d+) ms)?\n(?P<lines>.*?)```", re.DOTALL)

SILENCE = b""


def examples() -> list[tuple[int, list[tuple[str, str]]]]:
    """Return each example's wait in milliseconds and its pairs of request and reply in hex."""
    found = []
    for block in EXAMPLE.finditer(DOCUMENT.read_text(encoding="utf-8")):
        text = block["lines"].replace("\n   ", " ")
        lines = [line for line in text.splitlines() if line]
        pairs = list(zip(lines[::2], lines[1::2], strict=True))
        found.append((int(block["ms"] or 0), [(a[3:].strip(), b[3:].strip()) for a, b in pairs]))
    return found


def matches(expected: str, frame: bytes) -> bool:
    """True when `frame` is the example's reply; `..` stands for any byte."""
    wanted = expected.split()
    return len(wanted) == len(frame) and all(
        want in ("..", f"{byte:02X}") for want, byte in zip(wanted, frame, strict=True)
    )


def test_the_document_has_examples_of_every_act():
    assert len(examples()) >= 12


def test_every_example_is_answered_as_written(box):
    clock = box if isinstance(box, firmware.FirmwareBox) else box._clock
    for wait_ms, pairs in examples():
        clock.now += wait_ms / 1000
        for request, expected in pairs:
            answer = replies(box, bytes.fromhex(request), SILENCE)
            assert len(answer) == 1, f"{request} was answered {len(answer)} times"
            assert matches(expected, answer[0]), f"{request}: {answer[0].hex(' ').upper()}"


def test_every_request_in_the_examples_has_a_right_checksum():
    for _, pairs in examples():
        for request, _ in pairs:
            frame = bytes.fromhex(request)
            assert FramerRTU.check_CRC(frame[:-2], int.from_bytes(frame[-2:], "big"))


def test_a_reply_with_one_other_byte_is_not_taken_for_the_example():
    (_, pairs), *_ = examples()
    request, expected = pairs[0]
    [answer] = replies(LampBox(52, clock=Pause()), bytes.fromhex(request))
    assert matches(expected, answer)
    assert not matches(expected, bytes((*answer[:3], answer[3] ^ 1, *answer[4:])))


def test_no_cut_at_any_moment_lights_a_wrong_lamp(board):
    """Every 197th instruction; the program alone, without a number, cuts at each of 127,000."""
    tried = subprocess.run(
        firmware.command("trial_of_cuts", "197"), capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stdout
    assert "changes of lamps seen, 0 wrong; 0 wrong ends" in tried.stdout
