"""Why a command is refused: the daemon's error numbers.

Owns: the numbers, as the client library has them (the texts are there, too). Must not know:
commands.
"""

from __future__ import annotations

import pigpio

from virtual_pigpiod.wire import enumerated

_UNKNOWN_TO_THE_CLIENT = {"BAD_WAVE_MODE": -33, "BAD_I2C_SEG": -106}
"""Numbers that the daemon answers, and that the library for Python does not list."""

Reason = enumerated(
    "Reason",
    {
        name.removeprefix("PI_"): number
        for name, number in vars(pigpio).items()
        if name.startswith("PI_") and isinstance(number, int) and number < 0
    }
    | _UNKNOWN_TO_THE_CLIENT,
)
"""Error numbers of the daemon, as they stand in a reply, by the library's names without `PI_`."""


class CommandRefusedError(Exception):
    """A command cannot be carried out; raised by its handler, answered as a negative result."""

    def __init__(self, reason: int) -> None:
        super().__init__(Reason(reason).name)
        self.reason = reason


def refuse_if(is_wrong: object, reason: int) -> None:
    """Raise `CommandRefusedError` of this reason where it is so."""
    if is_wrong:
        raise CommandRefusedError(reason)
