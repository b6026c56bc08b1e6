"""Watchdogs: a report when a pin has shown no change for too long. They change no output.

Owns: timeouts and when each pin last moved. Must not know: who hears of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from virtual_pigpiod.pins.board import now_us
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import Command, Request

MAX_TIMEOUT_MS = 60_000


class Watchdogs:
    """One watchdog per pin, common to all clients."""

    def __init__(self, on_set: Callable[[], None]) -> None:
        self._on_set = on_set
        self._timeout_us: dict[int, int] = {}
        self._since_us: dict[int, int] = {}
        self.handlers: Handlers = {Command.WDOG: self._set}

    @property
    def due_us(self) -> float:
        """When the next one will fire if nothing moves."""
        return min((self._since_us[g] + t for g, t in self._timeout_us.items()), default=math.inf)

    def moved(self, gpio: int, at_us: int) -> list[int]:
        """A change of `gpio` at `at_us` is about to be reported: the ticks before it at which its
        time was up, and a look that came late has not told so."""
        if gpio not in self._timeout_us:
            return []
        step_us = self._timeout_us[gpio]
        missed = list(range(self._since_us[gpio] + step_us, at_us, step_us))
        self._since_us[gpio] = at_us
        return missed

    def fire(self, at_us: int) -> list[int]:
        """The pins whose time is up; each is armed again from `at_us`."""
        fired = [g for g, t in self._timeout_us.items() if self._since_us[g] + t <= at_us]
        self._since_us.update(dict.fromkeys(fired, at_us))
        return sorted(fired)

    def _set(self, request: Request) -> None:
        gpio, timeout_ms = request.p1, request.p2
        refuse_if(gpio > 31, Reason.BAD_USER_GPIO)
        refuse_if(timeout_ms > MAX_TIMEOUT_MS, Reason.BAD_WDOG_TIMEOUT)
        self._timeout_us.pop(gpio, None)
        if timeout_ms:
            self._timeout_us[gpio] = 1000 * timeout_ms
            self._since_us[gpio] = now_us()
        self._on_set()
