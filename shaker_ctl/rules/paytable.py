"""Odds, true probabilities and house edges, exact, over the 216 outcomes of three dice.

Owns what a wager pays. Must not know lamps or rounds. All figures are fractions; nothing is
rounded before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from shaker_ctl.rules.layout import Layout, dice_of
from shaker_ctl.rules.multipliers import MAX_POSITIONS, Ranges, positions
from shaker_ctl.rules.outcome import OUTCOMES, Area, Values
from shaker_ctl.rules.regulation import Printed, Profile
from shaker_ctl.rules.vocabulary import Multiplied

Lines = Mapping[str, Printed]
"""A paytable: line to what is printed and paid."""


def paid(profile: Profile, table: str) -> dict[Area, str]:
    """Return what each area pays: `8 to 1`; one of a kind, on one, two and three dice."""
    lines, layout = profile.payout.tables[table], profile.layout

    def said(area: Area) -> str:
        odds = [lines[line].odds for line in layout.rules[area].pays]
        stake = lcm(*(each.denominator for each in odds))
        return f"{', '.join(str(each * stake) for each in odds)} to {stake}"

    return {area: said(area) for area in layout.areas}


def pays(
    area: Area,
    values: Values,
    layout: Layout,
    lines: Lines,
    multipliers: tuple[Multiplied, ...] = (),
) -> Fraction | None:
    """Return the odds to 1 that a wager on `area` is paid, or None where it loses.

    `multipliers` are those in force this round: they replace the odds of their position.
    """
    if area not in layout.won(values):
        return None
    for each in multipliers:
        if (each.area, each.dice) == (area, dice_of(area, values)):
            return Fraction(each.odds)
    return lines[layout.rules[area].line(values)].odds


@dataclass(frozen=True)
class Price:
    """A wager's worth: over all 216 outcomes, per unit staked."""

    wager: str
    area: Area
    odds: tuple[str, ...]
    """As printed, one per line of the paytable."""
    ways: int
    """Outcomes of 216 that win."""
    edge: Fraction
    """The house's share of each unit staked, as paid."""
    edge_as_printed: Fraction
    """The same with the print taken literally; differs only where an error is flagged."""
    edge_multiplied: Fraction | None
    """The house edge over all draws of multipliers; None where the text has none."""

    @property
    def probability(self) -> Fraction:
        return Fraction(self.ways, 216)


def edge(
    area: Area,
    layout: Layout,
    lines: Lines,
    ranges: Ranges | None = None,
    *,
    as_printed: bool = False,
) -> Fraction:
    """Return the house edge of a wager, exactly: stake less all returns, over 216 outcomes.

    With `ranges`, over all draws of multipliers, too: `multipliers.draw` takes none to
    `MAX_POSITIONS` positions and their odds, all evenly.
    """
    may = positions(ranges or {}, layout.areas)
    returned = Fraction(0)
    for values in OUTCOMES:
        if area in layout.won(values):
            name = layout.rules[area].line(values)
            odds = lines[name].printed_odds if as_printed else lines[name].odds
            if ranges and (area, dice_of(area, values)) in may:
                span = ranges[name]
                chance = Fraction(MAX_POSITIONS, 2) / len(may)
                odds += chance * (Fraction(span.least + span.most, 2) - odds)
            returned += 1 + odds
    return 1 - returned / 216


def prices(profile: Profile, table: str) -> Iterator[Price]:
    """Yield one price per kind of wager: a representative area of each, in layout order."""
    layout, lines = profile.layout, profile.payout.tables[table]
    ranges = profile.multipliers.ranges
    seen: set[tuple[str, int]] = set()
    for area in layout.areas:
        paid_by = layout.rules[area].pays
        ways = sum(area in layout.won(values) for values in OUTCOMES)
        if (paid_by[0], ways) in seen:
            continue
        seen.add((paid_by[0], ways))
        printed = tuple(lines[line].printed for line in paid_by)
        yield Price(
            wager=paid_by[0].removesuffix("-1").replace("-", " "),
            area=area,
            odds=printed,
            ways=ways,
            edge=edge(area, layout, lines),
            edge_as_printed=edge(area, layout, lines, as_printed=True),
            edge_multiplied=edge(area, layout, lines, ranges) if ranges else None,
        )
