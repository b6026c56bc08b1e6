"""What a console needs of its line: bytes both ways, in order, at speed; and a plug that is pulled.

On a virtual rig both ends are pseudo-terminals at their baud rate; on a bench they are the two
devices that the rig file names, with a null-modem cable between them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from hil_tests.report.measurement import Measure
from hil_tests.rig.rigfile import PartKind, RigFile
from hil_tests.rig.wires.line import Line, Terminal
from hil_tests.rig.wires.uart import Framing
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.errors import ConsoleLineError

BAUD = 115200
EVERY_BYTE = bytes(range(256))


@pytest.fixture(params=["technician", "dealer"])
def ends(
    request: pytest.FixtureRequest, rig_table: RigFile, tmp_path: Path
) -> Iterator[tuple[str, str, Line | None]]:
    """The service's device, the person's, and the line where it is ours."""
    if rig_table.console.is_ is PartKind.DEVICE:
        named = getattr(rig_table.console, request.param)
        yield named["service"], named["person"], None
        return
    service, person = Terminal(tmp_path / "service"), Terminal(tmp_path / "person")
    line = Line(request.param, service, person, framing=Framing(BAUD))
    yield str(service.name), str(person.name), line
    line.close()


def read_all(port: SerialPort, count: int, limit_s: float = 3.0) -> bytes:
    seen = b""
    ends_at = time.monotonic() + limit_s
    while len(seen) < count and time.monotonic() < ends_at:
        seen += port.read(0.1)
    return seen


def test_every_byte_passes_both_ways_unchanged(ends: tuple[str, str, Line | None]) -> None:
    service = SerialPort(ends[0])
    with serial.Serial(ends[1], BAUD, timeout=3) as person:
        time.sleep(0.1)
        person.write(EVERY_BYTE)
        assert read_all(service, 256) == EVERY_BYTE
        service.write(EVERY_BYTE)
        assert person.read(256) == EVERY_BYTE
    service.close()


def test_a_long_answer_takes_the_lines_time_and_loses_nothing(
    ends: tuple[str, str, Line | None], measure: Measure
) -> None:
    text = b"0123456789" * 400
    service = SerialPort(ends[0])
    with serial.Serial(ends[1], BAUD, timeout=5) as person:
        time.sleep(0.1)
        began = time.monotonic()
        service.write(text)
        assert person.read(len(text)) == text
        took = time.monotonic() - began
    service.close()
    measure("4000 bytes", 1000 * took, "ms", lower=0.9 * 4000 * 10 / BAUD * 1000)


def test_an_adapter_that_is_pulled_out_is_an_error_and_comes_back(
    ends: tuple[str, str, Line | None],
) -> None:
    device, _, line = ends
    if line is None:
        pytest.skip("this rig cannot do that: a real adapter is pulled out by a hand")
    service = SerialPort(device)
    line.faults.inject("line_unplugged")
    with pytest.raises(ConsoleLineError):
        read_until_error(service)
    line.faults.heal()
    ends_at = time.monotonic() + 3.0
    while not Path(device).exists():
        assert time.monotonic() < ends_at
        time.sleep(0.02)
    SerialPort(device).close()


def read_until_error(port: SerialPort) -> None:
    ends_at = time.monotonic() + 3.0
    while time.monotonic() < ends_at:
        port.read(0.1)
