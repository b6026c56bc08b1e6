"""Plane geometry of quadrilaterals: which belong together, how they are turned, how far apart.

Owns: squares in the plane, and when two of them are one top face. Must not know readers. All points
are (x, y) in one picture's pixels.
"""

from __future__ import annotations

import cmath
import math

import cv2
import numpy as np

FINE = 4
"""Binary digits of a pixel to which drawn outlines are exact."""


def finely(points: np.ndarray) -> np.ndarray:
    """(N, 2) int32: pixels, as OpenCV draws them with so many binary digits."""
    return np.asarray(np.round(points * 2**FINE).astype(np.int32))


SAME_FACE = 0.42
"""Largest distance between the middles of two findings of one top face, in its edges."""


def match(a: np.ndarray, b: np.ndarray, within: np.ndarray) -> dict[int, int]:
    """Pairs of points (N, 2) and (M, 2) nearest to each other first, each used once. `within`,
    (N,): how near a point must be to each of `a`."""
    pairs: dict[int, int] = {}
    away = np.linalg.norm(a[:, None] - b[None], axis=2)
    for flat in np.argsort(away, axis=None):
        i, j = divmod(int(flat), len(b))
        if away[i, j] <= within[i] and i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
"""Corners of a square, clockwise in the picture, in half edges from its middle."""


def sides_of(corners: np.ndarray) -> np.ndarray:
    """(..., 4, 2) of (..., 4, 2): the way from each corner to the next."""
    following = np.concatenate([corners[..., 1:, :], corners[..., :1, :]], axis=-2)
    return np.asarray(following - corners)


def edge_of(corners: np.ndarray) -> float:
    """Mean length of the sides of (4, 2) corners."""
    points = corners.tolist()  # numpy takes ten times as long for four points
    return sum(map(math.dist, points, [*points[1:], points[0]])) / len(points)


def turn_deg(corners: np.ndarray) -> float:
    """Orientation of a square, 0..90 degrees, clockwise in the picture."""
    points = corners.tolist()  # numpy takes ten times as long for four points
    sides = zip(points, [*points[1:], points[0]], strict=True)
    turns = [math.atan2(v - y, u - x) for (x, y), (u, v) in sides]
    return math.degrees(cmath.phase(sum(cmath.exp(4j * turn) for turn in turns)) / 4) % 90


def apart_deg(a: float, b: float) -> float:
    """Angle between two squares that are turned by so many degrees, 0..45."""
    return abs((a - b + 45.0) % 90.0 - 45.0)


def turn_matrices(turn: np.ndarray) -> np.ndarray:
    """(P, 2, 2) for (P,) radians: rows times such a matrix turn from a square's frame into that in
    which it is turned; the matrix times columns turns back."""
    matrices = np.empty((len(turn), 2, 2))
    matrices[:, 0, 0] = matrices[:, 1, 1] = np.cos(turn)
    matrices[:, 0, 1] = np.sin(turn)
    matrices[:, 1, 0] = -matrices[:, 0, 1]
    return matrices


def rectify(image: np.ndarray, corners: np.ndarray, side: int) -> np.ndarray:
    """(side, side, 3): the quadrilateral (4, 2) of a picture as a square."""
    target = ((SQUARE / 2 + 0.5) * side - 0.5).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    return cv2.warpPerspective(image, matrix, (side, side), flags=cv2.INTER_LINEAR)
