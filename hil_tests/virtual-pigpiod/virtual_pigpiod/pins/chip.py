"""Facts of the board and the daemon's options that clients can see.

Owns: what differs between models of Raspberry Pi. Must not know: the state of any pin.
"""

from __future__ import annotations

from dataclasses import dataclass

from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.pins.sources import SAMPLE_US

LAST_USER_GPIO = 31
LAST_GPIO = 53

PWM_CHANNEL = {
    12: (0, Mode.ALT0),
    13: (1, Mode.ALT0),
    18: (0, Mode.ALT5),
    19: (1, Mode.ALT5),
    40: (0, Mode.ALT0),
    41: (1, Mode.ALT0),
    45: (1, Mode.ALT0),
    52: (0, Mode.ALT1),
    53: (1, Mode.ALT1),
}
"""GPIO with hardware PWM: channel and the function that shows it."""

CLOCK = {
    4: (0, Mode.ALT0),
    5: (1, Mode.ALT0),
    6: (2, Mode.ALT0),
    20: (0, Mode.ALT5),
    21: (1, Mode.ALT5),
    32: (0, Mode.ALT0),
    34: (0, Mode.ALT0),
    42: (1, Mode.ALT0),
    43: (2, Mode.ALT0),
    44: (1, Mode.ALT0),
}
"""GPIO with a hardware clock: clock number and the function that shows it. Clock 1 is reserved."""


@dataclass(slots=True, frozen=True)
class Chip:
    """A Raspberry Pi 3B unless told otherwise."""

    revision: int = 0xA02082
    """Hardware revision code, the answer to HWVER."""
    permitted: int = 0x0FFFFFFC
    """Bit n set: GPIO n may be changed (the daemon's -x; default for models 2, 3, 4)."""
    plld_hz: int = 500_000_000
    oscillator_hz: int = 19_200_000
    hardware_pwm_max_hz: int = 125_000_000
    clock_min_hz: int = 4689
    clock_max_hz: int = 250_000_000
    hardware_pwm_free: bool = True
    """False when the daemon itself uses the PWM peripheral for timing (its -t 0)."""
    sample_us: int = SAMPLE_US
    """How often pins are looked at for reports (the daemon's -s): 1, 2, 4, 5, 8 or 10. Soft PWM is
    that of 5 whatever is chosen here."""


PI_4B = Chip(
    revision=0xC03111,
    plld_hz=750_000_000,
    oscillator_hz=54_000_000,
    hardware_pwm_max_hz=187_500_000,
    clock_min_hz=13184,
    clock_max_hz=375_000_000,
)
