"""Bit-bang serial reading: characters from the level of any pin of bank 1.

Owns: open pins, decoding, what has been received and not yet fetched. Must not know: who fetches.
The pin's edges are collected a few times a second and when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from virtual_pigpiod.loop import Loop, ScheduledAction
from virtual_pigpiod.pins.board import Board, now_us
from virtual_pigpiod.pins.timeline import Tap
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import Command, Request

COLLECT_US = 100_000
BUFFER_SIZE = 8192


@dataclass(slots=True)
class Decoder:
    """Frames of one start bit (low), data bits with the least first, stop bit, from edges."""

    bit_us: float
    data_bits: int
    is_inverted: bool = False
    received: bytearray = field(default_factory=bytearray)
    _level: int = 1
    _start_us: float | None = None
    _bits: list[int] = field(default_factory=list)

    def edge(self, at_us: int, level: int) -> None:
        """The line changed to `level`."""
        self.idle_until(at_us)
        self._level = level ^ self.is_inverted
        if self._start_us is None and self._level == 0:
            self._start_us = at_us
            self._bits = []

    def idle_until(self, at_us: int) -> None:
        """The line kept its level until `at_us`: take the bits whose middle has passed."""
        while self._start_us is not None:
            middle_us = self._start_us + (len(self._bits) + 1.5) * self.bit_us
            if middle_us > at_us:
                return
            if len(self._bits) == self.data_bits:
                self._finish()
            else:
                self._bits.append(self._level)

    @property
    def character_size(self) -> int:
        """Bytes per character in the buffer."""
        return 1 if self.data_bits <= 8 else 2 if self.data_bits <= 16 else 4

    def _finish(self) -> None:
        """In the middle of the stop bit."""
        value = sum(bit << place for place, bit in enumerate(self._bits))
        if len(self.received) < BUFFER_SIZE:
            self.received += value.to_bytes(self.character_size, "little")
        self._start_us = None


class SerialRead:
    """Handlers of the bit-bang serial commands."""

    def __init__(self, board: Board, loop: Loop) -> None:
        self._board = board
        self._loop = loop
        self._open: dict[int, tuple[Tap, Decoder]] = {}
        self._timer: ScheduledAction | None = None
        self.handlers: Handlers = {
            Command.SLRO: self._open_pin,
            Command.SLR: self._read,
            Command.SLRC: self._close,
            Command.SLRI: self._invert,
        }

    def _open_pin(self, request: Request) -> None:
        gpio, baud = request.p1, request.p2
        (data_bits,) = request.words(1)
        _check(gpio)
        refuse_if(not 50 <= baud <= 250_000, Reason.BAD_WAVE_BAUD)
        refuse_if(not 1 <= data_bits <= 32, Reason.BAD_DATABITS)
        refuse_if(gpio in self._open, Reason.GPIO_IN_USE)
        self._open[gpio] = (self._board.tap(gpio), Decoder(1e6 / baud, data_bits))
        if self._timer is None:
            self._timer = self._loop.call_at(now_us() + COLLECT_US, self._collect_all)

    def _read(self, request: Request) -> bytes:
        _check(request.p1)
        refuse_if(request.p2 == 0, Reason.BAD_SERIAL_COUNT)
        _, decoder = self._pin(request.p1)
        self._collect(request.p1)
        count = min(len(decoder.received), request.p2)
        count -= count % decoder.character_size
        taken = bytes(decoder.received[:count])
        del decoder.received[:count]
        return taken

    def _close(self, request: Request) -> None:
        _check(request.p1)
        self._pin(request.p1)
        del self._open[request.p1]

    def _invert(self, request: Request) -> None:
        _check(request.p1)
        _, decoder = self._pin(request.p1)
        refuse_if(request.p2 > 1, Reason.BAD_SER_INVERT)
        decoder.is_inverted = bool(request.p2)

    def _pin(self, gpio: int) -> tuple[Tap, Decoder]:
        refuse_if(gpio not in self._open, Reason.NOT_SERIAL_GPIO)
        return self._open[gpio]

    def _collect_all(self) -> None:
        for gpio in self._open:
            self._collect(gpio)
        self._timer = None
        if self._open:
            self._timer = self._loop.call_at(now_us() + COLLECT_US, self._collect_all)

    def _collect(self, gpio: int) -> None:
        tap, decoder = self._open[gpio]
        with self._board.locked():
            upto_us = now_us()
            self._board.pins[gpio].settle(upto_us)
            edges = tap.take(upto_us)
        for at_us, level in edges:
            decoder.edge(at_us, level)
        decoder.idle_until(upto_us)


def _check(gpio: int) -> None:
    refuse_if(gpio > 31, Reason.BAD_USER_GPIO)
