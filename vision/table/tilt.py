"""How a die lies, from the measured geometry of its top face.

Owns: edge, skew, lean and layer of a top face under the calibration. Must not know the model's
opinion of flatness (`flat_p`), nor what the measurements are enough for.
"""

from __future__ import annotations

import numpy as np

from vision.calibration import Calibration
from vision.reading import Measured


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
