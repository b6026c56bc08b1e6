"""Whether anything in the compartment moved between two frames, and whether dice lie as before.

Owns: the proof of rest from pictures, and the comparison of poses before and after a toss. Must not
know dice values or exposure commands.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.quads import apart_deg

_SHRINK = 4
"""Side of a place, pixels of the frame: its mean has a quarter of their grain."""
_SOFTEN = 24.0
"""Added to grey levels before the logarithm, so that grain in the dark does not count."""
_SURROUNDINGS = 31, 5
"""Width and height, in places of 4 × 4 pixels, of what lies around a place: its mean change of the
logarithm is subtracted."""
_MOVED_STEP = 0.10
"""Smallest change of the logarithm that is not grain, after a change of the light is removed."""
_MOVED_PLACES = 7
"""Fewest changed places that count as motion. A die that slides by one pixel changes about 20."""
_MAX_SWAY = 0.25
"""Largest sway of the camera between two frames that is taken off, in places: one pixel."""
_EDGE, _EDGES = 0.05, 30
"""Least slope of the logarithm from place to place that is no grain, and how many such places of
the wall must tell of a sway: the rig's three compartments have some hundreds."""

SAME_PLACE_MM = 0.6
SAME_TURN_DEG = 2.5
"""Two poses that differ by less than both limits are one pose: of a die in two frames, or of a die
before and after a toss. The limits are three times the scatter of a resting die's readings. Above:
a real toss may count as none. Below: a die at rest may count as moved. By chance a tossed die keeps
its pose about once in 90,000 tosses on a plain floor. Ridges align dice: with 1.0 mm and 4° one
rough toss in about 80 was taken for none."""


class StillnessDetector:
    """Compares frames with earlier ones; one per camera."""

    def __init__(self, calibration: Calibration) -> None:
        rim = calibration.circle_px(calibration.compartment_radius_mm)
        self._crop = rows, columns = calibration.box_of(rim)
        spans = [side.stop - side.start for side in (columns, rows)]
        self._size = width, height = max(1, spans[0] // _SHRINK), max(1, spans[1] // _SHRINK)
        # (h, w) bool: places of a thumbnail that show the wall, where no die can be.
        u = columns.start + (np.arange(width) + 0.5) / width * spans[0]
        v = rows.start + (np.arange(height) + 0.5) / height * spans[1]
        places = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
        reached = calibration.to_mm(places, calibration.die_mm)
        is_wall = np.hypot(*reached.T) > calibration.compartment_radius_mm
        self._surround = is_wall.reshape(height, width)

    def thumbnail(self, image: np.ndarray) -> np.ndarray:
        """(h, w) float32 grey of the compartment, small enough that grain averages out."""
        small = cv2.resize(image[self._crop], self._size, interpolation=cv2.INTER_AREA)
        return cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32)

    def has_moved(self, before: np.ndarray, after: np.ndarray) -> bool:
        """True if anything moved between two thumbnails.

        A change of the light is no motion, not even one that a rolling shutter spreads over the
        rows: what is compared is each place relative to its surroundings. A camera that sways by a
        part of a pixel is none either: what the wall around the dice says of the sway is taken off.
        """
        ratio = self.light_ratio(before, after)
        if ratio <= 0:
            return True  # black where there was light: nothing says that the dice lie as before
        level = after / ratio
        was = np.log(before + _SOFTEN)
        change = np.log(level + _SOFTEN) - was
        change -= np.asarray(cv2.blur(change, _SURROUNDINGS))
        change -= self._swayed(was, change)
        return int((np.abs(change) > _MOVED_STEP).sum()) >= _MOVED_PLACES

    def _swayed(self, was: np.ndarray, change: np.ndarray) -> np.ndarray:
        """(h, w) the change that a sway of the whole picture makes; none where the wall around the
        dice has too few edges to tell, or says that it is more than a sway."""
        slopes = np.stack(np.gradient(was), axis=-1)
        told = self._surround & (np.hypot(*np.moveaxis(slopes, -1, 0)) > _EDGE)
        if told.sum() < _EDGES:
            return np.zeros_like(change)
        sway, *_ = np.linalg.lstsq(slopes[told], change[told], rcond=None)
        return np.asarray(slopes @ sway) if np.hypot(*sway) < _MAX_SWAY else np.zeros_like(change)

    @staticmethod
    def light_ratio(before: np.ndarray, after: np.ndarray) -> float:
        """Brightness of a thumbnail relative to an earlier one of the same scene."""
        lit = before > 12
        if lit.sum() < 50:
            return 1.0
        return float(np.median(after[lit] / before[lit]))


def poses_changed(
    before: Sequence[tuple[float, float, float]], after: Sequence[tuple[float, float, float]]
) -> int:
    """How many of the poses (x mm, y mm, turn in degrees mod 90) after are none of those before."""
    return sum(not any(is_same_pose(old, new) for old in before) for new in after)


def is_same_pose(a: tuple[float, float, float], b: tuple[float, float, float]) -> bool:
    is_near = np.hypot(a[0] - b[0], a[1] - b[1]) < SAME_PLACE_MM
    return bool(is_near and apart_deg(a[2], b[2]) < SAME_TURN_DEG)
