"""Where dice are: the poses whose nine places and square the taught colours explain best.

Owns: the search. Must not know how colours were taught, nor what a face shows.

What belongs to a top face is asked in a view of half the size. Where much of it lies together a die
may be: only there pips are looked for, at every turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import cv2
import numpy as np

from vision.quads import turn_matrices
from vision.taught.lattice import PLACES, explained
from vision.taught.regression import MOST, Logistic
from vision.taught.view import EDGE_PX, HALF, TopView, ring_kernels, rings, sampled

PIP_RINGS = ring_kernels((0.0, 0.035, 0.065, 0.095, 0.13), EDGE_PX)
"""Radii of pips are 0.05 to 0.12 edges."""
TOP_RINGS = ring_kernels((0.0, 0.06, 0.13, 0.22), EDGE_PX / HALF)
"""In the view of half the size."""

_DISC = ring_kernels((0.0, 0.45), EDGE_PX / HALF)[0]
_PATCH = 24
"""Half of the side of the square, pixels, that is searched for one die."""
_SQUARE_COUNTS = 4.5
"""A square that is all of the top, less a rim that is not, in places that are as sure."""
_CANDIDATES = 8
"""Most places at which a die is looked for: three dice, and what else looks like a top."""
_SAME = 0.6
"""Edges; places that are nearer are one."""
_APART = 0.8
"""Least distance of two dice, edges; upright ones keep 1.0."""
_TURNS = np.radians(np.arange(0, 90, 6))
_FIRST = np.stack(
    np.meshgrid(*2 * (np.arange(-4.0, 5.0, 2.0),), _TURNS), axis=-1
).reshape(-1, 3)  # fmt: skip
"""Poses that are tried around a place, with every turn."""
_GRID = np.stack(np.meshgrid(*3 * (np.arange(-1.0, 2.0),)), axis=-1).reshape(-1, 3)
_STEPS = (
    (1.2, 1.2, np.radians(3.0)), (0.8, 0.8, np.radians(2.0)),
    (0.5, 0.5, np.radians(1.0)), (0.25, 0.25, np.radians(0.5)),
)  # fmt: skip
"""Of the refinement: pixels of the view and turn between two poses of a grid."""

_SQUARE = np.stack(np.meshgrid(*2 * (np.linspace(-0.45, 0.45, 6),)), axis=-1).reshape(-1, 2)
_ALONG, _BESIDE = np.linspace(-0.5, 0.5, 7), 0.58
_RIM = np.concatenate(
    [np.stack([_ALONG, np.full(7, side)], axis=1)[:, way] for side in (-_BESIDE, _BESIDE)
     for way in ([0, 1], [1, 0])]
)  # fmt: skip
"""(N, 2) places on a top face, and just beside it, edges from its middle."""
_TOP = np.concatenate([_SQUARE, _RIM])
_COUNT = np.repeat((1 / len(_SQUARE), -1 / len(_RIM)), (len(_SQUARE), len(_RIM)))
"""Both, and what each counts: the mean over the face, less the mean beside it."""


def search(
    view: TopView,
    lab: np.ndarray,
    half: np.ndarray,
    pip: Logistic,
    top: Logistic,
    spacing: float,
) -> list[tuple[np.ndarray, float]]:
    """The likeliest poses in a view, apart from each other, best first, with their scores. `half`:
    the view of half the size; `spacing` of the places, in edges."""
    inside = view.inside[::HALF, ::HALF]
    tops = np.full(inside.shape, -MOST, np.float32)
    tops[inside] = top.odds(rings(half, TOP_RINGS)[inside])

    @cache
    def best_near(x: int, y: int) -> tuple[np.ndarray, float]:
        corner = np.clip((x - _PATCH, y - _PATCH), 0, len(lab) - 2 * _PATCH)
        area = tuple(slice(start, start + 2 * _PATCH) for start in corner[::-1].tolist())
        pips = np.where(view.inside[area], pip.odds(rings(lab[area], PIP_RINGS)), -MOST)
        seen = _Near(tops, pips.astype(np.float32), corner, spacing)
        return seen.best(np.array((x, y, 0.0)))

    found: list[tuple[np.ndarray, float]] = []
    left = tops.copy()
    while len(found) < _CANDIDATES:
        near = [best_near(*place) for place in _candidates(left)]
        apart = [each for each in near if _is_apart(each[0], found)]
        if not apart:
            break
        # The surest die goes out of the picture before the next is looked for: of two dice that
        # touch, what is left of the other is its own top alone.
        surest = max(apart, key=lambda each: each[1])
        found.append(surest)
        square = (view.top_of(surest[0]) - (HALF - 1) / 2) / HALF
        cv2.fillConvexPoly(left, np.rint(square).astype(np.int32), -MOST)
    return found


def _is_apart(pose: np.ndarray, others: Sequence[tuple[np.ndarray, float]]) -> bool:
    return all(np.hypot(*(pose - other)[:2]) > _APART * EDGE_PX for other, _ in others)


def pip_odds(view: TopView, by_pip: np.ndarray, pip: Logistic) -> np.ndarray:
    """(side, side) log-odds of a pip's middle at each pixel of a view, by its `PIP_RINGS`."""
    odds = np.where(view.inside, pip.odds(by_pip), -MOST)
    return np.asarray(odds, np.float32)


def _candidates(tops: np.ndarray) -> Iterator[tuple[int, int]]:
    """(x, y) pixels of the view around which most looks like a top face, the likeliest first."""
    best = cv2.filter2D(tops, -1, _DISC, borderType=cv2.BORDER_CONSTANT)
    for _ in range(_CANDIDATES):
        _, most, _, (column, row) = cv2.minMaxLoc(best)
        if most <= 0:
            return
        yield HALF * column, HALF * row
        cv2.circle(best, (column, row), round(_SAME * EDGE_PX / HALF), -MOST, cv2.FILLED)


class _Near:
    """What the taught colours say around one place."""

    def __init__(
        self, tops: np.ndarray, pips: np.ndarray, corner: np.ndarray, spacing: float
    ) -> None:
        """`corner`: of the (h, w) log-odds of pips, in the view; `tops` is of half its size."""
        self._tops, self._pips, self._corner = tops, pips, corner
        self._places = PLACES * spacing

    def best(self, place: np.ndarray) -> tuple[np.ndarray, float]:
        """The best pose near a place, and its score."""
        poses = place + _FIRST
        pose = poses[int(self._scores(poses).argmax())]
        score = -np.inf
        for step in _STEPS:
            poses = pose + _GRID * step
            scores = self._scores(poses)
            at = int(scores.argmax())
            pose, score = poses[at], float(scores[at])
        return np.array((*pose[:2], pose[2] % (np.pi / 2))), score

    def _scores(self, poses: np.ndarray) -> np.ndarray:
        """(P,) how well a die at each of (P, 3) poses explains what is seen."""
        turns, middles = turn_matrices(poses[:, 2]) * EDGE_PX, poses[:, None, :2]
        places = sampled(self._pips, self._places @ turns + (middles - self._corner), -MOST)
        half = (middles - (HALF - 1) / 2) / HALF
        tops = sampled(self._tops, _TOP @ (turns / HALF) + half, -MOST)
        return np.asarray(explained(places) + _SQUARE_COUNTS * (tops @ _COUNT))
