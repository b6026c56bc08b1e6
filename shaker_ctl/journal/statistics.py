"""Figures over the recorded outcomes: counts, tests at 99 %, and what the sample could have seen.

Owns the reading of outcomes out of records and the tests on them (O-17). It reports deviations and
the power of the sample to show them. It never says that dice are as they should be: no sample does.

Dice stand in the records by position, left to right, which carries no information about faces. So
the first, second and third die of each toss are three series, tested within and against each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

from shaker_ctl.journal.distributions import (
    chi_square_power,
    chi_square_tail,
    normal_power,
    normal_two_sided,
)
from shaker_ctl.journal.record import Record

ALPHA = 0.01
"""Every test is at 99 %. Of a hundred tests on perfect dice one lies outside."""

SMALLEST_EXPECTED = 5.0
"""Least expected count of a cell for a chi-square test to mean anything."""

FACE_DEVIATION = 0.10
"""Power is reported for one face that comes this much more often than 1/6 (relative)."""

PATTERN_DEVIATION = 0.50
"""Power is reported for triples, or one pair of two dice, that come this much more often."""

CORRELATION = 0.10
"""Power is reported for a correlation of this size."""

Values = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one round of play ended."""

    round: int
    ending: str
    source: str | None
    values: Values | None
    """What counted."""
    seen: Values | None = None
    """What was read of the dice, whether it counted or not."""
    was_unreadable: bool = False
    """The reader gave no verdict, and a person had to look."""

    @property
    def faces(self) -> Values | None:
        """The faces, as far as anybody knows them."""
        return self.values or self.seen


@dataclass(frozen=True, slots=True)
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


def outcomes(records: Iterable[Record]) -> list[Outcome]:
    """Return the ended rounds of play, oldest first."""
    ended: list[Outcome] = []
    readings: dict[int, dict[str, Any]] = {}
    for record in records:
        if not (b'"RecordRound"' in record.body or b'"ReadingMade"' in record.body):
            continue
        plain = record.plain
        event = plain.get("event", {})
        occasion = event.get("occasion") or {}
        if event.get("type") == "ReadingMade" and occasion.get("purpose") == "play":
            readings[occasion["number"]] = event["verdict"]
        for command in plain.get("decision", ()):
            if command.get("type") == "RecordRound":
                ended.append(_outcome(command, readings.pop(command["round"], {})))
    return ended


def _outcome(command: dict[str, Any], verdict: dict[str, Any]) -> Outcome:
    return Outcome(
        round=command["round"],
        ending=command["ending"],
        source=command.get("source"),
        values=_values(command.get("values")),
        seen=_values(verdict.get("values")),
        was_unreadable=verdict.get("type") == "Unreadable",
    )


def _values(plain: Any) -> Values | None:
    return None if plain is None else (plain[0], plain[1], plain[2])


def judge(tosses: Sequence[Values]) -> list[Judgement]:
    """Return every test that the sample is large enough for."""
    found = [
        _faces(tosses),
        _patterns(tosses),
        _totals(tosses),
        *(_joint(tosses, a, b) for a, b in combinations(range(3), 2)),
        *(_cross(tosses, a, b) for a, b in combinations(range(3), 2)),
        *(_serial(tosses, die) for die in range(3)),
        _runs(tosses),
    ]
    return [test for test in found if test is not None]


def figures(records: Iterable[Record]) -> dict[str, object]:
    """Return everything as plain values, for consoles and files."""
    ended = outcomes(records)
    tosses = [outcome.values for outcome in ended if outcome.values is not None]
    faces = Counter(face for toss in tosses for face in toss)
    pairs = Counter((min(a, b), max(a, b)) for toss in tosses for a, b in _two_of(toss))
    return {
        "rounds": len(ended),
        "tosses": len(tosses),
        "dice": 3 * len(tosses),
        "endings": dict(Counter(outcome.ending for outcome in ended)),
        "void_rate": _share(sum(o.ending == "void" for o in ended), len(ended)),
        "no_roll_rate": _share(sum(o.ending == "no_roll" for o in ended), len(ended)),
        "unreadable_rate": _share(sum(o.was_unreadable for o in ended), len(ended)),
        "faces": {face: faces[face] for face in range(1, 7)},
        "by_face": {face: _of_face(ended, face) for face in range(1, 7)},
        "pairs": {f"{a}-{b}": pairs[(a, b)] for a in range(1, 7) for b in range(a, 7)},
        "level": 1.0 - ALPHA,
        "tests": [_plain(test) for test in judge(tosses)],
        "note": _note(len(tosses)),
    }


