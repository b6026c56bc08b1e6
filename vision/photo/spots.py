"""Round spots at a photograph's border: they may be the pips of a die that it cuts off.

Owns: what is a spot, and how clear it is. Must not know what is made of it.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.parameters import MAX_ENLARGED

_EDGE_PX = 60.0
"""Edge of the dice, pixels, to which the picture is scaled: a small pip then has five pixels."""
DIAMETERS = (0.10, 0.35)
"""Min and max diameter of a pip, in edges. Only an ace's is larger."""


def border_spots(image: np.ndarray, edge_px: float) -> np.ndarray:
    """(N, 4) float: x, y and diameter in pixels, and contrast in CIE Lab units, of the round spots
    within half an edge of the border of a (H, W, 3) uint8 BGR picture whose dice have that edge."""
    scale = min(_EDGE_PX / edge_px, MAX_ENLARGED)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)
    height, width = small.shape[:2]
    reach = edge_px * scale / 2
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2Lab).astype(np.float32)
    spots = []
    for spot in _detector(2 * reach).detect(grey):
        x, y = spot.pt
        if min(x, y, width - 1 - x, height - 1 - y) < reach:
            contrast = _contrast(lab, x, y, spot.size / 2)
            spots.append(
                ((x + 0.5) / scale - 0.5, (y + 0.5) / scale - 0.5, spot.size / scale, contrast)
            )
    return np.array(spots, float).reshape(-1, 4)


def _detector(edge: float) -> cv2.SimpleBlobDetector:
    """Of round things of a pip's size, dark or bright."""
    wanted = cv2.SimpleBlobDetector.Params()
    wanted.filterByColor = False
    wanted.minArea, wanted.maxArea = (float(np.pi / 4 * (d * edge) ** 2) for d in DIAMETERS)
    wanted.filterByCircularity, wanted.minCircularity = True, 0.7
    wanted.minInertiaRatio, wanted.minConvexity = 0.2, 0.85
    wanted.minThreshold, wanted.maxThreshold = 10, 245
    wanted.minDistBetweenBlobs = DIAMETERS[0] * edge
    return cv2.SimpleBlobDetector.create(wanted)


def _contrast(lab: np.ndarray, x: float, y: float, radius: float) -> float:
    """How far a spot's colour is from that of the ring around it."""
    left, top = (max(0, int(at - 3 * radius)) for at in (x, y))
    right, bottom = (int(at + 3 * radius) + 2 for at in (x, y))
    part = lab[top:bottom, left:right]
    rows, columns = np.indices(part.shape[:2])
    away = np.hypot(columns + left - x, rows + top - y) / radius
    inside, around = part[away < 1], part[(away > 1.3) & (away < 2.3)]
    if not len(inside) or not len(around):
        return 0.0
    return float(np.linalg.norm(np.median(inside, axis=0) - np.median(around, axis=0)))
