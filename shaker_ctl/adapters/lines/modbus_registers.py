"""Holding registers behind a serial line: one request, one reply, one deadline.

Owns the port: open, re-open, the silence between frames, and the translation of what pymodbus
reports into leaves of `LampError`. Must not know what any register means.
"""

from __future__ import annotations

import contextlib
import logging
import select
import time
from collections import deque
from collections.abc import Callable

import serial
from pymodbus.client import ModbusSerialClient
from pymodbus.exceptions import ModbusException
from pymodbus.framer import FramerRTU
from pymodbus.pdu import ExceptionResponse, ModbusPDU

from shaker_ctl.errors import LampReplyError, LampTimeoutError
from shaker_ctl.lamp.exchange import LampRefusedError
from shaker_ctl.lamp.parameters import LampParameters

FAST_SILENCE_S = 0.00175
"""Silence before a request above 19200 baud, where 3.5 characters would be shorter (Modbus over
serial line 1.02, 2.5.1.1)."""

WRITE_S = 0.2
"""A request fits the kernel's buffer; only a port that is stuck keeps a write waiting."""

REPLIES = 100
"""Newest replies whose times are kept."""

NEVER_S = 3600.0
"""pymodbus's own patience. The deadline of each request is `_PatientClient`'s, and much shorter."""

logging.getLogger("pymodbus").addHandler(logging.NullHandler())
"""Its warnings go where a log is kept, never onto a person's screen: there our own error stands."""

LEAST_REPLY = 5
"""Bytes of the shortest frame: unit, function, one byte, checksum."""

ERROR_BIT = 0x80
"""Marks a function code as an exception."""

LINE_REMEDY = "Check the lamp box's supply, its cable, and lamp.device, lamp.baudrate, lamp.unit"


class SerialRegisters:
    """The `Registers` of `lamp.exchange` over pymodbus and pyserial.

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
        self._client: _PatientClient | None = None
        self.left_at = 0.0
        self.openings = 0
        """How often the port has been opened: whoever sees it change faces a new line."""
        self.reply_s: deque[float] = deque(maxlen=REPLIES)
        """From request to reply, newest last."""
        self._unopened = ""
        """Why the last attempt to open failed: what to say when no time is left for another."""

    def read(self, address: int, count: int, ends_at: float) -> list[int]:
        """Function 3."""
        unit = self._parameters.unit
        return self._request(
            lambda client: client.read_holding_registers(address, count=count, device_id=unit),
            count,
            request_bytes=8,
            ends_at=ends_at,
        )

    def write_read(
        self, address: int, words: list[int], read_address: int, read_count: int, ends_at: float
    ) -> list[int]:
        """Function 23."""
        unit = self._parameters.unit
        return self._request(
            lambda client: client.readwrite_registers(
                read_address=read_address,
                read_count=read_count,
                write_address=address,
                values=words,
                device_id=unit,
            ),
            read_count,
            request_bytes=13 + 2 * len(words),
            ends_at=ends_at,
        )

    def close(self) -> None:
        """Close the port. Idempotent."""
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._client.shut()
        self._client = None

    def _request(
        self,
        send: Callable[[_PatientClient], ModbusPDU],
        count: int,
        *,
        request_bytes: int,
        ends_at: float,
    ) -> list[int]:
        client = self._open(ends_at)
        pause = self._quiet_since + self._silence_s - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self.left_at = time.monotonic() + request_bytes * self._byte_s
        reply_bytes = 5 + 2 * count
        reply_by = self.left_at + reply_bytes * self._byte_s + self._parameters.reply_slack_s
        client.wait_until(min(ends_at, reply_by))
        began_s = time.monotonic()
        try:
            reply = send(client)
            self.reply_s.append(time.monotonic() - began_s)
        except ModbusException as error:
            raise self._explain(client, error) from error
        except (OSError, serial.SerialException) as error:
            self.close()
            raise LampTimeoutError(
                f"the lamp line {self._parameters.device} failed: {error}", remedy=LINE_REMEDY
            ) from error
        finally:
            self._quiet_since = time.monotonic()
        if isinstance(reply, ExceptionResponse):
            raise LampRefusedError(
                f"the lamp box answered with Modbus exception {reply.exception_code}",
                refusal=reply.exception_code,
            )
        if len(reply.registers) != count:
            raise LampReplyError(
                f"the lamp box sent {len(reply.registers)} registers where {count} were asked for",
                remedy="Look for a second controller on the lamp line",
            )
        return list(reply.registers)

    def _open(self, ends_at: float) -> _PatientClient:
        if self._client is not None and self._client.connected:
            return self._client
        if time.monotonic() >= ends_at:
            why = self._unopened or "no time left to open the lamp line"
            raise LampTimeoutError(why, remedy=LINE_REMEDY)
        self.close()
        client = _PatientClient(
            self._parameters.device, baudrate=self._parameters.baudrate, retries=0, timeout=NEVER_S
        )
        if not client.connect():
            self._unopened = (
                f"cannot open the lamp line {self._parameters.device}: {client.failure}"
            )
            raise LampTimeoutError(self._unopened, remedy=LINE_REMEDY)
        self._client, self._unopened = client, ""
        self.openings += 1
        return client

    def _explain(self, client: _PatientClient, error: ModbusException) -> Exception:
        """Turn pymodbus's one exception for everything into the leaf that says what happened."""
        if not client.connected:
            return LampTimeoutError(
                f"the lamp line {self._parameters.device} was unplugged", remedy=LINE_REMEDY
            )
        if client.is_echo:
            return LampTimeoutError(
                "the lamp box does not answer; its own request came back from the adapter",
                remedy=f"{LINE_REMEDY}; an adapter's echo does no harm, but can be switched off",
            )
        if client.received:
            return LampReplyError(
                f"{client.received} bytes came back, but no reply of unit {self._parameters.unit}",
                remedy="Check address and termination of the lamp line",
            )
        return LampTimeoutError("the lamp box does not answer", remedy=LINE_REMEDY)


