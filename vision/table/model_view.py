"""The part of a frame that the model is shown, at the size that it needs.

Owns: the crop around the compartment, its scale, and the mapping of a finding back into the frame.
Must not know what the model is. The model's time is proportional to the number of pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.networks.classifier import FoundDie
from vision.networks.windows import cut

DIE_PX = 42.5
"""Largest edge of a flat die's top in the model's picture, pixels. Above: slower, no gain. Source:
600 pictures of tosses on the rig, three frames each. With 42.5 and
56 the same share of 541 flat tosses was read (453 and 452) and all of 58 others were refused or no
roll; 42.5 needs 0.57 times the pixels. The near look sees all pixels."""
CLOSE_SIDE, CLOSE_DIE_PX = 64, 47.0
"""Side of the window in which the model is shown one die again, and the die's edge in it, pixels.
Of 450 flat dice of the rig it read all as in the whole picture; with edges of 40 it missed 3."""
_TALLEST_DICE = 2.2
"""Height, in dice, up to which the crop contains what stands in the compartment."""


class ModelView:
    """One calibrated camera's view for the model."""

    def __init__(self, calibration: Calibration) -> None:
        top_mm = _TALLEST_DICE * calibration.die_mm
        reach = calibration.circle_px(calibration.compartment_radius_mm, top_mm)
        self.rows, self.columns = calibration.box_of(reach)
        width, height = (side.stop - side.start for side in (self.columns, self.rows))
        share = min(1.0, DIE_PX / calibration.die_px)
        self.size = (round(width * share), round(height * share))
        self._close = CLOSE_DIE_PX / calibration.die_px
        self._scale = np.array((width / self.size[0], height / self.size[1]), np.float32)
        # The network counts from a pixel's corner, a calibration from its middle.
        self._shift = np.array((self.columns.start, self.rows.start), np.float32) - 0.5

    def show(self, image: np.ndarray) -> np.ndarray:
        """What the model sees of a (H, W, 3) uint8 frame."""
        crop = image[self.rows, self.columns]
        if crop.shape[1::-1] == self.size:
            return crop
        return np.asarray(cv2.resize(crop, self.size, interpolation=cv2.INTER_AREA))

    def show_one(self, image: np.ndarray, die: FoundDie) -> tuple[np.ndarray, np.ndarray]:
        """What the model sees of a (H, W, 3) uint8 frame where a die was, found in frame pixels,
        and the (2, 3) matrix from there to the frame's pixels."""
        x, y = die.centre.tolist()
        return cut(image, (x, y), self._close, 0.0, CLOSE_SIDE)

    def to_frame(self, die: FoundDie) -> FoundDie:
        """A finding in what the model sees, in pixels of the frame."""
        return FoundDie(
            np.asarray(die.corners * self._scale + self._shift, np.float32),
            die.value, die.value_p, die.flat_p, die.score, die.down * self._scale,
        )  # fmt: skip

    def from_frame(self, die: FoundDie) -> FoundDie:
        """The way back."""
        return FoundDie(
            np.asarray((die.corners - self._shift) / self._scale, np.float32),
            die.value, die.value_p, die.flat_p, die.score, die.down / self._scale,
        )  # fmt: skip
