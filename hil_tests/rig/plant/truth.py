"""What truly happened, for the rig's own logs: tosses and lamps. The service never reads them.

It owns the records and their line format. It must not know of physics or of any reader.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hil_tests.rig.plant.dice import DieAtRest


@dataclass(frozen=True, slots=True)
class TossRecord:
    """One motion of the plate, from its start to the true rest of the dice.

    Times are on the clock that the plant was driven with (CLOCK_MONOTONIC in a live rig).
    """

    toss: int
    t_start: float
    t_rest: float
    turns: float
    """Turns of the cam, and so strokes of the plate."""
    dice: tuple[DieAtRest, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "toss": self.toss,
            "t_start": round(self.t_start, 6),
            "t_rest": round(self.t_rest, 6),
            "turns": round(self.turns, 2),
            "dice": [
                {
                    "value": die.value,
                    "flat": die.is_flat,
                    "tilt_deg": round(die.tilt_deg, 2),
                    "kind": die.lie.value,
                }
                for die in self.dice
            ],
        }


class Line(Protocol):
    """Anything that has a line in a log."""

    def as_dict(self) -> dict[str, Any]: ...


class TruthLog:
    """Appends each record as one line of JSON, complete at every moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    def __call__(self, record: Line) -> None:
        with self._lock:
            self._file.write(json.dumps(record.as_dict()) + "\n")
            self._file.flush()

    def close(self) -> None:
        with self._lock:
            self._file.close()