logging.getLogger("pymodbus_internal").setLevel(logging.CRITICAL)
# pymodbus logs what it also raises; the exchange decides whether a damaged reply is worth a word.


class _PatientClient(ModbusSerialClient):
    """pymodbus's client, waiting by the monotonic clock and on the port instead of polling it.

    The original looks every millisecond whether bytes have stopped coming, by the wall clock: a
    clock stepped backwards would make it wait for hours.

    It hands on a reply alone, and only when it is whole. pymodbus throws away all that has come
    where the first bytes are no reply: an RS-485 adapter's echo of the request that comes beside
    the reply or in parts, or what a driver sends when it is switched on.
    """

    failure = ""
    _sent = _came = b""
    _deadline = 0.0

    def wait_until(self, deadline: float) -> None:
        """Give the next request until `deadline` (monotonic), and forget what came before."""
        self._deadline = deadline
        self._sent = self._came = b""

    @property
    def received(self) -> int:
        """Bytes that came back since the last request."""
        return len(self._came)

    @property
    def is_echo(self) -> bool:
        """Whether the request came back, and nothing else."""
        return bool(self._sent) and self._came == self._sent

    def send(self, request: bytes, addr: tuple[object, ...] | None = None) -> int:
        self._sent = request
        return int(super().send(request, addr))

    def connect(self) -> bool:
        if self.socket is not None:
            return True
        try:
            self.socket = serial.Serial(
                self.comm_params.host,
                baudrate=self.comm_params.baudrate,
                timeout=0,
                write_timeout=WRITE_S,
                exclusive=True,
            )
        except (OSError, ValueError) as error:
            self.failure = str(error)
            return False
        return True

    def shut(self) -> None:
        """Close the port, whatever state it is in."""
        port, self.socket = self.socket, None
        if port is not None:
            port.close()

    def recv(self, size: int | None) -> bytes:
        """Return the reply when it is whole; b"" when the deadline has passed."""
        while data := self._bytes():
            self._came += data
            if reply := reply_in(self._came, self._sent):
                return reply
        return b""

    def _bytes(self) -> bytes:
        """Return what comes next; b"" when the deadline has passed."""
        port = self.socket
        if port is None:
            return b""
        try:
            patience = self._deadline - time.monotonic()
            if patience <= 0 or not select.select([port], [], [], patience)[0]:
                return b""
            data: bytes = port.read(max(1, port.in_waiting))
        except (OSError, serial.SerialException):
            self.shut()
            raise
        return data


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
