"""Memory that was borrowed for a moment goes back to the system.

Owns what the C library is told about this process's memory. Checking a passphrase takes 19 MiB for
some tens of milliseconds (`console.accounts`). glibc raises its own limit for such blocks after the
first of them and then keeps each inside the arena of the thread that asked: after one login at each
of four consoles a process held 80 MB more, for good; with the limit fixed, 3 MB. Other C libraries
know neither option and keep nothing of the kind.
"""

from __future__ import annotations

import ctypes

_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
"""Options of mallopt(3), as malloc.h of glibc numbers them."""

OWN_MAPPING_BYTES = 256 * 1024
"""Blocks from here on have a mapping of their own, which ends with them. Larger than the pictures
of a decision, of which there are many."""

ARENAS = 2
"""One that all threads fall back on, and the main thread's: Python's own lock lets one allocate at
a time, and each further arena keeps its own peak."""


def return_large_blocks() -> bool:
    """Have large blocks returned when they are freed; once, at the start, before any thread.

    False where the C library has no such option, or refuses it.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, OWN_MAPPING_BYTES)) and bool(
        mallopt(_M_ARENA_MAX, ARENAS)
    )
