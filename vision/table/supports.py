"""What in sight could hold up one side of a die and hide it: a neighbour, or the wall.

Owns: the places where such a support stands. Must not know what a witness is worth.

A die whose one side rests on something leans away from it. The side face that shows the lean then
looks into the gap between both. No outline and no side face is seen there, so these witnesses say
the same of a flat die and of a leaning one. What can be seen is the gap: two sides that are
parallel, as far apart as the top of a die that leans moves away from what it rests on. Their pips
tell where the tops are: a network's corners err by a third of such a gap.

Nothing is held up by a neighbour if the floor itself is seen in that gap: a leaning die's side face
fills it. At the wall the die's own top hides the gap; there the side face on the far side tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.parameters import Limits
from vision.quads import SQUARE, apart_deg, turn_matrices
from vision.reading import DieEvidence, GeometryReading, Scene


def may_rest_on(die: DieEvidence, dice: Sequence[DieEvidence], scene: Scene, limits: Limits) -> str:
    """`a neighbour` or `the wall`, if it stands so; empty: nothing does."""
    vote = die.second
    if vote is None or vote.value is None or not vote.floor_mm:
        return ""
    if vote.through > -limits.sides_lean:  # the far face of a clear die is where it lies flat
        return ""
    own = _top_mm(vote, scene.die_mm)
    low, high = limits.lean_gap_mm
    for other in (each.second for each in dice if each is not die):
        if other is None or apart_deg(vote.turn_deg, other.turn_deg) > limits.lean_gap_deg:
            continue
        gaps = _gaps(own, _top_mm(other, scene.die_mm))
        for (gap_mm, share), floor_mm in zip(gaps, vote.floor_mm, strict=True):
            is_seen = floor_mm < gap_mm - limits.bare_gap_mm
            if low < gap_mm < high and share > limits.lean_gap_share and not is_seen:
                return "a neighbour"
    return "the wall" if _rests_on_wall(vote, own, scene, limits) else ""


def _top_mm(vote: GeometryReading, die_mm: float) -> np.ndarray:
    """(4, 2) corners of the top face."""
    turned = turn_matrices(np.radians([vote.turn_deg]))[0]
    # Clockwise from the first corner of the side that faces where the die's turn points.
    square = np.roll(SQUARE, -1, axis=0) * die_mm / 2
    return np.asarray(square @ turned + (vote.x_mm, vote.y_mm))


def _gaps(own: np.ndarray, other: np.ndarray) -> list[tuple[float, float]]:
    """Per side of (4, 2) corners: how far outside of it the nearest side of the other quadrilateral
    is, in the middle of where both are, and on what share of the own side that is."""
    found = []
    for a, b in zip(own, np.roll(own, -1, axis=0), strict=True):
        length = np.linalg.norm(b - a)
        along = (b - a) / length
        away = (other - a) @ (along[1], -along[0])
        near = np.argsort(away)[:2]
        at, away = (other[near] - a) @ along / length, away[near]
        begin, end = max(0.0, float(at.min())), min(1.0, float(at.max()))
        slope = (away[1] - away[0]) / (at[1] - at[0])
        found.append((float(away[0] + slope * ((begin + end) / 2 - at[0])), end - begin))
    return found


def _rests_on_wall(vote: GeometryReading, own: np.ndarray, scene: Scene, limits: Limits) -> bool:
    """True if a side of the die faces the wall from as far away as a lean leaves it, and the far
    side does not show what an upright die's does."""
    heading_deg = float(np.degrees(np.arctan2(vote.y_mm, vote.x_mm)))
    if not scene.wall_mm or apart_deg(heading_deg, vote.turn_deg) > limits.lean_gap_deg:
        return False
    low, high = limits.lean_gap_mm
    if not low < scene.wall_mm - float(np.hypot(*own.T).max()) < high:
        return False
    far = (round((heading_deg - vote.turn_deg) / 90.0) + 2) % len(own)
    return vote.floor_mm[far] <= min(vote.floor_mm) + limits.bare_far_mm
