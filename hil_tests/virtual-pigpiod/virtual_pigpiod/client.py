"""The real pigpio client, as the rig's tools end it. Must not know: who uses it."""

from __future__ import annotations

import contextlib

import pigpio


def hang_up(pi: pigpio.pi) -> None:
    """End `pi` and its callbacks, also where a report is just on its way.

    pigpio 1.78: `stop` first tells the notification thread to end and then sends on its socket; a
    report that comes between the two lets the thread close that socket, and `stop` raises OSError.
    A second `stop` ends what the first one left.
    """
    with contextlib.suppress(OSError):
        pi.stop()
    pi.stop()
