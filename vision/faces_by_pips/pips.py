"""Reads one rectified top face by the shape, colour and layout of its pips.

Owns: what a legal face looks like, in which orientations, and how sure a value is. Must not know
where the face came from, nor any colour in advance. The face has the colour of most of its area,
and pips are round spots of one other colour. This rule fits dark pips on light faces, light pips on
translucent faces, and the large red ace.

Positions are shares of the face's edge, origin in its middle, x right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.faces_by_pips.likeness import oddity
from vision.faces_by_pips.pieces import (
    FACE_PX,
    LARGE,
    MAX_OF_SEVERAL,
    PIP_DIAMETERS,
    diameter_of,
    disc_of_a_ring,
    is_pip,
    parted,
)
from vision.faces_by_pips.spots import length
from vision.medians import median, medians

_MIN_CONTRAST = 22.0
"""Lab distance between face and pips below which nothing is a pip. Grain and JPEG stay under 8.
PartUsage ivory with brown pips has 45."""

_MAX_OFF_CENTRE = 0.38
"""Edges; what is parted from the dark bevel farther from the middle is the bevel's corner."""

_SPACINGS = (0.17, 0.32)
"""Distance of the outer pips from the middle along one axis. Casino dice 0.24-0.27; narrow
Asian fours reach 0.18, cheap dice 0.30."""

_OFF_LATTICE = 0.26
"""Largest distance of a pip from its place, in spacings."""

_MIDDLE_SIZE = 1.35
"""The middle pip of a three or five: diameter beside that of the others. Of 379 on the rig and
path-traced none was beyond 1.31 (a smaller one); a house's emblem that both readers took for a pip
had 1.51."""

_MIDDLE_OFF = 0.14
"""Most that the middle pip of a three or five is off the middle of the others, in spacings. Of 379
on the rig and path-traced none was beyond 0.09; an emblem that was taken for a pip had 0.20."""

LIKE_INNER = 0.45
"""Largest difference between the colours of pips of one face, as a share of their contrast."""

_MARGIN = 0.045
"""Outer strip of the face that is not looked at: bevels, dirt and the seam to a neighbour."""

BORDER = 6
"""Pixels of the patch at its border that do not say what colour the face has."""

_SLOPE_PX = 300
"""Pixels of a face that the slope of its lightness is fitted on: more cost time."""

_MAX_ODD = 0.035
"""Share of a face that may be neither face nor round pip: a serial number, a scratch."""

LATTICE = tuple((x, y) for y in (-1, 0, 1) for x in (-1, 0, 1))
"""The nine places of pips on a face, in spacings from its middle."""
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
_PLACES = np.array(LATTICE)

_RAMPS = np.stack(
    [np.ones((FACE_PX, FACE_PX)), *(np.mgrid[0:FACE_PX, 0:FACE_PX] / FACE_PX - 0.5)]
).astype(np.float32)
"""(3, FACE_PX, FACE_PX): one, y and x."""


@dataclass(frozen=True, slots=True, eq=False)
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
    pips: np.ndarray | None = None
    """Of a face with a value: (value, 2), where its pips are."""
    pip_diameter: float = 0.0
    grain: float = 0.0
    """Typical unevenness of the face itself, as a share of the contrast."""
    note: str = ""
    is_strange: bool = False
    """No round spots at all, or much that is neither face nor round spot."""
    oddity: str = ""
    """Of a face with a value: what makes its middle look like a speck or a highlight."""
    lab: np.ndarray | None = None
    """Of a face with a value: (FACE_PX, FACE_PX, 3), its Lab colours."""
    away: np.ndarray | None = None
    """Of a face with a value: (FACE_PX, FACE_PX) Lab distances from the face's own colour."""


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    diameter: float
    colour: np.ndarray


def read_face(patch: np.ndarray) -> Face:
    """Read a (FACE_PX, FACE_PX, 3) uint8 BGR patch of exactly one top face."""
    lab = _lab_of(patch)
    away = _distance_from_face(lab)
    rim = round(_MARGIN * FACE_PX)
    inner = away[rim:-rim, rim:-rim]
    contrast = _share(inner, 0.985)
    if contrast < _MIN_CONTRAST:
        return Face(None, 0.0, contrast, note="no pips stand out", is_strange=True)
    spots, strange, away = _spots(away, lab, contrast, rim)
    if not spots:
        return Face(None, 0.0, contrast, note="no round spots", is_strange=True)
    if strange:
        return Face(None, 0.0, contrast, note=strange, is_strange=True)
    face = _match(spots, away, contrast)
    if face.pips is None:
        return face
    odd = oddity(lab, face.pips, face.pip_diameter, face.grain)
    return replace(face, oddity=odd, lab=lab, away=away)


