"""Single spots that may be aces: each in the middle of an even square or disc with a full edge.

Owns: where the ground around a spot ends, along rays, also behind letters around the pip. Of the
other faces of a picture it must know only the places that they cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.faces_by_pips.pieces import PIP_DIAMETERS
from vision.faces_by_pips.pips import LIKE_INNER, SPOTS
from vision.faces_by_pips.proposals import PLAIN, SIZE_RATIO, SPACING, Proposal, view_of
from vision.faces_by_pips.spots import Spots, length, sample
from vision.parameters import ALIKE

_PRINT, _PRINT_RUN = (1.2, 1.55), 7
"""For an ace with letters around its pip. First: min and max distance from the pip's middle, in
diameters of the pip, at which the die's ground is visible. Second: steps for which a ray must
differ from this ground before it is off the die. Letters are narrower."""
_EDGE_OF_BLOB = 0.76
"""Edge of a top face in diameters of the round spot that its whole die makes, somewhat small."""
_EDGES_OF_DISC = (1.0, 1.3)
"""Edge of a top face in diameters of the disc under its pips. The disc is a worn die's whole face,
or a disc of another colour in the face."""
_DISC_ANGLES = np.arange(4) * (np.pi / 8)
"""Turns that are tried for the face around a disc, which shows none."""
_RAYS, _STEPS = 48, 40
"""Rays around a pip, and samples along each."""
_ANGLES = np.arange(_RAYS) * (2 * np.pi / _RAYS)
_HALVES = np.arange(1.05, 3.7, 0.1)
"""Half edges that are tried, in diameters of the pip: an ace's pip is 0.14 to 0.48 of an edge."""
_MIN_SQUARE = 0.45
"""Least share of the rays that end at a square's edge, less 1.5 times those that end before."""
_END_SHARES = (0.22, 0.06)
"""Of the pip's contrast: changes of colour that may be a face's end, faint ones as of white dice on
pale wood."""


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


def propose_aces(
    lab: np.ndarray, spots: Spots, others: Sequence[np.ndarray], usual: float | None
) -> list[Proposal]:
    """Aces that spots of a (H, W, 3) float32 Lab picture may be the pips of.

    `others`: (4, 2) corners of the faces that were found already; `usual`: edge of the picture's
    dice in pixels, if known.
    """
    hulls = [cv2.convexHull(corners.astype(np.float32)) for corners in others]
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
    views = np.array([view_of(spots, (i,)) for i in lone])
    rays = (views @ turns.T)[..., None] * (size[:, None, None, None] * radii)
    x, y = (spots.xy[lone, k, None] + rays[:, k].reshape(len(lone), -1) for k in (0, 1))
    colours = sample(lab, x, y).reshape(3, len(lone), _RAYS, _STEPS)
    body = np.median(colours[..., 1:4].reshape(3, len(lone), -1), axis=2)
    away = length(colours - body[..., None, None])
    noise = np.median(away[:, :, :5], axis=(1, 2))
    ends = []  # in diameters, by how much colour counts as the face's end
    for share in _END_SHARES:
        is_off = _ends(away, noise, share * contrast)
        is_off[:, :, :-1] &= is_off[:, :, 1:]  # a speck is no edge
        ends.append(np.where(is_off.any(axis=2), radii[is_off.argmax(axis=2)], np.inf))
    beyond_print = _ends_beyond_print(colours, contrast, radii)
    found = []
    for n, i in enumerate(lone):
        if _has_neighbour(spots, i):
            continue
        others_edge = None if usual is None else usual / float(size[n])
        if contrast[n] > PLAIN:
            ground = _fit_square(beyond_print[n], others_edge)
            if ground is not None and not ground.is_round:
                aces = _on_ground(spots, i, ground, views[n])
                found += [replace(ace, is_printed=True) for ace in aces]
        if noise[n] > 0.25 * contrast[n]:
            continue
        fits = (_fit_square(end[n], others_edge) for end in ends)
        known = [fit for fit in fits if fit is not None]
        if known:
            found += _on_ground(spots, i, max(known, key=lambda fit: fit.share), views[n])
        for edge in _blobs_around(spots, i, usual):
            found += [_ace(spots, i, edge, angle, np.eye(2), 0.5) for angle in _DISC_ANGLES]
    return found


