"""The dead-man of a Raspberry Pi 5: a process of its own that holds the motor's enable line.

    python -I gpiod_dead_man.py SOCKET CHIP ENABLE DUTY MONOSTABLE

Owns EN, and nothing else. The control loop grants EN for a moment at a time, every 8 ms; what is
not granted is low. It is small, imports nothing of this program, and is to be read in one sitting.

EN falls

* when the last grant has run out (a loop that hangs, or is stopped): after the time granted, which
  is cut to `MAX_NS` whatever is asked for;
* when the controller has ended: its end of the socket closes, and that is seen at once;
* on a word from the controller, and when this process is told to end (SIGTERM). It then grants
  nothing more, and leaves with its controller: a service manager tells both at the same moment.

Grants carry the time on the monotonic clock until which they hold. One that waited somewhere is
worth nothing when it arrives.

What if this process itself dies or is stopped while EN is high? Its line is then released or held
by the kernel, and the kernel of a Raspberry Pi leaves a released output as it was driven, unless
`dtparam=strict_gpiod` stands in config.txt (raspberrypi/linux, pull request 6117): then the pin
becomes an input and the resistor at EN pulls it low. The person who installs writes it there, and
`doctor` warns where it is missing. Besides:

* the controller hears within a millisecond that this process has ended, and within the time of one
  grant that it no longer answers. It takes the duty to zero, kills what is left, and holds EN low
  itself until a new dead-man does;
* EN is pulsed low every 10 ms, which re-triggers the hardware monostable on the wiring page. When
  nobody pulses, the monostable falls by itself: it covers even the death of the whole machine;
* the unit's ExecStopPost takes the pins low by a tool that is not this program.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys
import time

GRANT, REVOKE, ASK = 1, 2, 3
ORDER = struct.Struct("<BQQ")
"""Kind, token (given back in the answer), and for GRANT the time in ns until which it holds."""
ANSWER = struct.Struct("<QQB")
"""Token, time in ns until which EN is granted (0: not), level of EN."""

MAX_NS = 120_000_000
"""Nobody is granted more at a time."""

TURN_S = 0.010
"""Time between two pulses for the monostable."""

IDLE_S = 1.0


class EnableLine:
    """EN as an output, low from the first moment; and the duty that falls with it."""

    def __init__(self, chip: str, offset: int, duty: str, *, monostable: bool) -> None:
        """Raises OSError where the line is not to be had."""
        import gpiod
        from gpiod.line import Direction, Value

        self._low, self._high, self._offset = Value.INACTIVE, Value.ACTIVE, offset
        settings = gpiod.LineSettings(direction=Direction.OUTPUT, output_value=Value.INACTIVE)
        self._line = gpiod.request_lines(chip, {offset: settings}, consumer="shaker dead-man")
        self._duty = os.open(duty, os.O_WRONLY) if duty else -1
        self._monostable = monostable
        self._is_high = False

    def keep_high(self) -> None:
        """Raise EN, or give it the fresh rising edge that the monostable wants."""
        if self._is_high and self._monostable:
            self._line.set_value(self._offset, self._low)
        if self._monostable or not self._is_high:
            self._line.set_value(self._offset, self._high)
        self._is_high = True

    def drop(self) -> None:
        """EN low, then no duty either: a driver that ignores EN gets none."""
        self._line.set_value(self._offset, self._low)
        self._is_high = False
        if self._duty >= 0:
            with contextlib.suppress(OSError):
                os.pwrite(self._duty, b"0\n", 0)

    @property
    def is_high(self) -> bool:
        """What was asked for last."""
        return self._is_high

    def level(self) -> int:
        """What the pin says."""
        return int(self._line.get_value(self._offset) is self._high)


def attend(controller: socket.socket, line: EnableLine) -> None:
    """Hold EN as granted, until the controller is gone."""
    until_ns = 0
    pulse_s = 0.0
    while True:
        now_s = time.monotonic()
        wait_s = IDLE_S
        if line.is_high:
            wait_s = max(0.0, min(pulse_s - now_s, until_ns / 1e9 - now_s))
        readable, _, _ = select.select([controller], [], [], wait_s)
        if readable:
            order = controller.recv(ORDER.size)
            if len(order) != ORDER.size:
                return
            kind, token, time_ns = ORDER.unpack(order)
            if kind == GRANT:
                until_ns = min(time_ns, time.monotonic_ns() + MAX_NS)
            elif kind == REVOKE:
                until_ns = 0
        if signal.SIGTERM in signal.sigpending():
            until_ns = 0
        now_ns = time.monotonic_ns()
        if now_ns >= until_ns:
            if line.is_high or (readable and kind == REVOKE):
                line.drop()
        elif not line.is_high or now_ns >= pulse_s * 1e9:
            line.keep_high()
            pulse_s = now_ns / 1e9 + TURN_S
        if readable:
            granted_ns = until_ns if line.is_high else 0
            level = line.level() if kind == ASK else int(line.is_high)
            with contextlib.suppress(BlockingIOError):  # A controller that reads nothing is hung.
                controller.send(ANSWER.pack(token, granted_ns, level), socket.MSG_DONTWAIT)


def main(descriptor: int, chip: str, offset: int, duty: str, monostable: bool) -> int:
    """Attend the controller at the other end of `descriptor`. Returns the exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at a terminal is the controller's.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # Looked for at every turn.
    controller = socket.socket(fileno=descriptor)
    try:
        line = EnableLine(chip, offset, duty, monostable=monostable)
    except (ImportError, OSError) as error:
        controller.send(f"{type(error).__name__}: {error}".encode())
        return 1
    gc.freeze()
    gc.disable()
    try:
        controller.send(ANSWER.pack(0, 0, line.level()))
        attend(controller, line)
    except (BrokenPipeError, ConnectionResetError):
        pass  # The controller is gone, with an answer on its way.
    finally:
        line.drop()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5] == "1"))
