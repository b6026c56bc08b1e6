"""A first reader that knows the truth of drawn dice, or lies about it on purpose.

It stands in for the ONNX model where a test is about what happens with votes, not how they arise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.calibration import Calibration
from vision.networks.classifier import FoundDie
from vision.table.model_view import CLOSE_SIDE, ModelView
from vision.tests.drawing import TABLE, Die, rotation


class TruthFinder:
    """Finds what was drawn, in the pixels of what the `view` shows the model; in a window around a
    single die nothing. `values` and `flat_p` replace the truth; `extra` is found as well."""

    def __init__(
        self,
        dice: Sequence[Die],
        *,
        view: ModelView | None = None,
        calibration: Calibration = TABLE,
        values: Sequence[int] | None = None,
        flat_p: Sequence[float] | None = None,
        missing: Sequence[int] = (),
        extra: Sequence[FoundDie] = (),
    ) -> None:
        self._found = []
        shift = np.zeros(2, np.float32)
        for i, die in enumerate(dice):
            if i in missing:
                continue
            value = die.value if values is None else values[i]
            p = 0.99 if die.tilt_deg < 3 else 0.02
            self._found.append(
                found_die(die, calibration, value, p if flat_p is None else flat_p[i], shift)
            )
        self._found += extra
        if view is not None:
            self._found = [view.from_frame(die) for die in self._found]

    def find(self, image: np.ndarray) -> Sequence[FoundDie]:
        return [] if image.shape[:2] == (CLOSE_SIDE, CLOSE_SIDE) else self._found


def found_die(
    die: Die, calibration: Calibration, value: int, flat_p: float, shift: np.ndarray
) -> FoundDie:
    """What a perfect network would say of a drawn die."""
    half = calibration.die_mm / 2
    matrix = rotation(die)
    cube = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    height = -float((cube @ matrix.T)[:, 2].min()) if die.z is None else die.z
    centre = np.array([die.x, die.y, height])
    top = np.array([(-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]) * half @ matrix.T + centre
    middles = np.array([(0, 0, half), (0, 0, -half)]) @ matrix.T + centre
    up, down = calibration.to_px(middles)
    value_p = np.full(6, 0.002, np.float32)
    value_p[value - 1] = 0.99
    corners = np.asarray(calibration.to_px(top) - shift, np.float32)
    return FoundDie(corners, value, value_p, flat_p, 0.95, np.asarray(down - up, np.float32))
