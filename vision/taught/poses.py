"""Where dice are: the poses whose nine places and square the taught colours explain best.

Owns: the search. Must not know how colours were taught, nor what a face shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.quads import turn_matrices
from vision.taught.lattice import PLACES, explained
from vision.taught.regression import MOST, Logistic
from vision.taught.view import EDGE_PX, TopView, ring_kernels, rings, sampled

PIP_RINGS = ring_kernels((0.0, 0.035, 0.065, 0.095, 0.13))
"""Radii of pips are 0.05 to 0.12 edges."""
TOP_RINGS = ring_kernels((0.0, 0.06, 0.13, 0.22))

_TURNS = np.radians(np.arange(0, 90, 6))
"""Turns at which the whole view is searched; the refinement reaches half of a step farther."""
_COARSE = 2
"""Pixels of the view to one of the search over the whole view."""
_SQUARE_COUNTS = 4.5
"""A square that is all of the top, less a rim that is not, in places that are as sure."""
_CANDIDATES = 8
"""Most places at which a die is looked for: three dice, and what else has pips."""
_SAME = 0.45
"""Edges; poses that are nearer in the search over the whole view are one."""
_APART = 0.8
"""Least distance of two dice, edges; upright ones keep 1.0."""
_GRID = np.stack(np.meshgrid(*3 * (np.arange(-2.0, 3.0),)), axis=-1).reshape(-1, 3)
_STEPS = (
    (1.5, 1.5, np.radians(3.0)), (0.6, 0.6, np.radians(1.2)), (0.25, 0.25, np.radians(0.5)),
)  # fmt: skip
"""Of the refinement: pixels of the view and turn between two poses of a grid."""

_SQUARE = np.stack(np.meshgrid(*2 * (np.linspace(-0.45, 0.45, 8),)), axis=-1).reshape(-1, 2)
_ALONG, _BESIDE = np.linspace(-0.5, 0.5, 9), 0.58
_RIM = np.concatenate(
    [np.stack([_ALONG, np.full(9, side)], axis=1)[:, way] for side in (-_BESIDE, _BESIDE)
     for way in ([0, 1], [1, 0])]
)  # fmt: skip
"""(N, 2) places on a top face, and just beside it, edges from its middle."""


@dataclass(frozen=True, slots=True, eq=False)
class Likely:
    """(side, side) log-odds of a pip's middle, and of a top face, at each pixel of the view."""

    pip: np.ndarray
    top: np.ndarray


def likely(view: TopView, lab: np.ndarray, pip: Logistic, top: Logistic) -> Likely:
    """What the taught colours say of each pixel; nothing outside the compartment is a die."""
    fields = []
    for model, kernels in ((pip, PIP_RINGS), (top, TOP_RINGS)):
        odds = np.full(view.inside.shape, -MOST, np.float32)
        odds[view.inside] = model.odds(rings(lab, kernels)[view.inside])
        fields.append(odds)
    return Likely(*fields)


def search(seen: Likely, spacing: float) -> list[tuple[np.ndarray, float]]:
    """The likeliest poses, apart from each other, best first, with their scores; `spacing` of the
    places, in edges."""
    coarse = _everywhere(seen, spacing)
    best = coarse.max(axis=0)
    y, x = np.indices(best.shape)
    found = []
    for _ in range(_CANDIDATES):
        row, column = np.unravel_index(int(best.argmax()), best.shape)
        if best[row, column] < 0:
            break
        place = np.array((column, row)) * _COARSE + (_COARSE - 1) / 2
        turn = _TURNS[int(coarse[:, row, column].argmax())]
        found.append(_refined(seen, spacing, np.array((*place, turn))))
        best[np.hypot(x - column, y - row) < _SAME * EDGE_PX / _COARSE] = -np.inf
    kept: list[tuple[np.ndarray, float]] = []
    for pose, score in sorted(found, key=lambda each: -each[1]):
        if all(np.hypot(*(pose - other)[:2]) > _APART * EDGE_PX for other, _ in kept):
            kept.append((pose, score))
    return kept


def _everywhere(seen: Likely, spacing: float) -> np.ndarray:
    """(turns, h, w) scores of poses over a smaller view, to whole pixels of it."""
    side = len(seen.pip) // _COARSE
    size = (side, side)
    pip, top = (cv2.resize(f, size, interpolation=cv2.INTER_AREA) for f in (seen.pip, seen.top))
    edge = EDGE_PX / _COARSE
    scores = []
    for turn in turn_matrices(_TURNS):
        at = [(points @ turn * edge) for points in (PLACES * spacing, _SQUARE[::3], _RIM[::3])]
        places = np.stack([_shifted(pip, by) for by in at[0]], axis=-1)
        square, rim = (sum(_shifted(top, by) for by in points) / len(points) for points in at[1:])
        scores.append(explained(places) + _SQUARE_COUNTS * (square - rim))
    return np.stack(scores)


def _shifted(field: np.ndarray, by: np.ndarray) -> np.ndarray:
    """What a field shows `by` (x, y) pixels beside each pixel."""
    dx, dy = np.rint(by).astype(int)
    reach = int(max(abs(dx), abs(dy)))
    wide = cv2.copyMakeBorder(field, *4 * (reach,), cv2.BORDER_CONSTANT, value=-MOST)
    rows, columns = field.shape
    return wide[reach + dy : reach + dy + rows, reach + dx : reach + dx + columns]


def _refined(seen: Likely, spacing: float, pose: np.ndarray) -> tuple[np.ndarray, float]:
    """The best pose near another, and its score."""
    score = -np.inf
    for step in _STEPS:
        poses = pose + _GRID * step
        scores = _scores(seen, spacing, poses)
        at = int(scores.argmax())
        pose, score = poses[at], float(scores[at])
    return np.array((*pose[:2], pose[2] % (np.pi / 2))), score


def _scores(seen: Likely, spacing: float, poses: np.ndarray) -> np.ndarray:
    """(P,) how well a die at each of (P, 3) poses explains what is seen."""
    turns, middles = turn_matrices(poses[:, 2]) * EDGE_PX, poses[:, None, :2]
    places = sampled(seen.pip, PLACES * spacing @ turns + middles, -MOST)
    square = sampled(seen.top, _SQUARE @ turns + middles, -MOST).mean(axis=1)
    rim = sampled(seen.top, _RIM @ turns + middles, -MOST).mean(axis=1)
    return np.asarray(explained(places) + _SQUARE_COUNTS * (square - rim))
