"""How a die lies: how far it reaches beyond its top face on each side, by taught colours.

Owns: die against floor, and the comparison of an upright die with one that leans. Must not know how
a pose was found.

From above, a die that leans by 6° shows a tenth of an edge more of one side face, and less of the
opposite one, than an upright die at its place does. The table's own upright dice teach how far one
seems to reach where it shows so much of a side face, and how that varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.quads import NORMALS, TANGENTS
from vision.taught.regression import Logistic
from vision.taught.view import EDGE_PX, TopView, ring_kernels, rings, sampled, turned

_RINGS = ring_kernels((0.0, 0.035, 0.08, 0.14))
SIZE = 3 * len(_RINGS) + 3
"""Measurements of a pixel."""
_STEP = 0.02
_OUTWARD = np.arange(-0.12, 0.36, _STEP)
"""Places outward of a top edge at which die or floor is asked for, edges."""
_ALONG = np.linspace(-0.36, 0.36, 9)
"""Places along a side, edges from its middle."""
_MIN_SEEN = 3
"""Places along a side with nothing else beside them, with which the side counts."""
_HIDDEN = 0.3
"""Share of a place that something else may cover."""
_NEIGHBOUR = 0.02
"""How far a neighbour is taken to reach beyond its outline, edges."""
_BEST_NOISE = 0.02
"""Edges; two thirds of a pixel of the view: no side is measured better."""
_LEAST_SHOWN = 0.5
"""Of a side face that a lean uncovers, at least so much is told from the floor."""
_MAX_ODD = 12.0
"""Cost at which a side's measurement is taken for a mistake instead."""
_FLAT, _LEANING = 0.03, 0.095
"""Sines of the leans up to which a die is flat, and from which it is not: 1.7° and 5.5°."""
_SINES = np.arange(-0.3, 0.301, _STEP)
_TO_X, _TO_Y = np.meshgrid(_SINES, _SINES, indexing="ij")
_LEAN = np.hypot(_TO_X, _TO_Y)
_TOWARD = (_TO_X, _TO_Y, -_TO_X, -_TO_Y)
"""Of each side: how much more of it each lean shows, edges."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What was measured on the four sides of a die."""

    reach: np.ndarray
    """(4,) edges; not a number where a neighbour or the wall hides it."""
    shown: np.ndarray
    """(4,) edges of side face that an upright die shows there; below 0 it is hidden."""


