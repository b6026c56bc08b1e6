"""Drawing multipliers, and knowing a lawful draw (58 Pa. Code § 625b.1(f)).

Owns which positions may carry one and inside which odds. Must not know when to draw, or how the
odds are shown. Randomness is handed in: the service hands in the operating system's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shaker_ctl.rules.layout import lines_of
from shaker_ctl.rules.outcome import Area
from shaker_ctl.rules.regulation import Range
from shaker_ctl.rules.vocabulary import Multiplied

MAX_POSITIONS = 5
"""Most positions multiplied in one round. The text sets no limit; five can be scanned."""

Ranges = Mapping[str, Range]
"""Paytable line to the odds between which it pays when multiplied."""


def positions(ranges: Ranges, areas: tuple[Area, ...]) -> tuple[tuple[Area, int], ...]:
    """Return every (area, dice) that may carry a multiplier; `dice` as in `Multiplied`.

    A line whose range is a single value (one of a kind on one die) cannot be multiplied.
    """
    found = []
    for area in areas:
        lines = lines_of(area)
        for dice, line in enumerate(lines, start=len(lines) > 1):
            span = ranges.get(line)
            if span is not None and span.least < span.most:
                found.append((area, dice))
    return tuple(found)


def highest(ranges: Ranges, areas: tuple[Area, ...]) -> tuple[Multiplied, ...]:
    """Return every position at its highest odds: what an inspection of the displays looks at."""
    return tuple(
        Multiplied(area, ranges[line_of(area, dice)].most, dice)
        for area, dice in positions(ranges, areas)
    )


def draw(
    ranges: Ranges, areas: tuple[Area, ...], randbelow: Callable[[int], int]
) -> tuple[Multiplied, ...]:
    """Draw no to five positions, and their odds, all evenly.

    `randbelow(n)` returns a random int of 0 to n-1: `secrets.randbelow`.
    """
    left = list(positions(ranges, areas))
    drawn = []
    for _ in range(randbelow(MAX_POSITIONS + 1)):
        area, dice = left.pop(randbelow(len(left)))
        span = ranges[line_of(area, dice)]
        drawn.append(Multiplied(area, span.least + randbelow(span.most - span.least + 1), dice))
    return tuple(sorted(drawn, key=lambda each: (areas.index(each.area), each.dice)))


def lawful(drawn: tuple[Multiplied, ...], ranges: Ranges, areas: tuple[Area, ...]) -> bool:
    """True when every position may carry a multiplier, once, inside its range."""
    may = set(positions(ranges, areas))
    where = [(each.area, each.dice) for each in drawn]
    spans = [ranges[line_of(*place)] for place in where if place in may]
    fits = [span.least <= each.odds <= span.most for span, each in zip(spans, drawn, strict=False)]
    return len(set(where)) == len(where) == len(spans) and all(fits)


def line_of(area: Area, dice: int) -> str:
    """Return the line of a position; `dice` as in `Multiplied`."""
    return lines_of(area)[max(0, dice - 1)]
