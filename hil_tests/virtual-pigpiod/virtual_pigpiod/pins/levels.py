"""Commands about plain levels: modes, pulls, reads, writes, banks, trigger pulses, pads.

Owns: their checks and effects. Must not know: PWM shapes, waves, who asks.
"""

from __future__ import annotations

from virtual_pigpiod.pins.chip import PERMITTED
from virtual_pigpiod.pins.pin import Mode, Pull
from virtual_pigpiod.pins.uses import Use, Uses
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers, Later
from virtual_pigpiod.wire import Command, Request

MAX_TRIGGER_US = 100


class Levels:
    """Handlers of the level commands."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._board = uses.board
        self._pads = [2, 2, 2]  # mA; as recorded from the real daemon
        self.handlers: Handlers = {
            Command.MODES: self._set_mode,
            Command.MODEG: self._get_mode,
            Command.PUD: self._set_pull,
            Command.READ: self._read,
            Command.WRITE: self._write,
            Command.BR1: lambda _: self._board.word(0),
            Command.BR2: lambda _: self._board.word(1),
            Command.BC1: lambda r: self._write_bank(0, 0, r.p1),
            Command.BC2: lambda r: self._write_bank(1, 0, r.p1),
            Command.BS1: lambda r: self._write_bank(0, 1, r.p1),
            Command.BS2: lambda r: self._write_bank(1, 1, r.p1),
            Command.TRIG: self._trigger,
            Command.PADS: self._set_pad,
            Command.PADG: self._get_pad,
        }

    def _set_mode(self, request: Request) -> None:
        self._uses.permit(request.p1)
        self._uses.check(request.p1)
        refuse_if(request.p2 > max(Mode), Reason.BAD_MODE)
        self._uses.set_mode(request.p1, Mode(request.p2))

    def _get_mode(self, request: Request) -> int:
        self._uses.check(request.p1)
        return self._board.mode(request.p1)

    def _set_pull(self, request: Request) -> None:
        self._uses.permit(request.p1)
        self._uses.check(request.p1)
        refuse_if(request.p2 > max(Pull), Reason.BAD_PUD)
        self._board.set_pull(request.p1, Pull(request.p2))

    def _read(self, request: Request) -> int:
        self._uses.check(request.p1)
        return self._board.level(request.p1)

    def _write(self, request: Request) -> None:
        gpio, level = request.p1, request.p2
        self._uses.permit(gpio)
        self._uses.check(gpio)
        refuse_if(level > 1, Reason.BAD_LEVEL)
        if self._uses.use[gpio] != Use.WRITE:
            self._uses.width[gpio] = 0
            self._uses.use[gpio] = Use.WRITE
        self._board.output(gpio, level)

    def _write_bank(self, bank: int, level: int, mask: int) -> None:
        asked = mask << 32 * bank
        allowed = asked & PERMITTED
        self._board.write(allowed * level, allowed * (1 - level))
        refuse_if(asked != allowed, Reason.SOME_PERMITTED)

    def _trigger(self, request: Request) -> Later:
        gpio, length_us = request.p1, request.p2
        (level,) = request.words(1)
        self._uses.permit(gpio)
        self._uses.check_user(gpio)
        refuse_if(level > 1, Reason.BAD_LEVEL)
        refuse_if(not 1 <= length_us <= MAX_TRIGGER_US, Reason.BAD_PULSELEN)
        return Later(self._board.pulse(gpio, level, length_us))

    def _set_pad(self, request: Request) -> None:
        _check_pad(request.p1)
        refuse_if(not 1 <= request.p2 <= 16, Reason.BAD_STRENGTH)
        self._pads[request.p1] = (request.p2 + 1) // 2 * 2

    def _get_pad(self, request: Request) -> int:
        _check_pad(request.p1)
        return self._pads[request.p1]


def _check_pad(pad: int) -> None:
    refuse_if(pad > 2, Reason.BAD_PAD)
