"""An observation together with what both readers found, and how long each step took.

Owns the record that the table's reader and the photograph's reader both return. Must not know how
either of them works.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

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
    places: tuple[np.ndarray, ...] = ()
    """In a photograph: (9, 2) of each die, pixels, where the second reader looks for its pips."""
    spots: np.ndarray | None = None
    """In a photograph: (N, 4), beginning with x, y and diameter in pixels, its round spots."""


class Stopwatch:
    """What each step took."""

    def __init__(self) -> None:
        self.laps: list[tuple[str, float]] = []
        self._at = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps.append((name, (now - self._at) * 1e3))
        self._at = now
