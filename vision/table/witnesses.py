"""What each witness says of how a die lies, as log-odds of flat against not flat.

Owns: the measurements that count, and how they become odds. Must not know frames, rules of a
verdict, or how anything was measured. The weights stand in `vision.parameters`.

There are six witnesses, and a seventh where the camera has two lenses:

- `looks`: how the die looks to both networks
- `top face`: squareness and height of the top face, from edges in the picture
- `outline`: whether an upright cube fits the die
- `pips`: whether the pips are in the middle of that cube's top
- `side faces`: whether they are as visible as an upright cube's, and whether the far face of a
  clear die shines through where an upright cube's does
- `contact`: whether anything in sight could hold the die up (`supports`); only against flat
- `height`: whether the pips are as high as on a flat die, by the second lens (`pip_heights`)

`looks` and `top face` are the networks' side. `outline`, `pips` and `side faces` are the second
reader's side. The two sides share only the picture. Each side has its own logistic regression
(`hil_tests.reader.flatness`). Dice that lean by 14° and more are left out, because any weights find
them. An outline is reliable only if the die stands out from the floor. So each measurement of an
outline has two weights: one for a die in full contrast, one for a die without contrast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from vision.parameters import LIMITS, Limits
from vision.quads import gap_px
from vision.reading import (
    DieEvidence,
    GeometryReading,
    Height,
    Measured,
    NetworkReading,
    Scene,
    Witness,
)
from vision.table.supports import may_rest_on
from vision.taught.heights import UsualHeight

LOOKS, TOP, OUTLINE, PIPS, SIDES, CONTACT, HEIGHT = (
    "looks", "top face", "outline", "pips", "side faces", "contact", "height",
)  # fmt: skip
NETWORKS, SECOND = (LOOKS, TOP), (OUTLINE, PIPS, SIDES)
NETWORK_FEATURES = (
    "looks", "skew", "above others", "looks, near", "lean, near", "below others",
)  # fmt: skip
OUTLINE_FEATURES = (
    "spread, seen well", "beyond, seen well", "pips off, seen well", "sides, seen well",
    "spread, unsure", "beyond, unsure", "pips off, unsure", "sides, unsure",
    "seen well", "both directions",
)  # fmt: skip
_NETWORK_SAYS = (LOOKS, LOOKS, TOP, TOP, LOOKS, LOOKS, TOP)
_OUTLINE_SAYS = (
    OUTLINE, OUTLINE, OUTLINE, PIPS, SIDES, OUTLINE, OUTLINE, PIPS, SIDES, OUTLINE, SIDES,
)  # fmt: skip
"""Whose witness each weight is, the constants' first."""

_MOST = 12.0
"""Odds; a witness, even one whose measurement is wild, says no more for flat or against it."""
_FULL_CONTRAST = 120.0
"""Grey levels between top face and floor from which an outline is worth all it can be."""
_MAX_LOOKS = 0.9526
"""Probability; what a network says beyond, even a broken one, counts no more."""
_MAX_SIDES = 8.0
"""Difference of log-likelihoods; what the side faces say beyond counts no more."""
_EVEN, _SHORT = 0.2, 0.3
"""How far above, and below, the others a flat die may seem, in dice, by nothing but noise. Of 4,592
flat dice of the rig 0.5 % seem 0.3 below; a face that leans is foreshortened and seems to lie
deeper: half of 196 dice at 16° to 25° seem 0.46 below or more."""


def network_features(model: NetworkReading, measured: Measured) -> np.ndarray:
    """(6,) What the networks' views of a die and the geometry of its top face say. Without a near
    look the first look stands for it."""
    looks = _log_odds(model.flat_p)
    height = max(measured.above - _EVEN, 0.0)
    short = max(-measured.above - _SHORT, 0.0)
    near = looks if model.near_p is None else _log_odds(model.near_p)
    lean_deg = measured.lean_deg if model.near_lean_deg is None else model.near_lean_deg
    return np.array([looks, measured.skew, height, near, lean_deg, short])


def _log_odds(p: float) -> float:
    p = min(max(p, 1 - _MAX_LOOKS), _MAX_LOOKS)
    return math.log(p / (1 - p))


def outline_features(vote: GeometryReading) -> np.ndarray:
    """(10,) What the second reader measured of a die."""
    stands_out = min(vote.contrast / _FULL_CONTRAST, 1.0) if vote.directions else 0.0
    outline = stands_out * min(vote.support, 1.0)
    spread = math.log(max(vote.spread_mm, 0.05))
    beyond = max(vote.beyond_mm, 0.0) - 1.0
    off = math.log(max(vote.offset, 0.005) / 0.02) if vote.offset else 0.0
    side = min(max(vote.sides, -_MAX_SIDES), _MAX_SIDES)
    seen = np.array([spread, beyond, off]) * outline
    unsure = np.array([spread, beyond, off]) * (1 - outline)
    return np.array(
        [*seen, side * stands_out, *unsure, side * (1 - stands_out),
         outline, float(vote.directions == 2)]
    )  # fmt: skip


