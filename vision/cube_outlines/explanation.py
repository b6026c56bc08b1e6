"""Which upright dice explain the foreground.

Owns: the guesses for each piece of foreground, and which of their fits are kept. Must not know
faces, nor what no die explains (`left_over`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.cube_outlines.foreground import Foreground
from vision.cube_outlines.outline import CubeOutline, Fit, Pose, choose
from vision.quads import apart_deg
from vision.reading import DICE

GOOD_FIT_MM = 0.45
"""Distance between outline and contour, mm, up to which an upright cube explains a piece alone."""
_SAME_POSE = (1.0, 6.0)
"""Distance, mm, and turn, degrees, of two poses below which they are one. A fit moves a guess by
several times as much."""
_HYPOTHESES = 9
"""Most fits of one piece that are kept."""
_MIN_COVER = 0.86
"""Share of a top face that must be foreground, before and after its pose was refined."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """One piece of foreground."""

    area: float
    """In dice."""
    mask: np.ndarray
    guesses: list[Pose]
    """Where dice may lie in it, likely ones first."""

    @property
    def is_small(self) -> bool:
        """Too small for two dice."""
        return self.area < 2


class Explanation:
    """Explains the foreground of one calibrated camera's pictures."""

    def __init__(self, outline: CubeOutline, die_area: float) -> None:
        self._outline, self._die_area = outline, die_area

    def dice(self, ground: Foreground, contours: Sequence[np.ndarray]) -> list[Fit]:
        """Upright dice that explain the pieces of foreground with these contours."""
        pieces = [self._piece(ground, contour) for contour in contours]
        # Of a single die the likeliest guess is nearly always right: the others cost more.
        first = [piece.guesses[:1] if piece.is_small else piece.guesses for piece in pieces]
        fitted = self._fit_each(ground, first)
        found = [self._distinct(ground, *both) for both in zip(pieces, fitted, strict=True)]
        rest = [
            piece.guesses[1:] if piece.is_small and not _is_explained(fits) else []
            for piece, fits in zip(pieces, found, strict=True)
        ]
        chosen: list[Fit] = []
        for piece, before, more, fits in zip(
            pieces, fitted, self._fit_each(ground, rest), found, strict=True
        ):
            if more:
                fits = self._distinct(ground, piece, before + more)
            if fits:
                most = min(len(fits), max(1, round(piece.area * 1.15)), DICE)
                chosen += [fits[i] for i in choose(fits, piece.mask, most)]
        return chosen

    def _fit_each(self, ground: Foreground, poses: Sequence[list[Pose]]) -> list[list[Fit]]:
        """Fits of several lists of poses, in one go."""
        fits = iter(self._outline.fit(ground, [pose for some in poses for pose in some]))
        return [[next(fits) for _ in some] for some in poses]

    def _piece(self, ground: Foreground, contour: np.ndarray) -> _Piece:
        mask = np.zeros_like(ground.mask)
        cv2.drawContours(mask, [contour], -1, 255, cv2.FILLED)
        poses = self._outline.propose(ground, contour)
        covers = self._outline.cover(mask, ground, poses)
        order = np.argsort(-covers, kind="stable")[: np.count_nonzero(covers >= _MIN_COVER)]
        guesses: list[Pose] = []
        for pose in (poses[i] for i in order.tolist()):
            if not any(_is_same(pose, other) for other in guesses):
                guesses.append(pose)
        return _Piece(cv2.contourArea(contour) / self._die_area, mask, guesses)

    def _distinct(self, ground: Foreground, piece: _Piece, fitted: Sequence[Fit]) -> list[Fit]:
        """The fits that cover foreground and differ."""
        covers = self._outline.cover(
            piece.mask, ground, [fit.pose for fit in fitted], [fit.inset_mm for fit in fitted]
        )
        fits: list[Fit] = []
        for fit, cover in zip(fitted, covers, strict=True):
            if len(fits) >= _HYPOTHESES:
                break
            if cover < _MIN_COVER or any(_is_same(fit.pose, other.pose) for other in fits):
                continue
            fits.append(fit)
            if piece.is_small and _is_explained(fits):
                break
        return fits


def _is_explained(fits: Sequence[Fit]) -> bool:
    """Whether the newest of the fits is so good that a single die needs no other."""
    return bool(fits) and fits[-1].rms_mm < GOOD_FIT_MM


def _is_same(a: Pose, b: Pose) -> bool:
    is_near = math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) < _SAME_POSE[0]
    return is_near and apart_deg(math.degrees(a.turn), math.degrees(b.turn)) < _SAME_POSE[1]
