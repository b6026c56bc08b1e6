"""A serial line through pyserial: open, read, write, with deadlines; for the table and the laptop.

Owns the device. Must not know what is said on it. One thread uses an open port.
"""

from __future__ import annotations

import errno
import select

import serial
from serial.tools import list_ports

from shaker_ctl.errors import ConsoleLineError

WRITE_S = 1.0
"""Longest wait for the line to take a piece. Nobody reads a pseudo-terminal: it fills and stays."""

PIECE = 512
"""Bytes handed over at once: half a second at 9600 baud, inside `WRITE_S`."""

MAX_READ = 4096


class SerialPort:
    """A `ByteStream` on a device file: UART, USB adapter, USB gadget or pseudo-terminal."""

    def __init__(self, device: str, baud: int = 115_200) -> None:
        """Open `device`, 8N1, no flow control, for this program alone.

        Raises `ConsoleLineError` saying what to do.
        """
        self.device = device
        try:
            self._port = serial.Serial(
                device, baud, timeout=0, write_timeout=WRITE_S, exclusive=True
            )
        except (serial.SerialException, OSError, ValueError) as error:
            raise ConsoleLineError(
                f"cannot open the serial line {device}: {_reason(error)}", remedy=_remedy(error)
            ) from error

    def read(self, timeout_s: float) -> bytes:
        try:
            ready, _, _ = select.select([self._port.fileno()], [], [], timeout_s)
            return bytes(self._port.read(MAX_READ)) if ready else b""
        except (serial.SerialException, OSError, TypeError, ValueError) as error:
            # pyserial raises TypeError and ValueError too when the device went away in mid-call.
            raise self._gone(error) from error

    def write(self, data: bytes) -> None:
        try:
            for start in range(0, len(data), PIECE):
                self._port.write(data[start : start + PIECE])
        except serial.SerialTimeoutException as error:
            raise LineStalledError(f"{self.device} takes no more bytes") from error
        except (serial.SerialException, OSError, TypeError, ValueError) as error:
            raise self._gone(error) from error

    def close(self) -> None:
        self._port.close()

    def fileno(self) -> int:
        """For `select` beside other files."""
        return int(self._port.fileno())

    def _gone(self, error: Exception) -> ConsoleLineError:
        return ConsoleLineError(
            f"the serial line {self.device} is gone: {_reason(error)}",
            remedy="Plug it in again; the line is reopened by itself",
        )


class LineStalledError(ConsoleLineError):
    """Nobody takes what is written. What was being said is lost, the line stays open."""


def candidates() -> list[tuple[str, str]]:
    """Return the serial devices of this computer that a table may be at, as (device, what)."""
    usb = [port for port in list_ports.comports() if port.vid is not None]
    return [(port.device, port.description or port.hwid) for port in usb]


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    text = str(error).split(": [Errno", maxsplit=1)[0]
    if "Could not exclusively lock" in str(error):
        return "another program has it open"
    if number == errno.EISDIR or "Inappropriate ioctl" in str(error):
        return "it is no serial device"
    return {2: "there is no such device", 13: "permission denied", 16: "it is busy"}.get(
        number or 0, text or type(error).__name__
    )


def _remedy(error: Exception) -> str:
    if getattr(error, "errno", None) == 13:
        return "Add the user to the group that owns it: sudo usermod -aG dialout $USER"
    if "exclusively" in str(error):
        return "Close the other terminal program"
    return "Check the cable and the device's name: ls -l /dev/serial/by-id"
