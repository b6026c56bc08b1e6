"""The frames of one still scene, each read as far as it has to be.

Owns: which frame is read in full, and which one only where the dice were. Must not know how frames
agree, nor when a scene is still: who finds that something moved begins another.

The frames after one in which values are verified confirm it (`table.reader`). Of as many frames as
must agree at least one is read in full.
"""

from __future__ import annotations

from vision.findings import Findings
from vision.frame import Frame
from vision.reading import Observation
from vision.table.consensus import FRAMES
from vision.table.reader import TableReader


class StillScene:
    """Reads frames of one scene in which nothing moves."""

    def __init__(self, reader: TableReader) -> None:
        self.observations: list[Observation] = []
        """Of every frame, oldest first."""
        self._reader = reader
        self._in_full: Findings | None = None

    def look(self, frame: Frame) -> Findings:
        """Read the next frame."""
        newest = [each.is_confirming for each in self.observations[1 - FRAMES :]]
        is_due = newest == [True] * (FRAMES - 1)
        after = None if is_due else self._in_full
        found = self._reader.look(frame, after=after, is_turned=newest[-1:] == [True])
        if not found.observation.is_confirming:
            self._in_full = found
        self.observations.append(found.observation)
        return found
