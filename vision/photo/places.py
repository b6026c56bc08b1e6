"""Which value a face shows by its nine places, where the model found a die on a photograph.

Owns: the measurements of the places and the vote that follows from them. Must not know the value
that the model read, but to say how well that value fits.

The face is rectified by the corners of the model's die. How far apart its pips are, and whether the
corners are a little off, is not known, so all distances of a small set are tried. A pip stands out
from the face's own colour by about as much as the strongest places of the face. So one set of
weights fits any colour; `hil_tests.reader fit-photographs` fits `models/photo_judgement.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np

from vision.errors import ModelError
from vision.networks.model_card import MODELS
from vision.quads import rectify
from vision.reading import VALUES
from vision.taught.faces import AROUND, INNER
from vision.taught.lattice import MIDDLE, ON, PLACES
from vision.taught.lattice import VALUES as VALUES_OF
from vision.taught.regression import MOST, Logistic

WEIGHTS = MODELS / "photo_judgement.json"

FACE_PX, BORDER = 72, 6
"""Edge of a rectified face, pixels, and the part at its border that does not say its colour."""
MIN_CONTRAST = 8.0
"""Lab distance between face and pips below which there may be none: grain and JPEG stay under
it."""
_SPACINGS = np.linspace(0.17, 0.29, 5)
_SHIFTS = 0.05 * PLACES
"""Distances of the outer places from the middle, and what the middle may be off, in edges."""
_POSES = (_SPACINGS[:, None, None, None] * PLACES + _SHIFTS[:, None]).reshape(-1, *PLACES.shape)
"""(P, 9, 2): the places, in edges from the middle of the model's face."""
_UNEVEN = (1, -1)
"""Of the rings around a place those on which the colour may be uneven."""
_INK = 0.5
"""Contrasts from the face's own colour, from which something is painted there."""
_UNEXPLAINED = 8.0
"""Log-likelihood that a layout loses if nothing of what is painted lies on its pips."""
_ALONG = (np.arange(FACE_PX)[BORDER:-BORDER:2] + 0.5) / FACE_PX - 0.5
_CELLS = np.stack(np.meshgrid(_ALONG, _ALONG), axis=-1)
_NEAR = np.linalg.norm(_CELLS - _POSES[:, :, None, None], axis=-1) < np.linalg.norm(AROUND[-1, 0])
_NEAR = _NEAR.reshape(*_POSES.shape[:2], -1).astype(np.float32)
"""(P, 9, N): 1 for the cells of the face that are near to a place."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One face, in all poses."""

    rows: np.ndarray
    """(P, 9, K): how far each place is from the face's own colour by distance from its middle, how
    uneven it is, and how alike it is to the face's two strongest places."""
    ink: np.ndarray
    """(P, 9): the share of all that is painted on the face that is near to each place."""
    cores: np.ndarray
    """(P, 9, 3): the colour of each place beside the face's own, as a share of the contrast."""
    contrast: float
    """How far its paint is from the face's own colour, CIE Lab units."""
    grain: float
    """How uneven the face itself is, as a share of that."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacesVote:
    """What the places say of one face."""

    value: int
    lead: float
    """By how much the model's value explains the face better than any other, in log-likelihood;
    below 0: `value` is another one."""
    gap: float
    """By how much the faintest pip of the model's value is more of a pip than the clearest place
    without one, in log-odds."""
    contrast: float
    """Of the face's paint, CIE Lab units."""
    plain: float
    """Log-odds that the face's middle is what the model's value needs, a pip like the others or a
    plain place, and no speck or highlight; below 0: it may be one."""
    reach: np.ndarray
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
    presence: Sequence[float]
    """That a thing is a die: a constant, and a weight of each of `evidence.presence`."""
    die_least: float
    """Log-odds from which a thing is a die."""
    may_be_least: float
    """Log-odds from which it may be one, so that nothing is verified."""
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
        odds = self.place.odds(face.rows[pose])
        plain = MOST
        if (kind := kind_of_middle(value)) is not None:
            plain = summed(self.middle[kind], middle_of(face, pose, on)) - self.middle_least[kind]
        return PlacesVote(
            value=VALUES[int(best.argmax())],
            lead=float(own - others.max()),
            gap=float(odds[on].min() - odds[~on].max()),
            contrast=face.contrast,
            plain=plain,
            reach=_POSES[pose],
        )

    def presence_of(self, row: np.ndarray) -> float:
        """Log-odds that a thing is a die."""
        return summed(self.presence, row)

    def certainty_of(self, row: np.ndarray) -> float:
        """Log-odds that a die's value is right."""
        return summed(self.certainty, row)


