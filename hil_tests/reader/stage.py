"""What one case of a bench is made from, and what it shows.

Owns: a table with chance, the places where things have room on it, and the form of a case. Must not
know how a table reads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hil_tests.reader.tables import Table
from hil_tests.reader.tosses import RigCamera, Toss

REFUSED = "refused"
"""The truth of pictures that show no toss: nothing may be stated."""

_APART = 1.45
"""Dice, between the middles of two that cannot touch however they are turned."""

_BEGINS = 7
"""Cells that the next table begins later."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A case: pictures in their order, as many as are asked for, and what is true of them."""

    pictures: Iterable[np.ndarray]
    values: tuple[int, ...]
    truth: str
    """`flat`, `not flat`, `between`, or `REFUSED`."""
    cell: str = ""
    """What tells it from other cases of its kind."""


class Stage:
    """A table and chance, for one case."""

    def __init__(self, table: Table, index: int, random: np.random.Generator) -> None:
        """`index`: of the cases of its kind at this table."""
        self.table, self.index, self.random = table, index, random
        self.number = index + _BEGINS * table.number
        """Cells take their turn by it; each table begins with another."""
        self.case = table.some(random)

    @property
    def camera(self) -> RigCamera:
        """The rig's."""
        assert self.table.camera is not None
        return self.table.camera

    @property
    def toss(self) -> Toss:
        """The rig's, flat."""
        assert self.case.toss is not None
        return self.case.toss

    @property
    def die_mm(self) -> float:
        return self.camera.die_mm

    @property
    def radius_mm(self) -> float:
        return self.camera.geometry.radius_mm

    def again(self) -> None:
        """Have chance take another flat toss."""
        self.case = self.table.some(self.random)

    def other(self) -> Toss:
        """Another flat toss."""
        while True:
            toss = self.table.some(self.random).toss
            if toss is not None and toss is not self.toss:
                return toss

    def seed(self) -> int:
        """For what draws by itself."""
        return int(self.random.integers(2**31))

    def shots(self, toss: Toss | None = None, **changes: Any) -> Iterator[np.ndarray]:
        """Pictures of a toss, each with its own grain. `changes`: to what the rig shows."""
        shown = toss or self.toss
        return (self.camera.picture(shown, **changes) for _ in itertools.count())

    def fourth(self) -> Toss:
        """A die of another toss that has room beside the three; takes another toss if none has."""
        while True:
            other = self.other()
            for die in range(3):
                gaps = self.toss.position_mm[:, :2] - other.position_mm[die, :2]
                if np.linalg.norm(gaps, axis=1).min() > _APART * self.die_mm:
                    return other.only([die])
            self.again()

    def free_place(self, radius_mm: float) -> np.ndarray:
        """(2,) mm, x right and y up: where a thing of that radius fits between the dice; takes
        another toss if it fits nowhere."""
        while True:
            for _ in range(200):
                turn = self.random.uniform(0, 2 * np.pi)
                reach = (self.radius_mm - radius_mm - 1) * np.sqrt(self.random.random())
                place = reach * np.array([np.cos(turn), np.sin(turn)])
                gap = np.linalg.norm(self.toss.position_mm[:, :2] - place, axis=1).min()
                if gap > radius_mm + 0.75 * self.die_mm:
                    return place
            self.again()
