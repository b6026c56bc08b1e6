"""Reads one rectified top face by the shape, colour and layout of its pips.

Owns: what a legal face looks like, in which orientations, and how sure one can be. Must not know
where the face came from, nor any colour in advance: a face is whatever colour most of it has, and
pips are round spots of one other colour. That covers dark on light, light on translucent, and
the large red ace alike.

Positions are shares of the face's edge, origin in its middle, x right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

FACE_PX = 72
"""Edge of the rectified patch: about what a 16 mm die measures in a table frame, so that
rectifying neither loses nor invents detail."""

_LEAST_CONTRAST = 22.0
"""Lab distance between face and pips below which nothing is called a pip; grain and JPEG stay
under 8, worn ivory with brown pips has 45."""

_DIAMETERS = (0.085, 0.31)
_ACE_DIAMETER = 0.50
_LARGE = 0.20
_ROUNDNESS = 0.88
"""Least area of a large spot, as a share of the ellipse with its second moments: pips have 0.98 and
more, also out of focus, digits and letters 0.55-0.78."""
_SPACINGS = (0.17, 0.32)
"""Distance of the outer pips from the middle along one axis. Casino dice 0.24-0.27; narrow
Asian fours reach 0.18, cheap dice 0.30."""

_OFF_LATTICE = 0.26
"""Largest distance of a pip from its place, in spacings."""

_MIDDLE_SIZE, _MIDDLE_OFF = 1.35, 0.14
"""The middle pip of a three or five: diameter beside that of the others, and distance from their
middle in spacings. Of 379 on the rig and path-traced none was beyond 1.31 (a smaller one) and 0.09;
a house's emblem that both readers took for a pip had 1.51 and 0.20."""

_COLOUR_SPREAD = 0.45
"""Largest difference between pips of one face, as a share of their contrast."""

_MARGIN = 0.045
"""Outer strip of the face that is not looked at: bevels, dirt and the seam to a neighbour."""

MOST_ODD = 0.035
"""Share of a face that may be neither face nor round pip: a serial number, a scratch."""

