"""Did the dice move, and do they still mix? Judged from positions and values, round by round.

Owns the unchanged-dice test (O-21) and the running face-retention test. Pure and neutral: it says
what it sees, `rules` says what follows. A repeated face is a legal event with probability 1/6 and
is never by itself a reason for anything; only a long run of too many is.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

SAME_PLACE_MM = 0.7
"""Two sightings nearer than this may be one die that did not move. The reader's position noise is
about 0.1 mm; by chance a die comes to rest this near to an old place, at the same angle and with
the same face, about once in 70,000 tosses."""

SAME_ANGLE_DEG = 2.0
"""See SAME_PLACE_MM; a square looks the same after a quarter turn."""

RETENTION_ALPHA = 2.0**-20
"""Chance, per toss, that a perfect shake is stopped by the retention test (as in O-18)."""

RETENTION_TOSSES = 40
"""Tosses in the running test: 120 dice. A shake that keeps 65 % of its faces is stopped after
about a dozen tosses, one that keeps 35 % within 40 (see the tests)."""


@dataclass(frozen=True, slots=True)
class DieSeen:
    """Where one die lies, in millimetres on the floor and degrees, and its top face."""

    x_mm: float
    y_mm: float
    angle_deg: float
    value: int


@dataclass(frozen=True, slots=True)
class Movement:
    """How many dice lie as before. Dice carry no names: each is matched to its likeliest self."""

    unmoved: int
    moved_mm: float
    """Least distance over the best matching: 0 for three unmoved dice."""

    @property
    def every_die_moved(self) -> bool:
        return self.unmoved == 0

    @property
    def nothing_changed(self) -> bool:
        """All three dice lie where they lay, showing what they showed (O-21)."""
        return self.unmoved == 3


def compare(before: Sequence[DieSeen], after: Sequence[DieSeen]) -> Movement:
    """Compare two sightings of three dice each. Raises ValueError for another number of dice."""
    if len(before) != 3 or len(after) != 3:
        raise ValueError(f"three dice each are compared, not {len(before)} and {len(after)}")
    unmoved = max(
        sum(_is_same(old, new) for old, new in zip(before, order, strict=True))
        for order in permutations(after)
    )
    least = min(
        sum(_distance_mm(old, new) for old, new in zip(before, order, strict=True))
        for order in permutations(after)
    )
    return Movement(unmoved, least)


def _distance_mm(old: DieSeen, new: DieSeen) -> float:
    return math.hypot(old.x_mm - new.x_mm, old.y_mm - new.y_mm)


def _is_same(old: DieSeen, new: DieSeen) -> bool:
    turned = (old.angle_deg - new.angle_deg + 45.0) % 90.0 - 45.0
    return (
        old.value == new.value
        and _distance_mm(old, new) <= SAME_PLACE_MM
        and abs(turned) <= SAME_ANGLE_DEG
    )


@dataclass(frozen=True, slots=True)
class Retention:
    """The test after one toss. `chance`: that a perfect shake keeps as many faces or more."""

    tosses: int
    kept: int
    expected: float
    chance: float

    @property
    def mixes(self) -> bool:
        """False once the shake keeps more faces than chance explains; the table then stops."""
        return self.chance >= RETENTION_ALPHA


class FaceRetentionTest:
    """Counts faces that two consecutive tosses have in common, over the last tosses.

    The count of one toss is the size of the common part of both face multisets (0-3). Under a shake
    that mixes, its distribution is known exactly, so the sum over the window is as well. A round
    without three values is left out by calling `forget_last`, since then nothing was kept or lost.
    """

    def __init__(self, tosses: int = RETENTION_TOSSES) -> None:
        self._counts: deque[int] = deque(maxlen=tosses)
        self._last: tuple[int, int, int] | None = None

    def add(self, values: tuple[int, int, int]) -> Retention:
        """Take the values of one verified or entered toss and return the state of the test."""
        if self._last is not None:
            self._counts.append(common_faces(self._last, values))
        self._last = values
        n, kept = len(self._counts), sum(self._counts)
        chance = sum(_pmf_of_sum(n)[kept:]) if n else 1.0
        return Retention(n, kept, n * _mean_common(), min(1.0, chance))

    def forget_last(self) -> None:
        """Say that the dice were touched or not read: the next toss has nothing to compare with."""
        self._last = None

    def restore(self, values: Iterable[tuple[int, int, int]]) -> None:
        """Fill the window from the journal after a restart, oldest first."""
        for toss in values:
            self.add(toss)


def common_faces(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the size of the common part of two face multisets, 0 to 3."""
    return (Counter(a) & Counter(b)).total()


@cache
def _pmf() -> tuple[float, ...]:
    tosses = list(product(range(1, 7), repeat=3))
    counts = [0, 0, 0, 0]
    for a in tosses:
        for b in tosses:
            counts[common_faces(a, b)] += 1
    return tuple(count / len(tosses) ** 2 for count in counts)


def _mean_common() -> float:
    return sum(k * p for k, p in enumerate(_pmf()))


@cache
def _pmf_of_sum(tosses: int) -> tuple[float, ...]:
    if tosses == 0:
        return (1.0,)
    shorter, one = _pmf_of_sum(tosses - 1), _pmf()
    total = [0.0] * (3 * tosses + 1)
    for kept, p in enumerate(shorter):
        for more, q in enumerate(one):
            total[kept + more] += p * q
    return tuple(total)
