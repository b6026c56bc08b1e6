"""Which value a face shows by its nine places, where the model found a die on a photograph.

Owns: the measurements of the places and the vote that follows from them. Must not know the value
that the model read, but to say how well that value fits.

The face is rectified by the corners of the model's die. How far apart its pips are, and whether the
corners are a little off, is not known, so all distances of a small set are tried. A pip stands out
from the face's own colour by about as much as the strongest places of the face. So one set of
weights fits any colour; `models/photo_judgement.json` has them, `models.training` fits them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import cv2
import numpy as np

from vision.networks.model_card import MODELS
from vision.reading import VALUES
from vision.taught.lattice import ON, PLACES
from vision.taught.lattice import VALUES as VALUES_OF
from vision.taught.regression import Logistic

WEIGHTS = MODELS / "photo_judgement.json"

_WIDE, _SIZE = 1.4, 128
"""How much of a die is rectified, in edges, and how many pixels that has."""
_SPACINGS = (0.17, 0.20, 0.23, 0.26, 0.29)
_SHIFTS = tuple(product((-0.05, 0.0, 0.05), repeat=2))
"""Distances of the outer places from the middle, and what the middle may be off, in edges."""
_POSES = np.array(
    [spacing * PLACES + np.array(shift) for spacing, shift in product(_SPACINGS, _SHIFTS)]
)
"""(P, 9, 2): the places, in edges from the middle of the model's face."""
_RADII, _WAYS = (np.arange(7) + 0.5) * 0.018, 10
_ANGLES = np.linspace(0, 2 * np.pi, _WAYS, endpoint=False)
_AROUND = _RADII[:, None, None] * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)
"""(7, 10, 2): where around a place its colour is read, in edges."""
_CORE = 3
"""So many of these radii lie on any pip."""
_UNEVEN = (1, 4)
"""Radii around which the colour may be uneven."""
_INNER = 0.42
"""Edges from the middle within which the face has its own colour on most of its area."""
_MIN_CONTRAST = 12.0
"""Lab distance below which nothing stands out."""
_INK = 0.35
"""Contrasts from the face's own colour, from which something is painted there."""
_REACH = 0.11
"""Edges from a place, within which what is painted belongs to its pip."""
_UNEXPLAINED = 8.0
"""Log-likelihood that a layout loses if nothing of what is painted lies on its pips."""
_GRID = np.stack(np.meshgrid(*(((np.arange(36) + 0.5) / 36 * 0.8 - 0.4),) * 2), axis=-1)
_NEAR = np.linalg.norm(_GRID - _POSES[:, :, None, None], axis=-1) < _REACH
_NEAR = _NEAR.reshape(*_POSES.shape[:2], -1).astype(np.float32)
"""(P, 9, 36·36): 1 for the cells of the face that are near to a place."""
MIDDLE = len(PLACES) // 2


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One face, in all poses."""

    rows: np.ndarray
    """(P, 9, K): how far each place is from the face's own colour by distance from its middle, how
    uneven it is, and how alike it is to the face's two strongest places."""
    ink: np.ndarray
    """(P, 9): the share of all that is painted on the face that is near to each place."""
    grain: float
    """How uneven the face itself is, as a share of the contrast of its paint."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacesVote:
    """What the places say of one face."""

    value: int
    lead: float
    """By how much the model's value explains the face better than any other, in log-likelihood;
    below 0: `value` is another one."""
    plain: float = 0.0
    """Log-odds that the face's middle is what the model's value needs, a pip like the others or a
    plain place, and no speck or highlight."""
    reach: np.ndarray = field(default_factory=lambda: 0.25 * PLACES)
    """(9, 2) where the places are, in edges along the face's sides, from its middle."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """What was fitted."""

    place: Logistic
    """Whether a place has a pip, by its row of measurements."""
    middle: Mapping[str, Sequence[float]]
    """Whether a middle `pip` or `plain` place is one: a constant, and a weight of each difference
    from the others of its kind (`middle_of`)."""
    middle_least: Mapping[str, float]
    """Log-odds below which it may be none."""
    certainty: Sequence[float]
    """That a die's value is right: a constant, and a weight of each of `judgement.features`."""
    certainty_least: float
    """Log-odds that each die of a verified photograph has."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Weights:
        place = Logistic(**{name: np.array(row) for name, row in table["place"].items()})
        return cls(place, **{name: part for name, part in table.items() if name != "place"})

    def vote(self, face: Measured, value: int) -> PlacesVote:
        """What the places say, and how well `value` fits."""
        scores = explained(self.place, face)
        best = np.array([scores[:, one == VALUES_OF].max() for one in VALUES])
        own = best[value - 1]
        others = np.delete(best, value - 1)
        pose, on = fitted(scores, value)
        plain = 0.0
        if (kind := kind_of_middle(value)) is not None:
            constant, *weights = self.middle[kind]
            plain = constant + float(np.dot(weights, middle_of(face, pose, on)))
        lead = float(own - others.max())
        return PlacesVote(VALUES[int(best.argmax())], lead, plain, _POSES[pose])


@cache
def shipped() -> Weights:
    """The weights in `models/`."""
    return Weights.of(json.loads(WEIGHTS.read_text("utf-8")))


def measure(image: np.ndarray, corners: np.ndarray) -> Measured:
    """The face with (4, 2) `corners` in a (H, W, 3) uint8 BGR picture."""
    lab = cv2.cvtColor(cv2.GaussianBlur(_rectified(image, corners), (3, 3), 0), cv2.COLOR_BGR2Lab)
    lab = np.asarray(lab, np.float32)
    low, high = int(_pixel(-_INNER)), int(_pixel(_INNER)) + 1
    inner = lab[low:high, low:high].reshape(-1, 3)
    own = np.median(inner, axis=0).astype(np.float32)
    away = np.linalg.norm(inner - own, axis=1)
    contrast = max(float(np.quantile(away, 0.95)), _MIN_CONTRAST)
    around = (_at(lab, _POSES[:, :, None, None] + _AROUND) - own) / contrast
    rings = around.mean(axis=3)
    uneven = np.linalg.norm(around.std(axis=3), axis=-1)[..., _UNEVEN]
    cores = rings[:, :, :_CORE].mean(axis=2)
    order = np.argsort(-np.linalg.norm(cores, axis=-1), axis=1)[:, :2, None]
    strongest = np.take_along_axis(cores, order, axis=1).mean(axis=1, keepdims=True)
    power = np.maximum((strongest**2).sum(axis=-1), 1e-3)
    alike = (cores * strongest).sum(axis=-1) / power
    apart = np.linalg.norm(cores - strongest, axis=-1)
    rows = [np.linalg.norm(rings, axis=-1), uneven, alike[..., None], apart[..., None]]
    ink = np.linalg.norm(_at(lab, _GRID) - own, axis=-1).ravel().clip(max=1.5 * contrast) / contrast
    ink[ink < _INK] = 0
    near = _NEAR @ ink.astype(np.float32) / max(float(ink.sum()), 1e-6)
    grain = float(np.quantile(away, 0.4)) / contrast
    return Measured(np.concatenate(rows, axis=-1).astype(np.float32), near, grain)


def _rectified(image: np.ndarray, corners: np.ndarray) -> np.ndarray:
    middle = corners.mean(axis=0)
    wide = (middle + (corners - middle) * _WIDE).astype(np.float32)
    target = np.array([(0, 0), (_SIZE, 0), (_SIZE, _SIZE), (0, _SIZE)], np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(wide, target)
    return cv2.warpPerspective(
        image, matrix, (_SIZE, _SIZE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )


def _pixel(edges: np.ndarray | float) -> Any:
    """Where in the rectified picture something is, by edges from the middle of the face."""
    return (edges / _WIDE + 0.5) * _SIZE - 0.5


def _at(lab: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(..., 3) colours at (..., 2) points, in edges from the middle of the face."""
    at = _pixel(points).astype(np.float32).reshape(len(points), -1, 2)
    colours = cv2.remap(lab, at[..., 0], at[..., 1], cv2.INTER_LINEAR)
    return np.asarray(colours.reshape(*points.shape[:-1], 3))


