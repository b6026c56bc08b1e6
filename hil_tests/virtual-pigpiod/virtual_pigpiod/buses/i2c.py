"""I2C and SMBus commands on the devices that are attached to a bus.

Owns the transactions that each command is made of, as a BCM2835's driver makes them: that driver
cannot read a block whose length the device sends. Must not know what a device does with them. A bus
exists where something is attached to it; nobody answers at any other address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from virtual_pigpiod.buses.attached import Attached, RegisterFile
from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.slots import Slots
from virtual_pigpiod.wire import MAX_PAYLOAD, Command, Request

SLOTS = 512
LAST_ADDRESS = 0x7F
MAX_BYTES = 32
"""Bytes of a block."""

END, ESCAPE, COMBINED_ON, COMBINED_OFF, ADDRESS, FLAGS, READ, WRITE = range(8)
"""Commands of an I2CZ sequence."""


@dataclass(frozen=True, slots=True)
class OpenedI2c:
    """One address of one bus."""

    bus: int
    address: int


class I2c:
    """Handlers of the I2C commands."""

    def __init__(self, attached: Attached) -> None:
        self._devices = attached.i2c
        self._slots: Slots[OpenedI2c] = Slots(SLOTS)
        self.handlers: Handlers = {
            Command.I2CO: self._open,
            Command.I2CC: self._close,
            Command.I2CWQ: self._write_quick,
            Command.I2CRS: lambda r: self._read(r, None, 1)[0],
            Command.I2CWS: lambda r: self._write(r, bytes([_most(r.p2, 0xFF)])),
            Command.I2CRB: lambda r: self._read(r, r.p2, 1)[0],
            Command.I2CWB: lambda r: self._write(r, _register(r) + _value(r, 1)),
            Command.I2CRW: lambda r: int.from_bytes(self._read(r, r.p2, 2), "little"),
            Command.I2CWW: lambda r: self._write(r, _register(r) + _value(r, 2)),
            Command.I2CPC: self._process_call,
            Command.I2CRI: lambda r: self._read(r, r.p2, _count(r.words(1)[0])),
            Command.I2CWI: lambda r: self._write(r, _register(r) + _block(r)),
            Command.I2CWK: lambda r: self._write(r, _register(r) + _sized(_block(r))),
            Command.I2CRK: self._refuse(Reason.BAD_SMBUS_CMD),
            Command.I2CPK: self._refuse(Reason.I2C_READ_FAILED),
            Command.I2CRD: lambda r: self._read(r, None, min(_least_one(r.p2), MAX_PAYLOAD)),
            Command.I2CWD: lambda r: self._write(r, r.extension),
            Command.I2CZ: self._zip,
        }

    def _open(self, request: Request) -> int:
        bus, address = request.p1, request.p2
        refuse_if(address > LAST_ADDRESS, Reason.BAD_I2C_ADDR)
        refuse_if(request.words(1)[0], Reason.BAD_FLAGS)
        refuse_if(bus not in {there for there, _ in self._devices}, Reason.BAD_I2C_BUS)
        return self._slots.open(OpenedI2c(bus, address))

    def _close(self, request: Request) -> None:
        self._slots.close(request)

    def _write_quick(self, request: Request) -> None:
        here = self._slots.of(request)
        _most(request.p2, 1)
        self._device(here, here.address, Reason.I2C_WRITE_FAILED)

    def _process_call(self, request: Request) -> int:
        """Write a word to a register and read one from there, without a stop in between."""
        self._write(request, _register(request) + _value(request, 2))
        return int.from_bytes(self._read(request, request.p2, 2), "little")

    def _read(self, request: Request, register: int | None, count: int) -> bytes:
        here = self._slots.of(request)
        device = self._device(here, here.address, Reason.I2C_READ_FAILED)
        if register is not None:
            device.write(bytes([_most(register, 0xFF)]))
        return device.read(count)

    def _write(self, request: Request, data: bytes) -> None:
        here = self._slots.of(request)
        _least_one(len(data))
        self._device(here, here.address, Reason.I2C_WRITE_FAILED).write(data)

    def _device(self, here: OpenedI2c, address: int, refusal: int) -> RegisterFile:
        """What answers there. Raises `CommandRefusedError` where nothing does."""
        device = self._devices.get((here.bus, address))
        if device is None:
            raise CommandRefusedError(refusal)
        return device

    def _refuse(self, reason: int) -> Callable[[Request], int]:
        def refuse(request: Request) -> int:
            self._slots.of(request)
            _register(request)
            raise CommandRefusedError(reason)

        return refuse

    def _zip(self, request: Request) -> bytes:
        """A sequence of reads and writes, each of a device at the address that stands then."""
        here = self._slots.of(request)
        steps = Steps(request.extension)
        address, found = here.address, b""
        while (step := steps.next()) not in (None, END):
            if step == ADDRESS:
                address = steps.parameter(Reason.BAD_I2C_CMD)
            elif step == FLAGS:
                steps.parameter(Reason.BAD_I2C_CMD, size=2)
            elif step == READ:
                count = steps.parameter(Reason.BAD_I2C_RLEN)
                found += self._device(here, address, Reason.BAD_I2C_SEG).read(count)
            elif step == WRITE:
                data = steps.data(steps.parameter(Reason.BAD_I2C_WLEN))
                if data:
                    self._device(here, address, Reason.BAD_I2C_SEG).write(data)
            elif step not in (COMBINED_ON, COMBINED_OFF):
                raise CommandRefusedError(Reason.BAD_I2C_CMD)
        return found


class Steps:
    """Reads an I2CZ sequence from its begin to its end."""

    def __init__(self, sequence: bytes) -> None:
        self._sequence = sequence
        self._at = 0
        self._size = 1

    def next(self) -> int | None:
        """The next command; an escape makes its parameter two bytes long. None at the end."""
        self._size = 1
        while self._at < len(self._sequence):
            step = self._sequence[self._at]
            self._at += 1
            if step != ESCAPE:
                return step
            self._size = 2
        return None

    def parameter(self, refusal: int, size: int = 0) -> int:
        """Its number. Raises `CommandRefusedError` where the sequence ends before."""
        size = size or self._size
        refuse_if(self._at + size > len(self._sequence), refusal)
        self._at += size
        return int.from_bytes(self._sequence[self._at - size : self._at], "little")

    def data(self, count: int) -> bytes:
        """So many bytes to write; a command must follow them. Raises `CommandRefusedError`."""
        refuse_if(self._at + count >= len(self._sequence), Reason.BAD_I2C_WLEN)
        self._at += count
        return self._sequence[self._at - count : self._at]


def _most(number: int, most: int) -> int:
    refuse_if(number > most, Reason.BAD_PARAM)
    return number


def _least_one(count: int) -> int:
    refuse_if(count < 1, Reason.BAD_PARAM)
    return count


def _count(count: int) -> int:
    return _most(_least_one(count), MAX_BYTES)


def _register(request: Request) -> bytes:
    return bytes([_most(request.p2, 0xFF)])


def _value(request: Request, size: int) -> bytes:
    """The number in the extension, as so many bytes, the lowest first."""
    return _most(request.words(1)[0], 256**size - 1).to_bytes(size, "little")


def _block(request: Request) -> bytes:
    _count(len(request.extension))
    return request.extension


def _sized(block: bytes) -> bytes:
    """As SMBus sends a block: its length before it."""
    return bytes([len(block)]) + block
