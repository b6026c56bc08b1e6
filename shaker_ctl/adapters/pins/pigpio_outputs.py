"""The slow outputs: ring light, cover drive, compartment latch.

After every opening of the link they are set again to what was last asked for: a daemon that was
restarted has forgotten the light's PWM.
"""

from __future__ import annotations

from typing import Any

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.pigpio_link import PigpioLink

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
