"""The contacts, the slow outputs and the tach on pigpio.

It must not know which level of a contact means what (`gpio_contacts`), what follows from it, nor
how many edges make a turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
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


_RANGE = 255


class PigpioOutputs:
    """`ports.ShakerOutputs` on pigpio. Calls raise GpioLinkError within the link's deadline."""

    def __init__(self, link: PigpioLink, parameters: GpioParameters) -> None:
        self._link = link
        self._pins = parameters.pins
        self._light_hz = parameters.light_hz
        self._light = 0
        self._cover_opened = False
        link.attach(self._install)

    def _install(self, pi: Any) -> None:
        pi.set_PWM_frequency(self._pins.ring_light, self._light_hz)
        pi.set_PWM_range(self._pins.ring_light, _RANGE)
        pi.set_PWM_dutycycle(self._pins.ring_light, self._light)
        pi.write(self._pins.cover_drive, int(self._cover_opened))
        pi.write(self._pins.latch_release, 0)

    def set_light(self, level: float) -> None:
        """Ring light, 0.0 dark to 1.0 full."""
        self._light = round(min(max(level, 0.0), 1.0) * _RANGE)
        self._link.call(lambda pi: pi.set_PWM_dutycycle(self._pins.ring_light, self._light))

    def drive_cover(self, opened: bool) -> None:
        """Open or close a driven cover."""
        self._cover_opened = opened
        self._link.call(lambda pi: pi.write(self._pins.cover_drive, int(opened)))

    def release_latch(self, released: bool) -> None:
        """Let a person lift the compartment's lid, or lock it again."""
        self._link.call(lambda pi: pi.write(self._pins.latch_release, int(released)))


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
        # Subscribed last, other than the contacts: one edge that the client may miss then
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
