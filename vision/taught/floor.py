"""What is neither a die nor the taught floor.

Owns: how the taught floor varies, and the largest piece that is none. Must not know judgement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.taught.regression import Usual
from vision.taught.view import EDGE_PX, Poses, TopView

_BESIDE, _FAR = 0.06, 0.1
"""How far beyond a die's outline the floor begins, edges: when it is taught, and later."""
_EACH = 7
"""Every so manieth pixel of the floor is learnt from."""
_USUAL_SHARE = 0.999
"""Share of the taught floor's pixels that are floor to it."""
_NOISE = np.ones((3, 3), np.uint8)


def empty(view: TopView, tosses: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The empty compartment, as tosses show it where no die lies."""
    bare = np.stack(
        [
            np.where(view.covered(poses, 0.12)[..., None], np.nan, lab).astype(np.float32)
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
    """(side, side, 3) float32, Lab: the empty compartment."""
    usual: Usual
    limit: float
    most: float
    """The largest piece that is none in a confirmed toss, in dice."""

    @classmethod
    def taught(
        cls, view: TopView, picture: np.ndarray, tosses: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> TaughtFloor:
        """Learn from (side, side, 3) views with the (N, 3) poses of all their dice."""
        bare = [view.inside & ~view.covered(poses, _BESIDE) for _, poses in tosses]
        pairs = list(zip(tosses, bare, strict=True))
        usual = Usual.of(
            np.concatenate([(lab - picture)[area][::_EACH] for (lab, _), area in pairs])
        )
        floor = cls(picture, usual, np.inf, 0.0)
        away = np.concatenate([floor._away(lab)[area][::_EACH] for (lab, _), area in pairs])
        floor = cls(picture, usual, float(np.quantile(away, _USUAL_SHARE)), 0.0)
        most = max(floor.left_over(view, lab, poses) for lab, poses in tosses)
        return cls(picture, usual, floor.limit, most)

    def _away(self, lab: np.ndarray) -> np.ndarray:
        return self.usual.distance(cv2.blur(lab - self.picture, (3, 3)))

    def left_over(self, view: TopView, lab: np.ndarray, poses: Poses) -> float:
        """The largest piece beside the dice that is not the taught floor, in dice."""
        is_odd = (self._away(lab) > self.limit) & view.inside & ~view.covered(poses, _FAR)
        mask = cv2.morphologyEx(is_odd.astype(np.uint8), cv2.MORPH_OPEN, _NOISE)
        count, _, sizes, _ = cv2.connectedComponentsWithStats(mask)
        return float(sizes[1:, cv2.CC_STAT_AREA].max()) / EDGE_PX**2 if count > 1 else 0.0
