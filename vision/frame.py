"""A picture with the moment it was taken; must not know where it came from."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One camera image."""

    image: np.ndarray
    """(H, W, 3) uint8, BGR."""

    t_capture: float = 0.0
    """Seconds on the monotonic clock when the grab returned."""

    sequence: int = 0
    """Counts the grabs, so that a gap shows."""

    jpeg: bytes = b""
    """The file that `image` was decoded from; empty where the camera gives none."""

    right: np.ndarray | None = None
    """What the right lens of a stereo camera shows, as large as `image`, the left one's."""

    def parted(self, width: int) -> Frame:
        """The frame with the right lens's picture apart, if `image` is as wide as two pictures of
        `width` pixels side by side."""
        if self.image.shape[1] != 2 * width:
            return self
        return replace(self, image=self.image[:, :width], right=self.image[:, width:])


def digest(image: np.ndarray) -> int:
    """A number that tells two pictures of a camera apart, though they may show the same.

    Every fifth row is enough: a camera's grain differs everywhere, and it must cost nothing.
    """
    return zlib.crc32(np.ascontiguousarray(image[::5]).data)
