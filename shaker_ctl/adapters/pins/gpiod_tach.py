"""Tach edges from the kernel, with its own times; levels shorter than a glitch do not count.

The kernel's debounce would date an edge with the moment at which it was accepted, by a timer that
may be late. So both edges are taken as they came, and sorted out here. It must not know how many
edges make a turn.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

import gpiod
from gpiod.line import Bias, Direction, Edge, Value

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.gpiod_link import GpiodLink

EVENT_BUFFER = 1024
"""Edges that the kernel keeps until they are fetched: 3.5 s at 720 rpm. Then the oldest fall out;
nobody was looking."""

FETCH_US = 2_000
"""An edge is with us this long after it happened. A level older than that is what it is."""

_RISING = gpiod.EdgeEvent.Type.RISING_EDGE


class SteadyLevel:
    """Tells the rises that lasted: a level counts once it has held for `steady_us`."""

    def __init__(self, steady_us: int, level: int) -> None:
        self._steady_us = steady_us
        self._settled = self._level = level
        self._since_us = 0

    def rises(self, edges: Iterable[tuple[int, int]], upto_us: int) -> list[int]:
        """Return the times (us) of rises that lasted, given edges as (time, level) in order, all
        that happened until `upto_us`. Each rise is returned once, dated with its own edge."""
        found = []
        for at_us, level in edges:
            found += self._settle(at_us)
            if level != self._level:
                self._level, self._since_us = level, at_us
        return found + self._settle(upto_us)

    def _settle(self, at_us: int) -> list[int]:
        if self._level == self._settled or at_us - self._since_us < self._steady_us:
            return []
        self._settled = self._level
        return [self._since_us] if self._level else []


class GpiodTach:
    """`ports.Tach` on the kernel's edge events. Fetched by the one thread that calls `edges`."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._pin = parameters.pins.tach
        self._steady = SteadyLevel(parameters.tach_glitch_us, 1)
        self._glitch_us = parameters.tach_glitch_us
        self._request: gpiod.LineRequest | None = None
        self._link = link
        link.attach(self._install)
        link.at_close(self._release)

    def _install(self, chip: gpiod.Chip, _pwm: Path) -> None:
        settings = gpiod.LineSettings(
            direction=Direction.INPUT, bias=Bias.PULL_UP, edge_detection=Edge.BOTH
        )
        self._request = chip.request_lines(
            {self._pin: settings}, consumer="shaker tach", event_buffer_size=EVENT_BUFFER
        )
        level = int(self._request.get_value(self._pin) is Value.ACTIVE)
        self._steady = SteadyLevel(self._glitch_us, level)

    def _release(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            request.release()

    def edges(self) -> Sequence[int]:
        """Return the times (us, CLOCK_MONOTONIC) of the rises since the last call."""
        request = self._request
        if request is None:
            return []
        upto_us = time.monotonic_ns() // 1000 - FETCH_US
        found: list[tuple[int, int]] = []
        while request.wait_edge_events(timedelta(0)):
            events = self._link.call(request.read_edge_events)
            found += [(event.timestamp_ns // 1000, event.event_type is _RISING) for event in events]
        return self._steady.rises(found, upto_us)
