"""Holding registers behind a serial line: one request, one reply, one deadline.

Owns the port: open, re-open, the silence between frames, the wait for a whole reply, and what is
wrong as a leaf of `LampError`. The bytes of requests and replies are pymodbus's. Its client is not
used: it polls by the wall clock, which may be set back, and throws away all that has come where the
first bytes are no reply, such as an RS-485 adapter's echo of the request. Must not know what any
register means.
"""

from __future__ import annotations

import contextlib
import logging
import select
import time
from collections import deque

import serial
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU, ExceptionResponse, ModbusPDU
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadWriteMultipleRegistersRequest,
)

from shaker_ctl.errors import LampError, LampReplyError, LampTimeoutError
from shaker_ctl.lamp.exchange import LampRefusedError
from shaker_ctl.lamp.parameters import LampParameters

FAST_SILENCE_S = 0.00175
"""Silence before a request above 19200 baud, where 3.5 characters would be shorter (Modbus over
serial line 1.02, 2.5.1.1)."""

WRITE_S = 0.2
"""A request fits the kernel's buffer; only a port that is stuck keeps a write waiting."""

REPLIES = 100
"""Newest replies whose times are kept."""

LEAST_REPLY = 5
"""Bytes of the shortest frame: unit, function, one byte, checksum."""

ERROR_BIT = 0x80
"""Marks a function code as an exception."""

LINE_REMEDY = "Check the lamp box's supply, its cable, and lamp.device, lamp.baudrate, lamp.unit"

_FRAMER = FramerRTU(DecodePDU(is_server=False))

logging.getLogger("pymodbus").addHandler(logging.NullHandler())
"""Its warnings go where a log is kept, never onto a person's screen: there our own error stands."""


class SerialRegisters:
    """The `Registers` of `lamp.exchange` over pyserial.

    The port is opened by the first request and again by the first request after a failure of the
    port itself. Blocking; used by the lamp thread alone.
    """

    def __init__(self, parameters: LampParameters) -> None:
        self._parameters = parameters
        self._byte_s = 10 / parameters.baudrate
        self._silence_s = (
            FAST_SILENCE_S if parameters.baudrate > 19200 else 3.5 * 11 / parameters.baudrate
        )
        self._quiet_since = 0.0
        self._port: serial.Serial | None = None
        self.left_at = 0.0
        self.openings = 0
        """How often the port has been opened: whoever sees it change faces a new line."""
        self.reply_s: deque[float] = deque(maxlen=REPLIES)
        """From request to reply, newest last."""
        self._unopened = ""
        """Why the last attempt to open failed: what to say when no time is left for another."""

    def read(self, address: int, count: int, ends_at: float) -> list[int]:
        """Function 3."""
        request = ReadHoldingRegistersRequest(address=address, count=count)
        return self._request(request, count, ends_at)

    def write_read(
        self, address: int, words: list[int], read_address: int, read_count: int, ends_at: float
    ) -> list[int]:
        """Function 23."""
        request = ReadWriteMultipleRegistersRequest(read_address, read_count, address, words)
        return self._request(request, read_count, ends_at)

    def close(self) -> None:
        """Close the port, whatever state it is in. Idempotent."""
        port, self._port = self._port, None
        if port is not None:
            with contextlib.suppress(OSError):
                port.close()

    def _request(self, request: ModbusPDU, count: int, ends_at: float) -> list[int]:
        port = self._open(ends_at)
        request.dev_id = self._parameters.unit
        sent = _FRAMER.buildFrame(request)
        pause = self._quiet_since + self._silence_s - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self.left_at = time.monotonic() + len(sent) * self._byte_s
        reply_bytes = LEAST_REPLY + 2 * count
        reply_by = self.left_at + reply_bytes * self._byte_s + self._parameters.reply_slack_s
        began_s = time.monotonic()
        try:
            port.read(port.in_waiting)  # what came late belongs to no request
            port.write(sent)
            came, frame = _answered(port, sent, min(ends_at, reply_by))
        except OSError as error:  # pyserial's own among them
            self.close()
            raise LampTimeoutError(
                f"the lamp line {self._parameters.device} failed: {error}", remedy=LINE_REMEDY
            ) from error
        finally:
            self._quiet_since = time.monotonic()
        if not frame:
            raise self._nothing(came, sent)
        self.reply_s.append(self._quiet_since - began_s)
        return _registers(frame, count)

    def _nothing(self, came: bytes, sent: bytes) -> LampError:
        """Say what came instead of a reply."""
        if came == sent:
            return LampTimeoutError(
                "the lamp box does not answer; its own request came back from the adapter",
                remedy=f"{LINE_REMEDY}; an adapter's echo does no harm, but can be switched off",
            )
        if came:
            return LampReplyError(
                f"{len(came)} bytes came back, but no reply of unit {self._parameters.unit}",
                remedy="Check address and termination of the lamp line",
            )
        return LampTimeoutError("the lamp box does not answer", remedy=LINE_REMEDY)

    def _open(self, ends_at: float) -> serial.Serial:
        if self._port is not None:
            return self._port
        if time.monotonic() >= ends_at:
            why = self._unopened or "no time left to open the lamp line"
            raise LampTimeoutError(why, remedy=LINE_REMEDY)
        p = self._parameters
        try:
            self._port = serial.Serial(
                p.device, p.baudrate, timeout=0, write_timeout=WRITE_S, exclusive=True
            )
        except (OSError, ValueError) as error:
            self._unopened = f"cannot open the lamp line {p.device}: {error}"
            raise LampTimeoutError(self._unopened, remedy=LINE_REMEDY) from error
        self._unopened = ""
        self.openings += 1
        return self._port


def _answered(port: serial.Serial, sent: bytes, until_s: float) -> tuple[bytes, bytes]:
    """Wait for the whole reply to the request `sent`; return all that came, and the reply in it."""
    came = b""
    while (patience_s := until_s - time.monotonic()) > 0:
        if not select.select([port], [], [], patience_s)[0]:
            break
        came += port.read(max(1, port.in_waiting))
        if frame := reply_in(came, sent):
            return came, frame
    return came, b""


def _registers(frame: bytes, count: int) -> list[int]:
    """Return what stands in a reply. Raises LampReplyError where that is something else."""
    reply = _FRAMER.decoder.decode(frame[1:-2])
    if isinstance(reply, ExceptionResponse):
        raise LampRefusedError(
            f"the lamp box answered with Modbus exception {reply.exception_code}",
            refusal=reply.exception_code,
        )
    found = list(reply.registers) if reply is not None else []
    if len(found) != count:
        raise LampReplyError(
            f"the lamp box sent {len(found)} registers where {count} were asked for",
            remedy="Look for a second controller on the lamp line",
        )
    return found


def reply_in(came: bytes, sent: bytes) -> bytes:
    """Return the whole reply to the request `sent` among the bytes that came; b"" without one.

    It bears the request's unit and function, or that function as an exception, and its checksum
    holds. The request itself, which an adapter may repeat, is no reply.
    """
    echo = came.find(sent)
    first = 0 if echo < 0 else echo + len(sent)
    unit, function = sent[:2]
    for at in range(first, len(came) - LEAST_REPLY + 1):
        if came[at] != unit or came[at + 1] not in (function, function | ERROR_BIT):
            continue
        size = LEAST_REPLY + (came[at + 2] if came[at + 1] == function else 0)
        frame = came[at : at + size]
        if len(frame) == size and FramerRTU.check_CRC(
            frame[:-2], int.from_bytes(frame[-2:], "big")
        ):
            return frame
    return b""
