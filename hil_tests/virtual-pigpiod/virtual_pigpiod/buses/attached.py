"""What is attached to the buses of the virtual Pi: devices behind I2C, SPI and serial ports.

Owns the devices and the sentences that attach them. They outlive the daemon, as the pins do. Must
not know commands, handles or the daemon.

| sentence | device |
| --- | --- |
| `i2c:BUS:ADDRESS=registers` | 256 registers of a byte, all writable, 0 at first |
| `i2c:BUS:ADDRESS=adxl345` | the same, with identity and read-only registers of an ADXL345 |
| `spi:CHANNEL=loop` | MOSI is MISO; `spi:aux:CHANNEL` on the auxiliary SPI |
| `serial:DEVICE=loop` | TXD is RXD, at the baud rate that the port is opened with |
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from virtual_pigpiod.pins.board import now_us

BITS = 10
"""Of a character on a serial line: start, eight of data, stop."""

RECEIVES = 4095
"""Characters that a tty keeps for a reader who does not come (tty_ldisc, N_TTY_BUF_SIZE)."""


class RegisterFile:
    """A device of 256 registers: a write is a register's number and what it gets, then the next
    ones; a read begins at the number that was written last."""

    def __init__(self, values: dict[int, int] | None = None, read_only: Iterable[int] = ()) -> None:
        self._values = bytearray(256)
        for register, value in (values or {}).items():
            self._values[register] = value
        self._read_only = frozenset(read_only)
        self._at = 0

    def write(self, data: bytes) -> None:
        """One write transaction, of a byte or more."""
        self._at = data[0]
        for place, value in enumerate(data[1:]):
            register = (self._at + place) % 256
            if register not in self._read_only:
                self._values[register] = value

    def read(self, count: int) -> bytes:
        """One read transaction."""
        return bytes(self._values[(self._at + place) % 256] for place in range(count))


def adxl345() -> RegisterFile:
    """An accelerometer as it lies after power-on: identity, and a sample rate of 100 Hz; no axis
    moves (ADXL345 data sheet, register map)."""
    return RegisterFile(
        {0x00: 0xE5, 0x2C: 0x0A, 0x30: 0x02},
        read_only=(0x00, 0x2B, 0x30, *range(0x32, 0x38), 0x39),
    )


class LoopedLine:
    """A serial line whose TXD is its RXD: what is written arrives a character's time later."""

    def __init__(self) -> None:
        self._coming: deque[tuple[int, int]] = deque()
        self._free_us = 0

    def write(self, data: bytes, baud: int) -> None:
        """Send these characters; the next ones wait until the line is free."""
        at_us = max(self._free_us, now_us())
        for value in data:
            at_us += BITS * 1_000_000 // baud
            if len(self._coming) < RECEIVES:
                self._coming.append((at_us, value))
        self._free_us = at_us

    def waiting(self) -> int:
        """How many characters have arrived."""
        now = now_us()
        return sum(at_us <= now for at_us, _ in self._coming)

    def read(self, count: int) -> bytes:
        """Take at most so many of those that have arrived."""
        return bytes(self._coming.popleft()[1] for _ in range(min(count, self.waiting())))

    def flush(self) -> None:
        """Forget what was received: an opened port begins empty."""
        self._coming.clear()


@dataclass(frozen=True, slots=True)
class Attached:
    """Everything that is attached; nothing, unless told otherwise."""

    i2c: dict[tuple[int, int], RegisterFile] = field(default_factory=dict)
    """By bus and address."""
    spi_loops: set[tuple[bool, int]] = field(default_factory=set)
    """Channels whose MOSI is their MISO: whether it is the auxiliary SPI's, and which."""
    serial: dict[str, LoopedLine] = field(default_factory=dict)
    """By device, such as /dev/ttyAMA0."""


def attach(sentences: Iterable[str]) -> Attached:
    """Return what these sentences attach. Raises ValueError, with the sentence."""
    found = Attached()
    taken: set[str] = set()
    for sentence in sentences:
        place, _, device = sentence.partition("=")
        if place in taken:
            raise ValueError(f"{place} is given twice; attach one device there")
        taken.add(place)
        kind, *where = place.split(":")
        try:
            match kind, where, device:
                case "i2c", [bus, address], "registers" | "adxl345":
                    made = adxl345() if device == "adxl345" else RegisterFile()
                    found.i2c[_number(bus, 255), _number(address, 0x7F)] = made
                case "spi", ["aux", channel], "loop":
                    found.spi_loops.add((True, _number(channel, 2)))
                case "spi", [channel], "loop":
                    found.spi_loops.add((False, _number(channel, 1)))
                case "serial", [path], "loop" if path.startswith(("/dev/tty", "/dev/serial")):
                    found.serial[path] = LoopedLine()
                case _:
                    raise ValueError
        except ValueError:
            raise ValueError(
                f"{sentence!r} attaches nothing; say i2c:BUS:ADDRESS=registers or =adxl345, "
                "spi:CHANNEL=loop, spi:aux:CHANNEL=loop, or serial:/dev/ttyNAME=loop"
            ) from None
    return found


def _number(text: str, most: int) -> int:
    number = int(text, 0)
    if not 0 <= number <= most:
        raise ValueError
    return number
