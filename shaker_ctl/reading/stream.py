"""Whether a stream of pictures is alive: the grain of a live sensor never repeats.

Owns: the memory of fingerprints (of `adapters.camera.grabber.Shot`) that detects a frozen or looped
stream. Must not know cameras, tosses or what is in a picture.
"""

from __future__ import annotations

import numpy as np

FROZEN_FRAMES = 10
"""Equal pictures in a row after which a stream is frozen: a third of a second."""
LOOPED_FRAMES = 4
"""Pictures in a row, all seen long ago, after which a stream is looped. By chance no picture
repeats; in a recording all do."""
_REMEMBERED = 18_000
"""Fingerprints kept to recognise a loop: ten minutes at 30 frames per second, 0.2 MB."""
_LOOP_GAP = 30


class StreamMemory:
    """Recognises frozen and looped streams. One per camera."""

    def __init__(self) -> None:
        self._seen = np.empty(_REMEMBERED, np.uint32)
        self._first = np.empty(_REMEMBERED, np.int64)
        """Of each fingerprint, the number of the first picture that had it."""
        self._kept = 0
        self._count = 0
        self._last: int | None = None
        self._repeated = 0
        self._looped = 0

    def take(self, fingerprint: int) -> tuple[int, int]:
        """How often in a row the picture was the one before, and how many in a row had been seen
        longer ago."""
        self._count += 1
        self._repeated = self._repeated + 1 if fingerprint == self._last else 0
        before = self._first[: self._kept][self._seen[: self._kept] == fingerprint]
        if self._repeated == 0:
            is_old = before.size > 0 and self._count - before[0] > _LOOP_GAP
            self._looped = self._looped + 1 if is_old else 0
        self._last = fingerprint
        if before.size == 0:
            at = self._kept % _REMEMBERED
            self._seen[at], self._first[at] = fingerprint, self._count
            self._kept += 1
        return self._repeated, self._looped
