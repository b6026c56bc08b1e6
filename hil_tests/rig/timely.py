"""What lets a program of threads answer in time, for every process of a rig.

Owns how Python shares one interpreter among threads and when it cleans up. Must not know what runs.
"""

from __future__ import annotations

import gc
import sys

TURN_S = 0.0005
"""A waiting thread gets the interpreter after this long, instead of after 5 ms."""


def answer_in_time() -> None:
    """Call once, when everything is imported and made.

    A full garbage collection stops every thread, and walks all modules that were ever imported: 36
    to 100 ms in a rig, which is a hole of a turn of the cam in the tach. What exists now stays for
    good, and is no longer walked.
    """
    sys.setswitchinterval(TURN_S)
    gc.collect()
    gc.freeze()
