"""A drawn table before two lenses, taught its dice by drawn tosses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from vision.frame import Frame
from vision.table.reader import TableReader
from vision.taught import Teaching, Toss, teach
from vision.tests.drawing import TABLE, Die, draw
from vision.tests.test_taught import corners_of, toss_of
from vision.tests.truth import TruthFinder

APART_MM = 40.0
RIGHT = replace(TABLE, compartment_mm=(-APART_MM, 0.0), centre_px=(480.0, 240.0))
STEREO = replace(TABLE, right=RIGHT)
WIDTH = TABLE.image_size[0]


def frame(dice: Sequence[Die], number: int = 0, **how: Any) -> Frame:
    """What both lenses show of these dice in the frame of this number."""
    lenses = [
        draw(dice, lens, seed=2 * number + i, **how) for i, lens in enumerate((STEREO, RIGHT))
    ]
    return Frame(np.hstack(lenses), number / 30, number)


def left(seen: Frame) -> np.ndarray:
    """(H, W, 3): the picture of the left lens; a change of it changes the frame."""
    return seen.image[:, :WIDTH]


def confirmed(seed: int) -> Toss:
    """A toss whose values persons confirmed."""
    dice, seen = toss_of(seed), frame(toss_of(seed)).parted(WIDTH)
    corners = np.array([corners_of(die) for die in dice])
    return Toss(seen.image, corners, tuple(die.value for die in dice), seen.right)


@cache
def taught() -> Teaching:
    """What thirty tosses taught the table."""
    return teach(STEREO, [confirmed(seed) for seed in range(30)])


def table(teaching: Teaching, dice: Sequence[Die], threads: int = 1, **lies: Any) -> TableReader:
    """The table's reader, whose first reader knows these dice, or lies about them."""
    reader = TableReader(TruthFinder([]), STEREO, threads, teaching)
    reader._finder = TruthFinder(dice, view=reader.view, calibration=STEREO, **lies)
    return reader
