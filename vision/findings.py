"""An observation together with what both readers found, and how long each step took.

Owns the record that the table's reader and the photograph's reader both return. Must not know how
either of them works.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from vision.faces_by_pips.faces import PhotoReading
from vision.networks.classifier import FoundDie
from vision.reading import Observation
from vision.taught import TaughtReading


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """An observation together with what it was made from, for pictures that explain it."""

    observation: Observation
    model: tuple[FoundDie, ...]
    second: TaughtReading | None
    """At a table."""
    by_pips: PhotoReading | None = None
    """In a photograph: what the second reader sees there."""


class Stopwatch:
    """What each step took."""

    def __init__(self) -> None:
        self.laps: list[tuple[str, float]] = []
        self._at = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps.append((name, (now - self._at) * 1e3))
        self._at = now
