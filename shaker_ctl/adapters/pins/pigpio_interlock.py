"""The contacts of the shaker: read as one word, and reported by callback when one changes.

It must not know which level means what (`gpio_contacts`), nor what follows from a contact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pigpio

from shaker_ctl.adapters.pins.gpio_contacts import contact_pins, decode
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.pigpio_link import PigpioLink
from shaker_ctl.ports import Interlocks


class PigpioInterlock:
    """`ports.InterlockLines` on pigpio."""

    def __init__(self, link: PigpioLink, parameters: GpioParameters) -> None:
        self._link = link
        self._names = parameters.pins
        self._glitch_us = parameters.contact_glitch_us
        self._word = 0
        self._callback: Callable[[Interlocks], None] = lambda _: None
        self._pins = contact_pins(parameters.pins)
        link.attach(self._install)

    def _install(self, pi: Any) -> None:
        # The client compares each report with the levels that it knows from its connection. A level
        # that a pull-up changes before the subscription would be missed, and with it the next edge:
        # so subscribe first.
        for pin in self._pins:
            pi.callback(pin, pigpio.EITHER_EDGE, self._on_edge)
        for pin in self._pins:
            pi.set_mode(pin, pigpio.INPUT)
            pi.set_pull_up_down(pin, pigpio.PUD_UP)
            pi.set_glitch_filter(pin, self._glitch_us)
        self._word = pi.read_bank_1()

    def _on_edge(self, gpio: int, level: int, _tick: int) -> None:
        if level not in (0, 1):
            return
        bit = 1 << gpio
        self._word = self._word | bit if level else self._word & ~bit
        self._callback(decode(self._word, self._names))

    def read(self) -> Interlocks:
        """Read all levels at once, unfiltered."""
        return decode(self._link.call(lambda pi: pi.read_bank_1()), self._names)

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        """Have `callback` called from the client's notification thread. It must return at once and
        must not raise: an exception would end that thread.
        """
        self._callback = callback