def _of_face(ended: Sequence[Outcome], face: int) -> dict[str, object]:
    """How the rounds ended in which a die showed this face, as far as anybody knows.

    Void and unreadable rounds do not choose their faces: a rate that depends on the face would be
    a machine that loses some results more often than others.
    """
    showed = [outcome for outcome in ended if face in (outcome.faces or ())]
    n = len(showed)
    return {
        "n": n,
        "unreadable_rate": _share(sum(o.was_unreadable for o in showed), n),
        "by_hand_rate": _share(sum(o.source in ("entered", "decided") for o in showed), n),
        "void_rate": _share(sum(o.ending == "void" for o in showed), n),
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


def _chi_square(observed: Sequence[int], chances: Sequence[float]) -> float | None:
    """Pearson's statistic; None where a cell expects too little."""
    n = sum(observed)
    if n * min(chances) < SMALLEST_EXPECTED:
        return None
    return sum((o - n * p) ** 2 / (n * p) for o, p in zip(observed, chances, strict=True))


def _faces(tosses: Sequence[Values]) -> Judgement | None:
    counts = Counter(face for toss in tosses for face in toss)
    n = 3 * len(tosses)
    x = _chi_square([counts[face] for face in range(1, 7)], [1 / 6] * 6)
    if x is None:
        return None
    more = FACE_DEVIATION / 6
    noncentrality = n * 6 * (more**2 + 5 * (more / 5) ** 2)
    power = chi_square_power(noncentrality, 5, ALPHA)
    against = f"one face {FACE_DEVIATION:.0%} more often"
    return Judgement("faces", n, x, 5, chi_square_tail(x, 5), power, against)


def _patterns(tosses: Sequence[Values]) -> Judgement | None:
    """Triples, pairs, all different."""
    kinds = Counter(len(set(toss)) for toss in tosses)
    x = _chi_square([kinds[1], kinds[2], kinds[3]], [6 / 216, 90 / 216, 120 / 216])
    if x is None:
        return None
    n = len(tosses)
    more = PATTERN_DEVIATION * 6 / 216
    noncentrality = n * (more**2 / (6 / 216) + more**2 / (210 / 216))
    return Judgement(
        "triples, pairs, all different",
        n,
        x,
        2,
        chi_square_tail(x, 2),
        chi_square_power(noncentrality, 2, ALPHA),
        f"triples {PATTERN_DEVIATION:.0%} more often",
    )


def _totals(tosses: Sequence[Values]) -> Judgement | None:
    """Totals, with the rare ends joined until each cell expects enough."""
    ways = Counter(sum(toss) for toss in product(range(1, 7), repeat=3))
    seen = Counter(sum(toss) for toss in tosses)
    cells: list[tuple[int, float]] = []
    for total in range(3, 19):
        cells.append((seen[total], ways[total] / 216))
    while len(cells) > 2 and len(tosses) * cells[0][1] < SMALLEST_EXPECTED:
        cells[0:2] = [(cells[0][0] + cells[1][0], cells[0][1] + cells[1][1])]
    while len(cells) > 2 and len(tosses) * cells[-1][1] < SMALLEST_EXPECTED:
        cells[-2:] = [(cells[-2][0] + cells[-1][0], cells[-2][1] + cells[-1][1])]
    x = _chi_square([o for o, _ in cells], [p for _, p in cells])
    if x is None or len(cells) < 3:
        return None
    df = len(cells) - 1
    power = chi_square_power(len(tosses) * FACE_DEVIATION**2, df, ALPHA)
    against = f"big totals {FACE_DEVIATION:.0%} more often, small ones less"
    return Judgement("totals", len(tosses), x, df, chi_square_tail(x, df), power, against)


def _joint(tosses: Sequence[Values], a: int, b: int) -> Judgement | None:
    """All 36 ordered pairs of two dice of one toss."""
    seen = Counter((toss[a], toss[b]) for toss in tosses)
    cells = [seen[x, y] for x, y in product(range(1, 7), range(1, 7))]
    x = _chi_square(cells, [1 / 36] * 36)
    if x is None:
        return None
    n = len(tosses)
    more = PATTERN_DEVIATION / 36
    noncentrality = n * 36 * (more**2 + more**2 / 35)
    return Judgement(
        f"pairs of dice {a + 1} and {b + 1}",
        n,
        x,
        35,
        chi_square_tail(x, 35),
        chi_square_power(noncentrality, 35, ALPHA),
        f"one pair {PATTERN_DEVIATION:.0%} more often",
    )


# ── Correlations and runs ───────────────────────────────────────────────────


def _correlation(name: str, xs: Sequence[int], ys: Sequence[int]) -> Judgement | None:
    """Pearson's r by Fisher's z against none."""
    n = len(xs)
    if n < 30:
        return None
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    sxx = sum((x - mean_x) ** 2 for x in xs)
    syy = sum((y - mean_y) ** 2 for y in ys)
    if sxx == 0.0 or syy == 0.0:
        return Judgement(name, n, 1.0, None, 0.0, None)
    sxy = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    r = sxy / math.sqrt(sxx * syy)
    root = math.sqrt(n - 3)
    p = 0.0 if abs(r) >= 1.0 else normal_two_sided(math.atanh(r) * root)
    power = normal_power(math.atanh(CORRELATION) * root, ALPHA)
    return Judgement(name, n, r, None, p, power, f"a correlation of {CORRELATION:g}")


def _cross(tosses: Sequence[Values], a: int, b: int) -> Judgement | None:
    return _correlation(
        f"correlation of dice {a + 1} and {b + 1}",
        [toss[a] for toss in tosses],
        [toss[b] for toss in tosses],
    )


def _serial(tosses: Sequence[Values], die: int) -> Judgement | None:
    series = [toss[die] for toss in tosses]
    pairs = list(pairwise(series))
    return _correlation(
        f"serial correlation of die {die + 1}", [x for x, _ in pairs], [y for _, y in pairs]
    )


def _runs(tosses: Sequence[Values]) -> Judgement | None:
    """Wald and Wolfowitz: runs of small (4-10) and big (11-17) totals; triples count by total."""
    signs = [sum(toss) > 10 for toss in tosses]
    n1 = sum(signs)
    n2 = len(signs) - n1
    if min(n1, n2) < 10:
        return None
    runs = 1 + sum(a != b for a, b in pairwise(signs))
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
