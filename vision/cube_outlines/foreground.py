"""What in the compartment is not floor.

Owns: the compartment at reduced size, each pixel's distance from the floor's colour (`floor`), and
whether two frames show the same. Must not know what a die looks like.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.floor import MIN_STEP, NEAR, Floor, FloorFit
from vision.quads import FINE, finely

SCALE = 2.0
"""Frame pixels per pixel of the view."""

_SHADOW_FLOOR = 0.42
"""Smallest brightness, as a share of the floor's, at which a pixel of the floor's colour is
shadow."""

_CHROMA_STEP = 7.0
"""Difference of the two colour axes, Lab levels, up to which a darker pixel is a shadow of the
floor."""
_MIN_SIDE = 8
"""Smallest side of the view, pixels: a calibration that shows no more is refused elsewhere."""
_SAME_STEP = 10
"""Largest difference of a colour channel, as a mean over 5 × 5 pixels of the view, between two
frames that show the same. Of 200 pairs of the rig the largest was 7. A pip is as wide as this mean
and stands out by 20 at least."""


def fill(canvas: np.ndarray, outline: np.ndarray) -> None:
    """Fill an outline, (N, 2) pixels of a (h, w) uint8 canvas, with ones."""
    cv2.fillPoly(canvas, [finely(outline)], 1, cv2.LINE_8, FINE)


@dataclass(frozen=True, slots=True, eq=False)
class Foreground:
    """The compartment at reduced size: what stands on the floor."""

    distance: np.ndarray
    """(h, w) float32: distance from the floor's colour in steps; above 1 it is something else."""
    mask: np.ndarray
    """(h, w) uint8, 0 or 255, holes filled, inside the floor's circle only."""
    inside: np.ndarray
    """(h, w) bool: inside the floor's circle."""
    origin: tuple[int, int]
    """Pixel of the frame at the corner of this view."""
    floor: Floor
    picture: np.ndarray
    """(h, w, 3) uint8 BGR: what the frame shows here."""

    def to_view(self, points_px: np.ndarray) -> np.ndarray:
        """(..., 2) frame pixels to pixels of this view."""
        return (np.asarray(points_px) + 0.5 - self.origin) / SCALE - 0.5

    def whole(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whole pixels of this view, inside it, next to its (x, y)."""
        height, width = self.inside.shape
        column, row = (x + 0.5).astype(np.intp), (y + 0.5).astype(np.intp)
        return (
            np.minimum(np.maximum(column, 0), width - 1),
            np.minimum(np.maximum(row, 0), height - 1),
        )

    def to_frame(self, points: np.ndarray) -> np.ndarray:
        """(..., 2) pixels of this view to frame pixels."""
        return (np.asarray(points) + 0.5) * SCALE + self.origin - 0.5


class FloorView:
    """Everything about the compartment that does not change from frame to frame."""

    def __init__(self, calibration: Calibration) -> None:
        radius = calibration.compartment_radius_mm
        rim = calibration.circle_px(radius)
        # The tops of dice at the rim, and of one on top of another, reach beyond the floor.
        rows, columns = calibration.around()
        self.origin = x0, y0 = columns.start, rows.start
        self.die_area = (calibration.die_px / SCALE) ** 2
        """Of a flat die's top face, pixels of the view."""
        width, height = (
            max(_MIN_SIDE, int((each.stop - each.start) / SCALE)) for each in (columns, rows)
        )
        self.size = width, height
        self.crop = np.s_[y0 : y0 + int(height * SCALE), x0 : x0 + int(width * SCALE)]
        disc = np.zeros((height, width), np.uint8)
        fill(disc, (rim + 0.5 - self.origin) / SCALE - 0.5)
        # The seam between floor and wall is neither.
        self.inside = np.asarray(cv2.erode(disc, NEAR) > 0)
        self._floor = FloorFit(
            self.inside,
            radius * calibration.floor_px_per_mm / SCALE,
            # Half a die's diagonal: the widest circle inside three dice that touch is smaller.
            float(np.hypot(0.5, 0.5)) * calibration.die_px / SCALE,
        )

    def shrink(self, image: np.ndarray) -> np.ndarray:
        """(h, w, 3): a (H, W, 3) uint8 BGR frame of the calibrated size in this view."""
        return np.asarray(cv2.resize(image[self.crop], self.size, interpolation=cv2.INTER_AREA))

    def separate(self, picture: np.ndarray, before: Foreground | None = None) -> Foreground:
        """Find what is not floor in a picture that `shrink` made. `before`: of an earlier frame
        that shows the same in the same light; floor and mask are that frame's."""
        lab = cv2.cvtColor(picture, cv2.COLOR_BGR2Lab)
        floor = self._floor.fit(lab) if before is None else before.floor
        seen = [plane.astype(np.float32) for plane in cv2.split(lab)]
        lightness, a, b = (s - f for s, f in zip(seen, floor.lab, strict=True))
        distance = cv2.magnitude(lightness, np.float32(1.6) * cv2.magnitude(a, b))
        distance *= np.float32(1.0 / max(MIN_STEP, 4.0 * floor.spread))
        self._spare_shadows(distance, lightness, seen, floor)
        distance = cv2.GaussianBlur(distance, (3, 3), 0)
        return Foreground(
            distance=distance,
            mask=self._solid(distance) if before is None else before.mask,
            inside=self.inside,
            origin=self.origin,
            floor=floor,
            picture=picture,
        )

    @staticmethod
    def _spare_shadows(
        distance: np.ndarray, lightness: np.ndarray, seen: list[np.ndarray], floor: Floor
    ) -> None:
        """Lessen the distance of shadows. A shadow darkens the floor and shrinks its chroma in
        proportion."""
        light = np.maximum(floor.lab[0], 1.0)
        shrink = seen[0] / light
        tint_a, tint_b = ((seen[k] - 128) - shrink * (floor.lab[k] - 128) for k in (1, 2))
        chroma_step = max(_CHROMA_STEP, 3.0 * floor.spread)
        is_shadow = tint_a * tint_a + tint_b * tint_b < np.float32(chroma_step**2)
        is_shadow &= (lightness < 0) & (seen[0] > _SHADOW_FLOOR * light)
        cv2.copyTo(distance * np.float32(0.35), is_shadow.view(np.uint8), distance)

    def _solid(self, distance: np.ndarray) -> np.ndarray:
        thick = ((distance > 1.0) & self.inside).astype(np.uint8) * 255
        raw = cv2.morphologyEx(thick, cv2.MORPH_OPEN, NEAR)
        contours, _ = cv2.findContours(raw, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        solid = np.zeros_like(raw)
        cv2.drawContours(solid, contours, -1, 255, cv2.FILLED)
        return solid


def shows_the_same(before: Foreground, picture: np.ndarray) -> bool:
    """True if a picture that `FloorView.shrink` made differs from an earlier frame only by
    grain."""
    change = cv2.blur(cv2.subtract(picture, before.picture, dtype=cv2.CV_16S), (5, 5))
    return bool(np.abs(change).max() <= _SAME_STEP)
