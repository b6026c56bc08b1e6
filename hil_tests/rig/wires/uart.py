"""Two serial ports with equal or different settings: what one port receives from the other.

Owns the form of a byte on the wire: bit rate, parity, stop bits, and the levels between them. If
the ports have different rates, the receiver gets other bytes or none, as on a bench. Must not know
what bytes mean.

A pseudo-terminal carries rate and stop bits of the program that has it open, and no parity (the
kernel's `pty_set_termios` clears it). So the rig assumes that this program sends no parity.
"""

from __future__ import annotations

import fcntl
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

TCGETS2 = 0x802C542A
"""ioctl of Linux that tells rates as numbers; `termios.tcgetattr` knows the usual ones alone."""
_TERMIOS2 = struct.Struct("<4IB19s2I")
_TWO_STOP_BITS = 0x40

DATA_BITS = 8
MAX_COUNTED = 19200
"""Above it the silence between Modbus frames is a fixed time (Modbus over serial line, 2.5.1.1)."""


class Parity(StrEnum):
    NONE = "none"
    EVEN = "even"
    ODD = "odd"

    def bit(self, byte: int) -> tuple[int, ...]:
        """The bit that follows the data, where there is one."""
        if self is Parity.NONE:
            return ()
        return (byte.bit_count() % 2 ^ (self is Parity.ODD),)


@dataclass(frozen=True, slots=True)
class Framing:
    """How a port is set: always 8 data bits."""

    baudrate: int
    parity: Parity = Parity.NONE
    stop_bits: int = 1

    @property
    def bits(self) -> int:
        """Of one byte, start and stop included."""
        return 1 + DATA_BITS + (self.parity is not Parity.NONE) + self.stop_bits

    @property
    def byte_s(self) -> float:
        return self.bits / self.baudrate

    @property
    def silence_s(self) -> float:
        """Silence that ends a Modbus frame, and that must come before the next one."""
        return 0.00175 if self.baudrate > MAX_COUNTED else 3.5 * 11 / self.baudrate

    def levels(self, data: bytes) -> list[int]:
        """Return the level of the line for each bit time while `data` is sent without a pause."""
        line: list[int] = []
        for byte in data:
            line.append(0)
            line += (byte >> bit & 1 for bit in range(DATA_BITS))
            line += (*self.parity.bit(byte), *[1] * self.stop_bits)
        return line


def framing_of(fd: int) -> Framing:
    """Return how the program at the other end of a pseudo-terminal has set it."""
    *_, flags, _, _, _, _, rate = _TERMIOS2.unpack(fcntl.ioctl(fd, TCGETS2, bytes(44)))
    return Framing(rate, stop_bits=2 if flags & _TWO_STOP_BITS else 1)


def heard(data: bytes, sender: Framing, receiver: Framing) -> bytes:
    """Return what `receiver` takes up of `data`: bytes whose parity and first stop bit are right;
    a receiver looks at no second one."""
    if sender == receiver:
        return data
    return bytes(_sampled(sender.levels(data), sender.baudrate, receiver))


def _sampled(levels: list[int], rate: int, port: Framing) -> Iterator[int]:
    """Wait for the line to fall, sample the middle of each bit from there, and again."""
    bit = rate / port.baudrate
    """A bit of the receiver in bit times of the sender."""
    at = 0.0
    taken = port.bits - port.stop_bits + 1

    def level(moment: float) -> int:
        return levels[int(moment)] if moment < len(levels) else 1

    while (start := _falls(levels, at)) is not None:
        samples = [level(start + (number + 0.5) * bit) for number in range(taken)]
        at = start + (taken - 0.5) * bit
        is_glitch = samples[0] != 0
        byte = sum(sample << number for number, sample in enumerate(samples[1 : 1 + DATA_BITS]))
        after = tuple(samples[1 + DATA_BITS :])
        if is_glitch:
            at = start + 1
        elif after == (*port.parity.bit(byte), 1):
            yield byte


def _falls(levels: list[int], since: float) -> int | None:
    """Return the first bit time from `since` on that is low after a high one."""
    for at in range(max(0, int(since)), len(levels)):
        if levels[at] == 0 and at >= since and (at == 0 or levels[at - 1] == 1):
            return at
    return None
