"""Facts of the board that clients can see: a Raspberry Pi 3B.

Owns: which pins have which peripheral, and clocks. Must not know: the state of any pin.
"""

from __future__ import annotations

from virtual_pigpiod.pins.pin import Mode

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


REVISION = 0xA02082
"""Hardware revision code of a Raspberry Pi 3B, the answer to HWVER."""
PERMITTED = 0x0FFFFFFC
"""Bit n set: GPIO n may be changed (the daemon's -x; default for models 2, 3, 4)."""
PLLD_HZ = 500_000_000
OSCILLATOR_HZ = 19_200_000
HARDWARE_PWM_MAX_HZ = 125_000_000
CLOCK_MIN_HZ = 4689
CLOCK_MAX_HZ = 250_000_000
