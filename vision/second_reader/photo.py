"""The second reader without a calibration: dice of unknown size in any photograph.

Owns: round spots at every scale, their grouping into legal faces, and each face's own extent. Must
not know the model's findings.

Theory of operation: pips are the one thing that all dice have. Round spots of either polarity are
collected at several scales. Groups of equal spots propose faces (a lattice needs two spots; a
single spot proposes an ace), and each proposal is rectified and has to pass the same examination
as a face at a table (`pips.read_face`) before it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.second_reader.pips import FACE_PX, Face, read_face

_LONG_SIDE = 1024
_WINDOWS = (9, 19, 37, 75)
"""Sides of the squares over which the local background is averaged, pixels: each finds spots of
about a quarter to two thirds of it."""
_STEP = 11
_LEAST_DIAMETER = 3.0
_SPACING = 0.255
"""Of dice with unknown edges: the middle of what dice have."""
_SIZE_RATIO = 1.5
_MOST_SPOTS = 900
_NEIGHBOURS = 9
_MOST_GRAIN = {1: 0.22, 2: 0.22, 3: 0.25, 4: 0.45, 5: 0.5, 6: 0.5}
"""Unevenness of a face, as a share of its contrast; wood, carpet and marble have 0.3 and more.
Four pips and more in their places prove a die by themselves; and they fill more of its face."""
_MOST_ODD = {1: 0.035, 2: 0.035, 3: 0.035, 4: 0.09, 5: 0.09, 6: 0.09}


@dataclass(frozen=True, slots=True, eq=False)
class PhotoDie:
    """A face that passed."""

    corners: np.ndarray
    """(4, 2) float, picture pixels, clockwise: estimated from the pips."""
    face: Face
    aspect: float
    """Shorter over longer side of the pips' lattice; 1 seen from straight above."""

    @property
    def centre(self) -> np.ndarray:
        return np.asarray(self.corners.mean(axis=0))

    @property
    def edge_px(self) -> float:
        sides = np.roll(self.corners, -1, axis=0) - self.corners
        return float(np.linalg.norm(sides, axis=1).mean())


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    diameter: float
    is_dark: bool


def read_photo(image: np.ndarray) -> list[PhotoDie]:
    """Every die face in a (H, W, 3) uint8 BGR picture, from left to right."""
    scale = min(2.0, _LONG_SIDE / max(image.shape[:2]))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    picture = cv2.resize(image, None, fx=scale, fy=scale, interpolation=interpolation)
    dice: list[PhotoDie] = []
    spots = find_spots(picture)
    for is_dark in (True, False):
        same = [spot for spot in spots if spot.is_dark == is_dark]
        dice += _faces(picture, same)
    kept = _without_overlap(dice)
    return sorted(
        (PhotoDie((die.corners + 0.5) / scale - 0.5, die.face, die.aspect) for die in kept),
        key=lambda die: float(die.centre[0]),
    )


# ── Spots ───────────────────────────────────────────────────────────────────


def find_spots(picture: np.ndarray) -> list[_Spot]:
    """Round things darker or lighter than what surrounds them, at all scales."""
    lab = cv2.cvtColor(picture, cv2.COLOR_BGR2Lab)
    least = picture.min(axis=2)  # in it red and blue pips on white are as dark as black ones
    found: list[_Spot] = []
    for channel in (lab[..., 0], least):
        soft = cv2.GaussianBlur(channel, (3, 3), 0)
        for window in _WINDOWS:
            mean = cv2.blur(soft, (window, window))
            for is_dark in (True, False):
                step = cv2.subtract(mean, soft) if is_dark else cv2.subtract(soft, mean)
                found += _round_parts(step, window, is_dark)
    return _distinct(found)


