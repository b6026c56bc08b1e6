"""Figures over the recorded outcomes: counts, tests at 99 %, and what the sample could have seen.

Owns the tests on counted outcomes (O-17). It reports deviations and
the power of the sample to show them. It never says that dice are as they should be: no sample does.

Dice stand in the records by position, left to right, which carries no information about faces. So
the first, second and third die of each toss are three series, tested within and against each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.distributions import (
    chi_square_power,
    chi_square_tail,
    normal_power,
    normal_two_sided,
)
from shaker_ctl.journal.history import Values
from shaker_ctl.journal.record import NOT_UNDERSTOOD, Record
from shaker_ctl.journal.tally import FaceCount, Tally

ALPHA = 0.01
"""Every test is at 99 %. Of a hundred tests on perfect dice one lies outside."""

MIN_EXPECTED = 5.0
"""Least expected count of a cell for a chi-square test to mean anything."""

FACE_DEVIATION = 0.10
"""Power is reported for one face that comes this much more often than 1/6 (relative)."""

PATTERN_DEVIATION = 0.50
"""Power is reported for triples, or one pair of two dice, that come this much more often."""

CORRELATION = 0.10
"""Power is reported for a correlation of this size."""


@frozen
class Judgement:
    """One test: its statistic, its chance if nothing deviates, and what it rests on."""

    name: str
    n: int
    statistic: float
    df: int | None
    p: float
    power: float | None
    """Chance that this sample shows the stated deviation; None where none is stated."""
    against: str = ""
    """The deviation that `power` speaks of."""

    @property
    def is_outside(self) -> bool:
        return self.p < ALPHA


def judge(counts: Tally) -> list[Judgement]:
    """Return every test that the sample is large enough for."""
    found = [
        _faces(counts),
        _patterns(counts),
        _totals(counts),
        *(_joint(counts, a, b) for a, b in combinations(range(3), 2)),
        *(_cross(counts, a, b) for a, b in combinations(range(3), 2)),
        *(_serial(counts, die) for die in range(3)),
        _runs(counts),
    ]
    return [test for test in found if test is not None]


def figures(records: Iterable[Record]) -> dict[str, object]:
    """As `figures_of`, by reading every record; with the numbers of those that are left out, and
    what the records say of themselves: `DEMONSTRATION`.
    """
    left_out: list[int] = []
    marks: dict[str, None] = {}
    counts = Tally()
    for record in records:
        if b'"marks"' in record.body:
            marks.update(dict.fromkeys(record.plain.get("marks", ())))
        try:
            counts.take(record)
        except (*NOT_UNDERSTOOD, JournalCorruptError):
            left_out.append(record.sequence)
    return {**figures_of(counts), "left_out": left_out, "marks": list(marks)}


def figures_of(counts: Tally) -> dict[str, object]:
    """Return everything as plain values, for consoles and files."""
    n = counts.tosses.total()
    faces = _weighed((face, k) for toss, k in counts.tosses.items() for face in toss)
    pairs = _weighed(
        ((min(a, b), max(a, b)), k) for toss, k in counts.tosses.items() for a, b in _two_of(toss)
    )
    return {
        "rounds": counts.rounds,
        "tosses": n,
        "dice": 3 * n,
        "endings": dict(counts.endings),
        "void_rate": _share(counts.endings["void"], counts.rounds),
        "no_roll_rate": _share(counts.endings["no_roll"], counts.rounds),
        "unreadable_rate": _share(counts.unreadable, counts.rounds),
        "faces": {face: faces[face] for face in range(1, 7)},
        "by_face": {face: _of_face(count) for face, count in counts.by_face.items()},
        "pairs": {f"{a}-{b}": pairs[(a, b)] for a in range(1, 7) for b in range(a, 7)},
        "level": 1.0 - ALPHA,
        "tests": [_plain(test) for test in judge(counts)],
        "note": _note(n),
    }


def _weighed(found: Iterable[tuple[Any, int]]) -> Counter[Any]:
    """Add up what comes with a count of its own."""
    counted: Counter[Any] = Counter()
    for what, n in found:
        counted[what] += n
    return counted


def _of_face(count: FaceCount) -> dict[str, object]:
    """How the rounds ended in which a die showed this face, as far as anybody knows.

    Void and unreadable rounds do not choose their faces: a rate that depends on the face would be
    a machine that loses some results more often than others.
    """
    return {
        "n": count.n,
        "unreadable_rate": _share(count.unreadable, count.n),
        "by_hand_rate": _share(count.by_hand, count.n),
        "void_rate": _share(count.void, count.n),
    }


def _two_of(toss: Values) -> tuple[tuple[int, int], ...]:
    a, b, c = toss
    return (a, b), (a, c), (b, c)


def _note(n: int) -> str:
    if n < 60:
        return f"{n} tosses are too few for most tests; from 60 on there is more to see"
    return (
        f"at {1 - ALPHA:.0%} one test in {round(1 / ALPHA)} lies outside by chance alone; "
        "a test inside its limits shows no deviation larger than its power could have seen"
    )


def _plain(test: Judgement) -> dict[str, object]:
    return {
        "name": test.name,
        "n": test.n,
        "statistic": round(test.statistic, 4),
        "df": test.df,
        "p": round(test.p, 6),
        "outside": test.is_outside,
        "power": None if test.power is None else round(test.power, 3),
        "against": test.against,
    }


def _share(part: int, whole: int) -> float | None:
    return None if whole == 0 else round(part / whole, 5)


# ── Counts ──────────────────────────────────────────────────────────────────


def _goodness(
    name: str,
    n: int,
    cells: Sequence[tuple[int, float]],
    noncentrality: float,
    against: str,
) -> Judgement | None:
    """Pearson's test of (count, chance) of each cell; None where a cell expects too little.

    `noncentrality`: of the deviation `against` which the power is stated.
    """
    total, df = sum(count for count, _ in cells), len(cells) - 1
    if total * min(chance for _, chance in cells) < MIN_EXPECTED:
        return None
    x = sum((count - total * p) ** 2 / (total * p) for count, p in cells)
    power = chi_square_power(noncentrality, df, ALPHA)
    return Judgement(name, n, x, df, chi_square_tail(x, df), power, against)


def _faces(counts: Tally) -> Judgement | None:
    seen = _weighed((face, k) for toss, k in counts.tosses.items() for face in toss)
    n, more = 3 * counts.tosses.total(), FACE_DEVIATION / 6
    cells = [(seen[face], 1 / 6) for face in range(1, 7)]
    noncentrality = n * 6 * (more**2 + 5 * (more / 5) ** 2)
    return _goodness("faces", n, cells, noncentrality, f"one face {FACE_DEVIATION:.0%} more often")


def _patterns(counts: Tally) -> Judgement | None:
    """Triples, pairs, all different."""
    kinds = _weighed((len(set(toss)), k) for toss, k in counts.tosses.items())
    n, more = counts.tosses.total(), PATTERN_DEVIATION * 6 / 216
    cells = [(kinds[1], 6 / 216), (kinds[2], 90 / 216), (kinds[3], 120 / 216)]
    noncentrality = n * (more**2 / (6 / 216) + more**2 / (210 / 216))
    against = f"triples {PATTERN_DEVIATION:.0%} more often"
    return _goodness("triples, pairs, all different", n, cells, noncentrality, against)


def _totals(counts: Tally) -> Judgement | None:
    """Totals, with the rare ends joined until each cell expects enough."""
    ways = Counter(sum(toss) for toss in product(range(1, 7), repeat=3))
    seen = _weighed((sum(toss), k) for toss, k in counts.tosses.items())
    n = counts.tosses.total()
    cells = [(seen[total], ways[total] / 216) for total in range(3, 19)]
    while len(cells) > 2 and n * cells[0][1] < MIN_EXPECTED:
        cells[0:2] = [(cells[0][0] + cells[1][0], cells[0][1] + cells[1][1])]
    while len(cells) > 2 and n * cells[-1][1] < MIN_EXPECTED:
        cells[-2:] = [(cells[-2][0] + cells[-1][0], cells[-2][1] + cells[-1][1])]
    if len(cells) < 3:
        return None
    against = f"big totals {FACE_DEVIATION:.0%} more often, small ones less"
    return _goodness("totals", n, cells, n * FACE_DEVIATION**2, against)


def _joint(counts: Tally, a: int, b: int) -> Judgement | None:
    """All 36 ordered pairs of two dice of one toss."""
    seen = _pairs_of(counts, a, b)
    cells = [(seen[pair], 1 / 36) for pair in product(range(1, 7), range(1, 7))]
    n, more = counts.tosses.total(), PATTERN_DEVIATION / 36
    noncentrality = n * 36 * (more**2 + more**2 / 35)
    against = f"one pair {PATTERN_DEVIATION:.0%} more often"
    return _goodness(f"pairs of dice {a + 1} and {b + 1}", n, cells, noncentrality, against)


# ── Correlations and runs ───────────────────────────────────────────────────


def _pairs_of(counts: Tally, a: int, b: int) -> Counter[tuple[int, int]]:
    return _weighed(((toss[a], toss[b]), k) for toss, k in counts.tosses.items())


def _correlation(name: str, pairs: Counter[tuple[int, int]]) -> Judgement | None:
    """Pearson's r by Fisher's z against none; `pairs`: how often each (x, y) came."""
    n = pairs.total()
    if n < 30:
        return None
    mean_x = sum(x * k for (x, _), k in pairs.items()) / n
    mean_y = sum(y * k for (_, y), k in pairs.items()) / n
    sxx = sum(k * (x - mean_x) ** 2 for (x, _), k in pairs.items())
    syy = sum(k * (y - mean_y) ** 2 for (_, y), k in pairs.items())
    if sxx == 0.0 or syy == 0.0:
        return Judgement(name, n, 1.0, None, 0.0, None)
    sxy = sum(k * (x - mean_x) * (y - mean_y) for (x, y), k in pairs.items())
    r = sxy / math.sqrt(sxx * syy)
    root = math.sqrt(n - 3)
    p = 0.0 if abs(r) >= 1.0 else normal_two_sided(math.atanh(r) * root)
    power = normal_power(math.atanh(CORRELATION) * root, ALPHA)
    return Judgement(name, n, r, None, p, power, f"a correlation of {CORRELATION:g}")


def _cross(counts: Tally, a: int, b: int) -> Judgement | None:
    return _correlation(f"correlation of dice {a + 1} and {b + 1}", _pairs_of(counts, a, b))


def _serial(counts: Tally, die: int) -> Judgement | None:
    return _correlation(f"serial correlation of die {die + 1}", counts.follows[die])


def _runs(counts: Tally) -> Judgement | None:
    """Wald and Wolfowitz: runs of small (4-10) and big (11-17) totals; triples count by total."""
    n1 = sum(k for toss, k in counts.tosses.items() if sum(toss) > 10)
    n2 = counts.tosses.total() - n1
    if min(n1, n2) < 10:
        return None
    runs = 1 + counts.changes
    n = n1 + n2
    mean = 2 * n1 * n2 / n + 1
    variance = (mean - 1) * (mean - 2) / (n - 1)
    z = (runs - mean) / math.sqrt(variance)
    power = normal_power(CORRELATION * math.sqrt(n), ALPHA)
    return Judgement(
        "runs of small and big totals",
        n,
        z,
        None,
        normal_two_sided(z),
        power,
        f"a correlation of {CORRELATION:g} from toss to toss",
    )
