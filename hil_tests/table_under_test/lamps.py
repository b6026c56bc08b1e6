"""The judge of lamps: what burnt, held against the dice as the physics knows them.

Owns which toss a moment of a round belongs to, and which areas its dice win. That count is the
rig's own and shares nothing with the table's rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hil_tests.rig.lamp_box.layout import names_of, own_areas, own_lamps, winning_lamps
from shaker_ctl.rules.outcome import Values

Dice = Sequence[Mapping[str, Any]]

EVEN_ODD = {"pa-625b"}
"""Profiles whose layout has `even` and `odd`."""

SAME_TOSS_S = 1.5
"""Between a toss's first record and the first move of the cam, on a busy machine; tosses are some
seconds apart."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Areas that burnt though the dice do not win there, and those that they win in the dark."""

    values: Values | None
    """What the dice show; None where they do not lie flat: then no lamp is right."""
    wrong: frozenset[str]
    missing: frozenset[str]

    @property
    def differs(self) -> frozenset[str]:
        return self.wrong | self.missing


def against_truth(burnt: Iterable[str], dice: Dice | None, profile: str) -> Judgement:
    """Hold the areas that burnt against dice as they came to lie; None for no toss.

    A triple lights two of a kind in every profile that is played here, and Even or Odd but in the
    house's own file, which `profile` is the path of.
    """
    lit, right, values = set(burnt), set[str](), values_of(dice or ())
    if values is not None:
        own = own_areas(Path(profile)) if profile.endswith(".toml") else {}
        areas = 52 if own or profile in EVEN_ODD else 50
        lamps = winning_lamps(
            values, areas=areas, double_on_triple=True, even_odd_on_triple=not own
        )
        right = {*names_of(lamps), *(name for name in own if own_lamps({name: own[name]}, values))}
    return Judgement(values, frozenset(lit - right), frozenset(right - lit))


def values_of(dice: Dice) -> Values | None:
    """The values, by the physics; None where not three dice lie flat, and no other."""
    if len(dice) != 3 or not all(die["flat"] for die in dice):
        return None
    first, second, third = dice
    return first["value"], second["value"], third["value"]


def toss_at(tosses: Iterable[dict[str, Any]], started_s: float | None) -> dict[str, Any] | None:
    """The toss that the physics began nearest to this moment of EN; None without one."""
    if started_s is None:
        return None
    near = min(tosses, key=lambda one: abs(one["t_start"] - started_s), default=None)
    return near if near is not None and abs(near["t_start"] - started_s) < SAME_TOSS_S else None
