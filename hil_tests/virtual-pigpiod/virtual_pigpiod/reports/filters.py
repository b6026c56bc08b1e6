"""Glitch and noise filters: which changes of a pin are reported, and when.

They act on notifications and scripts' WAIT only, never on reads. Owns: the filters' memory per pin.
Must not know: where the changes come from or go to. A filter sees a pin's changes in order as
`(tick, level)` and is told how far time has come.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from virtual_pigpiod.pins.timeline import Event
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import Command, Request

MAX_STEADY_US = 300_000
MAX_ACTIVE_US = 1_000_000


@dataclass(slots=True)
class GlitchFilter:
    """A level is reported once it has been stable for `steady_us`; with the tick of that moment."""

    steady_us: int
    reported: int
    last: int
    changed_us: int

    def apply(self, samples: list[Event], upto_us: int) -> list[Event]:
        """The changes to report."""
        found: list[Event] = []
        for at_us, level in samples:
            found += self._accept_by(at_us)
            self.last, self.changed_us = level, at_us
        return found + self._accept_by(upto_us)

    @property
    def due_us(self) -> float:
        """When a level now waiting will be accepted; infinity when none waits."""
        return self.changed_us + self.steady_us if self.last != self.reported else math.inf

    def _accept_by(self, at_us: int) -> list[Event]:
        if at_us < self.due_us:
            return []
        self.reported = self.last
        return [(self.changed_us + self.steady_us, self.reported)]


@dataclass(slots=True)
class NoiseFilter:
    """Silent until the pin was still for `steady_us` and moves; then open for `active_us`.

    When it closes, the pin is shown again at the level it had before that move, as v79 does it:
    a pin that stayed at its new level gives one more report.
    """

    steady_us: int
    active_us: int
    last: int
    shown: int
    still_since_us: int
    closes_us: float = math.inf
    is_open: bool = False

    def apply(self, samples: list[Event], upto_us: int) -> list[Event]:
        """The changes to report."""
        found: list[Event] = []
        for at_us, level in samples:
            found += self._close_by(at_us)
            if self.is_open:
                found.append((at_us, level))
            else:
                quiet_us = at_us - self.still_since_us
                self.still_since_us = at_us
                if quiet_us >= self.steady_us:
                    self.shown, self.is_open = self.last, True
                    self.closes_us = at_us + self.active_us
                    found += [(at_us, self.last), (at_us, level)]
            self.last = level
        return found + self._close_by(upto_us)

    @property
    def due_us(self) -> float:
        """When it closes; infinity while it is closed."""
        return self.closes_us if self.is_open else math.inf

    def _close_by(self, at_us: int) -> list[Event]:
        if not self.is_open or at_us < self.closes_us:
            return []
        self.is_open = False
        self.still_since_us = int(self.closes_us)
        return [(int(self.closes_us), self.shown)]


class Filters:
    """The filters in force and the commands that set them."""

    def __init__(self, on_set: Callable[[], None]) -> None:
        self._on_set = on_set
        self._glitch_us: dict[int, int] = {}
        self._noise_us: dict[int, tuple[int, int]] = {}
        self._glitch: dict[int, GlitchFilter] = {}
        self._noise: dict[int, NoiseFilter] = {}
        self.handlers: Handlers = {Command.FG: self._set_glitch, Command.FN: self._set_noise}

    def apply(self, gpio: int, samples: list[Event], level: int, upto_us: int) -> list[Event]:
        """Changes of `gpio` to report, given its changes up to `upto_us`.

        `level` is the level before the first of `samples`.
        """
        if gpio in self._glitch_us:
            glitch = self._glitch.get(gpio)
            if glitch is None:
                steady_us = self._glitch_us[gpio]
                glitch = self._glitch[gpio] = GlitchFilter(steady_us, level, level, upto_us)
            level, samples = glitch.reported, glitch.apply(samples, upto_us)
        if gpio in self._noise_us:
            noise = self._noise.get(gpio)
            if noise is None:
                steady_us, active_us = self._noise_us[gpio]
                noise = NoiseFilter(steady_us, active_us, level, level, upto_us)
                self._noise[gpio] = noise
            samples = noise.apply(samples, upto_us)
        return samples

    def due_us(self, gpio: int) -> float:
        """When a filter of `gpio` will change its mind without a change of the pin."""
        waiting = [self._glitch.get(gpio), self._noise.get(gpio)]
        return min((f.due_us for f in waiting if f is not None), default=math.inf)

    def is_active(self, gpio: int) -> bool:
        """True when `gpio` has a filter."""
        return gpio in self._glitch_us or gpio in self._noise_us

    def _set_glitch(self, request: Request) -> None:
        gpio, steady_us = request.p1, request.p2
        _check(gpio, steady_us)
        self._glitch.pop(gpio, None)
        self._glitch_us.pop(gpio, None)
        if steady_us:
            self._glitch_us[gpio] = steady_us
        self._on_set()

    def _set_noise(self, request: Request) -> None:
        gpio, steady_us = request.p1, request.p2
        (active_us,) = request.words(1)
        _check(gpio, steady_us, active_us)
        self._noise.pop(gpio, None)
        self._noise_us.pop(gpio, None)
        if steady_us:
            self._noise_us[gpio] = (steady_us, active_us)
        self._on_set()


def _check(gpio: int, steady_us: int, active_us: int = 0) -> None:
    refuse_if(gpio > 31, Reason.BAD_USER_GPIO)
    refuse_if(steady_us > MAX_STEADY_US or active_us > MAX_ACTIVE_US, Reason.BAD_FILTER)
