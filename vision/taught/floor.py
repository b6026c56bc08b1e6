"""What is neither a die nor the taught floor.

Owns: how the taught floor varies, and the largest piece that is none. Must not know judgement. Its
views have half the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.taught.regression import Usual
from vision.taught.view import EDGE_PX, HALF, Poses, TopView

_BESIDE, _FAR = 0.06, 0.1
"""How far beyond a die's outline the floor begins, edges: when it is taught, and later."""
_EACH = 2
"""Every so manieth pixel of the floor is learnt from."""
_USUAL_SHARE = 0.999
"""Share of the taught floor's pixels that are floor to it."""
_NOISE = np.ones((2, 2), np.uint8)


def empty(view: TopView, tosses: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The empty compartment, as tosses show it where no die lies."""
    bare = np.stack(
        [
            np.where(_covered(view, poses, 0.12)[..., None], np.nan, lab).astype(np.float32)
            for lab, poses in tosses
        ]
    )
    never = np.isnan(bare[..., 0]).all(axis=0)
    bare[:, never] = np.nanmedian(bare[:, ~never], axis=(0, 1))
    return np.asarray(np.nanmedian(bare, axis=0).round(1), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TaughtFloor:
    """How the floor of a table looks."""

    picture: np.ndarray
    """(h, w, 3) float32, Lab: the empty compartment."""
    usual: Usual
    limit: float
    """Largest distance from the usual one of a pixel that is floor."""

    @classmethod
    def taught(
        cls, view: TopView, picture: np.ndarray, tosses: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> TaughtFloor:
        """Learn from views with the (N, 3) poses of all their dice."""
        bare = [_inside(view) & ~_covered(view, poses, _BESIDE) for _, poses in tosses]
        pairs = list(zip(tosses, bare, strict=True))
        usual = Usual.of(
            np.concatenate([(lab - picture)[area][::_EACH] for (lab, _), area in pairs])
        )
        floor = cls(picture, usual, np.inf)
        away = np.concatenate([floor._away(lab)[area][::_EACH] for (lab, _), area in pairs])
        return cls(picture, usual, float(np.quantile(away, _USUAL_SHARE)))

    def _away(self, lab: np.ndarray) -> np.ndarray:
        return self.usual.distance(lab - self.picture)

    def beside(self, view: TopView, lab: np.ndarray, poses: Poses) -> np.ndarray:
        """(h, w) uint8, 1 where neither a die nor the taught floor is."""
        is_odd = (self._away(lab) > self.limit) & _inside(view) & ~_covered(view, poses, _FAR)
        return np.asarray(cv2.morphologyEx(is_odd.astype(np.uint8), cv2.MORPH_OPEN, _NOISE))


def in_dice(pixels: float) -> float:
    """An area of so many pixels, in top faces of dice."""
    return float(pixels) * (HALF / EDGE_PX) ** 2


def largest_piece(mask: np.ndarray) -> float:
    """The largest piece of a mask, in dice."""
    count, _, sizes, _ = cv2.connectedComponentsWithStats(mask)
    return in_dice(sizes[1:, cv2.CC_STAT_AREA].max()) if count > 1 else 0.0


def _inside(view: TopView) -> np.ndarray:
    return view.inside[::HALF, ::HALF]


def _covered(view: TopView, poses: Poses, grown: float) -> np.ndarray:
    return view.covered(poses, grown)[::HALF, ::HALF]
