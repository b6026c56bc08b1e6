"""Where the compartment is in the picture, if it is not at its calibrated place.

Owns the distinction between a camera that was moved and a view that is blocked: if the camera was
moved, the whole rim is visible at another place. Must not know what follows. The search is slow (a
fifth of a second), so it runs only if a picture shows too little of the rim at its place.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from vision.calibration import Calibration
from vision.table.rim import MIN_SEEN, TOLERANCE_MM, Rim

REACH_PX = 96
"""Largest shift of a moved camera that is searched, pixels, in each direction. A larger shift takes
the compartment out of the picture."""

STEP_PX = 16
"""Distance between two places that are tried, pixels. Each finds a rim within 22 pixels."""

_STEPS_PX = range(-REACH_PX, REACH_PX + 1, STEP_PX)

_OFFSETS_PX = sorted(
    ((x, y) for x in _STEPS_PX for y in _STEPS_PX), key=lambda offset: math.hypot(*offset)
)
"""Places around a calibrated one, to the right and down, nearest first; the first is that one."""


def _rim_near(camera: Calibration, image: np.ndarray) -> np.ndarray | None:
    """Where the rim is beside its place by `camera`, (3,) as of `Rim.shift`; None if no
    whole rim is so near."""
    shift, seen = Rim(camera).shift(image)
    if shift is None or float(np.abs(shift).max()) > STEP_PX or seen < MIN_SEEN:
        return None
    return shift


class RimSearch:
    """Looks for the compartment's rim around its calibrated place."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._next = 1

    def look(self, image: np.ndarray) -> float | None:
        """Try the next place, nearest first, in this picture, (H, W, 3) uint8 BGR of the calibrated
        size. Returns how far from its calibrated place the rim is seen whole, pixels; None: not
        there, or where it must be (a place nearby finds a rim that stands where it must, too).
        """
        x, y = _OFFSETS_PX[self._next % len(_OFFSETS_PX)]
        self._next += 1
        u, v = self._calibration.centre_px
        tried = replace(self._calibration, centre_px=(u + x, v + y))
        shift = _rim_near(tried, image)
        if shift is None:
            return None
        away = float(np.hypot(x + shift[0], y + shift[1]))
        return away if away > TOLERANCE_MM * self._calibration.floor_px_per_mm else None

    def restart(self) -> None:
        """Begin again with the nearest place."""
        self._next = 1  # The first is the calibrated place itself.
