"""Which pieces of one colour are pips, alone or run into each other.

Owns: the roundness and size of a pip, the ring that is one, and the parting of pips. Must not know
colours, values, nor where on a face a pip may lie.
"""

from __future__ import annotations

import cv2
import numpy as np

FACE_PX = 72
"""Edge of the rectified patch, pixels. A 16 mm die measures about this in a table frame, so
rectifying neither loses nor adds detail."""

PIP_DIAMETERS = (0.085, 0.50)
"""Min and max diameter of a pip, in edges; the largest ones are aces."""
MAX_OF_SEVERAL = 0.31
"""Max diameter of a pip that is not alone, in edges."""
LARGE = 0.20
"""Diameter of a spot, in edges, from which its shape tells a pip from a digit."""
_ROUNDNESS = 0.88
"""Least area of a large spot, as a share of the ellipse with its second moments: pips have 0.98 and
more, also out of focus, digits and letters 0.55-0.78."""
_RING_SIDES = 1.25
"""Longest width beside its height of a ring taken for a pip: the digit 0 is narrower."""
_RING_ROUNDNESS = 0.93
"""The same least share for a ring with its hole filled."""
_RING_OFF = 0.07
"""Farthest of the hole's middle from the ring's, in widths of the ring: a 6 or 9 has 0.1."""
_PARTINGS = tuple(
    cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * r + 1, 2 * r + 1)) for r in (2, 3, 4)
)
"""What pips are parted with that run into each other, or into the dark bevel: a bridge is narrower
than a pip (11 pixels of `FACE_PX` usually, 6 at the least)."""
_PARTED_SHARE = 0.8
"""Least share of a free piece that its parts cover: of letters and digits little is left."""
_CORE = 0.85
"""Share of a piece's largest half width from which on it is the core of a pip."""


def diameter_of(area: int) -> float:
    """Of a disc of so many pixels, in edges."""
    return float(2.0 * np.sqrt(area / np.pi) / FACE_PX)


def is_pip(piece: np.ndarray) -> bool:
    """True of a (h, w) bool piece, cut out as tight as it is, that is round and of a pip's size."""
    h, w = piece.shape
    area = int(piece.sum())
    diameter = diameter_of(area)
    return (
        PIP_DIAMETERS[0] <= diameter <= PIP_DIAMETERS[1]
        and 0.72 <= area / (np.pi / 4 * w * h) <= 1.2
        and 0.62 <= w / h <= 1.6
        and (diameter < LARGE or _roundness(piece) > _ROUNDNESS)
    )


def disc_of_a_ring(piece: np.ndarray) -> np.ndarray | None:
    """The (h, w) bool disc that a ring surrounds; None where the piece is no round ring."""
    h, w = piece.shape
    if not 1 / _RING_SIDES < w / h < _RING_SIDES:
        return None
    outer, _ = cv2.findContours(piece.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    disc = np.zeros(piece.shape, np.uint8)
    cv2.drawContours(disc, outer, -1, 1, cv2.FILLED)
    is_disc = disc > 0
    hole = is_disc & ~piece
    # A larger ring may be a letter: O, Q and D are as round.
    is_small = diameter_of(int(is_disc.sum())) < LARGE
    if not (is_small and hole.any() and is_pip(is_disc)) or _roundness(is_disc) < _RING_ROUNDNESS:
        return None
    # A digit's loop is off its middle, and its line is not as wide all around.
    gap = np.mean(np.nonzero(hole), axis=1) - np.mean(np.nonzero(is_disc), axis=1)
    is_ring = np.hypot(*gap) < _RING_OFF * max(w, h)
    return is_disc if is_ring and _roundness(hole) > _ROUNDNESS else None


def parted(piece: np.ndarray, is_edge: bool) -> list[np.ndarray]:
    """Pips that run into each other, or into what lies at the edge of the face, each for itself,
    (h, w) bool; none where a (h, w) bool piece is something else."""
    border = 5
    wide = np.pad(piece.astype(np.uint8), border)
    inner = np.s_[border:-border, border:-border]
    for tool in _PARTINGS:
        opened = cv2.morphologyEx(wide, cv2.MORPH_OPEN, tool)[inner]
        parts = _labelled(opened)
        pips = [part for part in parts if _is_surely_pip(part)]
        covered = sum(int(part.sum()) for part in pips)
        is_all = 1 < len(pips) == len(parts) and covered > _PARTED_SHARE * piece.sum()
        if pips and (is_edge or is_all):
            return pips
    if is_edge:
        return []
    # Where the bridges are hardly narrower than the pips, the pips are where the piece is widest; a
    # bar is as wide everywhere.
    inside = cv2.distanceTransform(wide, cv2.DIST_L2, 5)[inner]
    cores = _labelled((inside > _CORE * inside.max()).astype(np.uint8))
    y, x = np.indices(piece.shape)[..., None]
    middles = np.array([[v.mean() for v in np.nonzero(core)] for core in cores])
    nearest = np.hypot(y - middles[:, 0], x - middles[:, 1]).argmin(axis=2)
    parts = [piece & (nearest == number) for number in range(len(cores))]
    return parts if len(parts) > 1 and all(map(_is_surely_pip, parts)) else []


def _labelled(mask: np.ndarray) -> list[np.ndarray]:
    """The pieces of a (h, w) uint8 mask, each (h, w) bool."""
    count, labels = cv2.connectedComponents(mask, connectivity=4)
    return [labels == i for i in range(1, count)]


def _is_surely_pip(part: np.ndarray) -> bool:
    """True of a part that is round, whatever its size, and no ace."""
    if not part.any():
        return False  # two cores around the same middle: a ring and what is inside it
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    tight = part[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return (
        is_pip(tight)
        and _roundness(tight) > _ROUNDNESS
        and diameter_of(tight.sum()) < MAX_OF_SEVERAL
    )


def _roundness(spot: np.ndarray) -> float:
    """Area of a (h, w) bool spot as a share of the ellipse that has its second moments."""
    moments = cv2.moments(spot.astype(np.uint8), True)
    area = moments["m00"]
    pixel = 1 / 12  # second moment of a square of one pixel
    u, v = moments["mu20"] / area + pixel, moments["mu02"] / area + pixel
    spread = max(u * v - (moments["mu11"] / area) ** 2, 1e-9)
    return float(area / (4.0 * np.pi * np.sqrt(spread)))