def oddity_of(patch: np.ndarray, pips: np.ndarray, diameter: float) -> str:
    """`Face.oddity` of a patch whose pips, (value, 2), were found otherwise."""
    lab = _lab_of(patch)
    away = _distance_from_face(lab)
    x, y = np.rint((pips.T + 0.5) * FACE_PX - 0.5).astype(int).clip(0, FACE_PX - 1)
    contrast = max(float(np.median(away[y, x])), _MIN_CONTRAST)
    return oddity(lab, pips, diameter, _unevenness(away) / contrast)


def _lab_of(patch: np.ndarray) -> np.ndarray:
    soft = cv2.GaussianBlur(patch, (3, 3), 0)
    return np.asarray(cv2.cvtColor(soft, cv2.COLOR_BGR2Lab).astype(np.float32))


def _distance_from_face(lab: np.ndarray) -> np.ndarray:
    """Lab distance of each pixel from the face's own colour, with a linear shading removed."""
    planes = np.stack(cv2.split(lab))
    inner = np.s_[BORDER:-BORDER:2]
    middle = medians(planes[:, inner, inner].reshape(3, -1))
    residual = planes - middle[:, None, None]
    away = length(residual)
    # A ring light rarely shines evenly: fit the slope of lightness on what is surely face.
    limit = max(10.0, _unevenness(away))
    near = np.flatnonzero(away < limit)
    if len(near) < _SLOPE_PX:  # no pixel has the middle colour, and many are as far from it
        near = np.flatnonzero(away <= limit)
    sample = near[:: len(near) // _SLOPE_PX]
    ramps = _RAMPS.reshape(3, -1)
    base = ramps[:, sample]
    slope = np.linalg.solve(base @ base.T, base @ residual[0].ravel()[sample])
    residual[0] -= (slope @ ramps).reshape(residual[0].shape)
    return length(residual)


def _unevenness(away: np.ndarray) -> float:
    """How far the face itself, and no pip, is from its own colour."""
    return _share(away[::2, ::2], 0.40)


def _share(values: np.ndarray, share: float) -> float:
    """The value below which that share of them lies."""
    index = int(share * values.size)
    return float(np.partition(values, index, axis=None)[index])


def _spots(
    away: np.ndarray, lab: np.ndarray, contrast: float, rim: int
) -> tuple[list[_Spot], str, np.ndarray]:
    """Round spots of a pip's size; why the face is illegal, if something else is on it; and the
    distances from the face, in which pips that are rings have no hole."""
    mask = (away > 0.5 * contrast).astype(np.uint8)
    mask[:rim] = mask[-rim:] = 0
    mask[:, :rim] = mask[:, -rim:] = 0
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    spots: list[_Spot] = []
    odd_area = 0
    for i in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[i])
        if diameter_of(area) < PIP_DIAMETERS[0] * 0.6:
            continue
        is_edge = x <= rim or y <= rim or x + w >= FACE_PX - rim or y + h >= FACE_PX - rim
        box = np.s_[y : y + h, x : x + w]
        piece = labels[box] == i
        if not is_edge and (disc := disc_of_a_ring(piece)) is not None:
            spots.append(_spot(disc, (x, y), lab[box], piece))
            away = away.copy()
            away[box][disc & ~piece] = away[box][piece].mean()
        elif not is_edge and is_pip(piece):
            spots.append(_spot(piece, (x, y), lab[box]))
        elif parts := parted(piece, is_edge):
            found = [_spot(part, (x, y), lab[box]) for part in parts]
            spots += [spot for spot in found if max(abs(spot.x), abs(spot.y)) < _MAX_OFF_CENTRE]
        elif not is_edge:
            odd_area += area
    odd = ""
    if odd_area > _MAX_ODD * FACE_PX * FACE_PX:
        odd = f"{odd_area / FACE_PX**2:.0%} of the face is neither face nor round pip"
    return spots, odd, away


def _spot(
    piece: np.ndarray, at: tuple[int, int], lab: np.ndarray, ink: np.ndarray | None = None
) -> _Spot:
    """The spot that a (h, w) bool piece is, whose box begins `at` (x, y) and has the colours `lab`;
    `ink`: where it has its colour."""
    moments = cv2.moments(piece.astype(np.uint8), True)
    area = moments["m00"]
    inked = (piece if ink is None else ink).astype(np.uint8)
    return _Spot(
        x=(moments["m10"] / area + at[0] + 0.5) / FACE_PX - 0.5,
        y=(moments["m01"] / area + at[1] + 0.5) / FACE_PX - 0.5,
        diameter=diameter_of(int(area)),
        colour=np.array(cv2.mean(lab, inked)[:3]),
    )


