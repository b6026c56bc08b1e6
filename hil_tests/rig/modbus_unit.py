"""One Modbus RTU unit on a byte stream: requests in, replies out, with the manners of a slow box.

Owns framing in time (silence ends a frame), the unit's address, the five functions that a lamp box
serves, and damage done to its replies. Frames, checksums and message layouts are pymodbus's. Must
not know what a register means.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from pymodbus.exceptions import ModbusException
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU, ExceptionResponse, ModbusPDU
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadHoldingRegistersResponse,
    ReadWriteMultipleRegistersRequest,
    ReadWriteMultipleRegistersResponse,
    WriteMultipleRegistersRequest,
    WriteMultipleRegistersResponse,
    WriteSingleRegisterRequest,
    WriteSingleRegisterResponse,
)

from hil_tests.rig.fault_set import FaultSet
from hil_tests.rig.lamp import Refused
from hil_tests.rig.timely import go_first

ILLEGAL_FUNCTION = 1
FRAME_SILENCE_S = 0.02
"""Silence after which an unfinished frame is forgotten. 3.5 characters would be right on a wire;
a pseudo-terminal's bytes come in the bursts that the scheduler lets through."""
REPLY_DELAY_S = 0.00175


class Store(Protocol):
    """What stands behind the unit."""

    @property
    def faults(self) -> FaultSet: ...

    @property
    def is_up(self) -> bool: ...

    def read(self, address: int, count: int) -> list[int]: ...

    def write(self, address: int, words: Sequence[int]) -> None: ...


class Wire(Protocol):
    """The unit's end of the line."""

    def receive(self, timeout_s: float | None) -> bytes | None:
        """Return what has come, b"" after `timeout_s` of silence, None when the line is closed."""

    def send(self, data: bytes) -> None: ...


class ModbusUnit:
    """Serves `store` on `wire` until the wire is closed. `run` is the unit's thread."""

    def __init__(
        self,
        store: Store,
        wire: Wire,
        unit: int = 1,
        *,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._wire = wire
        self._unit = unit
        self._sleep = sleep
        self._framer = FramerRTU(DecodePDU(True))
        self._chance = random.Random(seed)
        self.thread = threading.Thread(target=self.run, name="lamp-box", daemon=True)

    def run(self) -> None:
        """Collect bytes into frames, answer each frame that is for this unit."""
        go_first()
        pending = b""
        while True:
            data = self._wire.receive(FRAME_SILENCE_S if pending else None)
            if data is None:
                return
            if not data:
                pending = b""
                continue
            pending += data
            used, unit, _, payload = self._framer.decode(pending)
            if not used or not payload:
                continue  # unfinished or damaged: silence will end it
            pending = b""
            if unit == self._unit and self._store.is_up:
                self._answer(payload)

    def _answer(self, payload: bytes) -> None:
        try:
            request = self._framer.decoder.decode(payload)
        except ModbusException:
            request = None
        faults = self._store.faults
        if request is None:
            reply: ModbusPDU = ExceptionResponse(payload[0], ILLEGAL_FUNCTION)
        elif "lamp_exception" in faults:
            code = int(faults.number("lamp_exception", "code"))
            reply = ExceptionResponse(request.function_code, code)
        elif "lamp_silent" in faults:
            return
        else:
            reply = self._serve(request)
        if not self._store.is_up:
            return
        reply.dev_id = self._unit
        self._sleep(
            faults.number("lamp_late", "delay_s") if "lamp_late" in faults else REPLY_DELAY_S
        )
        self._wire.send(self._damaged(reply))

    def _serve(self, request: ModbusPDU) -> ModbusPDU:
        """Execute one request. A write happens before a read in the same request."""
        store = self._store
        try:
            match request:
                case ReadHoldingRegistersRequest(function_code=3):  # 4 is derived from it
                    found = store.read(request.address, request.count)
                    return ReadHoldingRegistersResponse(registers=found)
                case WriteSingleRegisterRequest():
                    store.write(request.address, request.registers)
                    return WriteSingleRegisterResponse(
                        address=request.address, registers=request.registers
                    )
                case WriteMultipleRegistersRequest():
                    store.write(request.address, request.registers)
                    return WriteMultipleRegistersResponse(
                        address=request.address, count=len(request.registers)
                    )
                case ReadWriteMultipleRegistersRequest():
                    store.write(request.write_address, request.write_registers)
                    found = store.read(request.read_address, request.read_count)
                    return ReadWriteMultipleRegistersResponse(registers=found)
        except Refused as refused:
            return ExceptionResponse(request.function_code, refused.code)
        return ExceptionResponse(request.function_code, ILLEGAL_FUNCTION)

    def _damaged(self, reply: ModbusPDU) -> bytes:
        """Return the reply's bytes as the line's faults leave them."""
        faults = self._store.faults
        if "lamp_other_unit" in faults:
            reply.dev_id = int(faults.number("lamp_other_unit", "unit"))
        frame = self._framer.buildFrame(reply)
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
