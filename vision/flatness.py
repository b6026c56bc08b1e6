"""How surely a die lies flat: each reader's measurements, weighed by what they proved worth.

Owns: the measurements that count, their weights, and the two sums. Must not know frames, rules for
verdicts, or how anything was measured.

Each reader's measurements of one die add up to a log-odds of flat against not flat, by weights
that a logistic regression found on dice of known lie (`hil_tests.contracts.flatness_bench`, which
also draws the plane that both sums span). The network's sum knows looks, lean, squareness and
height of the top face; the second reader's sum knows outline, pips and side faces. They share
nothing but the picture, so a die is called flat on the sum of both, and not flat only where either
says so by itself.

An outline is worth as much as the die stands out from the floor: where their colours are alike the
same numbers mean less, so every measurement of the second reader has two weights, one for dice in
full contrast and one for dice without any, and what is between is mixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vision.reading import Measured, ModelVote, SecondVote

NETWORK_FEATURES = ("looks", "lean", "lean squared", "skew", "above others")
OUTLINE_FEATURES = (
    "spread, seen well", "beyond, seen well", "pips off, seen well", "sides, seen well",
    "widest side, seen well", "spread, unsure", "beyond, unsure", "pips off, unsure",
    "sides, unsure", "seen well", "both directions",
)  # fmt: skip

_FULL_CONTRAST = 120.0
"""Grey levels between top face and floor from which an outline is worth all it can be."""
_MOST_LOOKS = 5.0
_EVEN = 0.2
"""Difference in height between flat dice of one picture, in dice, that is nothing but noise."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A constant and one weight for each feature, in units of log-odds."""

    constant: float
    each: tuple[float, ...]

    def sum(self, features: np.ndarray) -> float:
        return self.constant + float(np.dot(self.each, features))


def network_features(model: ModelVote, measured: Measured) -> np.ndarray:
    """(5,) What the network's view of a die and the geometry of its top face say."""
    p = min(max(model.flat_p, 1e-3), 1 - 1e-3)
    looks = min(max(math.log(p / (1 - p)), -_MOST_LOOKS), _MOST_LOOKS)
    lean = min(measured.lean_deg, 20.0) / 5.0
    skew = min(measured.skew, 0.3) / 0.1
    height = min(max(measured.above - _EVEN, 0.0), 2.0)
    return np.array([looks, lean, lean * lean, skew, height])


def outline_features(vote: SecondVote) -> np.ndarray:
    """(11,) What the second reader measured of a die."""
    stands_out = min(vote.contrast / _FULL_CONTRAST, 1.0) if vote.directions else 0.0
    outline = stands_out * min(vote.support, 1.0)
    spread = math.log(min(max(vote.spread_mm, 0.05), 4.0) / 0.3)
    beyond = min(max(vote.beyond_mm, 0.0), 6.0) - 1.0
    off = math.log(min(max(vote.offset, 0.005), 0.3) / 0.02)
    side = min(max(vote.sides, -8.0), 8.0) / 4.0
    wide = min(max(vote.sides_beyond_mm, -1.0), 4.0)
    seen = np.array([spread, beyond, off]) * outline
    unsure = np.array([spread, beyond, off]) * (1 - outline)
    return np.array(
        [*seen, side * stands_out, wide * stands_out, *unsure, side * (1 - stands_out),
         outline, float(vote.directions == 2)]
    )  # fmt: skip


NETWORK = Weights(2.244, (0.431, -1.334, -0.204, -2.900, -1.443))
OUTLINE = Weights(
    0.250, (-0.297, -0.342, 0.070, 1.876, -0.366, -0.413, -0.836, 0.277, 0.086, -0.280, 0.324)
)

FLAT_SUM = 2.5
FLAT_LEAST = (0.0, -1.0)
NOT_FLAT_SUM = -3.0
NETWORK_SEES_FLAT = 0.5
NOT_FLAT_MOST = (-0.5, -0.5)


def is_flat(network: float, outline: float) -> bool:
    """True if both sums together leave no doubt, and neither is against it by itself."""
    return network + outline > FLAT_SUM and network > FLAT_LEAST[0] and outline > FLAT_LEAST[1]


def is_not_flat(network: float, outline: float) -> bool:
    """True if both say so, each by itself: two independent cues."""
    return (
        network + outline < NOT_FLAT_SUM
        and network < NOT_FLAT_MOST[0]
        and outline < NOT_FLAT_MOST[1]
    )
