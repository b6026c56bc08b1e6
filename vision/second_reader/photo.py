"""The second reader without a calibration: dice of unknown size in any photograph.

Owns: the grouping of round spots into legal faces, and how sure each is. Must not know the model's
findings.

Theory of operation: pips are the one thing that all dice have. Two, three or four spots that look
alike (size, colour, colour around them) span a lattice and so propose a face, a lone spot in an
even square or disc proposes an ace, letters around it or none. Each proposal is sampled on a grid
and has to look like its own pattern: pips full, every other place of the lattice and the ground
between empty, in colours that the proposal itself states. What is left of proposals that share
ground is the one that explains most spots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.second_reader.pips import SPOTS, Face
from vision.second_reader.spots import Spots, find_spots, sample, to_lab

_LONG_SIDE = 1024
_MOST_ENLARGED = 2.0
_FINE_SIDE = 2048
_SMALL_EDGE = 30.0
"""Dice smaller than this at `_LONG_SIDE` are looked at again at `_FINE_SIDE`, if there is more to
see there."""
_SIZED_EDGE = 60.0
"""Edge to which dice of known size are brought: the smallest pips then measure five pixels."""
_LARGEST_PIP = 0.5
_MOST_OFF_SIZE = 1.3
"""Pips say an edge to a fifth: their spacing is 0.18-0.30 of it, and 0.255 is assumed."""
_SPACING = 0.255
"""Distance of the outer pips from the middle, in edges: the middle of what dice have."""
_SIZE_RATIO = 1.5
_NEIGHBOURS = 10
_LEAST_ASPECT = 0.42
_LEAST_UPRIGHT_ASPECT = 0.66
"""Shorter over longer side of a lattice, as seen and seen from straight above."""
_LEAST_SIX_ASPECT = 0.5
"""The same of a six: cheap dice have its rows nearer to each other than the corners of a four, and
pips that run into each other along the rows look stretched."""
_LIKE_INNER = 0.45
_LIKE_OUTER = 0.60
"""Largest difference between spots of one face, as a share of their contrast."""
_PRINT, _PRINT_RUN = (1.2, 1.55), 7
"""Where an ace with letters around its pip shows its ground, in diameters of the pip from its
middle, and over how many steps outward a ray must have left it to be off the die: letters are
narrower."""
_PRINT_REACH = 1.3
"""Spacings of the lattice from the middle beyond which there are no letters."""
_PLAIN, _SAME = 35.0, 8.0
"""Contrast of spots, and difference between their colours, in Lab units, from and up to which they
may be pips of one face whatever is around them: large pips reach the edge of a clear die, and
around them are felt, glints and the other pips."""
_REACH = 1.62
"""How far the grid reaches, in lattice spacings; the edge of the face is at about 1.96."""
_CELLS = 27
_FLAT = np.linspace(-_REACH, _REACH, _CELLS, dtype=np.float32)
_GRID = np.stack(np.meshgrid(_FLAT, _FLAT), axis=-1)
"""(27, 27, 2): lattice coordinates x, y; pips lie at -1, 0 and 1."""
_FROM_MIDDLE = np.hypot(_GRID[..., 0], _GRID[..., 1])
_DISC_REACH, _LESS_SURE = 1.6, 0.8
"""What of a face is looked at where it may be a disc let into a die of another colour, and what
that counts."""
_ACROSS = np.linspace(-1.5, 1.5, 7, dtype=np.float32)
_AROUND = np.concatenate(
    [
        np.stack(np.broadcast_arrays(*place), axis=-1)
        for reach in (2.5, 3.0, -2.5, -3.0)
        for place in ((np.float32(reach), _ACROSS), (_ACROSS, np.float32(reach)))
    ]
)
"""(56, 2): places beyond the edges of the face."""
_LATTICE = tuple((x, y) for y in (-1, 0, 1) for x in (-1, 0, 1))

_RADII = (0.27, 0.68)
_ACE_RADII = (0.19, 1.05)
"""Radii of pips, in spacings of the lattice."""
_LEAST_CONTRAST = 7.0
_LEAST_FULL = 0.50
_LEAST_FULL_UNSEEN = 0.75
"""Of a face some of whose pips are no round spots of their own."""
_MOST_EMPTY = {1: 0.50, 2: 0.50, 3: 0.50, 4: 0.50, 5: 0.60, 6: 0.75}
"""Of any place of the lattice without a pip. What else lies between six pips is a serial number."""
_BEYOND = {1: 0.08, 2: 0.12, 3: 0.12, 4: 0.22, 5: 0.22, 6: 0.22}
"""How far the estimated face may reach out of the picture, in its diagonals."""
_MOST_ODD = {1: 0.10, 2: 0.10, 3: 0.12, 4: 0.18, 5: 0.22, 6: 0.30}
_MOST_GRAIN = {1: 0.20, 2: 0.22, 3: 0.24, 4: 0.34, 5: 0.36, 6: 0.38}
"""Four pips and more in their places prove a die by themselves."""
_MOST_PRINTED = (0.60, 0.22, 0.36)
"""The same three of an ace with letters around its pip: what passes is seldom sure."""
_LETTERS = 0.35
"""Edges of an ace; faces that letters make on it are smaller."""
_LEAST_LIKENESS = 0.60

_EDGE_OF_BLOB = 0.76
"""Edge of a top face in diameters of the round spot that its whole die makes, somewhat small."""
_EDGES_OF_DISC = (1.0, 1.3)
"""Edge of a top face in diameters of the disc that its pips lie on: a worn die's whole face, or one
of another colour that is let into the face."""
_LEAST_SLANT = 0.12
"""Stretch of the pips from which a view counts as slanted."""
_MOST_UNLIKE = 1.9
"""Largest ratio between a die's edge and the usual one of its picture."""
_PROVES_SIZE = 3
"""Pips of a face that says how large the dice of its picture are."""
_BLOB_ANGLES = np.arange(4) * (np.pi / 8)

