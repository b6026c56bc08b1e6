"""Hardware PWM of the kernel, through `/sys/class/pwm` (Documentation/driver-api/pwm.rst).

Owns one channel's files. Must not know what hangs at the pin. A write is one system call, which the
driver carries out before it returns.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from shaker_ctl.errors import GpioLinkError, reraise_as

CLASS = Path("/sys/class/pwm")
RP1_PWM0 = "1f00098000.pwm"
"""Platform device of the PWM that reaches the header of a Raspberry Pi 5."""

CHANNEL_OF = {12: 0, 13: 1, 18: 2, 19: 3}
"""Channel of the RP1's PWM0 behind each GPIO that can carry it (RP1 Peripherals)."""

FUNCTION_OF = {12: "a0", 13: "a0", 18: "a3", 19: "a3"}
"""What `pinctrl` calls the pin's function that shows it. The overlay selects it at the boot; no
file of the PWM does."""

EXPORT_S = 1.0
"""Longest wait for udev, which gives the exported files to the group gpio."""

OVERLAY = (
    "Put dtoverlay=pwm-2chan,pin=12,func=4,pin2=18,func2=2 into /boot/firmware/config.txt and "
    "restart; gpio.pwm_chip names its folder"
)
GROUP = "Make the service's user a member of the group gpio"


def find_chip(wanted: str, root: Path = CLASS) -> Path:
    """Return the folder of the header's PWM. Raises GpioLinkError."""
    if wanted != "auto":
        folder = Path(wanted)
        if (folder / "export").exists():
            return folder
        raise GpioLinkError(f"no PWM chip at {folder}", remedy=OVERLAY)
    for folder in sorted(root.glob("pwmchip*")):
        if (folder / "device").resolve().name == RP1_PWM0:
            return folder
    raise GpioLinkError(f"no hardware PWM of the RP1 under {root}", remedy=OVERLAY)


class SysfsPwm:
    """One channel, running at duty zero from its opening on."""

    def __init__(self, chip: Path, gpio: int, hz: int) -> None:
        """Take the channel of `gpio`. Raises GpioLinkError."""
        if gpio not in CHANNEL_OF:
            raise GpioLinkError(
                f"GPIO {gpio} has no hardware PWM on a Raspberry Pi 5",
                remedy="Use GPIO 12, 13, 18 or 19 for motor_pwm and ring_light under [gpio.pins]",
            )
        self._period_ns = round(1e9 / hz)
        self.folder = _exported(chip, CHANNEL_OF[gpio])
        self.duty_file = self.folder / "duty_cycle"
        with reraise_as(GpioLinkError, f"the PWM channel {self.folder} refuses", remedy=GROUP):
            self._duty = os.open(self.duty_file, os.O_WRONLY)
            self.write(0.0)  # First: a period shorter than the duty would be refused.
            (self.folder / "period").write_text(f"{self._period_ns}\n")
            (self.folder / "enable").write_text("1\n")

    def write(self, duty: float) -> None:
        """Set the duty, 0.0-1.0. Raises OSError."""
        wanted_ns = round(min(max(duty, 0.0), 1.0) * self._period_ns)
        os.pwrite(self._duty, b"%d\n" % wanted_ns, 0)

    def close(self) -> None:
        """Let go of the files, at duty zero. Never raises."""
        with contextlib.suppress(OSError):
            self.write(0.0)
        with contextlib.suppress(OSError):
            os.close(self._duty)


def _exported(chip: Path, channel: int) -> Path:
    """Have the channel's folder, and the right to write there. Raises GpioLinkError."""
    folder = chip / f"pwm{channel}"
    if not folder.exists():
        with reraise_as(
            GpioLinkError, f"PWM channel {channel} of {chip} cannot be had", remedy=GROUP
        ):
            (chip / "export").write_text(f"{channel}\n")
    until_s = time.monotonic() + EXPORT_S
    while not os.access(folder / "duty_cycle", os.W_OK):
        if time.monotonic() > until_s:
            raise GpioLinkError(
                f"{folder} was not given to this user within {EXPORT_S:g} s", remedy=GROUP
            )
        time.sleep(0.005)
    return folder
