"""The betting areas as data: which values win each, by which lamp it is lit, what pays it.

Owns the vocabulary of a layout file (`layout.toml` has it in words), the areas of Sic Bo, and what
three values win. Lamp box, odds and report follow it. Must not know what a line of the paytable
pays, or registers.

An area has a short stable word (`small`, `triple-4`, `pair-2-5`). Total 3 and total 18 have none:
no paytable lists them.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from shaker_ctl.rules.outcome import FACES, Area, Values, is_values

MULTISETS: tuple[Values, ...] = tuple(
    (a, b, c) for a, b, c in combinations_with_replacement(FACES, 3)
)
"""All outcomes but for the order of the dice, lowest die first."""

OWN_LAMPS = range(52, 64)
"""Lamps for areas of a house; those below are of Sic Bo's own (lamp/REGISTERS.md)."""

Face = Annotated[int, Field(ge=1, le=6)]
Total = Annotated[int, Field(ge=3, le=18)]


class OnTriple(Enum):
    """What three of a kind does to an area, where a text says so."""

    WIN = "win"
    LOSE = "lose"
    NOT_OFFERED = "not_offered"


class AreaRule(BaseModel):
    """One area. It wins where all of its conditions hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lamp: Annotated[int, Field(ge=0, lt=64)]
    pays: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    total: tuple[Total, Total] | None = None
    parity: Literal["even", "odd"] | None = None
    shows: Annotated[tuple[Face, ...], Field(max_length=3)] = ()
    among: tuple[Face, ...] = ()
    different: Annotated[int, Field(ge=1, le=3)] | None = None
    on_triple: (
        Literal["small_big_on_triple", "even_odd_on_triple", "two_of_a_kind_on_triple"] | None
    ) = None
    clause: str = ""

    @model_validator(mode="after")
    def _makes_sense(self) -> AreaRule:
        ways = sum(map(self.wins, MULTISETS))
        if ways in (0, len(MULTISETS)):
            raise ValueError(f"{'every toss wins' if ways else 'no toss wins'}")
        if len(self.pays) == 2 or (len(self.pays) == 3 and len(self.shows) != 1):
            raise ValueError("`pays` has three lines where `shows` has one face, else one line")
        return self

    def wins(self, values: Values) -> bool:
        """Whether these values are what the area says."""
        low, high = self.total or (3, 18)
        return (
            low <= sum(values) <= high
            and self.parity in (None, ("even", "odd")[sum(values) % 2])
            and all(values.count(face) >= self.shows.count(face) for face in self.shows)
            and set(values) <= set(self.among or FACES)
            and self.different in (None, len(set(values)))
        )

    def line(self, values: Values) -> str:
        """Return the line of the paytable by which winning `values` are paid."""
        return self.pays[values.count(self.shows[0]) - 1 if len(self.pays) == 3 else 0]


SIC_BO: Mapping[Area, AreaRule] = TypeAdapter(dict[Area, AreaRule]).validate_python(
    tomllib.loads(Path(__file__).with_name("layout.toml").read_text("utf-8"))
)

AREAS: tuple[Area, ...] = tuple(SIC_BO)
"""All 52 areas in canonical order: the index is the lamp's bit."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The areas that a table offers."""

    on_triple: Mapping[str, OnTriple]
    """What the profile says about three of a kind, by the key of `wagers`."""
    own: Mapping[Area, AreaRule] = field(default_factory=dict)
    """Areas of the house."""

    @cached_property
    def rules(self) -> Mapping[Area, AreaRule]:
        """Every area that has a lamp, offered or not, in the order of the lamps."""
        every = {**SIC_BO, **self.own}
        return dict(sorted(every.items(), key=lambda each: each[1].lamp))

    @cached_property
    def areas(self) -> tuple[Area, ...]:
        """The areas on the layout, in the order of the lamps."""
        return tuple(
            area
            for area, rule in self.rules.items()
            if self._on_triple(rule) is not OnTriple.NOT_OFFERED
        )

    @cached_property
    def _won(self) -> dict[Values, frozenset[Area]]:
        return {}

    def won(self, values: Values) -> frozenset[Area]:
        """Return every area that wins: the lamps to light, no more and no fewer.

        Raises ValueError when there are not exactly three values of 1 to 6.
        """
        found = self._won.get(values)
        if found is None:
            if not is_values(values):
                raise ValueError(f"a toss is three values of 1 to 6, not {values!r}")
            found = frozenset(area for area in self.areas if self._wins(area, values))
            self._won[values] = found
        return found

    def _wins(self, area: Area, values: Values) -> bool:
        rule = self.rules[area]
        loses = len(set(values)) == 1 and self._on_triple(rule) is OnTriple.LOSE
        return rule.wins(values) and not loses

    def _on_triple(self, rule: AreaRule) -> OnTriple:
        return self.on_triple[rule.on_triple] if rule.on_triple else OnTriple.WIN

    # ── Lamps ───────────────────────────────────────────────────────────────

    def mask(self, areas: Iterable[Area]) -> int:
        """Return the lamp mask: bit n is set when the area of lamp n is among `areas`."""
        return sum(1 << self.rules[area].lamp for area in areas)

    def named(self, mask: int) -> frozenset[Area]:
        """Return the areas of a lamp mask. Raises ValueError on a lamp that no area has."""
        found = frozenset(area for area, rule in self.rules.items() if mask >> rule.lamp & 1)
        if self.mask(found) != mask:
            raise ValueError(f"lamp mask {mask:#x} has lamps that no area has")
        return found

    def in_order(self, areas: Iterable[Area]) -> tuple[Area, ...]:
        """Return areas in the order of their lamps."""
        return tuple(sorted(areas, key=lambda area: self.rules[area].lamp))

    @cached_property
    def digest(self) -> bytes:
        """What the house's own areas light, in 8 bytes; all 0 where it has none.

        SHA-256 over their masks for each of `MULTISETS`: a box that lights the same has the same.
        """
        if not self.own:
            return bytes(8)
        masks = (self.mask(self.won(values) & self.own.keys()) for values in MULTISETS)
        return hashlib.sha256(b"".join(mask.to_bytes(8, "big") for mask in masks)).digest()[:8]


def sic_bo(even_odd: str = "not_offered", doubles: str = "win") -> Layout:
    """Return the layout of Sic Bo: 50 areas, or 52 with Even and Odd."""
    return Layout(
        {
            "small_big_on_triple": OnTriple.LOSE,
            "even_odd_on_triple": OnTriple(even_odd),
            "two_of_a_kind_on_triple": OnTriple(doubles),
        }
    )


def lines_of(area: Area) -> tuple[str, ...]:
    """Return the lines that may carry a multiplier: none of an area of the house."""
    return SIC_BO[area].pays if area in SIC_BO else ()


def dice_of(area: Area, values: Values) -> int:
    """Return how many dice show the face by whose number the area is paid; 0 for all others."""
    rule = SIC_BO.get(area)
    return values.count(rule.shows[0]) if rule and len(rule.pays) == 3 else 0