def summed(weights: Sequence[float], row: np.ndarray) -> float:
    """Log-odds by a constant, and a weight of each measurement."""
    constant, *each = weights
    return constant + float(np.dot(each, row))


@cache
def shipped() -> Weights:
    """The weights in `models/`. Raises ModelError where they are missing or damaged."""
    try:
        return Weights.of(json.loads(WEIGHTS.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"cannot read the weights {WEIGHTS}: {error}. Restore models/ from the release"
        ) from error


def measure(image: np.ndarray, corners: np.ndarray) -> Measured:
    """The face with (4, 2) `corners` in a (H, W, 3) uint8 BGR picture."""
    lab = cv2.cvtColor(rectify(image, corners, FACE_PX), cv2.COLOR_BGR2Lab).astype(np.float32)
    inner = lab[BORDER:-BORDER:2, BORDER:-BORDER:2].reshape(-1, 3)
    own = np.median(inner, axis=0)
    away = np.linalg.norm(inner - own, axis=1)
    contrast = max(float(np.quantile(away, 0.95)), MIN_CONTRAST)
    around = (_at(lab, _POSES[:, :, None, None] + AROUND) - own) / contrast
    rings = around.mean(axis=3)
    uneven = np.linalg.norm(around.std(axis=3), axis=-1)[..., _UNEVEN]
    cores = rings[:, :, :INNER].mean(axis=2)
    order = np.argsort(-np.linalg.norm(cores, axis=-1), axis=1)[:, :2, None]
    strongest = np.take_along_axis(cores, order, axis=1).mean(axis=1, keepdims=True)
    power = np.maximum((strongest**2).sum(axis=-1), 1e-6)
    alike = (cores * strongest).sum(axis=-1) / power
    apart = np.linalg.norm(cores - strongest, axis=-1)
    rows = [np.linalg.norm(rings, axis=-1), uneven, alike[..., None], apart[..., None]]
    ink = np.where(away > _INK * contrast, away, 0).astype(np.float32)
    near = _NEAR @ ink / max(float(ink.sum()), 1e-6)
    grain = float(np.quantile(away, 0.4)) / contrast
    measurements = np.concatenate(rows, axis=-1).astype(np.float32)
    return Measured(measurements, near, cores.astype(np.float32), contrast, grain)


def _at(lab: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(..., 3) colours at (..., 2) points, in edges from the middle of the face."""
    at = ((points + 0.5) * FACE_PX - 0.5).astype(np.float32).reshape(len(points), -1, 2)
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
    """(8,) by how much the middle is farther from the others of its kind than they differ among
    each other, as negative numbers, and the grain of the face."""
    rows, cores = face.rows[pose], face.cores[pose]
    is_like = on if on[MIDDLE] else ~on & (np.abs(PLACES).sum(axis=1) == 1)
    is_other = is_like & (np.arange(len(on)) != MIDDLE)
    others = rows[is_other]
    differs = np.abs(rows[MIDDLE] - others.mean(axis=0))
    colour, uneven = len(AROUND), len(AROUND) + len(_UNEVEN)
    beyond = np.maximum(differs - np.ptp(others, axis=0) / 2, 0)[:uneven]
    alike, apart = differs[uneven:]
    rings = beyond[:colour]
    tint = np.linalg.norm(cores[is_other] - cores[is_other].mean(axis=0), axis=1).max()
    tinted = np.linalg.norm(cores[MIDDLE] - cores[is_other].mean(axis=0)) - tint
    odd = [rings.mean(), rings.max(), *beyond[colour:], apart, alike, max(0.0, tinted)]
    return np.array([*(-each for each in odd), face.grain])
