"""Odds, true probabilities and house edges, exact, over the 216 outcomes of three dice.

Owns what a wager pays. Must not know lamps or rounds. All figures are fractions; nothing is
rounded before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from shaker_ctl.rules.multipliers import MAX_POSITIONS, Ranges, positions
from shaker_ctl.rules.outcome import FACES, ONES, Area, Layout, Toss, Values
from shaker_ctl.rules.regulation import Printed, Profile, lines_of
from shaker_ctl.rules.vocabulary import Multiplied

OUTCOMES: tuple[Values, ...] = tuple((a, b, c) for a, b, c in product(FACES, repeat=3))
"""All 216 equally likely outcomes of three fair, distinguishable dice."""

Lines = Mapping[str, Printed]
"""A paytable: line to what is printed and paid."""


def layout_of(profile: Profile) -> Layout:
    """Return the layout that a profile states."""
    wagers = profile.wagers
    return Layout(
        even_odd=wagers.areas.value == 52,
        even_odd_lose_on_triple=wagers.even_odd_on_triple.value.value == "lose",
        double_wins_on_triple=wagers.two_of_a_kind_on_triple.value.value == "win",
    )


def paid(profile: Profile, table: str) -> dict[Area, str]:
    """Return what each area pays: `8 to 1`; one of a kind, on one, two and three dice."""
    lines = profile.payout.tables[table]

    def said(area: Area) -> str:
        odds = [lines[line].odds for line in lines_of(area)]
        return f"{', '.join(str(each.numerator) for each in odds)} to {odds[0].denominator}"

    return {area: said(area) for area in layout_of(profile).areas()}


def line_won(area: Area, values: Values) -> str:
    """Return the paytable line by which a winning `area` is paid: `one-N` by how many dice."""
    if area in ONES:
        return f"one-of-a-kind-{values.count(int(area[-1]))}"
    return lines_of(area)[0]


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
    if area not in Toss(values).areas(layout):
        return None
    dice = values.count(int(area[-1])) if area in ONES else 0
    for each in multipliers:
        if (each.area, each.dice) == (area, dice):
            return Fraction(each.odds)
    return lines[line_won(area, values)].odds


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


def edge(area: Area, layout: Layout, lines: Lines, *, as_printed: bool = False) -> Fraction:
    """Return the house edge of a wager, exactly: stake less all returns, over 216 outcomes."""
    returned = Fraction(0)
    for values in OUTCOMES:
        if area in Toss(values).areas(layout):
            line = lines[line_won(area, values)]
            returned += 1 + (line.printed_odds if as_printed else line.odds)
    return 1 - returned / 216


def edge_multiplied(area: Area, layout: Layout, lines: Lines, ranges: Ranges) -> Fraction:
    """Return the house edge over all draws of multipliers, exactly.

    `multipliers.draw` takes none to `MAX_POSITIONS` positions and their odds, all evenly.
    """
    may = positions(ranges, layout.areas())
    chance = Fraction(MAX_POSITIONS, 2) / len(may)
    returned = Fraction(0)
    for values in OUTCOMES:
        if area in Toss(values).areas(layout):
            line = line_won(area, values)
            odds = lines[line].odds
            if (area, values.count(int(area[-1])) if area in ONES else 0) in may:
                span = ranges[line]
                odds += chance * (Fraction(span.least + span.most, 2) - odds)
            returned += 1 + odds
    return 1 - returned / 216


def prices(profile: Profile, table: str) -> Iterator[Price]:
    """Yield one price per kind of wager: a representative area of each, in layout order."""
    layout, lines = layout_of(profile), profile.payout.tables[table]
    ranges = profile.multipliers.ranges
    kinds = {"triple": "three of a kind", "double": "two of a kind", "pair": "two dice combination"}
    seen: set[str] = set()
    for area in layout.areas():
        kind = area if area.startswith(("total-", "any-")) else area.split("-")[0]
        if kind in seen:
            continue
        seen.add(kind)
        ways = sum(area in Toss(values).areas(layout) for values in OUTCOMES)
        printed = tuple(lines[line].printed for line in lines_of(area))
        name = {"one": "one of a kind", "any-triple": "any three of a kind"}.get(kind)
        yield Price(
            wager=name or kinds.get(kind) or kind.replace("total-", "total "),
            area=area,
            odds=printed,
            ways=ways,
            edge=edge(area, layout, lines),
            edge_as_printed=edge(area, layout, lines, as_printed=True),
            edge_multiplied=edge_multiplied(area, layout, lines, ranges) if ranges else None,
        )
