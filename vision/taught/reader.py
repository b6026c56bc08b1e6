"""The taught reader: frame and teaching in, dice out.

Owns: the order of its steps. Must not know the first reader, judgement or consensus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.calibration import Calibration
from vision.taught import faces, lattice
from vision.taught.poses import likely, search
from vision.taught.teaching import Teaching
from vision.taught.view import TopView


@dataclass(frozen=True, slots=True, eq=False)
class TaughtDie:
    """A die that the taught reader sees."""

    x_mm: float
    y_mm: float
    turn: float
    """Radians, mod π/2, clockwise in the picture."""
    corners: np.ndarray
    """(4, 2) frame pixels: the top face, clockwise."""
    value: int
    margin: float
    """Log-odds of this value against the next likely one."""
    oddity: str
    """What does not look like these dice; empty: nothing."""
    flat: float
    """Log-odds of flat against leaning, by its sides."""


@dataclass(frozen=True, slots=True, eq=False)
class TaughtReading:
    """All that the taught reader says of one frame."""

    dice: tuple[TaughtDie, ...]
    """From left to right."""
    left_over: float
    """The largest piece that is neither die nor floor, in dice."""


class TaughtReader:
    """Reads frames of one calibrated camera over one taught table."""

    def __init__(self, calibration: Calibration, teaching: Teaching) -> None:
        teaching.check(calibration)
        self.teaching = teaching
        self._view = TopView(calibration)

    def read(self, image: np.ndarray) -> TaughtReading:
        """Find and read every die in a (H, W, 3) uint8 BGR frame of the calibrated size."""
        taught, view = self.teaching, self._view
        lab = view.show(image)
        found = search(likely(view, lab, taught.pip, taught.top), taught.spacing)
        poses = np.array([pose for pose, score in found if score > taught.least]).reshape(-1, 3)
        sides = taught.lie.measure(view, lab, taught.floor.picture, poses)
        dice = [
            self._die(image, pose, taught.lie.odds(side))
            for pose, side in zip(poses, sides, strict=True)
        ]
        left_over = taught.floor.left_over(view, lab, list(poses))
        return TaughtReading(tuple(sorted(dice, key=lambda die: die.x_mm)), left_over)

    def _die(self, image: np.ndarray, pose: np.ndarray, flat: float) -> TaughtDie:
        taught = self.teaching
        corners = self._view.corners_of(pose)
        rows = faces.measured(image, corners, taught.spacing)
        layout, margin = lattice.best(taught.face.odds(rows))
        x_mm, y_mm = self._view.to_mm(pose).tolist()
        return TaughtDie(
            x_mm, y_mm, float(pose[2]), corners, int(lattice.VALUES[layout]), margin,
            taught.alike.oddity(rows, lattice.ON[layout]), flat,
        )  # fmt: skip
