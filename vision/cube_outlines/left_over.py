"""What in the compartment is neither floor nor a die.

Owns: how much of it lies free, how much belongs to the wall, and when small marks crowd so much
that they are a chip's. Must not know how dice are found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.floor import NEAR
from vision.cube_outlines.foreground import SCALE, FloorView, Foreground

MIN_AREA = 0.12
"""Foreground smaller than this share of a die is dirt or grain."""
_CHIP_MM = 20.0
"""Radius of the largest chip: casinos' have 19.5 mm."""
_CROWD = 2.0
"""Standard deviations by which chance may crowd a floor's flecks under one chip. Of 29 flat tosses
on path-traced crumb rubber that were refused for their flecks 26 are not; 50 chips, screws and
labels of the rig are all refused."""
_FULL_STEPS = 2.2
"""Steps of colour from the floor at which a piece of foreground counts with its full area. A coin,
a ridge or a chip reaches 4 and more. A glint on the floor reaches 1.7 and counts with less."""
_RIDGE_DICE = 0.75
"""Largest distance, in dice, that a ridge or a rib stands out from the wall. A ridge of the rough
compartment has 0.67 with its shadow."""


class LeftOver:
    """Measures what the dice of one calibrated camera's pictures leave of the foreground."""

    def __init__(self, calibration: Calibration, view: FloorView) -> None:
        self._calibration = calibration
        self._die_area = view.die_area
        floor = view.inside.astype(np.uint8)
        self._rim = (floor - cv2.erode(floor, NEAR, iterations=2)) > 0
        self._near_rim = cv2.dilate(self._rim.astype(np.uint8), NEAR) > 0
        pixel_mm = SCALE / calibration.floor_px_per_mm
        self._from_wall_mm = pixel_mm * cv2.distanceTransform(floor, cv2.DIST_L2, cv2.DIST_MASK_5)

    def sizes(self, ground: Foreground, areas: Sequence[np.ndarray]) -> tuple[float, float]:
        """The largest piece that lies free, and the largest at the wall, in dice: see
        `SecondReading`. `areas`: (h, w) bool of the view, where each die is."""
        left = ground.mask.copy()
        for area in areas:
            left[area] = 0
        # The soft edges of dice leave a thin seam that is nothing.
        whole = np.asarray(cv2.morphologyEx(left, cv2.MORPH_OPEN, NEAR, iterations=2))
        largest = [0.0, 0.0]
        for size, box, piece in self._pieces(whole):
            if size < MIN_AREA:
                continue
            is_of_the_wall = (piece & self._rim[box]).any() and (
                self._from_wall_mm[box][piece].max() < _RIDGE_DICE * self._calibration.die_mm
            )
            place = int(is_of_the_wall)
            shown = size * min(1.0, _share_of_full(ground, box, piece)) ** 2
            largest[place] = max(largest[place], shown)
        return max(largest[0], self._scattered(ground, left)), largest[1]

    def _pieces(self, mask: np.ndarray) -> Iterator[tuple[float, tuple[slice, slice], np.ndarray]]:
        """Of each piece of a (h, w) uint8 mask its area, in dice; its box; and where it is in this
        box, bool."""
        left, top, width, height = cv2.boundingRect(mask)
        if not width:
            return  # as usual
        shown = mask[top : top + height, left : left + width]
        count, labels, stats, _ = cv2.connectedComponentsWithStats(shown)
        for i in range(1, count):
            x, y, w, h, area = stats[i].tolist()
            box = np.s_[top + y : top + y + h, left + x : left + x + w]
            yield area / self._die_area, box, labels[y : y + h, x : x + w] == i

    def _scattered(self, ground: Foreground, left: np.ndarray) -> float:
        """How much more of the small pieces of `left` (h, w) that lie free and stand out clearly is
        under one chip than chance puts there, in dice: the marks of a chip whose body has the
        floor's own colour. A floor may have flecks everywhere."""
        left = np.asarray(cv2.morphologyEx(left, cv2.MORPH_OPEN, NEAR))
        marks: list[tuple[float, float, float]] = []
        for area, box, piece in self._pieces(left):
            is_clear = area < MIN_AREA and _share_of_full(ground, box, piece) > 1.0
            if is_clear and not (piece & self._near_rim[box]).any():
                y, x = ((side.start + side.stop) / 2 for side in box)
                marks.append((x, y, area))
        if not marks:
            return 0.0
        at, areas = np.array(marks)[:, :2] / math.sqrt(self._die_area), np.array(marks)[:, 2]
        reach = _CHIP_MM / self._calibration.die_mm
        pairs = np.argwhere(np.linalg.norm(at[:, None] - at, axis=2) <= 2 * reach)
        is_under = np.linalg.norm(at[pairs].mean(axis=1)[:, None] - at, axis=2) <= reach
        most = int((is_under @ areas).argmax())
        under, elsewhere = areas[is_under[most]].sum(), areas[~is_under[most]]
        chip, floor = math.pi * reach**2, np.count_nonzero(ground.inside) / self._die_area
        share = chip / max(floor - chip, chip)
        # Chance crowds flecks somewhere. The sum of their areas is a compound Poisson sum.
        chance = _CROWD * math.sqrt(share * (elsewhere**2).sum())
        return float(under - share * elsewhere.sum() - chance)


def _share_of_full(ground: Foreground, box: tuple[slice, slice], piece: np.ndarray) -> float:
    """How far the clearest tenth of a piece stands out from the floor, in `_FULL_STEPS`."""
    return float(np.quantile(ground.distance[box][piece], 0.9)) / _FULL_STEPS
