"""Tach edges by callback, with the daemon's ticks unwrapped from 32 bits.

It must not know how many edges make a turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import pigpio

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.pigpio_link import PigpioLink

MAX_EDGES = 4096
"""Kept until fetched: 28 s at 720 rpm. Older ones fall out; nobody was looking."""

_WRAP = 1 << 32
_GAP_US = 1_000_000


class TickUnwrapper:
    """Makes 32-bit microsecond ticks, which wrap every 71.6 minutes, increase for ever.

    It cannot tell silences longer than a wrap; speeds are only formed over much shorter gaps.
    """

    def __init__(self) -> None:
        self._last: int | None = None
        self._unwrapped = 0

    def unwrap(self, tick: int) -> int:
        """Return `tick` on the endless scale, in microseconds."""
        if self._last is not None:
            self._unwrapped += (tick - self._last) % _WRAP
        self._last = tick
        return self._unwrapped

    def restart(self) -> None:
        """A new daemon may count from elsewhere: go on a second later than the last edge."""
        if self._last is not None:
            self._last = None
            self._unwrapped += _GAP_US


class PigpioTach:
    """`ports.Tach` on a callback of pigpio. The callback only appends; the loop fetches."""

    def __init__(self, link: PigpioLink, parameters: GpioParameters) -> None:
        self._pin = parameters.pins.tach
        self._glitch_us = parameters.tach_glitch_us
        self._ticks: deque[int] = deque(maxlen=MAX_EDGES)
        self._unwrapper = TickUnwrapper()
        link.attach(self._install)

    def _install(self, pi: Any) -> None:
        self._ticks.clear()
        self._unwrapper.restart()
        # Subscribed last, other than in `pigpio_interlock`: one edge that the client may miss then
        # is harmless, and a false one from the pull-up would look like a cam that turns.
        pi.set_mode(self._pin, pigpio.INPUT)
        pi.set_pull_up_down(self._pin, pigpio.PUD_UP)
        pi.set_glitch_filter(self._pin, self._glitch_us)
        pi.callback(self._pin, pigpio.RISING_EDGE, self._on_edge)

    def _on_edge(self, _gpio: int, level: int, tick: int) -> None:
        if level == 1:
            self._ticks.append(tick)

    def edges(self) -> Sequence[int]:
        """Return the ticks since the last call, oldest first."""
        return [self._unwrapper.unwrap(self._ticks.popleft()) for _ in range(len(self._ticks))]
