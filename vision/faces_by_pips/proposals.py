"""Which faces round spots may form: two, three or four similar spots span a lattice.

Owns: which spots are alike, which lattices can be a die's, and how a view stretches them. Must not
know other colours of the picture than those of its spots. `faces` examines whether a face is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vision.faces_by_pips.pips import LIKE_INNER, SPOTS
from vision.faces_by_pips.spots import Spots

SPACING = 0.255
"""Distance of the outer pips from the middle, in edges: the middle of what dice have."""
SIZE_RATIO = 1.5
"""Largest ratio between the diameters of two spots of one face."""
_NEIGHBOURS = 10
"""Most spots beside one that are tried with it, the nearest."""
_GRAIN = 4
"""How much two equal colours differ by grain, in steps of Lab."""
_MAX_AWAY = 5.4
"""Largest distance of two pips of one face, in diameters of one."""
_SIDES = (1.25, 4.6)
"""Min and max side of a lattice, in diameters of a pip."""
_OFF = 0.16
"""Largest distance of a pip from its place between two others, in sides of the lattice."""
_MIN_ASPECT = 0.42
_MIN_UPRIGHT_ASPECT = 0.66
"""Smallest ratio of shorter to longer side of a lattice: as seen, and as seen from straight
above."""
_MIN_SIX_ASPECT = 0.5
"""The same ratio for a six. The rows of a cheap die's six are closer to each other than the corners
of a four, and pips that merge along the rows look stretched."""
_LIKE_OUTER = 0.60
"""Largest difference between the surroundings of pips of one face, as a share of their contrast."""
PLAIN, _SAME = 35.0, 8.0
"""Smallest contrast of spots, and largest difference between their colours, in Lab units, at which
they may be pips of one face on any surroundings. Large pips reach the edge of a clear die, so felt,
glints and other pips are around them."""


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A face that may be there: its value, its place, and the spots that would be its pips."""

    layout: tuple[tuple[int, int], ...]
    """Places of its pips on the lattice of -1, 0, 1."""
    middle: np.ndarray
    """(2,) float, picture pixels."""
    u: np.ndarray
    v: np.ndarray
    """(2,) float: from one place of the lattice to the next."""
    members: tuple[int, ...]
    """Indices of its spots."""
    square: float = 1.0
    """Of aces: share of the rays that end where a square's edge would be."""
    is_printed: bool = False
    """An ace with letters around its pip."""

    @property
    def value(self) -> int:
        """1..6"""
        return len(self.layout)


def propose(spots: Spots) -> list[Proposal]:
    """Faces of two pips and more that spots may form."""
    xy, size, contrast = spots.xy, spots.diameter, spots.contrast
    found: list[Proposal] = []
    for i in range(len(spots)):
        away = np.hypot(*(xy - xy[i]).T)
        least = np.minimum(contrast, contrast[i])
        unlike = np.linalg.norm(spots.inner - spots.inner[i], axis=1)
        is_plain = (least > PLAIN) & (unlike < _SAME)
        like_outer = np.where(is_plain, 1.1, _LIKE_OUTER) * least + _GRAIN
        alike = (
            (away < _MAX_AWAY * size[i])
            & (np.maximum(size, size[i]) < SIZE_RATIO * np.minimum(size, size[i]))
            & (unlike < LIKE_INNER * least + _GRAIN)
            & (np.linalg.norm(spots.outer - spots.outer[i], axis=1) < like_outer)
        )
        alike[i] = False
        near = np.nonzero(alike)[0]
        near = near[np.argsort(away[near], kind="stable")][:_NEIGHBOURS]
        found += _with_spot(spots, i, near)
    return found


def _with_spot(spots: Spots, i: int, near: np.ndarray) -> list[Proposal]:
    """The faces that have spot i as a corner of their lattice."""
    found: list[Proposal] = []
    xy, size, contrast = spots.xy, spots.diameter, spots.contrast
    p, d = xy[i], float(size[i])

    def at(place: np.ndarray, within: float) -> int | None:
        gaps = np.hypot(*(xy[near] - place).T)
        index = int(gaps.argmin())
        return int(near[index]) if gaps[index] < within else None

    for j in near.tolist():
        diagonal = xy[j] - p
        length = float(np.hypot(*diagonal))
        if j < i or not 1.8 * d < length < _MAX_AWAY * d:
            continue
        middle = (p + xy[j]) / 2
        view = view_of(spots, (i, j))
        upright = np.linalg.solve(view, diagonal)
        across = view @ np.array((-upright[1], upright[0]))
        u, v = (diagonal - across) / 4, (diagonal + across) / 4
        members = tuple(m for m in (i, at(middle, 0.14 * length), j) if m is not None)
        found.append(Proposal(SPOTS[len(members)][0], middle, u, v, members))
    for j, k in combinations(near.tolist(), 2):
        u, v = xy[j] - p, xy[k] - p
        lu, lv = float(np.hypot(*u)), float(np.hypot(*v))
        if min(lu, lv) <= _SIDES[0] * d or max(lu, lv) >= _SIDES[1] * d:
            continue
        if min(lu, lv) < _MIN_ASPECT * max(lu, lv) or abs(float(u @ v)) > 0.62 * lu * lv:
            continue
        opposite = at(p + u + v, 0.20 * max(lu, lv))
        if opposite is None or opposite < i:
            continue
        corners = (i, j, k, opposite)
        if u[0] * v[1] - u[1] * v[0] < 0:
            u, v, lu, lv, corners = v, u, lv, lu, (i, k, j, opposite)
        aspect = _upright_aspect(spots, corners, u, v)
        if aspect < _MIN_SIX_ASPECT:
            continue
        middle = xy[list(corners)].mean(axis=0)
        inside = [at(middle, _OFF * max(lu, lv))]
        on_u = [at(p + u / 2, _OFF * lu), at(p + u / 2 + v, _OFF * lu)]
        on_v = [at(p + v / 2, _OFF * lv), at(p + v / 2 + u, _OFF * lv)]
        for layout, more in (
            (SPOTS[4][0], []),
            (SPOTS[5][0], inside),
            (SPOTS[6][1], on_u),
            (SPOTS[6][0], on_v),
        ):
            is_six = len(layout) == 6
            seen = tuple(m for m in more if m is not None)
            # Pips of a six that touch in a row are no round spots: those in the middle of the rows
            # must then be seen all the more clearly (`faces`).
            is_whole = len(seen) == len(more) or (is_six and contrast[i] > PLAIN)
            if is_whole and (is_six or aspect > _MIN_UPRIGHT_ASPECT):
                found.append(Proposal(layout, middle, u / 2, v / 2, corners + seen))
    return found


def view_of(spots: Spots, members: Sequence[int]) -> np.ndarray:
    """(2, 2): how the view stretches circles on a face, from the shape of its pips."""
    c, s = np.median(spots.stretch[list(members)], axis=0)
    return np.array(((1 + c, s), (s, 1 - c)))


def _upright_aspect(spots: Spots, corners: Sequence[int], u: np.ndarray, v: np.ndarray) -> float:
    """Shorter over longer side of a lattice once its pips are round; 0 where it is no rectangle."""
    a, b = np.linalg.solve(view_of(spots, corners), np.stack([u, v], axis=1)).T
    la, lb = float(np.hypot(*a)), float(np.hypot(*b))
    return min(la, lb) / max(la, lb) if abs(float(a @ b)) < 0.42 * la * lb else 0.0