def combine(
    dice: Sequence[DieEvidence],
    scene: Scene,
    limits: Limits = LIMITS,
    usual: UsualHeight | None = None,
) -> tuple[DieEvidence, ...]:
    """The dice of a picture with their neighbours, their heights beside each other's, and all
    witnesses on each. `usual`: the height of a taught table's flat dice."""
    layers = sorted(die.measured.layer for die in dice if die.measured is not None)
    middle = layers[(len(layers) - 1) // 2] if layers else 0.0
    nearest = limits.contact_gap_mm * scene.die_px / scene.die_mm
    touching = {
        (i, j)
        for i, j in combinations(range(len(dice)), 2)
        if gap_px(dice[i].corners, dice[j].corners) < nearest
    }
    full = []
    by_heights = _by_height(dice, limits) if usual is None else _by_usual(dice, usual, limits)
    for number, (die, by_height) in enumerate(zip(dice, by_heights, strict=True)):
        pairs = (pair for pair in touching if number in pair)
        beside = tuple(sorted(sum(pair) - number for pair in pairs))
        measured = die.measured
        if measured is not None:
            measured = replace(measured, above=measured.layer - middle)
        placed = replace(die, measured=measured, beside=beside)
        if usual is None:
            placed = replace(placed, may_rest_on=may_rest_on(placed, dice, scene, limits))
        full.append(replace(placed, witnesses=_hear(placed, limits, usual) + by_height))
    return tuple(full)


def _hear(die: DieEvidence, limits: Limits, usual: UsualHeight | None) -> tuple[Witness, ...]:
    odds = dict.fromkeys(NETWORKS if usual is not None else (*NETWORKS, *SECOND), 0.0)
    if die.model is not None and die.measured is not None:
        _add(odds, _NETWORK_SAYS, limits.network, network_features(die.model, die.measured))
    vote = die.second
    if usual is None and vote is not None and vote.value is not None:
        _add(odds, _OUTLINE_SAYS, limits.outline, outline_features(vote))
    # Without a value, there is no die whose lie the second reader could judge.
    witnesses = [Witness(name, min(max(value, -_MOST), _MOST)) for name, value in odds.items()]
    if usual is not None:
        return tuple(witnesses)
    return (*witnesses, Witness(CONTACT, limits.lean_gap if die.may_rest_on else 0.0))


def is_as_high_as_flat(height: Height | None, limits: Limits) -> bool:
    """True if both lenses show the pips of a die alike, and as high as a flat die's."""
    return (
        height is not None
        and height.likeness >= limits.height_likeness
        and abs(height.above) <= limits.height_above / 2
    )


def _by_height(dice: Sequence[DieEvidence], limits: Limits) -> list[tuple[Witness, ...]]:
    """The witness `height` of each die; empty if there is one lens. Heights speak for flat only if
    all dice of the picture are as high as flat ones. Else the right lens may not be where it was: a
    tenth of a millimetre there is half a one of height, and a turn raises one die and not another.
    """
    are_flat = all(is_as_high_as_flat(die.height, limits) for die in dice)
    most = limits.height if are_flat else 0.0
    heights = (die.height for die in dice)
    return [
        () if height is None else (Witness(HEIGHT, min(_height_odds(height, limits), most)),)
        for height in heights
    ]


def _by_usual(
    dice: Sequence[DieEvidence], usual: UsualHeight, limits: Limits
) -> list[tuple[Witness, ...]]:
    """The same at a taught table. Nothing by pips that the lenses show differently."""
    witnesses: list[tuple[Witness, ...]] = []
    for die in dice:
        odds = 0.0
        if die.height is not None and die.height.likeness >= limits.height_likeness:
            odds = usual.odds(die.height, limits.height)
        witnesses.append((Witness(HEIGHT, odds),))
    return witnesses


def _height_odds(height: Height, limits: Limits) -> float:
    """From all for flat to all against it, the higher the pips lie. Nothing by pips that the two
    lenses show differently, and nothing for flat by pips that rise along the face."""
    if height.likeness < limits.height_likeness:
        return 0.0
    odds = limits.height * (1 - abs(height.above) / limits.height_above)
    most = 0.0 if height.slope > 2 * limits.height_above else limits.height
    return min(max(odds, -limits.height), most)


def _add(
    odds: dict[str, float], says: Sequence[str], weights: Sequence[float], features: np.ndarray
) -> None:
    for name, weight, feature in zip(says, weights, (1.0, *features), strict=True):
        odds[name] += weight * float(feature)


def side_of(die: DieEvidence, names: Sequence[str]) -> float:
    """Odds of some of a die's witnesses together."""
    return sum(witness.odds for witness in die.witnesses if witness.name in names)


def farthest_below(die: DieEvidence, limits: Limits) -> Witness:
    """The witness that is farthest below what it says of a usual flat die."""
    usual = (*limits.usual, 0.0, limits.height)[: len(die.witnesses)]
    pairs = list(zip(die.witnesses, usual, strict=True))
    return min(pairs, key=lambda pair: pair[0].odds - pair[1])[0]
