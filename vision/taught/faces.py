"""What one top face shows, place by place, and whether each place looks like the taught ones.

Owns: the measurements of a face's nine places, and when an odd one leaves the value open. Must not
know poses.

A speck or a highlight makes a plain place resemble a pip, or a pip a plain place, but not exactly;
a pip that lost its paint keeps a trace of it. So each place is compared with the taught ones of its
kind, and with the others on the same face, which have the same light. It is odd if it is too far
from them, or too much of a pip, or too little. An odd place is unknown: the face is doubtful if the
others fit a second value too, or if too many are odd.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.quads import rectify
from vision.taught import lattice
from vision.taught.lattice import MIDDLE, PLACES
from vision.taught.regression import Usual
from vision.taught.view import sampled_all

_FACE_PX, _BORDER = 64, 6
"""Edge of a rectified face, pixels, and the part at its border that does not say its colour."""
_RADII, _WAYS = (np.arange(8) + 0.5) * 0.0163, 12
"""Distances from the middle of a place, edges, and directions in which the colour is read."""
INNER = 4
"""Of these radii so many lie within any pip."""
_ANGLES = np.linspace(0, 2 * np.pi, _WAYS, endpoint=False)
AROUND = _RADII[:, None, None] * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)
"""(8, 12, 2): where around a place its colour is read, in edges."""
_SLACK = 2.2
"""How much farther than any taught place, each seen by the rest alone, a place may be from the
usual."""
_SPREADS, _LEAST = 8.0, 0.03
"""Reach of the usual share of a pip: so many spreads of the taught places, at least the second. A
middle pip of the rig with a tenth of its paint left is 0.06 of a pip or more."""
_MOST_ODD = 2
"""A face with more odd places is of other dice."""
_FEWEST = 5
"""A kind of place seen less often is not known."""
_RED = 4
"""The other value whose pips are red on Asian dice, beside the ace."""
Face = tuple[np.ndarray, np.ndarray]
"""(9, K) measurements of a face, and (9,) where it has pips."""
SIZE = 3 * len(_RADII) + 6
"""Measurements of a place."""
_PARTS = 4
"""Into so many parts confirmed faces are divided, each of which is held against the others."""


def measured(image: np.ndarray, corners: np.ndarray, spacing: float) -> np.ndarray:
    """(9, K) colour by distance from the middle of each place, against the face's own, and how
    uneven it is around; of the face with (4, 2) `corners` in a frame."""
    face = rectify(image, corners, _FACE_PX)
    lab = cv2.cvtColor(face, cv2.COLOR_BGR2Lab).astype(np.float32)
    inner = lab[_BORDER:-_BORDER, _BORDER:-_BORDER].reshape(-1, 3)
    at = (PLACES[:, None, None] * spacing + AROUND + 0.5) * _FACE_PX - 0.5
    colours = sampled_all(lab, at) - np.median(inner, axis=0)
    uneven = [colours[:, :reach].std(axis=(1, 2)) for reach in (INNER, len(_RADII))]
    return np.concatenate([colours.mean(axis=2).reshape(len(PLACES), -1), *uneven], axis=1)


def pip_diameter(faces: Sequence[Face]) -> float:
    """Diameter of a pip, in edges, by (9, K) measurements of confirmed faces and (9,) where pips
    are: where half of its colour is left."""
    pips = np.concatenate([rows[on] for rows, on in faces]).mean(axis=0)
    plain = np.concatenate([rows[~on] for rows, on in faces]).mean(axis=0)
    stands_out = np.linalg.norm((pips - plain)[:-6].reshape(len(_RADII), 3), axis=1)
    return 2 * float(_RADII[stands_out > stands_out.max() / 2].max())


def _kind(place: int, on: np.ndarray) -> str:
    """What a place is called, of a face with pips `on` (9,) places. In the middle it may turn one
    value into another, and an ace's pip may be larger; of Asian dice, ace and four are red."""
    if place != MIDDLE and on[place]:
        return "pip of a four" if on.sum() == _RED else "pip"
    if place != MIDDLE:
        return "plain place"
    if not on[place]:
        return "plain middle"
    return "ace" if on.sum() == 1 else "middle pip"


