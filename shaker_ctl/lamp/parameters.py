"""Settings of the lamp link."""

from __future__ import annotations

from pydantic import field_validator

from shaker_ctl.parameters import Parameters, bounded

RATES = (9600, 19200, 38400, 57600, 115200, 230400, 460800, 500000, 921600, 1000000)
"""What Linux has a name for, and a USB adapter keeps."""


class LampParameters(Parameters):
    """The lamp controller and the line to it."""

    device: str = "/dev/shaker-lamps"
    """Serial device of the line, by the stable name that the udev rule gives the adapter."""

    baudrate: int = bounded(115200, at_least=9600, at_most=1000000)
    """Bits per second, always 8 data bits, no parity, one stop bit.

    115200 shows a result in about 45 ms and is safe on 100 m of RS-485; at 19200 it takes about
    145 ms. The box must be set to the same rate, one of the usual ones.
    """

    unit: int = bounded(1, at_least=1, at_most=247)
    """Modbus address of the lamp box."""

    reply_slack_s: float = bounded(0.04, at_least=0.015, at_most=0.2)
    """Time in seconds that a reply may take beyond its time on the wire.

    The box may take 10 ms, a USB adapter left at its default latency timer adds 16 ms, a busy Pi a
    few more. Lower: good replies are asked for again; higher: fewer attempts fit a deadline.
    """

    show_deadline_s: float = bounded(0.25, at_least=0.1, at_most=0.4)
    """Longest time in seconds from a value to its proof on the lamps, all attempts included.

    A wrong lamp must be dark within 0.5 s of being seen (obligation of the table), so this leaves
    half of that for darkening. Lower: one damaged reply costs a settlement by hand.
    """

    request_deadline_s: float = bounded(0.2, at_least=0.05, at_most=0.4)
    """Longest time in seconds of every other act: clear, phase, test, darken, status.

    The proof of dark before a toss may be at most 0.5 s old; two acts fit. Lower: one damaged reply
    counts as a lost box; higher: a dead line is noticed late.
    """

    multipliers_deadline_s: float = bounded(0.4, at_least=0.1, at_most=2.0)
    """Longest time in seconds to show all multipliers and read them back (282 bytes on the wire).

    25 ms at 115200, 150 ms at 19200. Without that proof no multiplier is in force.
    """

    @field_validator("baudrate")
    @classmethod
    def _is_usual(cls, value: int) -> int:
        if value not in RATES:
            raise ValueError(f"give one of {', '.join(map(str, RATES))}")
        return value