def _round_parts(step: np.ndarray, window: int, is_dark: bool) -> list[_Spot]:
    mask = (step > _STEP).astype(np.uint8)
    _, _, stats, centres = cv2.connectedComponentsWithStats(mask, connectivity=4)
    width, height, area = (stats[1:, i].astype(float) for i in (2, 3, 4))
    diameter = 2 * np.sqrt(area / np.pi)
    fill = area / (np.pi / 4 * width * height)
    keep = (
        (diameter > max(_LEAST_DIAMETER, 0.2 * window))
        & (diameter < 0.75 * window)
        & (fill > 0.78)
        & (fill < 1.28)
        & (width / height < 1.9)
        & (height / width < 1.9)
    )
    return [
        _Spot(float(x), float(y), float(d), is_dark)
        for (x, y), d in zip(centres[1:][keep], diameter[keep], strict=True)
    ]


def _distinct(spots: Sequence[_Spot]) -> list[_Spot]:
    """One spot of several at the same place: the largest, up to which the threshold still cuts
    it clean. A much larger one is no rival but the die that the pip is on."""
    kept: list[_Spot] = []
    cells: dict[tuple[int, int], list[_Spot]] = {}
    for spot in sorted(spots, key=lambda s: -s.diameter):
        cell = (int(spot.x // 16), int(spot.y // 16))
        near = [
            other
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            for other in cells.get((cell[0] + i, cell[1] + j), ())
        ]
        if any(
            other.is_dark == spot.is_dark
            and other.diameter < 1.7 * spot.diameter  # else the die around a pip
            and np.hypot(spot.x - other.x, spot.y - other.y) < 0.4 * other.diameter
            for other in near
        ):
            continue
        kept.append(spot)
        cells.setdefault(cell, []).append(spot)
    return kept[:_MOST_SPOTS]


# ── Faces ───────────────────────────────────────────────────────────────────


def _faces(picture: np.ndarray, spots: Sequence[_Spot]) -> list[PhotoDie]:
    if not spots:
        return []
    points = np.array([(s.x, s.y) for s in spots])
    sizes = np.array([s.diameter for s in spots])
    away = np.hypot(points[:, None, 0] - points[:, 0], points[:, None, 1] - points[:, 1])
    alike = np.maximum(sizes[:, None], sizes) < _SIZE_RATIO * np.minimum(sizes[:, None], sizes)
    dice: list[PhotoDie] = []
    for i in range(len(spots)):
        reach = 5.2 * sizes[i]
        near = np.nonzero((away[i] < reach) & alike[i])[0]
        near = near[np.argsort(away[i, near])][: _NEIGHBOURS + 1]
        near = near[near != i]
        for proposal in _proposals(points, sizes, i, near):
            die = _examine(picture, points[alike[i]], *proposal)
            if die is not None:
                dice.append(die)
    dice += _aces(picture, points, sizes, dice)
    return dice


def _proposals(
    points: np.ndarray, sizes: np.ndarray, i: int, near: np.ndarray
) -> list[tuple[int, np.ndarray, float]]:
    """Value, corners and aspect of the faces that spot i and others may form."""
    found: list[tuple[int, np.ndarray, float]] = []
    p = points[i]
    size = float(sizes[i])
    # Two and three: spot i is one end of the diagonal.
    for j in near:
        if j < i:
            continue
        q = points[j]
        length = float(np.hypot(*(q - p)))
        if not 1.9 * size < length < 5.2 * size:
            continue
        middle = (p + q) / 2
        between = _nearest(points, middle, 0.16 * length, sizes, size)
        found.append((3 if between is not None else 2, _from_diagonal(p, q), 1.0))
    # Four, five and six: spot i is a corner of a parallelogram with two others.
    for a in range(len(near)):
        for b in range(a + 1, len(near)):
            u, v = points[near[a]] - p, points[near[b]] - p
            lu, lv = float(np.hypot(*u)), float(np.hypot(*v))
            if not (1.3 * size < lu < 4.6 * size and 1.3 * size < lv < 4.6 * size):
                continue
            if min(lu, lv) < 0.62 * max(lu, lv) or abs(float(u @ v)) > 0.42 * lu * lv:
                continue
            opposite = _nearest(points, p + u + v, 0.18 * max(lu, lv), sizes, size)
            if opposite is None or opposite < i:
                continue
            middle = p + (u + v) / 2
            has_middle = _nearest(points, middle, 0.16 * max(lu, lv), sizes, size) is not None
            on_u = (
                _nearest(points, p + u / 2, 0.14 * lu, sizes, size) is not None
                and _nearest(points, p + u / 2 + v, 0.14 * lu, sizes, size) is not None
            )
            on_v = (
                _nearest(points, p + v / 2, 0.14 * lv, sizes, size) is not None
                and _nearest(points, p + v / 2 + u, 0.14 * lv, sizes, size) is not None
            )
            value = 6 if on_u or on_v else 5 if has_middle else 4
            found.append((value, _from_lattice(middle, u, v), min(lu, lv) / max(lu, lv)))
    return found


def _nearest(
    points: np.ndarray, at: np.ndarray, within: float, sizes: np.ndarray, size: float
) -> int | None:
    away = np.hypot(points[:, 0] - at[0], points[:, 1] - at[1])
    away[(sizes > _SIZE_RATIO * size) | (sizes < size / _SIZE_RATIO)] = np.inf
    index = int(away.argmin())
    return index if away[index] < within else None


def _from_diagonal(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The face whose diagonal holds two outer pips."""
    half = (q - p) / 2 / _SPACING / 2
    across = np.array((-half[1], half[0]))
    middle = (p + q) / 2
    return np.array([middle - half, middle - across, middle + half, middle + across])


def _from_lattice(middle: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The face whose pips span the parallelogram u, v."""
    if u[0] * v[1] - u[1] * v[0] < 0:
        u, v = v, u
    a, b = u / 2 / _SPACING / 2, v / 2 / _SPACING / 2
    return np.array([middle - a - b, middle + a - b, middle + a + b, middle - a + b])


def _examine(
    picture: np.ndarray, spots: np.ndarray, value: int, corners: np.ndarray, aspect: float
) -> PhotoDie | None:
    """The proposal as a die, if the rectified face shows what was proposed and nothing else."""
    height, width = picture.shape[:2]
    if corners.min() < -4 or corners[:, 0].max() > width + 4 or corners[:, 1].max() > height + 4:
        return None
    if _count_inside(spots, corners) != value:
        return None  # part of a larger pattern, or of several
    # Looking only a little beyond the pips, as the true edge is not known.
    shrunk = corners.mean(axis=0) + (corners - corners.mean(axis=0)) * 0.94
    face = read_face(_rectify(picture, shrunk), _MOST_ODD[value])
    if face.value != value or face.grain > _MOST_GRAIN[value]:
        return None
    return PhotoDie(corners, face, aspect)


def _count_inside(spots: np.ndarray, corners: np.ndarray) -> int:
    """How many spots lie within a face, its outermost strip left out."""
    middle = corners.mean(axis=0)
    u, v = (corners[1] - corners[0]) / 2, (corners[3] - corners[0]) / 2
    places = np.linalg.solve(np.stack([u, v], axis=1), (spots - middle).T)
    inside = spots[np.abs(places).max(axis=0) < 0.92]
    # A pip that two thresholds cut differently is one pip.
    apart = np.hypot(*(inside[:, None] - inside[None]).transpose(2, 0, 1))
    same = np.triu(apart < 0.11 * float(np.linalg.norm(u + v)), 1).any(axis=0)
    return int(len(inside) - same.sum())


def _aces(
    picture: np.ndarray, points: np.ndarray, sizes: np.ndarray, others: Sequence[PhotoDie]
) -> list[PhotoDie]:
    """Single spots in the middle of an even square that ends on all sides."""
    taken = [cv2.convexHull(die.corners.astype(np.float32)) for die in others]
    aces = []
    for point, size in zip(points, sizes, strict=True):
        place = (float(point[0]), float(point[1]))
        if any(cv2.pointPolygonTest(hull, place, False) > 0 for hull in taken):
            continue
        corners = _square_around(picture, point, float(size))
        if corners is None:
            continue
        die = _examine(picture, point[None], 1, corners, 1.0)
        if die is not None:
            aces.append(die)
    return aces


def _square_around(picture: np.ndarray, point: np.ndarray, size: float) -> np.ndarray | None:
    """The even square with a spot in its middle, grown from the colour next to the spot."""
    reach = int(np.ceil(5.0 * size))
    x0, y0 = int(point[0]) - reach, int(point[1]) - reach
    x1, y1 = int(point[0]) + reach + 1, int(point[1]) + reach + 1
    left, top = max(0, -x0), max(0, -y0)
    window = picture[max(0, y0) : y1, max(0, x0) : x1]
    if min(window.shape[:2]) < 2.5 * size:
        return None
    middle = np.array((point[0] - x0 - left, point[1] - y0 - top))
    lab = cv2.cvtColor(cv2.GaussianBlur(window, (3, 3), 0), cv2.COLOR_BGR2Lab).astype(np.float32)
    y, x = np.mgrid[0 : lab.shape[0], 0 : lab.shape[1]]
    away = np.hypot(x - middle[0], y - middle[1])
    ring = (away > 0.75 * size) & (away < 1.15 * size)
    if ring.sum() < 8:
        return None
    colours = lab[ring]
    colour = np.median(colours, axis=0)
    spread = float(np.median(np.linalg.norm(colours - colour, axis=1)))
    if spread > 12:
        return None
    near = np.linalg.norm(lab - colour, axis=2) < max(14.0, 4.0 * spread)
    near |= away < 0.8 * size
    opened = cv2.morphologyEx(near.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    _, labels = cv2.connectedComponents(opened, connectivity=4)
    mine = labels[int(np.clip(middle[1], 0, labels.shape[0] - 1)), int(middle[0])]
    if mine == 0:
        return None
    contours, _ = cv2.findContours(
        (labels == mine).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    contour = max(contours, key=cv2.contourArea)
    (cx, cy), (w, h), angle = cv2.minAreaRect(contour)
    if min(w, h) < 2.0 * size or max(w, h) > 8.5 * size or min(w, h) < 0.72 * max(w, h):
        return None
    if cv2.contourArea(contour) < 0.72 * w * h:
        return None
    if np.hypot(cx - middle[0], cy - middle[1]) > 0.14 * max(w, h):
        return None
    if cv2.contourArea(contour) < 0.86 * w * h:  # a disc around the ace: the square in it
        w, h = 0.74 * w, 0.74 * h
    box = cv2.boxPoints(((cx, cy), (w, h), angle))
    return np.asarray(box, float) + np.array((x0 + left, y0 + top))


def _rectify(picture: np.ndarray, corners: np.ndarray) -> np.ndarray:
    size = FACE_PX
    target = np.array([(0, 0), (size, 0), (size, size)], np.float32) - 0.5
    matrix = cv2.getAffineTransform(corners[:3].astype(np.float32), target)
    return cv2.warpAffine(
        picture, matrix, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )


def _without_overlap(dice: Sequence[PhotoDie]) -> list[PhotoDie]:
    """Of faces that share ground, the one with most pips, then the surest."""
    kept: list[PhotoDie] = []
    for die in sorted(dice, key=lambda d: (-(d.face.value or 0), -d.face.confidence * d.aspect)):
        if all(
            np.hypot(*(die.centre - other.centre)) > 0.62 * min(die.edge_px, other.edge_px)
            and np.hypot(*(die.centre - other.centre)) > 0.45 * max(die.edge_px, other.edge_px)
            for other in kept
        ):
            kept.append(die)
    return kept
