"""What the table learns its dice from: a toss as the network found it, with the values that persons
confirmed.

Owns: which die has which confirmed value. Must not know persons, nor what is learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from vision.calibration import Calibration
from vision.findings import Findings
from vision.frame import Frame
from vision.taught import Toss


def confirmed_toss(
    frame: Frame, found: Findings, values: Sequence[int], calibration: Calibration
) -> Toss | None:
    """The toss of `frame`, in which the network `found` dice, of which persons saw these `values`
    in any order: each die has the one that the network holds likeliest. None: the network sees
    another number of dice."""
    dice = found.model
    if len(dice) != len(values):
        return None
    odds = np.log(np.array([die.value_p for die in dice]) + 1e-9)
    each = range(len(dice))
    likeliest = max(
        permutations(values), key=lambda order: sum(odds[i, order[i] - 1] for i in each)
    )
    parted = frame.parted(calibration.image_size[0])
    return Toss(parted.image, np.array([die.corners for die in dice]), likeliest, parted.right)
