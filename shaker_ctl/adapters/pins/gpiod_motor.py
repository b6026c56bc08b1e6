"""The motor of a Raspberry Pi 5: hardware PWM, and EN that the dead-man's process holds.

It must not know of speed or rounds. See `gpiod_dead_man` for when EN falls.
"""

from __future__ import annotations

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.gpiod_link import REMEDY, GpiodLink
from shaker_ctl.errors import GpioLinkError


class GpiodMotor:
    """`ports.Motor` on the kernel's GPIO device and PWM."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._link = link
        self._enable = parameters.pins.motor_enable
        self._dead_man_s = parameters.dead_man_s
        self._held = True
        """Set by `stop`, from any thread; while it stands nothing is granted or driven."""

    def arm(self) -> None:
        """Prove that the dead-man answers and EN is low, and lift the hold."""
        level, until_ns = self._link.ask()
        if level:
            raise GpioLinkError(
                f"EN (GPIO {self._enable}) is high before a start",
                remedy="Check what else drives the pin" if not until_ns else REMEDY,
            )
        self._held = False

    def refresh(self) -> None:
        """Grant EN for the next `dead_man_s`."""
        if self._held:
            return
        self._link.grant(self._dead_man_s)
        if self._held:
            self.stop()  # It came while the grant was on its way, and might have been overtaken.

    def drive(self, duty: float) -> None:
        """Set the duty, 0.0-1.0."""
        if self._held:
            return
        self._link.drive(duty)
        if self._held:
            self.stop()  # As above: the duty must not outlive a stop.

    def stop(self) -> None:
        """EN and duty low at once."""
        self._held = True
        self._link.revoke()

    def is_enabled(self) -> bool:
        """Read EN back, by the dead-man, who holds the line."""
        return bool(self._link.ask()[0])
