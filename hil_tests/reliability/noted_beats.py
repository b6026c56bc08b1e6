"""The service's program, with each beat of its state thread noted.

`hil_tests.reliability.heartbeat` starts it. The file named by SHAKER_RIG_BEATS holds numbers of
eight bytes: how many beats there were, then the seconds between each and the one before.
"""

from __future__ import annotations

import mmap
import os
import time

from shaker_ctl import main
from shaker_ctl.service.heartbeat import Heartbeat


def app() -> None:
    """Run the service."""
    with open(os.environ["SHAKER_RIG_BEATS"], "r+b") as file:
        notes = memoryview(mmap.mmap(file.fileno(), 0)).cast("d")
    beat, last_s = Heartbeat.beat, time.monotonic()

    def noted(heartbeat: Heartbeat) -> None:
        nonlocal last_s
        beat(heartbeat)
        before_s, last_s = last_s, time.monotonic()
        count = int(notes[0]) + 1
        notes[count] = last_s - before_s
        notes[0] = count

    Heartbeat.beat = noted  # type: ignore[method-assign, assignment]
    main.app()
