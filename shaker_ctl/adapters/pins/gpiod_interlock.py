"""The contacts of the shaker on the kernel's GPIO device: read together, reported by their edges.

The kernel debounces what it reports and what is read. It must not know what follows from a contact.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import gpiod
from gpiod.line import Bias, Direction, Edge, Value

from shaker_ctl.adapters.pins.gpio_contacts import contact_pins, decode
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.gpiod_link import GpiodLink
from shaker_ctl.errors import GpioLinkError
from shaker_ctl.ports import Interlocks


class GpiodInterlock:
    """`ports.InterlockLines` on one request for all contacts."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._link = link
        self._names = parameters.pins
        self._pins = contact_pins(parameters.pins)
        self._glitch_us = parameters.contact_glitch_us
        self._request: gpiod.LineRequest | None = None
        self._lock = threading.Lock()
        self._word = 0
        self._callback: Callable[[Interlocks], None] = lambda _: None
        link.attach(self._install)
        link.at_close(self._release)

    def _install(self, chip: gpiod.Chip, _pwm: Path) -> None:
        settings = gpiod.LineSettings(
            direction=Direction.INPUT,
            bias=Bias.PULL_UP,
            edge_detection=Edge.BOTH,
            debounce_period=timedelta(microseconds=self._glitch_us),
        )
        self._request = chip.request_lines({self._pins: settings}, consumer="shaker contacts")
        self._word = self._levels()
        self._link.on_readable(self._request.fd, self._take)

    def _release(self) -> None:
        with self._lock:
            request, self._request = self._request, None
            if request is not None:
                request.release()

    def _levels(self) -> int:
        with self._lock:
            if self._request is None:
                raise GpioLinkError("the contacts are not open")
            values = self._request.get_values()
        return sum(
            1 << pin for pin, value in zip(self._pins, values, strict=True) if value is Value.ACTIVE
        )

    def _take(self) -> None:
        """In the events' thread: follow the edges, then report once for each."""
        with self._lock:
            events = self._request.read_edge_events() if self._request is not None else []
        for event in events:
            bit = 1 << event.line_offset
            if event.event_type is gpiod.EdgeEvent.Type.RISING_EDGE:
                self._word |= bit
            else:
                self._word &= ~bit
            self._callback(decode(self._word, self._names))

    def read(self) -> Interlocks:
        """Read all levels at once, as the kernel has debounced them."""
        return decode(self._link.call(self._levels), self._names)

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        """Have `callback` called from the events' thread. It must return at once and not raise."""
        self._callback = callback
