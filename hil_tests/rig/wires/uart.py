"""Two serial ports with equal or different settings: what one port receives from the other.

Owns the form of a byte on the wire, bit rate, parity and stop bits, and its time. Must not know
what bytes mean.

A pseudo-terminal carries rate and stop bits of the program that has it open, and no parity (the
kernel's `pty_set_termios` clears it). So the rig assumes that this program sends no parity.
"""

from __future__ import annotations

import fcntl
import struct
from dataclasses import dataclass
from enum import StrEnum

TCGETS2 = 0x802C542A
"""ioctl of Linux that tells rates as numbers; `termios.tcgetattr` knows the usual ones alone."""
_TERMIOS2 = struct.Struct("<4IB19s2I")
_TWO_STOP_BITS = 0x40

DATA_BITS = 8
CLOCKS_APART = 0.03
"""Share by which two ports' clocks may differ: a third of a bit after the ten of a byte, so that
each bit is sampled within itself."""
MAX_COUNTED = 19200
"""Above it the silence between Modbus frames is a fixed time (Modbus over serial line, 2.5.1.1)."""


class Parity(StrEnum):
    NONE = "none"
    EVEN = "even"
    ODD = "odd"


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


def framing_of(fd: int) -> Framing:
    """Return how the program at the other end of a pseudo-terminal has set it."""
    *_, flags, _, _, _, _, rate = _TERMIOS2.unpack(fcntl.ioctl(fd, TCGETS2, bytes(44)))
    return Framing(rate, stop_bits=2 if flags & _TWO_STOP_BITS else 1)


def heard(data: bytes, sender: Framing, receiver: Framing) -> bytes:
    """Return what `receiver` takes up of `data`: all where rate and parity agree; of stop bits it
    looks at the first alone. Else nothing: a port makes rubbish of such bytes, which is no frame.
    """
    is_in_time = abs(sender.baudrate - receiver.baudrate) <= CLOCKS_APART * receiver.baudrate
    return data if is_in_time and sender.parity is receiver.parity else b""