def explained(place: Logistic, face: Measured) -> np.ndarray:
    """(P, L) how well each layout of pips explains a face in each pose, in log-likelihood."""
    odds = place.odds(face.rows)
    likelihood = -np.logaddexp(0, -odds) @ ON.T - np.logaddexp(0, odds) @ ~ON.T
    return np.asarray(likelihood - _UNEXPLAINED * (1 - face.ink @ ON.T))


def fitted(scores: np.ndarray, value: int) -> tuple[int, np.ndarray]:
    """The pose in which a value fits best, and (9,) where it has pips."""
    own = np.where(value == VALUES_OF, scores, -np.inf)
    pose, layout = np.unravel_index(int(own.argmax()), own.shape)
    return int(pose), ON[layout]


def kind_of_middle(value: int) -> str | None:
    """What is in the middle of a face, where a speck or a highlight would make another legal face
    of it: 2 and 3, 4 and 5 differ there alone."""
    return {2: "plain", 3: "pip", 4: "plain", 5: "pip"}.get(value)


def middle_of(face: Measured, pose: int, on: np.ndarray) -> np.ndarray:
    """(7,) by how much the middle is farther from the others of its kind than they differ among
    each other, as negative numbers, and the grain of the face."""
    rows = face.rows[pose]
    is_like = on if on[MIDDLE] else ~on & (np.abs(PLACES).sum(axis=1) == 1)
    others = rows[is_like & (np.arange(len(on)) != MIDDLE)]
    differs = np.abs(rows[MIDDLE] - others.mean(axis=0))
    colour, uneven = len(_RADII), len(_RADII) + len(_UNEVEN)
    beyond = np.maximum(differs - np.ptp(others, axis=0) / 2, 0)[:uneven]
    alike, apart = differs[uneven:]
    rings = beyond[:colour]
    return np.array([-rings.mean(), -rings.max(), *-beyond[colour:], -apart, -alike, face.grain])
