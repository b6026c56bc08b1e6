"""What one top face shows, place by place, and whether each place looks like the taught ones.

Owns: the measurements of a face's nine places, and what is odd about one. Must not know poses.

A speck or a highlight makes a plain place resemble a pip, or a pip a plain place, but not exactly.
So each place is compared with the taught ones of its kind, and with the others on the same face,
which have the same light. A pip that lost all its paint is not told from a plain place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.quads import SQUARE
from vision.taught.lattice import PLACES
from vision.taught.regression import Usual
from vision.taught.view import sampled_all

_FACE_PX, _BORDER = 64, 6
"""Edge of a rectified face, pixels, and the part at its border that does not say its colour."""
_RADII, _WAYS = (np.arange(8) + 0.5) * 0.0163, 12
"""Distances from the middle of a place, edges, and directions in which the colour is read."""
_INNER = 4
"""Of these radii so many lie within any pip."""
_ANGLES = np.linspace(0, 2 * np.pi, _WAYS, endpoint=False)
_AROUND = _RADII[:, None, None] * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)
_SLACK = 1.15
"""How much farther than any taught place, each seen by the rest alone, a place may be from the
usual. Of 231 clean path-traced tosses 7 have a place beyond; with 1.3 it is 4, and twice as many
specks pass."""
SIZE = 3 * len(_RADII) + 6
"""Measurements of a place."""
_PARTS = 4
"""Into so many parts confirmed faces are divided, each of which is held against the others."""


def measured(image: np.ndarray, corners: np.ndarray, spacing: float) -> np.ndarray:
    """(9, K) colour by distance from the middle of each place, against the face's own, and how
    uneven it is around; of the face with (4, 2) `corners` in a frame."""
    target = ((SQUARE / 2 + 0.5) * _FACE_PX - 0.5).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    face = cv2.warpPerspective(image, matrix, (_FACE_PX, _FACE_PX), flags=cv2.INTER_LINEAR)
    lab = cv2.cvtColor(face, cv2.COLOR_BGR2Lab).astype(np.float32)
    inner = lab[_BORDER:-_BORDER, _BORDER:-_BORDER].reshape(-1, 3)
    at = (PLACES[:, None, None] * spacing + _AROUND + 0.5) * _FACE_PX - 0.5
    colours = sampled_all(lab, at) - np.median(inner, axis=0)
    uneven = [colours[:, :reach].std(axis=(1, 2)) for reach in (_INNER, len(_RADII))]
    return np.concatenate([colours.mean(axis=2).reshape(len(PLACES), -1), *uneven], axis=1)


def pip_diameter(faces: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Diameter of a pip, in edges, by (9, K) measurements of confirmed faces and (9,) where pips
    are: where half of its colour is left."""
    pips = np.concatenate([rows[on] for rows, on in faces]).mean(axis=0)
    plain = np.concatenate([rows[~on] for rows, on in faces]).mean(axis=0)
    stands_out = np.linalg.norm((pips - plain)[:-6].reshape(len(_RADII), 3), axis=1)
    return 2 * float(_RADII[stands_out > stands_out.max() / 2].max())


def _held(rows: np.ndarray, on: np.ndarray) -> Iterator[tuple[str, int, np.ndarray]]:
    """What is held against what was taught: kind of comparison, place, row."""
    for name, places in (("pip", np.flatnonzero(on)), ("plain place", np.flatnonzero(~on))):
        for place in places:
            yield name, int(place), rows[place]
            others = places[places != place]
            if len(others):
                yield (
                    f"{name} beside the others",
                    int(place),
                    rows[place] - rows[others].mean(axis=0),
                )


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """How the places of this table's dice look."""

    usual: Mapping[str, Usual]
    limit: Mapping[str, float]

    @classmethod
    def taught(cls, faces: Sequence[tuple[np.ndarray, np.ndarray]]) -> Alike:
        """Learn from confirmed faces: (9, K) measurements, (9,) where pips are."""
        limit: dict[str, float] = defaultdict(float)
        for part in range(_PARTS):
            usual = _usual([face for i, face in enumerate(faces) if i % _PARTS != part])
            for rows, on in faces[part::_PARTS]:
                for kind, _, row in _held(rows, on):
                    if kind in usual:
                        limit[kind] = max(limit[kind], float(usual[kind].distance(row)))
        usual = _usual(faces)
        return cls({kind: usual[kind] for kind in limit}, dict(limit))

    def oddity(self, rows: np.ndarray, on: np.ndarray) -> str:
        """What is odd about a face, in words; empty: nothing."""
        odd = [
            (float(self.usual[kind].distance(row)) / self.limit[kind], kind, place)
            for kind, place, row in _held(rows, on)
            if kind in self.limit
        ]
        share, kind, place = max(odd, default=(0.0, "", 0))
        if share <= _SLACK:
            return ""
        column, row = PLACES[place].astype(int) + 2
        where = f"row {row}, column {column}"
        return f"{where} does not look like a {kind} of these dice, {share:.1f} times the farthest"


def _usual(faces: Sequence[tuple[np.ndarray, np.ndarray]]) -> dict[str, Usual]:
    rows: dict[str, list[np.ndarray]] = defaultdict(list)
    for measurements, on in faces:
        for kind, _, row in _held(measurements, on):
            rows[kind].append(row)
    return {kind: Usual.of(np.array(of)) for kind, of in rows.items() if len(of) > 1}