@dataclass(frozen=True, slots=True, eq=False)
class Lie:
    """What the table's upright dice taught of their sides."""

    is_die: Logistic
    start: float
    slope: float
    """How far a die seems to reach: this much, and so much more for each edge of side face."""
    noise: float

    @classmethod
    def taught(
        cls, view: TopView, floor: np.ndarray, tosses: Sequence[tuple[np.ndarray, np.ndarray]],
        random: np.random.Generator,
    ) -> Lie:  # fmt: skip
        """Learn from (side, side, 3) views with the (N, 3) poses of their flat dice, beside that of
        the empty compartment."""
        rows, truth = [], []
        for lab, poses in tosses:
            features = _features(lab, floor)
            for area, many, is_die in _areas(view, poses):
                places = np.flatnonzero(area)
                if len(places):
                    chosen = random.choice(places, many)
                    rows.append(features.reshape(-1, features.shape[-1])[chosen])
                    truth.append(np.full(many, is_die))
        model = Logistic.fit(np.concatenate(rows), np.concatenate(truth))
        blank = cls(model, 0.0, 0.0, 1.0)
        sides = [side for lab, poses in tosses for side in blank.measure(view, lab, floor, poses)]
        reach = np.concatenate([side.reach for side in sides])
        shown = np.maximum(np.concatenate([side.shown for side in sides]), 0)
        is_seen = np.isfinite(reach)
        start, slope, noise = _line(shown[is_seen], reach[is_seen])
        return cls(model, start, slope, max(noise, _BEST_NOISE))

    def measure(
        self, view: TopView, lab: np.ndarray, floor: np.ndarray, poses: np.ndarray
    ) -> list[Side]:
        """The sides of the dice at (N, 3) poses in a view of this floor."""
        odds = self.is_die.odds(_features(lab, floor))
        is_die = np.where(view.inside, 1 / (1 + np.exp(-odds)), 0.0)
        measured = []
        for i, pose in enumerate(poses):
            others = view.covered([*poses[:i], *poses[i + 1 :]], _NEIGHBOUR) | ~view.inside
            turn, foot = turned(pose), view.foot_of(pose)
            size = np.linalg.norm(foot - np.roll(foot, 1, axis=0), axis=1).mean() / EDGE_PX
            shown = NORMALS @ turn @ (foot.mean(axis=0) - pose[:2]) / EDGE_PX - (1 - size) / 2
            way, along = (0.5 + _OUTWARD)[:, None, None], _ALONG[:, None]
            points = np.stack([way * n + along * t for n, t in zip(NORMALS, TANGENTS, strict=True)])
            at = (points @ turn * EDGE_PX + pose[:2]).reshape(4, -1, 2)
            shape = (4, len(_OUTWARD), len(_ALONG))
            hidden = sampled(others.astype(np.float32), at, 1.0).reshape(shape).max(axis=1)
            is_free = np.asarray(hidden <= _HIDDEN)
            reaches = (
                sampled(is_die.astype(np.float32), at).reshape(shape).sum(axis=1) * _STEP
                + _OUTWARD[0]
            )
            reach = np.array(
                [
                    np.median(row[free]) if free.sum() >= _MIN_SEEN else np.nan
                    for row, free in zip(reaches, is_free, strict=True)
                ]
            )
            measured.append(Side(reach, shown))
        return measured

    def odds(self, side: Side) -> float:
        """Log-odds of flat against leaning by 5.5° or more."""
        cost = np.zeros_like(_LEAN)
        slope = max(self.slope, _LEAST_SHOWN)
        for reach, shown, more in zip(side.reach, side.shown, _TOWARD, strict=True):
            if np.isfinite(reach):
                upright = max(shown, 0.0)
                wanted = self.start + self.slope * upright
                wanted = wanted + slope * (np.maximum(shown + more, 0) - upright)
                cost += np.minimum(((reach - wanted) / self.noise) ** 2 / 2, _MAX_ODD)
        return float(cost[_LEAN >= _LEANING].min() - cost[_LEAN <= _FLAT].min())


def _features(lab: np.ndarray, floor: np.ndarray) -> np.ndarray:
    away = rings(lab - floor, _RINGS)
    return np.concatenate([away, rings(lab, _RINGS[:1])], axis=-1)


def _areas(view: TopView, poses: np.ndarray) -> list[tuple[np.ndarray, int, bool]]:
    """Where pixels are taken from, how many, and whether they are of dice: tops, sides, what is
    just beside them with its shadow, and the rest of the floor."""
    dice = view.covered(poses)
    tops = np.logical_or.reduce([view.filled(view.top_of(pose)) for pose in poses])
    near = view.covered(poses, 0.3) & ~view.covered(poses, 0.03) & view.inside
    return [
        (tops, 120, True), (dice & ~tops & view.inside, 250, True),
        (near, 300, False), (view.inside & ~dice & ~near, 150, False),
    ]  # fmt: skip


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Start and slope of the line through most of the points, and how far they are from it."""
    rows = np.stack([np.ones_like(x), x], axis=1)
    weights = np.ones_like(x)
    for _ in range(5):
        line = np.linalg.lstsq(rows * weights[:, None], y * weights, rcond=None)[0]
        away = np.abs(y - rows @ line)
        spread = 1.48 * float(np.median(away)) + 1e-3
        weights = 1 / (1 + (away / (2 * spread)) ** 2)
    return float(line[0]), float(line[1]), spread
