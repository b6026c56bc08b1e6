"""What each witness says of how a die lies, as log-odds of flat against not flat.

Owns: the two witnesses, and how their measurements become odds. Must not know frames, rules of a
verdict, or how anything was measured. The weights stand in `vision.parameters`.

- `looks`: how the die looks to both networks, by a logistic regression
- `height`: whether its pips are as high as those of the table's flat dice, by the second lens

They share nothing but the left picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from vision.parameters import LIMITS, Limits
from vision.reading import DieEvidence, Height, NetworkReading, Witness
from vision.taught.heights import LIKENESS, UsualHeight

LOOKS, HEIGHT = "looks", "height"

_MOST = 12.0
"""Odds; a network that is wild says no more for flat or against it."""
_LEAST_ALIKE = 0.5
"""Likeness below which the height of pips says nothing at all."""
_MAX_LOOKS = 0.9526
"""Probability; what a network says beyond, even a broken one, counts no more."""


def combine(
    dice: Sequence[DieEvidence], usual: UsualHeight | None, limits: Limits = LIMITS
) -> tuple[DieEvidence, ...]:
    """The dice of a picture with what each witness says of them. `usual`: the height of the table's
    flat dice; None where it was not taught before two lenses."""
    return tuple(replace(die, witnesses=tuple(_hear(die, usual, limits))) for die in dice)


def _hear(die: DieEvidence, usual: UsualHeight | None, limits: Limits) -> Sequence[Witness]:
    looks = 0.0 if die.model is None else _by_looks(die.model, limits)
    if usual is None:
        return [Witness(LOOKS, looks)]
    return [Witness(LOOKS, looks), Witness(HEIGHT, _by_height(die.height, looks, usual, limits))]


def _by_looks(model: NetworkReading, limits: Limits) -> float:
    """Without a near look the first look stands for it."""
    first = _log_odds(model.flat_p)
    near = first if model.near_p is None else _log_odds(model.near_p)
    features = (1.0, first, near, model.near_lean_deg or 0.0)
    odds = sum(weight * each for weight, each in zip(limits.looks, features, strict=True))
    return min(max(odds, -_MOST), _MOST)


def _log_odds(p: float) -> float:
    p = min(max(p, 1 - _MAX_LOOKS), _MAX_LOOKS)
    return math.log(p / (1 - p))


def _by_height(height: Height | None, looks: float, usual: UsualHeight, limits: Limits) -> float:
    """Nothing by pips that the two lenses show differently. Those of a die that leans are shown
    less alike: they count against a die that looks so."""
    if height is None or height.likeness < _LEAST_ALIKE:
        return 0.0
    odds = usual.odds(height, limits.height)
    if height.likeness >= LIKENESS:
        return odds
    return min(odds, 0.0) if looks < limits.leans else 0.0


def said_by(die: DieEvidence, name: str) -> float:
    """Odds of one of a die's witnesses; 0 where it says nothing."""
    return sum(witness.odds for witness in die.witnesses if witness.name == name)
