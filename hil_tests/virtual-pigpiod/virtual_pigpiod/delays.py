"""MICS and MILS: waiting on behalf of one connection or one script."""

from __future__ import annotations

from virtual_pigpiod.pins.board import now_us
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers, Later
from virtual_pigpiod.wire import Command, Request

MAX_MICS = 1_000_000
MAX_MILS = 60_000


def _micros(request: Request) -> Later:
    refuse_if(request.p1 > MAX_MICS, Reason.BAD_MICS_DELAY)
    return Later(now_us() + request.p1)


def _millis(request: Request) -> Later:
    refuse_if(request.p1 > MAX_MILS, Reason.BAD_MILS_DELAY)
    return Later(now_us() + 1000 * request.p1)


DELAYS: Handlers = {Command.MICS: _micros, Command.MILS: _millis}
"""Handlers of the delay commands."""
