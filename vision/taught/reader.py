"""The taught reader: frame and teaching in, dice out.

Owns: the order of its steps. Must not know the first reader, judgement or consensus.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.pip_heights import Pips
from vision.quads import SQUARE
from vision.reading import SecondVote
from vision.taught import faces, lattice
from vision.taught.floor import in_dice, largest_piece
from vision.taught.poses import search
from vision.taught.teaching import Teaching
from vision.taught.view import HALF, Poses, TopView, turned

_SAME_STEP = 10
"""Grey levels, as a mean over 3 x 3 pixels of the view, by which grain alone changes a picture."""


@dataclass(frozen=True, slots=True, eq=False)
class TaughtDie:
    """A flat die that the taught reader sees."""

    pose: np.ndarray
    """(3,) in the view."""
    x_mm: float
    y_mm: float
    corners: np.ndarray
    """(4, 2) frame pixels: the top face, clockwise."""
    value: int
    margin: float
    """Log-odds of this value against the next likely one."""
    oddity: str
    """What does not look like these dice; empty: nothing."""
    pips_mm: np.ndarray
    """(value, 2): where its pips are."""
    pip_mm: float
    """Their diameter."""

    @property
    def turn(self) -> float:
        """Radians, mod π/2, clockwise in the picture."""
        return float(self.pose[2])

    @property
    def sure(self) -> float:
        """Probability of its value against the next likely one."""
        return float(1 / (1 + np.exp(-self.margin)))

    @property
    def pips(self) -> Pips:
        """Where its pips are."""
        return Pips(self.pips_mm, self.value, self.pip_mm)

    def vote(self) -> SecondVote:
        """What is said of it."""
        return SecondVote(self.value, self.sure, self.oddity)


@dataclass(frozen=True, slots=True, eq=False)
class TaughtReading:
    """All that the taught reader says of one frame."""

    dice: tuple[TaughtDie, ...]
    """From left to right."""
    unexplained: float
    """The largest piece that is neither die nor floor, in dice."""
    foreground: float
    """All that is not floor, in dice."""
    seen: np.ndarray
    """(side, side, 3) uint8, BGR: the view of it."""
    outlines: tuple[np.ndarray, ...]
    """(N, 2) frame pixels each: around what is neither die nor floor."""


class TaughtReader:
    """Reads frames of one calibrated camera over one taught table."""

    def __init__(self, calibration: Calibration, teaching: Teaching) -> None:
        teaching.check(calibration)
        self.teaching = teaching
        self._view = TopView(calibration)

    def read(self, image: np.ndarray, by_pips: bool = True) -> TaughtReading:
        """Find and read every die in a (H, W, 3) uint8 BGR frame of the calibrated size. Without
        `by_pips`, none: the frame is too bad for that."""
        taught, view = self.teaching, self._view
        seen = view.show(image)
        lab = view.colours(seen)
        half = view.halved(lab)
        found = search(view, lab, half, taught.pip, taught.top, taught.spacing) if by_pips else []
        poses = [pose for pose, score in found if score > taught.least]
        beside = taught.floor.beside(view, half, poses)
        dice = self.dice_at(image, poses)
        edges, _ = cv2.findContours(beside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        return TaughtReading(
            dice, largest_piece(beside), len(dice) + in_dice(beside.sum()),
            seen, tuple(view.to_frame(HALF * edge[:, 0]) for edge in edges),
        )  # fmt: skip

    def dice_at(self, image: np.ndarray, poses: Poses) -> tuple[TaughtDie, ...]:
        """The dice at these poses, from left to right."""
        return tuple(sorted((self._die(image, pose) for pose in poses), key=lambda die: die.x_mm))

    def read_again(self, image: np.ndarray, before: TaughtReading) -> TaughtReading | None:
        """Read the dice of `before`, a reading of an earlier frame, where they were. None where a
        (H, W, 3) uint8 BGR frame does not show the compartment exactly as that one did, in the same
        light: where anything differs but for grain."""
        seen = self._view.show(image)
        change = cv2.blur(cv2.subtract(seen, before.seen, dtype=cv2.CV_16S), (3, 3))
        if np.abs(change[self._view.inside]).max() > _SAME_STEP:
            return None
        dice = tuple(self._die(image, die.pose) for die in before.dice)
        return replace(before, dice=dice, seen=seen)

    def pips_at(self, corners: np.ndarray, value: int) -> Pips:
        """Where the pips of a die are whose top face of this value has these (4, 2) corners in
        frame pixels, however it is turned; it need not lie flat."""
        square = (SQUARE / 2).astype(np.float32)
        matrix = cv2.getPerspectiveTransform(square, corners.astype(np.float32))
        on = lattice.ON[value == lattice.VALUES].any(axis=0)
        places = (lattice.PLACES[on] * self.teaching.spacing)[None].astype(np.float32)
        calibration = self._view.calibration
        px = cv2.perspectiveTransform(places, matrix)[0]
        return Pips(calibration.to_mm(px, calibration.die_mm), value, self._pip_mm(value))

    def _die(self, image: np.ndarray, pose: np.ndarray) -> TaughtDie:
        taught, view = self.teaching, self._view
        corners = view.corners_of(pose)
        rows = faces.measured(image, corners, taught.spacing)
        layout, margin = lattice.best(taught.face.odds(rows))
        on, value = lattice.ON[layout], int(lattice.VALUES[layout])
        middle = view.to_mm(pose)
        edge_mm = view.calibration.die_mm
        pips_mm = lattice.PLACES[on] * taught.spacing * edge_mm @ turned(pose) + middle
        x_mm, y_mm = middle.tolist()
        return TaughtDie(
            pose, x_mm, y_mm, corners, value, margin, taught.alike.oddity(rows, on),
            pips_mm, self._pip_mm(value),
        )  # fmt: skip

    def _pip_mm(self, value: int) -> float:
        taught = self.teaching
        edges = taught.ace_diameter if value == 1 else taught.pip_diameter
        return edges * self._view.calibration.die_mm