def _on_ground(spots: Spots, i: int, ground: _Ground, view: np.ndarray) -> list[Proposal]:
    """Aces whose ground ends where that does."""
    across = 2 * ground.half * float(spots.diameter[i])
    if not ground.is_round:
        return [_ace(spots, i, across, ground.angle, view, ground.share)]
    return [
        _ace(spots, i, edges * across, angle, view, ground.share)
        for edges in _EDGES_OF_DISC
        for angle in _DISC_ANGLES
    ]


def _ends_beyond_print(colours: np.ndarray, contrast: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """(N, 48) where the rays of (3, N, 48, 40) colours leave the face for good, in diameters of the
    pip: letters around the pip are narrower than what lies beyond a die."""
    ring = (radii > _PRINT[0]) & (radii < _PRINT[1])
    body = np.median(colours[..., ring].reshape(*colours.shape[:2], -1), axis=2)
    away = length(colours - body[..., None, None])
    noise = np.median(away[:, :, ring], axis=(1, 2))
    is_off = _ends(away, noise, _END_SHARES[0] * contrast)
    total = np.cumsum(np.pad(is_off, ((0, 0), (0, 0), (1, 0))), axis=2)
    run = total[:, :, _PRINT_RUN:] - total[:, :, :-_PRINT_RUN] >= _PRINT_RUN - 1
    run &= (radii[: run.shape[2]] > _PRINT[0]) & is_off[:, :, : run.shape[2]]
    return np.where(run.any(axis=2), radii[run.argmax(axis=2)], np.inf)


def _ends(away: np.ndarray, noise: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(N, 48, 40) bool: where colours that are so many Lab units `away` from a face's own are not
    on it, by its noise and a step of colour (N,)."""
    limit = np.clip(np.maximum(4 * noise, step), 4.0, 16.0)
    return np.asarray(away > limit[:, None, None])


def _has_neighbour(spots: Spots, i: int) -> bool:
    """True if another such pip is so near that both are on one face."""
    d = float(spots.diameter[i])
    gaps = np.hypot(*(spots.xy - spots.xy[i]).T)
    alike = (gaps > 0.8 * d) & (gaps < 2.4 * d)
    alike &= (spots.diameter > d / SIZE_RATIO) & (spots.diameter < d * SIZE_RATIO)
    contrast = float(spots.contrast[i])
    for colours in (spots.inner, spots.outer):
        alike &= np.linalg.norm(colours - colours[i], axis=1) < LIKE_INNER * contrast
    return bool(alike.any())


def _ace(
    spots: Spots, i: int, edge: float, angle: float, view: np.ndarray, share: float
) -> Proposal:
    cos, sin = np.cos(angle), np.sin(angle)
    u, v = edge * SPACING * np.array(((cos, sin), (-sin, cos))) @ view
    return Proposal(SPOTS[1][0], spots.xy[i], u, v, (i,), share)


def _blobs_around(spots: Spots, i: int, usual: float | None) -> list[float]:
    """Edges of the dice that large spots around spot i may be."""
    size = spots.diameter[i]
    gaps = np.hypot(*(spots.xy - spots.xy[i]).T)
    edges = _EDGE_OF_BLOB * spots.diameter
    is_pip = (size > PIP_DIAMETERS[0] * edges) & (size < PIP_DIAMETERS[1] * edges)
    if usual is not None:
        is_pip &= (edges > usual / ALIKE) & (edges < usual * ALIKE)
    return [float(edge) for edge in edges[is_pip & (gaps < size)]]


def _fit_square(ends: np.ndarray, usual: float | None) -> _Ground | None:
    """The best square or circle, if any.

    `ends`: (48,) where each ray leaves the face's colour, in diameters of the pip; inf: nowhere.
    `usual`: edge of the other dice, in the same unit.
    """
    halves = _HALVES
    if usual is not None:
        halves = halves[(2 * halves > usual / ALIKE) & (2 * halves < usual * ALIKE)]
        if not len(halves):
            return None
    edges = halves[:, None, None] * _SQUARES[1]
    inside = (ends < 0.80 * edges).mean(axis=2)
    worth = (np.abs(ends - edges) < 0.14 * edges).mean(axis=2) - 1.5 * inside
    i, j = np.unravel_index(int(worth.argmax()), worth.shape)
    if worth[i, j] < _MIN_SQUARE:
        return None
    is_round = bool(j == len(_SQUARES[0]) - 1)
    return _Ground(float(worth[i, j]), float(halves[i]), float(_SQUARES[0][j]), is_round)
