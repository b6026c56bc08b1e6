"""Labels as the network is asked to give them: heat, shape numbers, values on two grids.

Owns: the encoding that `vision.networks.classifier.decode` undoes. Must not know where labels come
from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from models.training.layout import FLAT_DEG, NOT_FLAT_DEG
from vision.networks.classifier import FACE_STRIDE, PEAK_STRIDE
from vision.quads import edge_of

SHOWN = 0.6
"""A die whose top face is visible by at least this share has to be found."""

HIDDEN = 0.12
"""Below it, it has not. Between the two, either answer is accepted."""


@dataclass(slots=True)
class Mark:
    """One die in one training picture, after augmentation. Pixels of that picture."""

    corners: np.ndarray
    value: int
    """1..6, or 0 where unknown: then only the place is learnt."""

    flat: float
    """1 flat, 0 not, -1 unknown."""

    down: np.ndarray
    visible: float
    exact: bool = True
    """False: corners are a guess (a photograph's box); only the rough centre is learnt."""

    has_down: bool = True
    """False: `down` is unknown."""

    @property
    def edge(self) -> float:
        """Mean length of the sides of its top face."""
        return edge_of(self.corners)

    def moved(self, matrix: np.ndarray) -> Mark:
        """The mark in a picture that a (2, 3) matrix has moved."""
        turn = matrix[:, :2].T
        return replace(self, corners=self.corners @ turn + matrix[:, 2], down=self.down @ turn)


def flat_label(tilt_deg: float, stacked: bool) -> float:
    """1, 0 or -1 for the angles between."""
    if stacked or tilt_deg >= NOT_FLAT_DEG:
        return 0.0
    return 1.0 if tilt_deg <= FLAT_DEG else -1.0


def shape_numbers(corners: np.ndarray) -> tuple[float, complex, complex]:
    """Radius r, P and S of a face; see `vision/networks/classifier.py`."""
    points = corners[:, 0] + 1j * corners[:, 1]
    d1, d2 = (points[0] - points[2]) / 2, (points[1] - points[3]) / 2
    r = float(np.sqrt(max(abs(d1) * abs(d2), 1e-6)))
    product = d1 * d1 * d2 * d2 / r**4
    return r, complex(product / max(abs(product), 1e-9)), complex((d1 * d1 + d2 * d2) / r**2)


@dataclass(slots=True)
class Maps:
    """One picture's targets, float32, channels first."""

    heat: np.ndarray
    """(2, H/4, W/4): wanted heat, and weight (0 where either answer is accepted)."""

    shape: np.ndarray
    """(8, H/4, W/4): weight, then the seven geometry channels."""

    face: np.ndarray
    """(6, H/8, W/8): value weight, value − 1, flat weight, flat, geometry weight × down (2)."""

    down_weight: np.ndarray
    """(1, H/8, W/8)."""

    parts: np.ndarray
    """(H/8, W/8) int64: 0 floor and all else, 1 top face, 2 the rest of a die, 3 unknown."""


def encode(marks: list[Mark], height: int, width: int) -> Maps:
    """Targets for a picture of that size."""
    h4, w4 = height // PEAK_STRIDE, width // PEAK_STRIDE
    h8, w8 = height // FACE_STRIDE, width // FACE_STRIDE
    heat = np.zeros((2, h4, w4), np.float32)
    heat[1] = 1
    shape = np.zeros((8, h4, w4), np.float32)
    face = np.zeros((6, h8, w8), np.float32)
    down_weight = np.zeros((1, h8, w8), np.float32)
    for mark in marks:
        r, p, s = shape_numbers(mark.corners)
        x, y = mark.corners.mean(axis=0)
        if mark.visible < HIDDEN:
            continue
        if mark.visible < SHOWN:
            ys, xs = np.ogrid[:h4, :w4]
            away = np.hypot(xs + 0.5 - x / PEAK_STRIDE, ys + 0.5 - y / PEAK_STRIDE)
            heat[1][away < 0.8 * r / PEAK_STRIDE] = 0
            continue
        _spot(heat, x, y, r, mark)
        for grid, stride, reach in ((shape, PEAK_STRIDE, 2), (face, FACE_STRIDE, 1)):
            rows, columns = grid.shape[1:]
            cx, cy = int(x / stride), int(y / stride)
            for row in range(max(cy - reach, 0), min(cy + reach + 1, rows)):
                for column in range(max(cx - reach, 0), min(cx + reach + 1, columns)):
                    dx, dy = x / stride - column, y / stride - row
                    # Neighbouring cells of a small die may belong to the next die already.
                    if np.hypot(dx - 0.5, dy - 0.5) * stride > 0.6 * r + 1:
                        continue
                    near = float(np.exp(-((dx - 0.5) ** 2 + (dy - 0.5) ** 2) / 1.5))
                    if grid is shape:
                        if mark.exact and near > shape[0, row, column]:
                            shape[:, row, column] = (
                                near, dx, dy, np.log(r), p.real, p.imag, s.real, s.imag
                            )  # fmt: skip
                    elif near > face[0, row, column]:
                        face[0, row, column] = near if mark.value else 0
                        face[1, row, column] = max(mark.value - 1, 0)
                        face[2, row, column] = near if mark.flat >= 0 else 0
                        face[3, row, column] = max(mark.flat, 0)
                        face[4:6, row, column] = mark.down / r
                        down_weight[0, row, column] = near if mark.exact and mark.has_down else 0
    return Maps(heat, shape, face, down_weight, _parts(marks, h8, w8))


def _parts(marks: list[Mark], height: int, width: int) -> np.ndarray:
    """Which part of a die each cell shows; order of depth is unknown, top faces win."""
    fine = np.zeros((2 * height, 2 * width), np.uint8)
    scale = 16 * 2 / FACE_STRIDE
    for mark in marks:
        whole = np.concatenate([mark.corners, mark.corners + mark.down]).astype(np.float32)
        is_sure = mark.exact and mark.has_down
        hull = cv2.convexHull(whole * scale).astype(np.int32)
        cv2.fillConvexPoly(fine, hull, 2 if is_sure else 3, cv2.LINE_8, 4)
    for mark in marks:
        colour = 1 if mark.exact and mark.visible > SHOWN else 3
        quad = (mark.corners * scale).astype(np.int32)
        cv2.fillConvexPoly(fine, quad, colour, cv2.LINE_8, 4)
    if any(not (mark.exact and mark.has_down) for mark in marks):
        # Without knowing where a die ends, nothing around it is surely floor.
        fine[fine == 0] = 3
    return fine[1::2, 1::2].astype(np.int64)


def _spot(heat: np.ndarray, x: float, y: float, r: float, mark: Mark) -> None:
    """Raise the wanted heat around a centre: a bump whose width grows with the die."""
    sigma = max(0.75, 0.11 * r / PEAK_STRIDE) * (1.0 if mark.exact else 1.6)
    cx, cy = int(x / PEAK_STRIDE), int(y / PEAK_STRIDE)
    if not (0 <= cy < heat.shape[1] and 0 <= cx < heat.shape[2]):
        return
    reach = int(3 * sigma + 1)
    y0, y1 = max(cy - reach, 0), min(cy + reach + 1, heat.shape[1])
    x0, x1 = max(cx - reach, 0), min(cx + reach + 1, heat.shape[2])
    rows, columns = np.ogrid[y0:y1, x0:x1]
    bump = np.exp(-((columns - cx) ** 2 + (rows - cy) ** 2) / (2 * sigma**2))
    heat[0, y0:y1, x0:x1] = np.maximum(heat[0, y0:y1, x0:x1], bump)
    heat[0, cy, cx] = 1