def _held(rows: np.ndarray, on: np.ndarray) -> Iterator[tuple[str, int, np.ndarray]]:
    """What is held against what was taught: kind of comparison, place, row."""
    for places in (np.flatnonzero(on), np.flatnonzero(~on)):
        for place in places.tolist():
            kind = _kind(place, on)
            yield kind, place, rows[place]
            others = places[places != place]
            if len(others):
                yield f"{kind} beside the others", place, rows[place] - rows[others].mean(0)


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """How the places of one kind look on this table's dice."""

    usual: Usual
    limit: float
    """Largest distance from the usual one of a taught place, each seen by the rest alone."""
    share: float
    """Of a pip."""
    reach: float
    """How far from `share` a place may be."""


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """How the places of this table's dice look."""

    direction: np.ndarray
    """(K,): a row along it is its share of a pip. Fisher's linear discriminant."""
    kinds: Mapping[str, Kind]

    @classmethod
    def taught(cls, faces: Sequence[Face]) -> Alike:
        """Learn from confirmed faces."""
        limit: dict[str, float] = defaultdict(float)
        for part in range(_PARTS):
            usual = _usual([face for i, face in enumerate(faces) if i % _PARTS != part])
            for kind, rows in _by_kind(faces[part::_PARTS]).items():
                if kind in usual:
                    limit[kind] = max(limit[kind], float(usual[kind].distance(rows).max()))
        direction, usual = _pip_direction(faces), _usual(faces)
        kinds = {
            kind: Kind(usual[kind], limit[kind], *_middle_and_reach(rows @ direction))
            for kind, rows in _by_kind(faces).items()
            if kind in usual and kind in limit
        }
        return cls(direction, kinds)

    def oddity(self, rows: np.ndarray, on: np.ndarray) -> str:
        """What leaves the value of a face open, in words; empty: nothing."""
        odd = np.zeros(len(PLACES), bool)
        worst, said = 0.0, ""
        for name, place, row in _held(rows, on):
            times, why = self._odd(name, row)
            odd[place] |= times > 1
            if times > max(worst, 1):
                worst, said = times, f"{_where(place)} {why}"
        if odd.sum() > _MOST_ODD:
            return f"{odd.sum()} places are not as on these dice; {said}"
        rivals = lattice.rivals(on, odd)
        return f"{said}: it may be a {rivals[0]}" if rivals else ""

    def _odd(self, name: str, row: np.ndarray) -> tuple[float, str]:
        """How many times as far from the usual as it may be, and in which way."""
        kind = self.kinds.get(name)
        if kind is None:
            return np.inf, f"is a {name}, which was not taught"
        away = float(kind.usual.distance(row)) / kind.limit
        share = float(row @ self.direction)
        return max(
            (away / _SLACK, f"is {away:.1f} times as odd as any {name} that was taught"),
            (
                abs(share - kind.share) / kind.reach,
                f"is {share:.2f} of a pip; a {name} of these dice is {kind.share:.2f}",
            ),
        )


def _where(place: int) -> str:
    column, row = PLACES[place].astype(int) + 2
    return f"row {row}, column {column}"


def _by_kind(faces: Sequence[Face]) -> dict[str, np.ndarray]:
    """(N, K) rows of each kind of comparison."""
    rows: dict[str, list[np.ndarray]] = defaultdict(list)
    for measurements, on in faces:
        for kind, _, row in _held(measurements, on):
            rows[kind].append(row)
    return {kind: np.array(of) for kind, of in rows.items()}


def _usual(faces: Sequence[Face]) -> dict[str, Usual]:
    return {k: Usual.of(rows) for k, rows in _by_kind(faces).items() if len(rows) >= _FEWEST}


def _pip_direction(faces: Sequence[Face]) -> np.ndarray:
    """(K,) along which plain places and pips are farthest apart, of their own spread."""
    pips = np.concatenate([rows[on] for rows, on in faces]).mean(axis=0)
    plain = np.concatenate([rows[~on] for rows, on in faces])
    way = pips - plain.mean(axis=0)
    direction = Usual.of(plain).inverse @ way
    return np.asarray(direction / (way @ direction))


def _middle_and_reach(shares: np.ndarray) -> tuple[float, float]:
    middle = float(np.median(shares))
    spread = 1.48 * float(np.median(np.abs(shares - middle)))
    return middle, max(_SPREADS * spread, _LEAST)
