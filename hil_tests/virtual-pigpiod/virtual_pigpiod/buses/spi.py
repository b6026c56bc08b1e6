"""SPI commands: the main SPI with two channels, and the auxiliary one with three.

Owns handles, the pins' functions while a channel is open, and what comes back: what was sent, where
a loop is attached, else zeros, because MISO's pull-down holds a line that nothing drives.
"""

from __future__ import annotations

from dataclasses import dataclass

from virtual_pigpiod.buses.attached import Attached
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.slots import Slots
from virtual_pigpiod.wire import MAX_PAYLOAD, Command, Request

SLOTS = 32
SLOWEST, FASTEST = 32_000, 125_000_000
"""Bits a second."""
LAST_FLAGS = 1 << 22
AUXILIARY = 1 << 8
NOT_SELECTED = 5
"""Place of the first of three flags: this chip select is left to other uses."""

MAIN_SELECTS, MAIN_BUS = (8, 7), (11, 9, 10)
AUX_SELECTS, AUX_BUS = (18, 17, 16), (21, 19, 20)
"""GPIO of the chip selects, and of SCLK, MISO and MOSI."""


@dataclass(frozen=True, slots=True)
class OpenedSpi:
    """One channel."""

    is_auxiliary: bool
    channel: int


class Spi:
    """Handlers of the SPI commands."""

    def __init__(self, board: Board, attached: Attached) -> None:
        self._board = board
        self._loops = attached.spi_loops
        self._slots: Slots[OpenedSpi] = Slots(SLOTS)
        self._before: dict[bool, dict[int, Mode]] = {}
        """Of each SPI that is open: what its pins were before."""
        self.handlers: Handlers = {
            Command.SPIO: self._open,
            Command.SPIC: self._close,
            Command.SPIR: lambda r: self._transfer(r, bytes(min(r.p2, MAX_PAYLOAD))),
            Command.SPIW: lambda r: len(self._transfer(r, r.extension)),
            Command.SPIX: lambda r: self._transfer(r, r.extension),
        }

    def _open(self, request: Request) -> int:
        channel, baud, (flags,) = request.p1, request.p2, request.words(1)
        is_auxiliary = bool(flags & AUXILIARY)
        if channel >= len(AUX_SELECTS if is_auxiliary else MAIN_SELECTS):
            raise CommandRefusedError(Reason.BAD_SPI_CHANNEL)
        refuse_if(not SLOWEST <= baud <= FASTEST, Reason.BAD_SPI_SPEED)
        refuse_if(flags > LAST_FLAGS, Reason.BAD_FLAGS)
        handle = self._slots.open(OpenedSpi(is_auxiliary, channel))
        if is_auxiliary not in self._before:
            self._take_pins(is_auxiliary, flags)
        return handle

    def _close(self, request: Request) -> None:
        closed = self._slots.close(request)
        if all(other.is_auxiliary is not closed.is_auxiliary for other in self._slots.opened()):
            for gpio, mode in self._before.pop(closed.is_auxiliary).items():
                self._board.set_mode(gpio, mode)

    def _take_pins(self, is_auxiliary: bool, flags: int) -> None:
        selects, bus = (AUX_SELECTS, AUX_BUS) if is_auxiliary else (MAIN_SELECTS, MAIN_BUS)
        own = [gpio for n, gpio in enumerate(selects) if not flags >> NOT_SELECTED + n & 1]
        self._before[is_auxiliary] = {gpio: self._board.mode(gpio) for gpio in (*own, *bus)}
        for gpio in own:
            # The auxiliary SPI's selects are moved as outputs: they rest high.
            if is_auxiliary:
                self._board.output(gpio, 1)
            else:
                self._board.set_mode(gpio, Mode.ALT0)
        for gpio in bus:
            self._board.set_mode(gpio, Mode.ALT4 if is_auxiliary else Mode.ALT0)

    def _transfer(self, request: Request, sent: bytes) -> bytes:
        here = self._slots.of(request)
        is_looped = (here.is_auxiliary, here.channel) in self._loops
        return sent if is_looped else bytes(len(sent))