SPOTS: dict[int, tuple[tuple[tuple[int, int], ...], ...]] = {
    1: (((0, 0),),),
    2: (((-1, -1), (1, 1)), ((1, -1), (-1, 1))),
    3: (((-1, -1), (0, 0), (1, 1)), ((1, -1), (0, 0), (-1, 1))),
    4: (((-1, -1), (1, -1), (-1, 1), (1, 1)),),
    5: (((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),),
    6: (
        ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
        ((-1, -1), (0, -1), (1, -1), (-1, 1), (0, 1), (1, 1)),
    ),
}
"""Legal faces in all their orientations, on a lattice of -1, 0, 1."""

_RAMPS = np.stack(
    [
        np.ones((FACE_PX, FACE_PX)),
        *(np.mgrid[0:FACE_PX, 0:FACE_PX] / FACE_PX - 0.5),
    ],
    axis=-1,
).astype(np.float32)

_LATTICE = tuple((x, y) for y in (-1, 0, 1) for x in (-1, 0, 1))


@dataclass(frozen=True, slots=True)
class Face:
    """What a rectified face shows."""

    value: int | None
    """1..6, or None: no legal face."""
    confidence: float
    """0..1: by how much the weakest pip stands out over the strongest empty place."""
    contrast: float
    """Lab distance between pips and face."""
    offset: tuple[float, float] = (0.0, 0.0)
    """Middle of the pattern from the middle of the face. A flat face has it within 0.03."""
    spacing: float = 0.0
    pip_diameter: float = 0.0
    grain: float = 0.0
    """Typical unevenness of the face itself, as a share of the contrast."""
    spots: int = 0
    """Round spots that were counted."""
    note: str = ""
    is_strange: bool = False
    """No round spots at all, or much that is neither face nor round spot."""


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    diameter: float
    colour: np.ndarray


def read_face(patch: np.ndarray, most_odd: float = MOST_ODD) -> Face:
    """Read a (FACE_PX, FACE_PX, 3) uint8 BGR patch of exactly one top face.

    `most_odd`: share of the face that may be neither face nor round pip.
    """
    lab = cv2.cvtColor(cv2.GaussianBlur(patch, (3, 3), 0), cv2.COLOR_BGR2Lab).astype(np.float32)
    away = _distance_from_face(lab)
    rim = round(_MARGIN * FACE_PX)
    inner = away[rim:-rim, rim:-rim]
    contrast = _share(inner, 0.985)
    if contrast < _LEAST_CONTRAST:
        return Face(None, 0.0, contrast, note="no pips stand out", is_strange=True)
    spots, odd = _spots(away, lab, contrast, rim, most_odd)
    if not spots:
        return Face(None, 0.0, contrast, note="no round spots", is_strange=True)
    if odd:
        return Face(None, 0.0, contrast, spots=len(spots), note=odd, is_strange=True)
    return _match(spots, away, contrast)


def _distance_from_face(lab: np.ndarray) -> np.ndarray:
    """Lab distance of each pixel from the face's own colour, with a linear shading removed."""
    core = lab[6:-6:2, 6:-6:2].reshape(-1, 3)
    middle = np.median(core, axis=0)
    residual = lab - middle
    away = np.sqrt(np.einsum("yxc,yxc->yx", residual, residual))
    # A ring light seldom shines evenly: fit the slope of lightness on what is surely face.
    near = away < max(10.0, _share(away[::2, ::2], 0.40))
    if near.sum() > 400:
        y, x = np.nonzero(near)
        sample = slice(None, None, max(1, len(x) // 300))
        y, x = y[sample], x[sample]
        base = _RAMPS[y, x]
        slope = np.linalg.solve(base.T @ base, base.T @ residual[y, x, 0])
        residual[..., 0] -= _RAMPS @ slope
        away = np.sqrt(np.einsum("yxc,yxc->yx", residual, residual))
    return np.asarray(away, np.float32)


def _share(values: np.ndarray, share: float) -> float:
    """The value below which that share of them lies."""
    flat = values.ravel()
    index = min(len(flat) - 1, int(share * len(flat)))
    return float(np.partition(flat, index)[index])


def _spots(
    away: np.ndarray, lab: np.ndarray, contrast: float, rim: int, most_odd: float
) -> tuple[list[_Spot], str]:
    """Round spots of a pip's size; and why the face is illegal, if something else is on it."""
    mask = (away > 0.5 * contrast).astype(np.uint8)
    mask[:rim] = mask[-rim:] = 0
    mask[:, :rim] = mask[:, -rim:] = 0
    count, labels, stats, centres = cv2.connectedComponentsWithStats(mask, connectivity=4)
    spots: list[_Spot] = []
    odd_area = 0
    for i in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[i])
        diameter = 2.0 * np.sqrt(area / np.pi) / FACE_PX
        if diameter < _DIAMETERS[0] * 0.6:
            continue
        is_edge = x <= rim or y <= rim or x + w >= FACE_PX - rim or y + h >= FACE_PX - rim
        fill = area / (np.pi / 4 * w * h)
        is_round = 0.72 <= fill <= 1.2 and 0.62 <= w / h <= 1.6
        largest = _ACE_DIAMETER if not is_edge else _DIAMETERS[1]
        is_round &= diameter < _LARGE or _roundness(labels[y : y + h, x : x + w] == i) > _ROUNDNESS
        if is_round and not is_edge and _DIAMETERS[0] <= diameter <= largest:
            cx, cy = (centres[i] + 0.5) / FACE_PX - 0.5
            box = np.s_[y : y + h, x : x + w]
            colour = lab[box][labels[box] == i].mean(axis=0)
            spots.append(_Spot(float(cx), float(cy), float(diameter), colour))
        elif not is_edge:
            odd_area += area
    if odd_area > most_odd * FACE_PX * FACE_PX:
        return spots, f"{odd_area / FACE_PX**2:.0%} of the face is neither face nor round pip"
    return spots, ""


def _roundness(spot: np.ndarray) -> float:
    """Area of a (h, w) bool spot as a share of the ellipse that has its second moments."""
    moments = cv2.moments(spot.astype(np.uint8), True)
    area = moments["m00"]
    u, v = moments["mu20"] / area + 1 / 12, moments["mu02"] / area + 1 / 12
    spread = max(u * v - (moments["mu11"] / area) ** 2, 1e-9)
    return float(area / (4.0 * np.pi * np.sqrt(spread)))


def _match(spots: list[_Spot], away: np.ndarray, contrast: float) -> Face:
    count = len(spots)
    points = np.array([(s.x, s.y) for s in spots])
    diameters = np.array([s.diameter for s in spots])

    def refuse(note: str) -> Face:
        return Face(None, 0.0, contrast, spots=count, note=note)

    if count not in SPOTS:
        return refuse(f"{count} spots")
    if count > 1 and diameters.max() > _DIAMETERS[1]:
        return refuse("a spot is too large to be one of several")
    if diameters.max() > 1.7 * diameters.min():
        return refuse("spots of different size")
    colours = np.array([s.colour for s in spots])
    if np.linalg.norm(colours - np.median(colours, axis=0), axis=1).max() > (
        _COLOUR_SPREAD * contrast
    ):
        return refuse("spots of different colour")
    middle = points.mean(axis=0)  # of every legal face it is the middle of the lattice
    best: tuple[float, float, tuple[tuple[int, int], ...]] | None = None
    for layout in SPOTS[count]:
        places = np.array(layout, float)
        spacing = (
            0.25
            if count == 1
            else float(np.sqrt(((points - middle) ** 2).sum() / (places**2).sum()))
        )
        gaps = np.linalg.norm(((points - middle) / spacing)[:, None] - places[None], axis=2)
        nearest = gaps.argmin(axis=1)
        if len(set(nearest)) < count:
            continue
        worst = float(gaps.min(axis=1).max())
        if best is None or worst < best[0]:
            best = (worst, spacing, layout)
    if best is None or best[0] > _OFF_LATTICE:
        return refuse("the spots form no legal face")
    _, spacing, layout = best
    if not _SPACINGS[0] <= spacing <= _SPACINGS[1]:
        return refuse(f"spacing {spacing:.2f} of the edge")
    if count in (3, 5) and not _is_like_the_others(points, diameters, middle, spacing):
        return refuse("the spot in the middle is no pip like the others")
    diameter = float(np.median(diameters))
    confidence = _standing_out(away, middle, spacing, diameter, layout, contrast)
    return Face(
        value=count,
        confidence=confidence,
        contrast=contrast,
        offset=(float(middle[0]), float(middle[1])),
        spacing=spacing,
        pip_diameter=diameter,
        grain=_share(away[::2, ::2], 0.40) / contrast,
        spots=count,
    )


def _is_like_the_others(
    points: np.ndarray, diameters: np.ndarray, middle: np.ndarray, spacing: float
) -> bool:
    """False where what lies between the pips of a two or a four is an emblem printed there: of
    another size than they are, or not in their middle."""
    inner = int(np.linalg.norm(points - middle, axis=1).argmin())
    outer = np.arange(len(points)) != inner
    size = float(diameters[inner] / diameters[outer].mean())
    off = float(np.linalg.norm(points[inner] - points[outer].mean(axis=0))) / spacing
    return 1 / _MIDDLE_SIZE < size < _MIDDLE_SIZE and off < _MIDDLE_OFF


def _standing_out(
    away: np.ndarray,
    middle: np.ndarray,
    spacing: float,
    diameter: float,
    layout: tuple[tuple[int, int], ...],
    contrast: float,
) -> float:
    """Weakest place that must hold a pip, less the strongest that must not, 0..1."""
    radius = max(1.5, 0.33 * min(diameter, 0.2) * FACE_PX)
    reach = int(np.ceil(radius))
    dy, dx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = dx * dx + dy * dy <= radius * radius
    full, empty = 1.0, 0.0
    for place in _LATTICE:
        if len(layout) == 1 and place != (0, 0) and diameter > 0.25:
            continue  # the large ace reaches where other faces have their pips
        x, y = (middle + 0.5 + np.array(place) * spacing) * FACE_PX - 0.5
        x, y = round(float(x)), round(float(y))
        if not (reach <= x < FACE_PX - reach and reach <= y < FACE_PX - reach):
            continue
        window = away[y - reach : y + reach + 1, x - reach : x + reach + 1]
        level = float(window[disc].mean()) / contrast
        if place in layout:
            full = min(full, level)
        else:
            empty = max(empty, level)
    return max(0.0, min(1.0, full - empty))
