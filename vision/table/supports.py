"""What in sight could hold up one side of a die and hide it: a neighbour, or the wall.

Owns: the places where such a support stands. Must not know what a witness is worth.

A die whose one side rests on something leans away from it. The side face that shows the lean then
looks into the gap between both. No outline and no side face is seen there, so these witnesses say
the same of a flat die and of a leaning one. What can be seen is the gap: two sides that are
parallel, as far apart as the top of a die that leans moves away from what it rests on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.parameters import Limits
from vision.reading import DieEvidence, Scene


def may_rest_on(die: DieEvidence, dice: Sequence[DieEvidence], scene: Scene, limits: Limits) -> str:
    """`a neighbour` or `the wall`, if it stands so; empty: nothing does."""
    low, high = limits.lean_gap_mm
    px_per_mm = scene.die_px / scene.die_mm
    for other in dice:
        if other is die or _apart_deg(die.turn_deg, other.turn_deg) > limits.lean_gap_deg:
            continue
        for gap_px, share in _gaps(np.array(die.corners), np.array(other.corners)):
            if low < gap_px / px_per_mm < high and share > limits.lean_gap_share:
                return "a neighbour"
    return "the wall" if _is_at_wall(die, scene, limits) else ""


def _gaps(own: np.ndarray, other: np.ndarray) -> list[tuple[float, float]]:
    """Per side of (4, 2) corners: how far outside of it the other quadrilateral begins, pixels, and
    on what share of the side it is."""
    found = []
    for a, b in zip(own, np.roll(own, -1, axis=0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        out = np.array((along[1], -along[0]))
        out *= np.sign(out @ ((a + b) / 2 - own.mean(axis=0)))
        at = (other - a) @ along / np.linalg.norm(b - a)
        share = min(1.0, float(at.max())) - max(0.0, float(at.min()))
        found.append((float(((other - a) @ out).min()), share))
    return found


def _is_at_wall(die: DieEvidence, scene: Scene, limits: Limits) -> bool:
    """True if a side of the die faces the wall from as far away as a lean leaves it."""
    heading_deg = float(np.degrees(np.arctan2(die.y_mm, die.x_mm)))
    if not scene.wall_mm or _apart_deg(heading_deg, die.turn_deg) > limits.lean_gap_deg:
        return False
    half = scene.die_mm / 2
    middle = np.array((die.x_mm, die.y_mm))
    turn = np.radians(die.turn_deg)
    axes = half * np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))))
    reach = max(
        float(np.hypot(*(middle + u * axes[0] + v * axes[1]))) for u in (-1, 1) for v in (-1, 1)
    )
    low, high = limits.lean_wall_mm
    return low < scene.wall_mm - reach < high


def _apart_deg(a: float, b: float) -> float:
    """Angle between two squares, degrees, 0..45."""
    return abs((a - b + 45.0) % 90.0 - 45.0)
