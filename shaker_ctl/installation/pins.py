"""The pins, for programs that read no settings: the stop script and the GPIO daemon's mask.

Owns `pins.conf`. Must not know why a pin is used.
"""

from __future__ import annotations

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters

HEADER = "# Written by `shaker-ctl setup` from [gpio.pins] of the settings.\n"


def mask(pins: PinParameters) -> int:
    """Return the bits of all pins in use: what the daemon may touch (`pigpiod -x`)."""
    return sum(1 << pin for pin in pins.in_use())


def environment(pins: PinParameters) -> str:
    """Return the text of `pins.conf`, as systemd and a shell read it."""
    return (
        f"{HEADER}SHAKER_EN={pins.motor_enable}\nSHAKER_PWM={pins.motor_pwm}\n"
        f"SHAKER_LATCH={pins.latch_release}\n"
        f"SHAKER_MASK=0x{mask(pins):08X}\n"
    )
