"""A picture with the moment it was taken; must not know where it came from."""

from __future__ import annotations

from dataclasses import dataclass

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