_RAYS = 48
_STEPS = 40
_ANGLES = np.arange(_RAYS) * (2 * np.pi / _RAYS)
_HALVES = np.arange(1.05, 3.7, 0.1)
_LEAST_SQUARE = 0.45
_END_SHARES = (0.22, 0.11, 0.06)
"""Of the pip's contrast: changes of colour that may be a face's end, faint ones as of white dice on
pale wood. Of 36 aces of every sixth picture of `matteop65` the first alone finds 20, all 24."""


def _squares() -> tuple[np.ndarray, np.ndarray]:
    """Angles (N,), and where 48 rays meet a square of half edge 1 at that angle (N, 48): with
    slightly rounded corners, and with much rounded ones; the last is a circle."""
    angles = np.repeat(np.arange(0, 90, 7.5) * np.pi / 180, 2)
    turned = _ANGLES - angles[:, None]
    square = 1.0 / np.maximum(np.abs(np.cos(turned)), np.abs(np.sin(turned)))
    roundings = np.tile((1.38, 1.15), len(angles) // 2)
    shapes = np.minimum(square, roundings[:, None])
    return np.append(angles, 0.0), np.concatenate([shapes, np.ones((1, _RAYS))])


_SQUARES = _squares()


@dataclass(frozen=True, slots=True, eq=False)
class PhotoDie:
    """A face that passed."""

    corners: np.ndarray
    """(4, 2) float, picture pixels, clockwise: estimated from the pips."""
    face: Face
    aspect: float
    """Shorter over longer side of the pips' lattice; 1 seen from straight above."""
    pip: np.ndarray
    """(3,) CIE Lab: colour of the pips."""
    body: np.ndarray
    """(3,) CIE Lab: colour of the face."""
    members: frozenset[int]
    """Which of the picture's spots are its pips: no two faces share one."""
    has_pips_above: bool = False
    """True if like pips, of no face that was found, lie just above this one in the picture: then
    it may be the side of a die whose top was missed, as photographs are taken upright."""

    @property
    def centre(self) -> np.ndarray:
        return np.asarray(self.corners.mean(axis=0))

    @property
    def edge_px(self) -> float:
        sides = np.roll(self.corners, -1, axis=0) - self.corners
        return float(np.linalg.norm(sides, axis=1).mean())


@dataclass(frozen=True, slots=True, eq=False)
class PhotoReading:
    """All that the second reader sees in a photograph."""

    dice: tuple[PhotoDie, ...]
    """From left to right."""
    spots: np.ndarray
    """(N, 4) float, picture pixels: x, y and diameter of every round spot, pip or not, and its
    contrast in CIE Lab units."""


@dataclass(frozen=True, slots=True, eq=False)
class _Proposal:
    value: int
    layout: tuple[tuple[int, int], ...]
    middle: np.ndarray
    u: np.ndarray
    v: np.ndarray
    """(2,) float: from one place of the lattice to the next."""
    members: tuple[int, ...]
    square: float = 1.0
    """Of aces: share of the rays that end where a square's edge would be."""
    is_printed: bool = False
    """An ace with letters around its pip."""


@dataclass(frozen=True, slots=True)
class _Ground:
    """What surrounds the pip of an ace up to an edge on all sides."""

    share: float
    """Of the rays that end there, less those that end before."""
    half: float
    """Half its edge or its radius, in diameters of the pip."""
    angle: float
    is_round: bool
    """A circle: a worn die's whole face, or a disc let into one."""
    is_printed: bool = False
    """With letters around the pip."""


def photo_scale(image: np.ndarray) -> float:
    """By how much a picture is enlarged or shrunk before it is read."""
    return min(_MOST_ENLARGED, _LONG_SIDE / max(image.shape[:2]))


def read_photo(image: np.ndarray) -> PhotoReading:
    """Every die face in a (H, W, 3) uint8 BGR picture."""
    scale = photo_scale(image)
    seen = _read_at(image, scale)
    fine = min(1.0, _FINE_SIDE / max(image.shape[:2]))
    usual = _usual_edge(seen.dice)
    if fine > 1.3 * scale and (usual is None or usual * scale < _SMALL_EDGE):
        finer = _read_at(image, fine)  # a large photograph of small dice
        if _sureness(finer.dice) > _sureness(seen.dice):
            return finer
    return seen


def _sureness(dice: Sequence[PhotoDie]) -> float:
    return sum(die.face.confidence for die in dice if die.face.confidence > 0.45)


def read_sized(image: np.ndarray, edge_px: float) -> list[PhotoDie]:
    """Every face in a (H, W, 3) uint8 BGR picture whose dice are known to have about that edge."""
    scale = _SIZED_EDGE / edge_px
    faces = _read_at(image, scale, edge_px * scale)
    return [
        die for die in faces.dice if 1 / _MOST_OFF_SIZE < die.edge_px / edge_px < _MOST_OFF_SIZE
    ]


def _read_at(image: np.ndarray, scale: float, edge: float | None = None) -> PhotoReading:
    """What is read of a picture that is brought to this scale first; in the picture's pixels.

    `edge`: of its dice at that scale, if known; spots too large for pips are not looked for then.
    """
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    lab = to_lab(cv2.resize(image, None, fx=scale, fy=scale, interpolation=interpolation))
    spots = find_spots(lab, largest=np.inf if edge is None else _LARGEST_PIP * edge)
    if not len(spots):
        return PhotoReading((), np.zeros((0, 4)))
    passed = _examine(lab, spots, _proposals(spots))
    usual = edge or _usual_edge(_without_overlap(passed))
    if usual is not None:
        passed = [die for die in passed if 1 / _MOST_UNLIKE < die.edge_px / usual < _MOST_UNLIKE]
    kept = _without_overlap(passed)
    aces = _examine(lab, spots, _aces(lab, spots, kept, usual))
    faces = [die for die in kept + aces if not any(_is_print_on(die, ace) for ace in aces)]
    kept = _without_overlap(faces)
    hulls = [cv2.convexHull(die.corners.astype(np.float32)) for die in kept]
    is_free = np.array(
        [
            all(cv2.pointPolygonTest(hull, (float(x), float(y)), False) < 0 for hull in hulls)
            for x, y in spots.xy
        ]
    )
    free = spots.take(np.nonzero(is_free)[0])
    dice = sorted(
        (
            replace(
                die,
                corners=(die.corners + 0.5) / scale - 0.5,
                has_pips_above=_has_pips_above(die, free),
            )
            for die in kept
        ),
        key=lambda die: float(die.centre[0]),
    )
    places = (spots.xy + 0.5) / scale - 0.5
    return PhotoReading(tuple(dice), np.c_[places, spots.diameter / scale, spots.contrast])


def _usual_edge(dice: Sequence[PhotoDie]) -> float | None:
    """The edge of most dice in the picture, those counting most that are surest to be dice: two
    dice on an even table look like the pips of a giant two. None where no face has three pips and
    more: two spots of a side face or of a floor's grain look like a small two anywhere."""
    dice = [die for die in dice if (die.face.value or 0) >= _PROVES_SIZE]
    if not dice:
        return None
    edges = np.array([die.edge_px for die in dice])
    weights = np.array([(die.face.value or 0) ** 2 * die.face.confidence**2 for die in dice])
    order = np.argsort(edges)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(edges[order][min(int(half), len(dice) - 1)])


def _is_print_on(die: PhotoDie, ace: PhotoDie) -> bool:
    """True if a face is so small and few in pips, and lies so beside the pip of an ace, that it is
    made of the letters around it."""
    gap = float(np.hypot(*(die.centre - ace.centre))) / ace.edge_px
    is_small = die.edge_px < _LETTERS * ace.edge_px and (die.face.value or 0) <= 2
    return is_small and ace.face.pip_diameter / 2 < gap < 0.5


def _has_pips_above(die: PhotoDie, free: Spots) -> bool:
    x, y = (free.xy - die.centre).T / die.edge_px
    size = die.face.pip_diameter * die.edge_px
    alike = (free.diameter < 1.4 * size) & (free.diameter > 0.62 * size)
    for mine, theirs in ((die.pip, free.inner), (die.body, free.outer)):
        alike &= np.linalg.norm(theirs - mine, axis=1) < 0.3 * die.face.contrast
    return bool((alike & (np.abs(x) < 0.45) & (y < -0.5) & (y > -1.05)).any())


# ── Proposals ───────────────────────────────────────────────────────────────


def _proposals(spots: Spots) -> list[_Proposal]:
    """Faces of two pips and more that spots may form."""
    xy, size, contrast = spots.xy, spots.diameter, spots.contrast
    found: list[_Proposal] = []
    for i in range(len(spots)):
        away = np.hypot(*(xy - xy[i]).T)
        least = np.minimum(contrast, contrast[i])
        is_plain = (least > _PLAIN) & (np.linalg.norm(spots.inner - spots.inner[i], axis=1) < _SAME)
        like_outer = np.where(is_plain, 1.1, _LIKE_OUTER) * least + 4
        alike = (
            (away < 5.4 * size[i])
            & (np.maximum(size, size[i]) < _SIZE_RATIO * np.minimum(size, size[i]))
            & (np.linalg.norm(spots.inner - spots.inner[i], axis=1) < _LIKE_INNER * least + 4)
            & (np.linalg.norm(spots.outer - spots.outer[i], axis=1) < like_outer)
        )
        alike[i] = False
        near = np.nonzero(alike)[0]
        near = near[np.argsort(away[near], kind="stable")][:_NEIGHBOURS]
        if len(near):
            found += _with_spot(spots, i, near)
    return found


def _with_spot(spots: Spots, i: int, near: np.ndarray) -> list[_Proposal]:
    """The faces that have spot i as a corner of their lattice."""
    found: list[_Proposal] = []
    xy, size, contrast = spots.xy, spots.diameter, spots.contrast
    p, d = xy[i], float(size[i])

    def at(place: np.ndarray, within: float) -> int | None:
        gaps = np.hypot(*(xy[near] - place).T)
        index = int(gaps.argmin())
        return int(near[index]) if gaps[index] < within else None

    for j in near:
        diagonal = xy[j] - p
        length = float(np.hypot(*diagonal))
        if j < i or not 1.8 * d < length < 5.4 * d:
            continue
        middle = (p + xy[j]) / 2
        view = _view(spots, (i, int(j)))
        upright = np.linalg.solve(view, diagonal)
        across = view @ np.array((-upright[1], upright[0]))
        u, v = (diagonal - across) / 4, (diagonal + across) / 4
        between = at(middle, 0.14 * length)
        if between is None:
            found.append(_Proposal(2, SPOTS[2][0], middle, u, v, (i, int(j))))
        else:
            found.append(_Proposal(3, SPOTS[3][0], middle, u, v, (i, between, int(j))))
    for a, j in enumerate(near):
        for k in near[a + 1 :]:
            u, v = xy[j] - p, xy[k] - p
            lu, lv = float(np.hypot(*u)), float(np.hypot(*v))
            if not (1.25 * d < lu < 4.6 * d and 1.25 * d < lv < 4.6 * d):
                continue
            if min(lu, lv) < _LEAST_ASPECT * max(lu, lv) or abs(float(u @ v)) > 0.62 * lu * lv:
                continue
            opposite = at(p + u + v, 0.20 * max(lu, lv))
            if opposite is None or opposite < i:
                continue
            if u[0] * v[1] - u[1] * v[0] < 0:
                u, v, j_, k_ = v, u, k, j
            else:
                j_, k_ = j, k
            corners = (i, int(j_), int(k_), opposite)
            aspect = _upright_aspect(spots, corners, u, v)
            if aspect < _LEAST_SIX_ASPECT:
                continue
            middle = xy[list(corners)].mean(axis=0)
            inside = [at(middle, 0.15 * max(lu, lv))]
            on_u = [at(p + u / 2, 0.15 * lu), at(p + u / 2 + v, 0.17 * lu)]
            on_v = [at(p + v / 2, 0.15 * lv), at(p + v / 2 + u, 0.17 * lv)]
            for value, layout, more in (
                (4, SPOTS[4][0], []),
                (5, SPOTS[5][0], inside),
                (6, SPOTS[6][1], on_u),
                (6, SPOTS[6][0], on_v),
            ):
                # Pips of a six that touch in a row are no round spots: those in the middle of the
                # rows must then be seen all the more clearly (`_LEAST_FULL_UNSEEN`).
                if value == 6 and contrast[i] > _PLAIN:
                    more = [m for m in more if m is not None]
                if None not in more and (value == 6 or aspect > _LEAST_UPRIGHT_ASPECT):
                    members = corners + tuple(m for m in more if m is not None)
                    found.append(_Proposal(value, layout, middle, u / 2, v / 2, members))
    return found


def _view(spots: Spots, members: Sequence[int]) -> np.ndarray:
    """(2, 2): how the view stretches circles on a face, from the shape of its pips."""
    c, s = np.median(spots.stretch[list(members)], axis=0)
    return np.array(((1 + c, s), (s, 1 - c)))


def _upright_aspect(spots: Spots, corners: Sequence[int], u: np.ndarray, v: np.ndarray) -> float:
    """Shorter over longer side of a lattice once its pips are round; 0 where it is no rectangle."""
    a, b = np.linalg.solve(_view(spots, corners), np.stack([u, v], axis=1)).T
    la, lb = float(np.hypot(*a)), float(np.hypot(*b))
    return min(la, lb) / max(la, lb) if abs(float(a @ b)) < 0.42 * la * lb else 0.0


def _aces(
    lab: np.ndarray, spots: Spots, others: Sequence[PhotoDie], usual: float | None
) -> list[_Proposal]:
    """Lone spots in the middle of an even square that ends on all sides."""
    hulls = [cv2.convexHull(die.corners.astype(np.float32)) for die in others]
    lone = [
        i
        for i, (x, y) in enumerate(spots.xy)
        if not any(cv2.pointPolygonTest(hull, (float(x), float(y)), False) > 0 for hull in hulls)
    ]
    if not lone:
        return []
    size, contrast = spots.diameter[lone], spots.contrast[lone]
    radii = np.linspace(0.8, 4.4, _STEPS)
    turns = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
    views = np.array([_view(spots, (i,)) for i in lone])
    rays = np.einsum("nij,rj->nri", views, turns)[:, :, None] * radii[:, None]
    colours = sample(lab, spots.xy[lone][:, None, None] + size[:, None, None, None] * rays)
    body = np.median(colours[:, :, 1:4].reshape(len(lone), -1, 3), axis=1)
    away = np.linalg.norm(colours - body[:, None, None], axis=-1)
    noise = np.median(away[:, :, :5], axis=(1, 2))
    ends = []  # in diameters, by how much colour counts as the face's end
    for share in _END_SHARES:
        limit = np.clip(np.maximum(4 * noise, share * contrast), 4.0, 16.0)
        is_off = away > limit[:, None, None]
        is_off[:, :, :-1] &= is_off[:, :, 1:]  # a speck is no edge
        ends.append(np.where(is_off.any(axis=2), radii[is_off.argmax(axis=2)], np.inf))
    beyond_print = _ends_beyond_print(colours, contrast, radii)
    found = []
    for n, i in enumerate(lone):
        if _has_neighbour(spots, i):
            continue
        d = float(size[n])
        if contrast[n] > _PLAIN:
            ground = _fit_square(beyond_print[n], None if usual is None else usual / d)
            if ground is not None and not ground.is_round:
                found += _on_ground(spots, i, replace(ground, is_printed=True), views[n])
        if noise[n] > 0.25 * contrast[n]:
            continue
        fits = [_fit_square(end[n], None if usual is None else usual / d) for end in ends]
        known = [fit for fit in fits if fit is not None]
        if known:
            found += _on_ground(spots, i, max(known, key=lambda fit: fit.share), views[n])
        for edge in _blobs_around(spots, i, usual):
            found += [_ace(spots, i, edge, angle, np.eye(2), 0.5) for angle in _BLOB_ANGLES]
    return found


def _on_ground(spots: Spots, i: int, ground: _Ground, view: np.ndarray) -> list[_Proposal]:
    """Aces whose ground ends where that does."""
    across = 2 * ground.half * float(spots.diameter[i])
    if not ground.is_round:
        ace = _ace(spots, i, across, ground.angle, view, ground.share)
        return [replace(ace, is_printed=ground.is_printed)]
    return [
        _ace(spots, i, edges * across, angle, view, ground.share)
        for edges in _EDGES_OF_DISC
        for angle in _BLOB_ANGLES
    ]


def _ends_beyond_print(colours: np.ndarray, contrast: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """(N, 48) where the rays of (N, 48, 40, 3) colours leave the face for good, in diameters of the
    pip: letters around the pip are narrower than what lies beyond a die."""
    ring = (radii > _PRINT[0]) & (radii < _PRINT[1])
    body = np.median(colours[:, :, ring].reshape(len(colours), -1, 3), axis=1)
    away = np.linalg.norm(colours - body[:, None, None], axis=-1)
    noise = np.median(away[:, :, ring], axis=(1, 2))
    limit = np.clip(np.maximum(3 * noise, 0.22 * contrast), 4.0, 24.0)
    is_off = away > limit[:, None, None]
    total = np.cumsum(np.pad(is_off, ((0, 0), (0, 0), (1, 0))), axis=2)
    run = total[:, :, _PRINT_RUN:] - total[:, :, :-_PRINT_RUN] >= _PRINT_RUN - 1
    run &= (radii[: run.shape[2]] > _PRINT[0]) & is_off[:, :, : run.shape[2]]
    return np.where(run.any(axis=2), radii[run.argmax(axis=2)], np.inf)


def _has_neighbour(spots: Spots, i: int) -> bool:
    """True if another such pip is so near that both are on one face."""
    d = float(spots.diameter[i])
    gaps = np.hypot(*(spots.xy - spots.xy[i]).T)
    alike = (gaps > 0.8 * d) & (gaps < 2.4 * d)
    alike &= (spots.diameter > d / _SIZE_RATIO) & (spots.diameter < d * _SIZE_RATIO)
    contrast = float(spots.contrast[i])
    for colours in (spots.inner, spots.outer):
        alike &= np.linalg.norm(colours - colours[i], axis=1) < _LIKE_INNER * contrast
    return bool(alike.any())


def _ace(
    spots: Spots, i: int, edge: float, angle: float, view: np.ndarray, share: float
) -> _Proposal:
    cos, sin = np.cos(angle), np.sin(angle)
    u, v = edge * _SPACING * np.array(((cos, sin), (-sin, cos))) @ view
    return _Proposal(1, SPOTS[1][0], spots.xy[i], u, v, (i,), share)


def _blobs_around(spots: Spots, i: int, usual: float | None) -> list[float]:
    """Edges of the dice that large spots around spot i may be."""
    ratio = spots.diameter / spots.diameter[i]
    gaps = np.hypot(*(spots.xy - spots.xy[i]).T)
    is_die = (ratio > 2.4) & (ratio < 9.0) & (gaps < 0.22 * spots.diameter)
    edges = _EDGE_OF_BLOB * spots.diameter[is_die]
    return [float(e) for e in edges if usual is None or 0.6 < e / usual < 1.6]


def _fit_square(ends: np.ndarray, usual: float | None) -> _Ground | None:
    """The best square or circle, if any.

    `ends`: (48,) where each ray leaves the face's colour, in diameters of the pip; inf: nowhere.
    `usual`: edge of the other dice, in the same unit.
    """
    halves = _HALVES
    if usual is not None:
        halves = halves[(2 * halves > 0.55 * usual) & (2 * halves < 1.7 * usual)]
        if not len(halves):
            return None
    edges = halves[:, None, None] * _SQUARES[1]
    inside = (ends < 0.80 * edges).mean(axis=2)
    worth = (np.abs(ends - edges) < 0.14 * edges).mean(axis=2) - 1.5 * inside
    i, j = np.unravel_index(int(worth.argmax()), worth.shape)
    if worth[i, j] < _LEAST_SQUARE:
        return None
    is_round = bool(j == len(_SQUARES[0]) - 1)
    return _Ground(float(worth[i, j]), float(halves[i]), float(_SQUARES[0][j]), is_round)


# ── Examination ─────────────────────────────────────────────────────────────


def _examine(lab: np.ndarray, spots: Spots, proposals: Sequence[_Proposal]) -> list[PhotoDie]:
    """The proposals whose ground shows what was proposed and nothing else."""
    dice: list[PhotoDie] = []
    for start in range(0, len(proposals), 512):
        batch = proposals[start : start + 512]
        frames = np.array([(p.u, p.v) for p in batch], np.float32)
        middles = np.array([p.middle for p in batch], np.float32)
        places = middles[:, None, None] + np.einsum("ijk,nkl->nijl", _GRID, frames)
        colours = sample(lab, places)
        around = sample(lab, middles[:, None] + np.einsum("jk,nkl->njl", _AROUND, frames))
        for proposal, patch, rim in zip(batch, colours, around, strict=True):
            die = _judge(lab, spots, proposal, patch, rim)
            if die is not None:
                dice.append(die)
    return dice


def _judge(
    lab: np.ndarray, spots: Spots, proposal: _Proposal, patch: np.ndarray, rim: np.ndarray
) -> PhotoDie | None:
    members = list(proposal.members)
    corners = _corners(proposal)
    height, width = lab.shape[:2]
    margin = _BEYOND[proposal.value] * float(np.hypot(*(corners[2] - corners[0])))
    if (
        corners.min() < -margin
        or corners[:, 0].max() > width + margin
        or corners[:, 1].max() > height + margin
    ):
        return None
    pip = np.median(spots.inner[members], axis=0)
    lu, lv = float(np.hypot(*proposal.u)), float(np.hypot(*proposal.v))
    radius = float(np.median(spots.diameter[members])) / 2 / np.sqrt(lu * lv)
    low, high = _ACE_RADII if proposal.value == 1 else _RADII
    if not low < radius < high:
        return None
    if proposal.value == 4 and _is_part_of_six(spots, proposal):
        return None
    # Where the whole face does not pass, it may be a disc let into one, and that end within reach.
    face = _face(proposal, patch, rim, pip, radius) or _face(
        proposal, patch, rim, pip, radius, _DISC_REACH
    )
    if face is None:
        return None
    body, shown = face
    return PhotoDie(corners, shown, min(lu, lv) / max(lu, lv), pip, body, frozenset(members))


def _face(
    proposal: _Proposal,
    patch: np.ndarray,
    rim: np.ndarray,
    pip: np.ndarray,
    radius: float,
    reach: float = np.inf,
) -> tuple[np.ndarray, Face] | None:
    """Colour and face of a proposal, if its (27, 27, 3) patch shows its pips of that colour and
    radius, and nothing else within that reach of the middle; both in spacings of the lattice."""
    layout = np.array(proposal.layout, np.float32)
    gaps = np.linalg.norm(_GRID[:, :, None] - layout, axis=-1).min(axis=2)
    looked_at = reach > _FROM_MIDDLE
    ground = looked_at & (gaps > (_PRINT_REACH if proposal.is_printed else 1.3 * radius + 0.08))
    if not ground.any():
        return None
    body = np.median(patch[ground], axis=0)
    contrast = float(np.linalg.norm(pip - body))
    if contrast < _LEAST_CONTRAST:
        return None
    off = np.linalg.norm(patch - body, axis=-1) / contrast
    share = ((patch - body) @ ((pip - body) / contrast**2)).astype(np.float32)
    full, empty = 1.0, 0.0
    disc = max(0.20, min(0.75 * radius, 0.4))
    for x, y in _LATTICE:
        near = looked_at & ((_GRID[..., 0] - x) ** 2 + (_GRID[..., 1] - y) ** 2 < disc**2)
        if (x, y) in proposal.layout:
            full = min(full, float(share[near].mean()))
        elif np.hypot(x, y) > radius + disc:
            empty = max(empty, float(off[near].mean()))
    kinds = _MOST_EMPTY, _MOST_ODD, _MOST_GRAIN
    most_empty, most_odd, most_grain = (
        _MOST_PRINTED if proposal.is_printed else (kind[proposal.value] for kind in kinds)
    )
    is_whole = len(proposal.members) == proposal.value
    if full < (_LEAST_FULL if is_whole else _LEAST_FULL_UNSEEN) or empty > most_empty:
        return None
    odd = float((off[ground] > 0.5).mean())
    grain = float(np.median(off[ground]))
    if odd > most_odd or grain > most_grain:
        return None
    drawn = np.clip((1.15 * radius - gaps) / (0.3 * radius) + 0.5, 0, 1)
    told = ground | (gaps < 1.15 * radius) if proposal.is_printed else looked_at
    likeness = float(np.corrcoef(drawn[told], np.clip(share[told], -0.5, 1.5))[0, 1])
    if likeness < _LEAST_LIKENESS:
        return None
    ends = float((np.linalg.norm(rim - body, axis=-1) > max(0.2 * contrast, 5.0)).mean())
    confidence = max(0.0, min(1.0, (full - empty) * likeness))
    if proposal.value <= 3:  # so few pips occur by chance: that the face ends counts as well
        confidence *= 0.6 + 0.4 * min(1.0, 2 * ends)
    if proposal.value == 1:
        confidence *= 0.6 + 0.4 * proposal.square
    if reach < np.inf:
        confidence *= _LESS_SURE
    return body, Face(
        value=proposal.value,
        confidence=confidence,
        contrast=contrast,
        spacing=_SPACING,
        pip_diameter=2 * radius * _SPACING,
        grain=grain,
        spots=len(proposal.members),
    )


def _is_part_of_six(spots: Spots, proposal: _Proposal) -> bool:
    """True if two more such pips continue the rows of a four: it is part of a slanted six.

    Seen from above the rows of a six are too near each other for that; there it is the next die.
    """
    slant = np.hypot(*np.median(spots.stretch[list(proposal.members)], axis=0))
    if slant < _LEAST_SLANT:
        return False
    near = spots.xy - proposal.middle
    size = float(np.median(spots.diameter[list(proposal.members)]))
    alike = (spots.diameter < _SIZE_RATIO * size) & (spots.diameter > size / _SIZE_RATIO)
    places = near[alike] @ np.linalg.inv(np.stack([proposal.u, proposal.v]))

    def has(x: float, y: float) -> bool:
        return bool((np.hypot(places[:, 0] - x, places[:, 1] - y) < 0.45).any())

    return any(
        (has(1, 3 * side) and has(-1, 3 * side)) or (has(3 * side, 1) and has(3 * side, -1))
        for side in (-1, 1)
    )


def _corners(proposal: _Proposal) -> np.ndarray:
    a, b = proposal.u / _SPACING / 2, proposal.v / _SPACING / 2
    m = proposal.middle
    return np.array([m - a - b, m + a - b, m + a + b, m - a + b])


def _without_overlap(dice: Sequence[PhotoDie]) -> list[PhotoDie]:
    """Of faces that share ground, the one with most pips, then the surest."""
    order = sorted(dice, key=lambda d: (-(d.face.value or 0), -d.face.confidence * d.aspect))
    centres = np.array([die.centre for die in order]).reshape(-1, 2)
    edges = np.array([die.edge_px for die in order])
    kept: list[int] = []
    taken: set[int] = set()
    for i in range(len(order)):
        if taken & order[i].members:
            continue
        gaps = np.hypot(*(centres[kept] - centres[i]).T)
        reach = np.maximum(
            0.62 * np.minimum(edges[kept], edges[i]), 0.45 * np.maximum(edges[kept], edges[i])
        )
        if (gaps > reach).all():
            kept.append(i)
            taken |= order[i].members
    return [order[i] for i in kept]
