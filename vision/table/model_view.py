"""The parts of a frame that the model is shown, at the sizes that it needs.

Owns: the crop around the compartment, the windows around single dice, their scales, and the mapping
of a finding back into the frame. Must not know what the model is. The model's time is proportional
to the number of pixels: it finds the dice in a small picture, and reads each in a window.
"""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.networks.classifier import FoundDie
from vision.networks.model_card import MULTIPLE
from vision.networks.windows import cut

DIE_PX = 28.0
"""Largest edge of a flat die's top in the picture in which the model finds dice, pixels. Above:
slower, no gain. Source: 270 pictures of tosses by three cameras of the rig. With 28, and with 42.5
in one look without windows, 235 of 250 flat tosses are read in one frame; with 21 the model misses
2 of 75 dice."""
CLOSE_SIDE, CLOSE_DIE_PX = 2 * MULTIPLE, 47.0
"""Side of the window in which the model is shown one die again, and the die's edge in it, pixels.
Of 450 flat dice of the rig it read all as in the whole picture; with edges of 40 it missed 3."""
_TALLEST_DICE = 2.2
"""Height, in dice, up to which the crop contains what stands in the compartment. At most the outer
edge of a die on top of another at the wall may be cut off."""
_ON_FLOOR_DICE = math.sqrt(2.0)
"""The same for a die on the floor, however it leans: the crop always contains it."""


class ModelView:
    """One calibrated camera's view for the model."""

    def __init__(self, calibration: Calibration) -> None:
        # Means over squares of whole pixels take a tenth of the time of any other shrinking.
        self._shrink = math.ceil(calibration.die_px / DIE_PX)
        most, least = calibration.around(_TALLEST_DICE), calibration.around(_ON_FLOOR_DICE)
        self.rows, self.columns = map(self._cut, most, least)
        width, height = (
            (side.stop - side.start) // self._shrink for side in (self.columns, self.rows)
        )
        self.size = (width, height)
        self._close = CLOSE_DIE_PX / calibration.die_px
        # The network counts from a pixel's corner, a calibration from its middle.
        self._shift = np.array((self.columns.start, self.rows.start), np.float32) - 0.5

    def _cut(self, most: slice, least: slice) -> slice:
        """Rows or columns of whole pixels and, if `least` allows it, of whole blocks of the model's
        picture, inside `most`. To fill a crop up to whole blocks would cost a sixth to a third of
        the network's time. To cut it changes 14 of 542 verdicts, and to begin one pixel later 10 of
        322; none is wrong."""
        pixels = (most.stop - most.start) // self._shrink
        blocks = pixels - pixels % MULTIPLE
        if blocks * self._shrink >= least.stop - least.start:
            pixels = blocks
        length = pixels * self._shrink
        middle = (most.start + most.stop - length) // 2
        start = max(min(middle, least.start), least.stop - length, most.start)
        return slice(start, start + length)

    def show(self, image: np.ndarray) -> np.ndarray:
        """What the model sees of a (H, W, 3) uint8 frame."""
        crop, each = image[self.rows, self.columns], self._shrink
        if each % 2 == 0:
            return np.asarray(cv2.resize(crop, self.size, interpolation=cv2.INTER_AREA))
        # The same mean of each square, in half the time; of even squares it is rounded otherwise.
        means = cv2.blur(crop, (each, each), anchor=(0, 0))
        return np.asarray(cv2.resize(means, self.size, interpolation=cv2.INTER_NEAREST))

    def show_one(self, image: np.ndarray, die: FoundDie) -> tuple[np.ndarray, np.ndarray]:
        """What the model sees of a (H, W, 3) uint8 frame where a die was, found in frame pixels,
        and the (2, 3) matrix from there to the frame's pixels."""
        x, y = die.centre.tolist()
        return cut(image, (x, y), self._close, 0.0, CLOSE_SIDE)

    def to_frame(self, die: FoundDie) -> FoundDie:
        """A finding in what the model sees, in pixels of the frame."""
        corners = np.asarray(die.corners * self._shrink + self._shift, np.float32)
        return replace(die, corners=corners, down=die.down * self._shrink)

    def from_frame(self, die: FoundDie) -> FoundDie:
        """The way back, for a finder that stands in for the model."""
        corners = np.asarray((die.corners - self._shift) / self._shrink, np.float32)
        return replace(die, corners=corners, down=die.down / self._shrink)
