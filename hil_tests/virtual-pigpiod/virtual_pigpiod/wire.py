"""The socket protocol's bytes: request and reply headers, command numbers, notification reports.

Owns: what stands where on the wire (all little endian). Must not know: what any command does.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import pigpio

HEADER = struct.Struct("<4I")
"""Request: command, p1, p2, length of the extension that follows."""

REPLY = struct.Struct("<3Ii")
"""Reply: the request's command, p1, p2 echoed, then the result (negative: an error)."""

REPORT = struct.Struct("<HHII")
"""Notification: sequence number, flags, tick, levels of GPIO 0..31."""

MAX_EXTENSION = 65536
"""An extension of this size or more closes the connection."""

MAX_PAYLOAD = 65536
"""Most bytes that a command reads at once; who asks for more gets these."""

MAX_REPORTS_PER_WRITE = 341
"""What fits into one 4 KiB pipe page."""

WATCHDOG_FLAG = 0x20
ALIVE_FLAG = 0x40
EVENT_FLAG = 0x80


def enumerated(name: str, numbers: Mapping[str, int]) -> Any:
    """An enumeration of numbers that the client library has; a type checker knows no member."""
    return IntEnum(name, dict(numbers))


_PREFIX = "_PI_CMD_"
_IN_SCRIPTS = {"MICS": pigpio._PI_CMD_MICRO, "MILS": pigpio._PI_CMD_MILLI}
"""Commands that the client library calls otherwise than the protocol and its scripts do."""

Command = enumerated(
    "Command",
    _IN_SCRIPTS
    | {
        name.removeprefix(_PREFIX): number
        for name, number in vars(pigpio).items()
        if name.startswith(_PREFIX)
    },
)
"""Command numbers, with the protocol's names, as the client library sends them."""


@dataclass(slots=True, frozen=True)
class Request:
    """One command as it came: numbers unsigned, extension as raw bytes."""

    command: int
    p1: int = 0
    p2: int = 0
    extension: bytes = b""

    def words(self, count: int) -> tuple[int, ...]:
        """The first `count` uint32 of the extension; missing ones are 0."""
        return struct.unpack(f"<{count}I", self.extension[: 4 * count].ljust(4 * count, b"\0"))


def take_request(buffer: bytearray) -> Request | None:
    """Remove the first complete request from `buffer`; None while it is incomplete.

    Raises ValueError when the extension is longer than the daemon accepts.
    """
    if len(buffer) < HEADER.size:
        return None
    command, p1, p2, length = HEADER.unpack_from(buffer)
    if length >= MAX_EXTENSION:
        raise ValueError(f"an extension of {length} bytes; the limit is {MAX_EXTENSION - 1}")
    end = HEADER.size + length
    if len(buffer) < end:
        return None
    extension = bytes(buffer[HEADER.size : end])
    del buffer[:end]
    return Request(command, p1, p2, extension)


def reply(request: Request, result: int, payload: bytes = b"") -> bytes:
    """The reply; `result` may be given unsigned (ticks, level words)."""
    signed = (result + 2**31) % 2**32 - 2**31
    return REPLY.pack(request.command, request.p1, request.p2, signed) + payload
