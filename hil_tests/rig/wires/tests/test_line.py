"""Lines carry bytes at their pace, and break as told."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from hil_tests.rig.wires.line import Flow, Line, LineFaults, Terminal
from hil_tests.rig.wires.uart import Framing
from hil_tests.waiting import until

BYTE_S = 10 / 115200


def flow(byte_s: float = BYTE_S) -> tuple[Flow, LineFaults]:
    faults = LineFaults()
    return Flow(byte_s, faults, seed=1), faults


# ── Bytes in time, without time ──


def test_bytes_take_their_time_on_the_wire():
    one, _ = flow()
    one.take(b"x" * 100, now=10.0)
    assert one.arrived(10.0 + 50 * BYTE_S) != b""
    assert one.arrived(10.0 + 99 * BYTE_S) != b"x" * 100
    one.arrived(10.0 + 100.001 * BYTE_S)
    assert one.next_arrival is None


def test_a_second_message_follows_the_first():
    one, _ = flow()
    one.take(b"a" * 10, now=0.0)
    one.take(b"b" * 10, now=0.0)
    assert one.arrived(10.001 * BYTE_S) == b"a" * 10
    assert one.arrived(19 * BYTE_S) == b""
    assert one.arrived(20.001 * BYTE_S) == b"b" * 10


def test_without_a_pace_bytes_arrive_at_once():
    one, _ = flow(0.0)
    one.take(b"x" * 5000, now=1.0)
    assert one.arrived(1.0) == b"x" * 5000


def test_a_cut_cable_carries_nothing():
    one, faults = flow()
    faults.inject("line_cut")
    one.take(b"x", now=0.0)
    assert one.next_arrival is None


def test_delay_loss_and_noise_do_what_they_say():
    one, faults = flow(0.0)
    faults.inject("line_delay", delay_s=0.5)
    one.take(b"x", now=0.0)
    assert one.arrived(0.49) == b""
    assert one.arrived(0.51) == b"x"
    faults.heal()
    faults.inject("line_loss", per_byte=0.5)
    one.take(b"x" * 1000, now=1.0)
    assert 400 < len(one.arrived(1.0)) < 600
    faults.heal()
    faults.inject("line_noise", per_byte=0.5)
    one.take(bytes(1000), now=2.0)
    noisy = one.arrived(2.0)
    assert len(noisy) == 1000
    assert 400 < sum(byte != 0 for byte in noisy) < 600


# ── Pseudo-terminals ──


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    line = Line(
        "t", Terminal(tmp_path / "left"), Terminal(tmp_path / "right"), framing=Framing(115200)
    )
    yield line
    line.close()
    assert not list(tmp_path.iterdir())


def test_two_programs_talk_through_a_line(line, tmp_path):
    with (
        serial.Serial(str(tmp_path / "left"), 115200, timeout=2) as left,
        serial.Serial(str(tmp_path / "right"), 115200, timeout=2) as right,
    ):
        time.sleep(0.05)
        left.write(b"\x00hello\xff\r\n\x03")
        assert right.read(10) == b"\x00hello\xff\r\n\x03"
        began = time.monotonic()
        right.write(b"x" * 576)
        assert left.read(576) == b"x" * 576
        assert 576 * BYTE_S <= time.monotonic() - began < 0.3


def test_a_closed_port_keeps_nothing(line, tmp_path):
    with serial.Serial(str(tmp_path / "left"), 115200, timeout=0.2) as left:
        time.sleep(0.05)
        left.write(b"nobody hears this")
        time.sleep(0.05)
        with serial.Serial(str(tmp_path / "right"), 115200, timeout=0.2) as right:
            assert right.read(1) == b""
            time.sleep(0.05)
            left.write(b"now")
            assert right.read(3) == b"now"


def test_an_unplugged_adapter_fails_and_comes_back_under_its_name(line, tmp_path):
    name = tmp_path / "left"
    with serial.Serial(str(name), 115200, timeout=0.5) as left:
        line.faults.inject("line_unplugged")
        until(lambda: not name.is_symlink())
        with pytest.raises(OSError, match=r"Input/output|disconnected|readiness"):
            left.write(b"x")
    line.faults.heal()
    until(name.is_symlink)
    with (
        serial.Serial(str(name), 115200, timeout=2) as left,
        serial.Serial(str(tmp_path / "right"), 115200, timeout=2) as right,
    ):
        time.sleep(0.05)
        right.write(b"again")
        assert left.read(5) == b"again"


def test_a_line_gives_back_every_descriptor(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    line = Line("t", Terminal(tmp_path / "a"), Terminal(tmp_path / "b"), framing=None)
    line.close()
    line.close()
    assert len(os.listdir("/proc/self/fd")) == before
