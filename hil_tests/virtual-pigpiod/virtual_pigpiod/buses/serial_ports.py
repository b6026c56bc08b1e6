"""Serial port commands on the lines that are attached.

Owns handles, baud rates and refusals. Must not know what a line does with characters.
"""

from __future__ import annotations

from dataclasses import dataclass

from virtual_pigpiod.buses.attached import Attached, LoopedLine
from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.slots import Slots
from virtual_pigpiod.wire import Command, Request

SLOTS = 16
BAUDS = frozenset(
    {50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600}
    | {19200, 38400, 57600, 115200, 230400}
)
DEVICES = (b"/dev/tty", b"/dev/serial")


@dataclass(frozen=True, slots=True)
class OpenedSerial:
    """A line at a baud rate."""

    line: LoopedLine
    baud: int


class SerialPorts:
    """Handlers of the serial commands."""

    def __init__(self, attached: Attached) -> None:
        self._lines = attached.serial
        self._slots: Slots[OpenedSerial] = Slots(SLOTS)
        self.handlers: Handlers = {
            Command.SERO: self._open,
            Command.SERC: self._close,
            Command.SERRB: self._read_byte,
            Command.SERWB: self._write_byte,
            Command.SERR: self._read,
            Command.SERW: lambda r: self._write(r, r.extension),
            Command.SERDA: lambda r: self._slots.of(r).line.waiting(),
        }

    def _open(self, request: Request) -> int:
        device = request.extension.rstrip(b"\0")
        refuse_if(not device.startswith(DEVICES), Reason.BAD_SER_DEVICE)
        refuse_if(request.p1 not in BAUDS, Reason.BAD_SER_SPEED)
        refuse_if(request.p2, Reason.BAD_FLAGS)
        line = self._lines.get(device.decode("utf-8", "replace"))
        if line is None:
            raise CommandRefusedError(Reason.SER_OPEN_FAILED)
        handle = self._slots.open(OpenedSerial(line, request.p1))
        line.flush()
        return handle

    def _close(self, request: Request) -> None:
        self._slots.close(request)

    def _read_byte(self, request: Request) -> int:
        return self._taken(request, 1)[0]

    def _read(self, request: Request) -> bytes:
        self._slots.of(request)
        refuse_if(not request.p2, Reason.BAD_PARAM)
        return self._taken(request, request.p2)

    def _taken(self, request: Request, count: int) -> bytes:
        taken = self._slots.of(request).line.read(count)
        refuse_if(not taken, Reason.SER_READ_NO_DATA)
        return taken

    def _write_byte(self, request: Request) -> None:
        refuse_if(request.p2 > 0xFF, Reason.BAD_PARAM)
        self._write(request, bytes([request.p2]))

    def _write(self, request: Request, data: bytes) -> None:
        here = self._slots.of(request)
        refuse_if(not data, Reason.BAD_PARAM)
        here.line.write(data, here.baud)
