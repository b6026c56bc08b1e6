"""`python -m hil_tests.proofs.draws`: are the multipliers drawn evenly (58 Pa. Code § 625b.1(f))?

Owns three chi-square tests over many draws: how many positions a draw has, which ones, and at what
odds of their range. The draw is the product's own, from the operating system's randomness.
"""

from __future__ import annotations

import secrets
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable

from shaker_ctl.journal.distributions import chi_square_tail
from shaker_ctl.rules.multipliers import MAX_POSITIONS, draw, line_of, positions
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.regulation import Range
from shaker_ctl.rules.rulebook import rulebook

LEAST_P = 0.001
"""Below this chance a fair draw is not believed: one in 333 runs of the three tests is."""
BINS = 10

RULES = rulebook(TableParameters(profile="pa-625b", as_demonstration=True))
RANGES = RULES.profile.multipliers.ranges
MAY = positions(RANGES, RULES.areas)


def chances(draws: int, randbelow: Callable[[int], int]) -> dict[str, float]:
    """Return how likely a fair draw differs as much, by what is counted."""
    sizes, where = Counter[int](), Counter[tuple[str, int]]()
    odds = Counter[tuple[str, int, int]]()
    for _ in range(draws):
        drawn = draw(RANGES, RULES.areas, randbelow)
        sizes[len(drawn)] += 1
        for each in drawn:
            where[each.area, each.dice] += 1
            odds[each.area, each.dice, _bin(each.area, each.dice, each.odds)] += 1
    each_size = draws / (MAX_POSITIONS + 1)
    each_place = draws * MAX_POSITIONS / 2 / len(MAY)
    # No place is drawn twice: E[k(k - 1)] / E[k] = 2 (most - 1) / 3, with k of none to the most.
    narrower = 1 - 2 * (MAX_POSITIONS - 1) / 3 / (len(MAY) - 1)
    of_odds = [
        (odds[area, dice, number], where[area, dice] * share)
        for area, dice in MAY
        for number, share in _shares(area, dice).items()
        if where[area, dice]
    ]
    return {
        "number of positions": _tail(
            ((sizes[n], each_size) for n in range(MAX_POSITIONS + 1)), MAX_POSITIONS
        ),
        "positions": _tail(((where[each], each_place) for each in MAY), len(MAY) - 1, narrower),
        "odds": _tail(of_odds, len(of_odds) - len(MAY)),
    }


def _tail(counted: Iterable[tuple[int, float]], df: int, narrower: float = 1.0) -> float:
    x = sum((seen - expected) ** 2 / expected for seen, expected in counted)
    return chi_square_tail(x / narrower, df)


def _bin(area: str, dice: int, odds: int) -> int:
    span = _span(area, dice)
    return (odds - span.least) * BINS // (span.most - span.least + 1)


def _span(area: str, dice: int) -> Range:
    return RANGES[line_of(area, dice)]


def _shares(area: str, dice: int) -> dict[int, float]:
    """Return the share of each bin in a range, which has no whole number of odds in each."""
    span = _span(area, dice)
    counted = Counter(_bin(area, dice, odds) for odds in range(span.least, span.most + 1))
    return {number: held / counted.total() for number, held in counted.items()}


def main() -> int:
    parser = ArgumentParser(description="Count how evenly multipliers are drawn.")
    parser.add_argument("--draws", type=int, default=1_000_000, help="how many rounds")
    found = chances(parser.parse_args().draws, secrets.randbelow)
    for what, chance in found.items():
        sys.stdout.write(f"{what}: a fair draw differs as much with chance {chance:.4f}\n")
    return 0 if min(found.values()) >= LEAST_P else 1


if __name__ == "__main__":
    sys.exit(main())
