"""One Modbus RTU unit on a byte stream: requests in, replies out, with the delay of a slow box.

Owns framing in time (silence ends a frame), the unit's address, the functions that a lamp box
serves, which exception answers which error, and damage to its replies. Written from REGISTERS.md
and the Modbus documents without a Modbus library, so that it checks the controller's library.
Must not know what a register means.
"""

from __future__ import annotations

import random
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from hil_tests.rig.lamp_box.box import LampBox, Refused
from virtual_pigpiod.scheduling import go_first

READ, WRITE_ONE, WRITE, WRITE_READ = 3, 6, 16, 23
ILLEGAL_FUNCTION = 1
ILLEGAL_VALUE = 3
NO_FUNCTION = 0x80
"""Codes from here on are no functions: they mark an exception reply."""

MAX_READ, MAX_WRITTEN, MAX_WRITTEN_AND_READ = 125, 123, 121
"""Registers that one request may name (Modbus application protocol 1.1b3, 6.3, 6.12, 6.17)."""

BROKEN_OFF_S = 0.02
"""Silence after which an unfinished frame is forgotten. 3.5 characters would be right on a wire;
a pseudo-terminal's bytes come in the bursts that the scheduler lets through."""
ENDED_S = 0.004
"""Silence that ends a sound frame of which the function does not tell the length."""
REPLY_DELAY_S = 0.00175
"""3.5 characters, or the least that stands for them at high rates; no reply may begin earlier."""
LATE_S = 0.02
"""A reply that is late by this long tells nothing of a real box."""


class UnitWire(Protocol):
    """The unit's end of the line."""

    def receive(self, timeout_s: float | None) -> bytes | None:
        """Return what has come, b"" after `timeout_s` of silence, None when the line is closed."""

    def send(self, data: bytes) -> None: ...


class ModbusUnit:
    """Serves `store` on `wire` until the wire is closed. `run` is the unit's thread."""

    def __init__(
        self,
        store: LampBox,
        wire: UnitWire,
        unit: int = 1,
        *,
        reply_delay_s: float = REPLY_DELAY_S,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._wire = wire
        self._unit = unit
        self._reply_delay_s = reply_delay_s
        self._sleep = sleep
        self._chance = random.Random(seed)
        self.thread = threading.Thread(target=self.run, name="lamp-box", daemon=True)

    def run(self) -> None:
        """Collect bytes into frames, answer each frame that is for this unit."""
        go_first()
        pending = b""
        while (data := self._wire.receive(_patience_s(pending))) is not None:
            pending += data
            if data and not _is_whole(pending):
                continue
            frame, pending = pending, b""
            if _is_sound(frame) and frame[0] == self._unit and self._store.is_up:
                self._answer(frame[1], frame[2:-2])

    def _answer(self, function: int, body: bytes) -> None:
        came_s = time.monotonic()
        faults = self._store.faults
        if not 0 < function < NO_FUNCTION or "lamp_silent" in faults:
            return
        try:
            if "lamp_exception" in faults:
                raise Refused(int(faults.number("lamp_exception", "code")))
            reply = bytes((function,)) + self._serve(function, body)
        except Refused as refused:
            reply = bytes((function | NO_FUNCTION, refused.code))
        if not self._store.is_up:
            return
        is_late = "lamp_late" in faults
        delay_s = faults.number("lamp_late", "delay_s") if is_late else self._reply_delay_s
        self._sleep(delay_s)
        self._wire.send(self._damaged(reply))
        if time.monotonic() - came_s > delay_s + LATE_S:
            self._store.late_replies += 1

    def _serve(self, function: int, body: bytes) -> bytes:
        """Execute one request: its form first, then what it names. Raises `Refused`."""
        store = self._store
        match function:
            case 3 if len(body) == 4:
                address, count = struct.unpack(">HH", body)
                return self._read(address, count)
            case 6 if len(body) == 4:  # no block is one register long (1)
                address, word = struct.unpack(">HH", body)
                store.write(address, [word])
            case 16 if len(body) > 5:
                address, words = _written(body, MAX_WRITTEN)
                store.write(address, words)
                return body[:4]
            case 23 if len(body) > 9:
                read_address, count = struct.unpack(">HH", body[:4])
                address, words = _written(body[4:], MAX_WRITTEN_AND_READ)
                _require(0 < count <= MAX_READ)
                store.check_read(read_address, count)
                store.write(address, words)
                return self._read(read_address, count)
            case 3 | 6 | 16 | 23:
                raise Refused(ILLEGAL_VALUE)
        raise Refused(ILLEGAL_FUNCTION)

    def _read(self, address: int, count: int) -> bytes:
        _require(0 < count <= MAX_READ)
        words = self._store.read(address, count)
        return struct.pack(f">B{count}H", 2 * count, *words)

    def _damaged(self, reply: bytes) -> bytes:
        """Return the reply's bytes as the line's faults leave them."""
        faults = self._store.faults
        unit = self._unit
        if "lamp_other_unit" in faults:
            unit = int(faults.number("lamp_other_unit", "unit"))
        frame = bytes((unit,)) + reply
        frame += checksum(frame)
        if "lamp_crc" in faults:
            frame = frame[:-2] + bytes((frame[-2] ^ 0x55, frame[-1]))
        if "lamp_garbage_inside" in faults:
            middle = len(frame) // 2
            frame = frame[:middle] + self._noise("lamp_garbage_inside") + frame[middle:]
        if "lamp_truncated" in faults:
            frame = frame[: int(faults.number("lamp_truncated", "bytes"))]
        if "lamp_garbage_before" in faults:
            frame = self._noise("lamp_garbage_before") + frame
        if "lamp_garbage_after" in faults:
            frame += self._noise("lamp_garbage_after")
        return frame

    def _noise(self, fault: str) -> bytes:
        return self._chance.randbytes(int(self._store.faults.number(fault, "bytes")))


def _shifted_out(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xA001 if byte & 1 else 0)
    return byte


_SHIFTED_OUT = tuple(map(_shifted_out, range(256)))


def checksum(frame: bytes) -> bytes:
    """Modbus CRC-16 of a frame's bytes before it, low byte first."""
    crc = 0xFFFF
    for byte in frame:
        crc = crc >> 8 ^ _SHIFTED_OUT[(crc ^ byte) & 0xFF]
    return struct.pack("<H", crc)


def _patience_s(pending: bytes) -> float | None:
    if not pending:
        return None
    return ENDED_S if _is_sound(pending) else BROKEN_OFF_S


def _is_sound(frame: bytes) -> bool:
    return len(frame) >= 4 and checksum(frame[:-2]) == frame[-2:]


def _is_whole(frame: bytes) -> bool:
    """True for a frame that ends where its function says: no silence need end it."""
    function = frame[1] if len(frame) > 1 else 0
    length = {READ: 8, WRITE_ONE: 8}.get(function)
    if function == WRITE and len(frame) > 6:
        length = 9 + frame[6]
    elif function == WRITE_READ and len(frame) > 10:
        length = 13 + frame[10]
    return len(frame) == length and _is_sound(frame)


def _written(body: bytes, most: int) -> tuple[int, Sequence[int]]:
    """Return address and words of the writing part of a request. Raises `Refused`."""
    address, count, size = struct.unpack(">HHB", body[:5])
    _require(0 < count <= most and size == 2 * count == len(body) - 5)
    return address, struct.unpack(f">{count}H", body[5:])


def _require(holds: bool) -> None:
    if not holds:
        raise Refused(ILLEGAL_VALUE)
