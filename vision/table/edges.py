"""The edges of a top face, found in the picture to a fraction of a pixel.

Owns: moving a rough quadrilateral onto the steps of brightness around it. Must not know where the
quadrilateral came from, nor any calibration. A network's corners have an error of a few percent of
an edge. A die one layer up differs by only six percent, so the edges are measured again here.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.medians import known_medians, usual_reach
from vision.quads import sides_of

_SAMPLES, _STEPS = 17, 25
"""Rays along each edge of a face, and samples along each ray."""
_REACH = 0.10
"""Search range to each side, as a share of the edge. It exceeds a network's error and stops before
the outer pips, which begin at an eighth."""
_MIN_STEP = 5.0
"""Smallest change of grey per pixel that counts as an edge."""
_MIN_SHARE = 0.5
"""Least share of an edge's rays that must show one, so that the edge moves."""
_ALONG = np.linspace(0.1, 0.9, _SAMPLES)[:, None]
_SHARES = np.linspace(-1.0, 1.0, _STEPS)
"""Places along a ray, in reaches."""
_NEARER = np.exp(-0.5 * (_SHARES[1:-1] / 0.6) ** 2)
"""Of several edges (top and bottom of a side face) the one nearer to the first guess counts."""


def refine(image: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of (N, 4, 2) faces moved onto the edges in a (H, W, 3) uint8 picture, and (N,) shares
    (0..1) of the four edges that were found. A side without a clear edge stays where it was.

    At each place the colour channel that changes most counts, because red dice on green felt are
    as bright as the felt. All faces at once: one takes hardly less time than three.
    """
    faces = np.asarray(faces, np.float64).reshape(-1, 4, 2)
    count = len(faces)
    if not count:
        return faces, np.zeros(0)
    sides = sides_of(faces)
    following = faces + sides
    lengths = np.sqrt((sides * sides).sum(axis=2, keepdims=True))
    along = sides / np.maximum(lengths, 1e-6)
    normals = np.stack([along[..., 1], -along[..., 0]], axis=2)
    outward = ((faces + following) / 2 - faces.mean(axis=1, keepdims=True)) * normals
    normals = normals * np.sign(outward.sum(axis=2, keepdims=True))
    reaches = _REACH * lengths.mean(axis=(1, 2))
    offsets = reaches[:, None] * _SHARES
    bases = faces[:, :, None] + _ALONG * sides[:, :, None]
    start, way = (each.transpose(3, 0, 1, 2)[..., None] for each in (bases, normals[:, :, None]))
    x, y = (start + way * offsets[:, None, None]).astype(np.float32).reshape(2, -1, _STEPS)
    profile = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    smooth = np.asarray(cv2.GaussianBlur(profile.astype(np.float32), (5, 1), 0))
    change = np.abs(smooth[:, 2:] - smooth[:, :-2])
    largest = np.maximum(np.maximum(change[..., 0], change[..., 1]), change[..., 2])
    step = largest.reshape(count, -1, _STEPS - 2) / (offsets[:, 2] - offsets[:, 0])[:, None, None]
    best = (step * _NEARER).argmax(axis=2)
    is_found = np.take_along_axis(step, best[..., None], axis=2)[..., 0] > _MIN_STEP
    at = (_SHARES[1:-1][best] * reaches[:, None]).reshape(-1, _SAMPLES)
    begin, slope, is_line = _lines(is_found.reshape(-1, _SAMPLES), at)
    starts, ends = (
        corner + off.reshape(count, 4, 1) * normals
        for corner, off in ((faces, begin), (following, begin + slope))
    )
    refined = _crossings(starts, ends)
    away = np.abs(refined - faces).max(axis=(1, 2))
    is_moved = np.isfinite(away) & (away <= 3 * reaches)
    shares = is_line.reshape(count, 4).mean(axis=1)
    return np.where(is_moved[:, None, None], refined, faces), np.where(is_moved, shares, 0.0)


def _lines(found: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of N sides, (N, samples) `found` at these offsets: (N,) the offset at the start of a line
    through most of them, its slope, and whether there is one; both are 0 where there is none."""
    away = np.abs(at - known_medians(at, found)[:, None])
    keep = found & (away < usual_reach(known_medians(away, found))[:, None])
    count = np.maximum(keep.sum(axis=1), 1)
    x, y = ((keep * each).sum(axis=1) / count for each in (_ALONG[:, 0], at))
    along = np.where(keep, _ALONG[:, 0] - x[:, None], 0.0)
    slope = (along * (at - y[:, None])).sum(axis=1) / np.maximum((along * along).sum(axis=1), 1e-9)
    is_line = count >= _MIN_SHARE * _SAMPLES
    return np.where(is_line, y - slope * x, 0.0), np.where(is_line, slope, 0.0), is_line


def _crossings(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(N, 4, 2): where the lines along the four sides of N faces meet the lines before them; NaN
    where both are parallel."""
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = (
        np.moveaxis(each, 2, 0)
        for each in (np.roll(starts, 1, axis=1), np.roll(ends, 1, axis=1), starts, ends)
    )
    d = (x1 - x2) * (y3 - y4) - (y1 - y2) * (x3 - x4)
    d = np.where(np.abs(d) < 1e-9, np.nan, d)
    p, q = x1 * y2 - y1 * x2, x3 * y4 - y3 * x4
    at = np.stack([p * (x3 - x4) - (x1 - x2) * q, p * (y3 - y4) - (y1 - y2) * q], 2)
    return np.asarray(at / d[..., None])
