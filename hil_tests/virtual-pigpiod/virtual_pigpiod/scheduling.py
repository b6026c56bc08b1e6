"""Settings with which a process of a rig answers in time although it has many threads.

Owns how Python shares one interpreter among threads, when it collects garbage, and which threads
have priority on a busy computer. Must not know what runs.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys

TURN_S = 0.0005
"""A waiting thread gets the interpreter after this long, instead of after 5 ms."""


def go_first() -> None:
    """Give the calling thread, and the threads it starts, a real-time priority, as pigpiod has.

    Threads that simulate hardware must not be late because another program computes: with other
    work on both cores, one sleep in a hundred ends 2 ms late at niceness -20, 0.1 ms at this
    priority. Only root may change this; for other users nothing changes.
    """
    with contextlib.suppress(OSError):
        lowest = os.sched_param(os.sched_get_priority_min(os.SCHED_RR))
        os.sched_setscheduler(0, os.SCHED_RR, lowest)  # on Linux: of this thread


def answer_in_time() -> None:
    """Call once, when everything is imported and made.

    A full garbage collection stops every thread, and walks all modules that were ever imported: 36
    to 100 ms in a rig, which is a hole of a turn of the cam in the tach. What exists now stays for
    good, and is no longer walked.
    """
    sys.setswitchinterval(TURN_S)
    gc.collect()
    gc.freeze()
