"""What truly happened in a toss, for the rig's own log. The service never reads it.

It owns the record and its line format. It must not know of physics or of any reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
            "dice": [die.as_dict() for die in self.dice],
        }
