"""How a die lies, from the measured geometry of its top face.

Owns: edge, skew, lean and layer of a top face under the calibration, and the limits beyond which a
die does not lie flat. Must not know the model's opinion of flatness (`flat_p`): the two are the
independent cues that a no roll needs.
"""

from __future__ import annotations

import numpy as np

from vision.calibration import Calibration
from vision.reading import Measured

LEAN_FAINT_DEG = 7.0
LEAN_NOT_FLAT_DEG = 10.8
"""Lean above the second is a cue against flat; above the first it is a faint hint that counts only
beside a clear cue of another kind. The network's estimate errs by a few
degrees: of 995 flat dice of the virtual rig half measured 2.9, 99 % below 7.8, the most 10.1. Dice
set up at 15° at the wall, leaning towards the lens, measured 7.7-9.0; what tells them from flat
are their side faces (`second_reader.sides`)."""

LEAN_SCALE_DEG = 10.3
"""Lean that weighs as much as one limit of the outline where all evidence is added up."""

LAYER_STACKED = 1.95
"""Height of the top face in dice, from its apparent size. On the virtual rig, white, red and blue
dice in three compartments: flat ones 0.85-1.64 (1,000 faces; the bright edge of a die spills a
tenth of a millimetre outward and makes all of them large), one flat on another 2.2-2.3."""

SKEW_NOT_FLAT = 0.12
"""Largest 0.09 among the same flat faces, where one edge was taken at the foot of a side face."""


def measure(corners_px: np.ndarray, lean: float, calibration: Calibration) -> Measured:
    """Measure a top face by its corners (4, 2) in frame pixels; `lean` is from `lean_deg`."""
    die = calibration.die_mm
    corners = calibration.to_mm(corners_px, die)
    edges = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    diagonals = np.linalg.norm(corners[2:] - corners[:2], axis=1)
    edge = float(edges.mean())
    opposite = (edges[:2] + edges[2:]) / 2
    skew = max(
        abs(opposite[0] - opposite[1]) / edge, abs(diagonals[0] - diagonals[1]) / diagonals.mean()
    )
    # Apparent size grows as 1 / distance from the lens. Both directions must have grown: where a
    # side face is as bright as the top, one of them may have been measured across both.
    narrow = max(float(opposite.min()), 1e-6)
    z = calibration.height_mm - (calibration.height_mm - die) * die / narrow
    return Measured(
        edge_mm=edge,
        skew=float(skew),
        lean_deg=lean,
        layer=z / die,
    )


def lean_deg(corners_px: np.ndarray, down_px: np.ndarray, calibration: Calibration) -> float:
    """Angle of the die's axis from upright, degrees.

    Where a flat die's bottom face must appear is known from the calibration; a die that leans has
    it elsewhere, by one edge times the sine of the angle.
    """
    die = calibration.die_mm
    top = np.asarray(corners_px, float).mean(axis=0)
    place = calibration.to_mm(top, die)[0]
    below = calibration.to_px(np.array([(place[0], place[1], 0.0)]))[0]
    off_px = np.asarray(down_px, float) - (below - top)
    reach_px = die * calibration.px_per_mm(die / 2)
    return float(np.degrees(np.arcsin(min(1.0, float(np.hypot(*off_px)) / reach_px))))


def is_not_flat(measured: Measured, most_lean_deg: float = LEAN_NOT_FLAT_DEG) -> bool:
    """True where lean, height or skew of the top face is a flat die's no more.

    `most_lean_deg`: the limit of the lean, another where a better measurement of it exists.
    """
    return (
        measured.lean_deg > most_lean_deg
        or measured.layer > LAYER_STACKED
        or measured.skew > SKEW_NOT_FLAT
    )
