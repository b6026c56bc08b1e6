"""What lets a program of threads answer in time, for every process of a rig.

Owns how Python shares one interpreter among threads and when it cleans up, and who goes first when
the computer is short of time. Must not know what runs.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys

TURN_S = 0.0005
"""A waiting thread gets the interpreter after this long, instead of after 5 ms."""


FIRST = os.getpriority(os.PRIO_PROCESS, 0) - 5
"""Niceness of what stands for hardware: three times the share of the process's other threads."""


def go_first() -> None:
    """Let the calling thread, and the threads it starts, go before programs that only compute.

    What stands for hardware is not late because a picture is being rendered; a real daemon runs at
    a real-time priority. Only root may; for others everything stays as it is.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, FIRST)  # on Linux: of this thread


def answer_in_time() -> None:
    """Call once, when everything is imported and made.

    A full garbage collection stops every thread, and walks all modules that were ever imported: 36
    to 100 ms in a rig, which is a hole of a turn of the cam in the tach. What exists now stays for
    good, and is no longer walked.
    """
    sys.setswitchinterval(TURN_S)
    gc.collect()
    gc.freeze()