def _match(spots: list[_Spot], away: np.ndarray, contrast: float) -> Face:
    count = len(spots)
    points = np.array([(s.x, s.y) for s in spots])
    diameters = np.array([s.diameter for s in spots])

    def refuse(note: str) -> Face:
        return Face(None, 0.0, contrast, note=note)

    if count not in SPOTS:
        return refuse(f"{count} spots")
    if count > 1 and diameters.max() > MAX_OF_SEVERAL:
        return refuse("a spot is too large to be one of several")
    if diameters.max() > 1.7 * diameters.min():
        return refuse("spots of different size")
    colours = np.array([s.colour for s in spots])
    if length((colours - medians(colours.T)).T).max() > LIKE_INNER * contrast:
        return refuse("spots of different colour")
    middle = points.mean(axis=0)  # of every legal face it is the middle of the lattice
    fits: list[tuple[float, float, tuple[tuple[int, int], ...]]] = []
    for layout in SPOTS[count]:
        places = np.array(layout, float)
        spacing = 0.25
        if count > 1:  # the distance from one place of the lattice to the next that fits best
            spacing = float(np.sqrt(((points - middle) ** 2).sum() / (places**2).sum()))
        gaps = np.linalg.norm(((points - middle) / spacing)[:, None] - places[None], axis=2)
        if len(set(gaps.argmin(axis=1))) == count:
            fits.append((float(gaps.min(axis=1).max()), spacing, layout))
    worst, spacing, layout = min(fits, key=lambda fit: fit[0], default=(np.inf, 0.0, ()))
    if worst > _OFF_LATTICE:
        return refuse("the spots form no legal face")
    if not _SPACINGS[0] <= spacing <= _SPACINGS[1]:
        return refuse(f"spacing {spacing:.2f} of the edge")
    if count in (3, 5) and not _is_like_the_others(points, diameters, middle, spacing):
        return refuse("the spot in the middle is no pip like the others")
    diameter = median(diameters)
    confidence = _standing_out(away, middle, spacing, diameter, layout, contrast)
    return Face(
        value=count,
        confidence=confidence,
        contrast=contrast,
        offset=(float(middle[0]), float(middle[1])),
        spacing=spacing,
        pips=points,
        pip_diameter=diameter,
        grain=_unevenness(away) / contrast,
    )


def _is_like_the_others(
    points: np.ndarray, diameters: np.ndarray, middle: np.ndarray, spacing: float
) -> bool:
    """False where what lies between the pips of a two or a four is an emblem printed there: of
    another size than they are, or not in their middle."""
    inner = int(np.linalg.norm(points - middle, axis=1).argmin())
    outer = np.arange(len(points)) != inner
    size = float(diameters[inner] / diameters[outer].mean())
    off = np.linalg.norm(points[inner] - points[outer].mean(axis=0))
    return bool(1 / _MIDDLE_SIZE < size < _MIDDLE_SIZE and off < _MIDDLE_OFF * spacing)


def _standing_out(
    away: np.ndarray,
    middle: np.ndarray,
    spacing: float,
    diameter: float,
    layout: tuple[tuple[int, int], ...],
    contrast: float,
) -> float:
    """Weakest place that must hold a pip, less the strongest that must not, 0..1."""
    radius = 0.33 * min(diameter, LARGE) * FACE_PX
    reach = int(np.ceil(radius))
    at = np.rint((middle + 0.5 + _PLACES * spacing) * FACE_PX - 0.5).astype(np.intp)
    counts = ((at >= reach) & (at < FACE_PX - reach)).all(axis=1)
    is_full = (_PLACES[:, None] == np.array(layout)).all(axis=2).any(axis=1)
    if len(layout) == 1 and diameter > 0.25:
        counts &= is_full  # the large ace reaches where other faces have their pips
    side = np.arange(-reach, reach + 1)
    dy, dx = np.nonzero(side * side + (side * side)[:, None] <= radius * radius)
    x, y = at[counts].T[..., None] - reach
    levels = away[y + dy, x + dx].mean(axis=1) / contrast
    full = float(levels[is_full[counts]].min(initial=1.0))
    empty = float(levels[~is_full[counts]].max(initial=0.0))
    return max(0.0, min(1.0, full - empty))
