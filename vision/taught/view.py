"""A picture rectified to the plane of the tops of flat dice, and the colour around its pixels.

Owns: the view, poses in it, and means over rings. Must not know dice but for their size.

A pose is (x, y, turn): the middle of a top face in pixels of the view, and its turn in radians, mod
π/2, clockwise in the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.quads import SQUARE, turn_matrices

EDGE_PX = 32
"""Edge of a flat die's top face in the view, pixels."""
HALF = 2
"""Pixels of the view to one of the view of half the size."""
_WALL = 0.02
"""Strip along the wall, in edges, that counts as wall."""

Poses = Sequence[np.ndarray] | np.ndarray
"""(3,) poses of several dice."""


class TopView:
    """The view under one calibration."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._mm = calibration.die_mm / EDGE_PX
        side = 2 * int(calibration.compartment_radius_mm / self._mm) + 2
        self._middle = (side - 1) / 2
        y, x = np.mgrid[:side, :side]
        at = (np.stack([x, y], axis=-1) - self._middle) * self._mm
        reach = calibration.compartment_radius_mm - _WALL * calibration.die_mm
        self.inside = np.hypot(at[..., 0], at[..., 1]) < reach
        """(side, side) bool: the compartment."""
        self.pixels = np.stack([x, y], axis=-1)
        seen = calibration.level_px(at, calibration.die_mm).astype(np.float32)
        self._map = seen[..., 0].copy(), seen[..., 1].copy()

    def show(self, image: np.ndarray) -> np.ndarray:
        """(side, side, 3) uint8: the view of a (H, W, 3) uint8 BGR frame."""
        shown = cv2.remap(image, *self._map, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(shown)

    @staticmethod
    def colours(seen: np.ndarray) -> np.ndarray:
        """(side, side, 3) float32, the 8-bit Lab colours of a view."""
        return cv2.cvtColor(seen, cv2.COLOR_BGR2Lab).astype(np.float32)

    @staticmethod
    def halved(lab: np.ndarray) -> np.ndarray:
        """A view of half the size."""
        side = len(lab) // HALF
        return np.asarray(cv2.resize(lab, (side, side), interpolation=cv2.INTER_AREA))

    def to_frame(self, points: np.ndarray) -> np.ndarray:
        """(N, 2) frame pixels of (N, 2) pixels of the view."""
        mm = (points - self._middle) * self._mm
        return self.calibration.level_px(mm, self.calibration.die_mm)

    def pose_of(self, corners: np.ndarray) -> np.ndarray:
        """(3,) The pose of a top face with these (4, 2) corners in frame pixels, clockwise."""
        mm = self.calibration.to_mm(corners, self.calibration.die_mm)
        along = (mm[1] - mm[0]) + (mm[2] - mm[3])
        x, y = mm.mean(axis=0) / self._mm + self._middle
        return np.array((x, y, np.arctan2(along[1], along[0]) % (np.pi / 2)))

    def to_mm(self, pose: np.ndarray) -> np.ndarray:
        """(2,) where the middle of a pose's top face is, mm."""
        return np.asarray((pose[:2] - self._middle) * self._mm)

    def square_mm(self, pose: np.ndarray, grown: float = 0.0) -> np.ndarray:
        """(4, 2) mm: the corners of a pose's square, `grown` by so many edges on each side."""
        half = (0.5 + grown) * self.calibration.die_mm
        return np.asarray(half * SQUARE @ turned(pose) + self.to_mm(pose))

    def corners_of(self, pose: np.ndarray) -> np.ndarray:
        """(4, 2) frame pixels of a pose's top face."""
        return self.calibration.level_px(self.square_mm(pose), self.calibration.die_mm)

    def foot_of(self, pose: np.ndarray, grown: float = 0.0) -> np.ndarray:
        """(4, 2) pixels of the view where an upright die's lower corners show."""
        px = self.calibration.level_px(self.square_mm(pose, grown))
        return self.calibration.to_mm(px, self.calibration.die_mm) / self._mm + self._middle

    def top_of(self, pose: np.ndarray, grown: float = 0.0) -> np.ndarray:
        """(4, 2) pixels of the view where its upper corners show."""
        return self.square_mm(pose, grown) / self._mm + self._middle

    def filled(self, points: np.ndarray) -> np.ndarray:
        """(side, side) bool: the convex outline of (N, 2) points of the view."""
        canvas = np.zeros(self.inside.shape, np.uint8)
        outline = cv2.convexHull(points.astype(np.float32))[:, 0]
        cv2.fillConvexPoly(canvas, np.rint(outline).astype(np.int32), 1)
        return canvas.view(bool)

    def covered(self, poses: Poses, grown: float = 0.0) -> np.ndarray:
        """(side, side) bool: where upright dice at these poses show."""
        canvas = np.zeros(self.inside.shape, bool)
        for pose in poses:
            both = np.concatenate([self.foot_of(pose, grown), self.top_of(pose, grown)])
            canvas |= self.filled(both)
        return canvas


def turned(pose: np.ndarray) -> np.ndarray:
    """(2, 2) for rows: from a die's own axes to the view's."""
    return np.asarray(turn_matrices(pose[None, 2])[0])


def ring_kernels(borders: Sequence[float], edge_px: float) -> list[np.ndarray]:
    """Kernels that take the mean over rings with these borders, edges, from 0 outward."""
    return [_ring(inner * edge_px, outer * edge_px) for inner, outer in pairwise(borders)]


def _ring(inner_px: float, outer_px: float) -> np.ndarray:
    reach = int(outer_px + 0.5)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    outer, inner = (np.clip(b - np.hypot(x, y) + 0.5, 0, 1) for b in (outer_px, inner_px))
    ring = outer - inner if inner_px else outer
    return np.asarray(ring / ring.sum(), np.float32)


def rings(picture: np.ndarray, kernels: Sequence[np.ndarray]) -> np.ndarray:
    """(h, w, 3 K) means over K rings around each pixel; all but the first less the first."""
    first, *others = (
        cv2.filter2D(picture, -1, kernel, borderType=cv2.BORDER_REPLICATE) for kernel in kernels
    )
    return np.concatenate([first, *(mean - first for mean in others)], axis=-1)


def sampled(field: np.ndarray, points: np.ndarray, outside: float = 0.0) -> np.ndarray:
    """(P, N) values of a (h, w) float32 field at (P, N, 2) points; beyond it lies `outside`."""
    x, y = np.moveaxis(points, -1, 0).astype(np.float32)
    return cv2.remap(
        field, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=outside
    )


def sampled_all(fields: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(..., K) values of (h, w, K) fields at (..., 2) points, all inside."""
    most = np.array(fields.shape[1::-1]) - 2
    at = np.clip(np.floor(points).astype(int), 0, most)
    (x, y), part = np.moveaxis(at, -1, 0), points - at
    u, v = np.clip(part[..., :1], 0, 1), np.clip(part[..., 1:], 0, 1)
    upper = fields[y, x] * (1 - u) + fields[y, x + 1] * u
    lower = fields[y + 1, x] * (1 - u) + fields[y + 1, x + 1] * u
    return np.asarray(upper * (1 - v) + lower * v)
