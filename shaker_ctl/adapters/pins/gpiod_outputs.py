"""The slow outputs on the kernel's GPIO device: ring light by hardware PWM, cover drive, latch.

The light has a PWM channel of its own and not a timed pin: what a busy processor does to a timed
pin, the camera would see.
"""

from __future__ import annotations

import threading
from pathlib import Path

import gpiod
from gpiod.line import Direction, Value

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.gpiod_link import GpiodLink
from shaker_ctl.adapters.pins.sysfs_pwm import SysfsPwm
from shaker_ctl.errors import GpioLinkError


class GpiodOutputs:
    """`ports.ShakerOutputs` on the kernel's GPIO device. Calls raise GpioLinkError."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._link = link
        self._pins = parameters.pins
        self._light_hz = parameters.light_hz
        self._light: SysfsPwm | None = None
        self._request: gpiod.LineRequest | None = None
        self._lock = threading.Lock()
        link.attach(self._install)
        link.at_close(self._release)

    def _install(self, chip: gpiod.Chip, pwm: Path) -> None:
        self._light = SysfsPwm(pwm, self._pins.ring_light, self._light_hz)
        settings = gpiod.LineSettings(direction=Direction.OUTPUT, output_value=Value.INACTIVE)
        self._request = chip.request_lines(
            {(self._pins.cover_drive, self._pins.latch_release): settings},
            consumer="shaker outputs",
        )

    def _release(self) -> None:
        with self._lock:
            request, self._request = self._request, None
            if request is not None:
                request.release()
        light, self._light = self._light, None
        if light is not None:
            light.close()

    def set_light(self, level: float) -> None:
        """Ring light, 0.0 dark to 1.0 full."""
        light = self._light
        if light is None:
            raise GpioLinkError("the ring light is not open")
        self._link.call(lambda: light.write(level))

    def drive_cover(self, opened: bool) -> None:
        """Open or close a driven cover."""
        self._set(self._pins.cover_drive, opened)

    def release_latch(self, released: bool) -> None:
        """Let a person lift the compartment's lid, or lock it again."""
        self._set(self._pins.latch_release, released)

    def _set(self, pin: int, high: bool) -> None:
        def write() -> None:
            with self._lock:
                if self._request is None:
                    raise GpioLinkError("the outputs are not open")
                self._request.set_value(pin, Value.ACTIVE if high else Value.INACTIVE)

        self._link.call(write)
