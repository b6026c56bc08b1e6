"""Do the dice still mix? Judged from their values, round by round.

Owns the running face-retention test. Whether the dice moved at all in one toss (O-21) is told from
their poses, by `vision.table.motion` and the camera's process. Pure and neutral: it says what it
sees, `rules` says what follows. A repeated face is a legal event with probability 1/6 and
is never by itself a reason for anything; only a long run of too many is.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from functools import cache
from itertools import product

from shaker_ctl.frozen import frozen

RETENTION_ALPHA = 2.0**-20
"""Chance, per toss, that a perfect shake is stopped by the retention test (as in O-18)."""

RETENTION_TOSSES = 40
"""Tosses in the running test: 120 dice. A shake that keeps 65 % of its faces is stopped after
about a dozen tosses, one that keeps 35 % within 40 (see the tests)."""


@frozen
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

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=RETENTION_TOSSES)
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


def common_faces(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the size of the common part of two face multisets, 0 to 3."""
    return (Counter(a) & Counter(b)).total()


@cache
def _pmf() -> tuple[float, ...]:
    # 56 different sets of faces in 216 tosses: a start waits for this.
    sets = Counter(tuple(sorted(toss)) for toss in product(range(1, 7), repeat=3))
    counts = [0, 0, 0, 0]
    for (a, as_often), (b, bs_often) in product(sets.items(), repeat=2):
        counts[common_faces(a, b)] += as_often * bs_often
    return tuple(count / sets.total() ** 2 for count in counts)


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
