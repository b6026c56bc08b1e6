"""The part of a frame that the model is shown, at the size that it needs.

Owns: the crop around the compartment, its scale, and the mapping of a finding back into the frame.
Must not know what the model is. The model's time is proportional to the number of pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.networks.classifier import FoundDie

DIE_PX = 56.0
"""Largest edge of a flat die's top in the model's picture, pixels. Above: slower, no gain. Below:
more refusals. Source: 900 single pictures of the rig, half of them with a die set up to lean. 56
and 80 gave equal counts: 342 of 375 flat ones read, 419 of 525 others no roll, 0 accepted. 56 needs
0.57 times the pixels for a die of 74. 48 lost two flat ones, and four no rolls of 500. The near
look sees all pixels."""
_TALLEST_DICE = 2.2
"""Height, in dice, up to which the crop contains what stands in the compartment."""


class ModelView:
    """One calibrated camera's view for the model."""

    def __init__(self, calibration: Calibration, die_px: float = DIE_PX) -> None:
        turn = np.linspace(0, 2 * np.pi, 61)
        ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) * calibration.compartment_radius_mm
        height = np.full((61, 1), _TALLEST_DICE * calibration.die_mm)
        reach = calibration.to_px(np.concatenate([ring, height], axis=1))
        low = np.maximum(np.floor(reach.min(axis=0)), 0).astype(int)
        high = np.minimum(np.ceil(reach.max(axis=0)), calibration.image_size).astype(int)
        self.rows, self.columns = slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))
        width, height_px = int(high[0] - low[0]), int(high[1] - low[1])
        share = min(1.0, die_px / calibration.die_px)
        self.size = (round(width * share), round(height_px * share))
        self._scale = np.array((width / self.size[0], height_px / self.size[1]), np.float32)
        # The network counts from a pixel's corner, a calibration from its middle.
        self._shift = np.array((self.columns.start, self.rows.start), np.float32) - 0.5

    def show(self, image: np.ndarray) -> np.ndarray:
        """What the model sees of a (H, W, 3) uint8 frame."""
        crop = np.ascontiguousarray(image[self.rows, self.columns])
        if crop.shape[1::-1] == self.size:
            return crop
        return np.asarray(cv2.resize(crop, self.size, interpolation=cv2.INTER_AREA))

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
