"""Three dice at rest, and the betting areas that they win.

Owns the die value, the toss, and the canonical order of the betting areas: lamp bit, odds table
and report all use it. Must not know images, confidence, or how the values were found.

An area is named by a short stable word (`small`, `triple-4`, `pair-2-5`, `total-10`, `one-6`). The
canonical order is the order of the lamps in the lamp controller's registers, bit 0 first. Total 3
and total 18 have no area: no paytable lists them.
"""

from __future__ import annotations

from itertools import combinations

from shaker_ctl.frozen import frozen

Values = tuple[int, int, int]
"""Top faces of the three dice, each 1 to 6. Order carries no meaning."""

Area = str
"""Name of a betting area; one of `AREAS`."""

FACES = range(1, 7)

SMALL: Area = "small"
BIG: Area = "big"
EVEN: Area = "even"
ODD: Area = "odd"
ANY_TRIPLE: Area = "any-triple"

TRIPLES: tuple[Area, ...] = tuple(f"triple-{n}" for n in FACES)
DOUBLES: tuple[Area, ...] = tuple(f"double-{n}" for n in FACES)
PAIRS: tuple[Area, ...] = tuple(f"pair-{low}-{high}" for low, high in combinations(FACES, 2))
TOTALS: tuple[Area, ...] = tuple(f"total-{n}" for n in range(4, 18))
ONES: tuple[Area, ...] = tuple(f"one-{n}" for n in FACES)

AREAS: tuple[Area, ...] = (
    *(SMALL, BIG, EVEN, ODD, ANY_TRIPLE),
    *(*TRIPLES, *DOUBLES, *PAIRS, *TOTALS, *ONES),
)
"""All 52 areas in canonical order: the index is the lamp's bit."""

BIT: dict[Area, int] = {area: bit for bit, area in enumerate(AREAS)}


def mask(areas: frozenset[Area]) -> int:
    """Return the lamp mask: bit n is set when `AREAS[n]` is among `areas`."""
    return sum(1 << BIT[area] for area in areas)


def areas_of(bits: int) -> frozenset[Area]:
    """Return the areas of a lamp mask. Raises ValueError on a bit that no area has."""
    if bits < 0 or bits >> len(AREAS):
        raise ValueError(f"lamp mask {bits:#x} has bits above {len(AREAS) - 1}")
    return frozenset(area for bit, area in enumerate(AREAS) if bits >> bit & 1)


@frozen
class Layout:
    """Which wagers a table offers, and how the two questions about triples are answered.

    A profile states all three with a reason; nothing here has a default.
    """

    even_odd: bool
    """Even and Odd are on the layout (52 areas instead of 50)."""
    even_odd_lose_on_triple: bool
    """Even and Odd lose on any three of a kind. Without meaning where `even_odd` is false."""
    double_wins_on_triple: bool
    """Two of a Kind also wins when all three dice show its number."""

    def areas(self) -> tuple[Area, ...]:
        """Return the areas on the layout, in canonical order."""
        return AREAS if self.even_odd else tuple(a for a in AREAS if a not in (EVEN, ODD))


@frozen
class Toss:
    """The values of three dice lying flat on the bottom.

    Raises ValueError when there are not exactly three values of 1 to 6.
    """

    values: Values

    def __post_init__(self) -> None:
        if len(self.values) != 3 or any(value not in FACES for value in self.values):
            raise ValueError(f"a toss is three values of 1 to 6, not {self.values!r}")

    @property
    def total(self) -> int:
        """Sum of the three top faces, 3 to 18."""
        return sum(self.values)

    @property
    def triple(self) -> int | None:
        """The number that all three dice show, or None."""
        first = self.values[0]
        return first if self.values.count(first) == 3 else None

    def areas(self, layout: Layout) -> frozenset[Area]:
        """Return every area of `layout` that wins: the lamps to light, no more and no fewer."""
        won: set[Area] = {f"one-{value}" for value in self.values}
        if 4 <= self.total <= 17:
            won.add(f"total-{self.total}")
        low_to_high = sorted(set(self.values))
        won.update(f"pair-{low}-{high}" for low, high in combinations(low_to_high, 2))
        if self.triple is not None:
            won.update((ANY_TRIPLE, f"triple-{self.triple}"))
            if layout.double_wins_on_triple:
                won.add(f"double-{self.triple}")
        else:
            won.add(SMALL if self.total <= 10 else BIG)
            won.update(f"double-{value}" for value in self.values if self.values.count(value) == 2)
        if layout.even_odd and not (self.triple and layout.even_odd_lose_on_triple):
            won.add(ODD if self.total % 2 else EVEN)
        return frozenset(won)


def is_values(values: tuple[int, ...]) -> bool:
    """True when `values` is what a toss can show: three whole numbers of 1 to 6."""
    return len(values) == 3 and all(value in FACES for value in values)
