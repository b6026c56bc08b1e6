"""Where the compartment is in the picture, if it is not at its calibrated place.

Owns the distinction between a camera that was moved and a view that is blocked: if the camera was
moved, the whole rim is visible at another place. Must not know what follows. The search is slow (a
fifth of a second), so it runs only if a picture shows too little of the rim at its place.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.table.quality import MIN_RIM_SEEN, RIM_TOLERANCE_MM, QualityGate

REACH_PX = 96
"""Largest shift of a moved camera that is searched, pixels, in each direction. A larger shift takes
the compartment out of the picture."""

STEP_PX = 16
"""Distance between two places that are tried, pixels. Each finds a rim within 22 pixels."""


class RimSearch:
    """Looks for the compartment's rim around its calibrated place."""

    def __init__(self, calibration: Calibration) -> None:
        steps = range(-REACH_PX, REACH_PX + 1, STEP_PX)
        by_distance = sorted(((x, y) for x in steps for y in steps), key=lambda o: np.hypot(*o))
        u, v = calibration.centre_px
        self._calibration = calibration
        self._next = 1
        self._tried = [((x, y), (u + x, v + y)) for x, y in by_distance]

    def look(self, image: np.ndarray) -> float | None:
        """Try the next place, nearest first, in this picture, (H, W, 3) uint8 BGR of the calibrated
        size. Returns how far from its calibrated place the rim is seen whole, pixels; None: not
        there, or where it must be (a place nearby finds a rim that stands where it must, too).
        """
        (x, y), centre = self._tried[self._next % len(self._tried)]
        self._next += 1
        gate = QualityGate(replace(self._calibration, centre_px=centre))
        shift, seen = gate.rim_shift(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
        if shift is None or float(np.abs(shift).max()) > STEP_PX or seen < MIN_RIM_SEEN:
            return None
        away = float(np.hypot(x + shift[0], y + shift[1]))
        return away if away > RIM_TOLERANCE_MM * self._calibration.floor_px_per_mm else None

    def restart(self) -> None:
        """Begin again with the nearest place."""
        self._next = 1  # The first is the calibrated place itself.
