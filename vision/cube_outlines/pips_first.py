"""The second reader's other way to find dice at a table: by their pips, without the floor.

Owns: which faces, found by their pips alone, are dice that the outline missed or could not read.
Must not know the model.

The outline against the floor fails for a die on a floor of the die's colour, in a patch of light,
or with bright reflections on its edges. But pips of the calibrated size in a legal layout do not
occur by chance. This search takes several times as long as the outline, so it runs only if the
outline leaves a question. It says where a top face is and which value it shows. It cannot say that
a die lies flat, so a die that it finds has an outline that proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.floor import MIN_STEP
from vision.cube_outlines.outline import Pose
from vision.faces_by_pips.faces import read_sized
from vision.faces_by_pips.pips import Face
from vision.quads import turn_deg

_MIN_SURE = 0.35
"""Least confidence, 0..1, of a face that is found by its pips. The geometry must fit as well."""


def find_by_pips(
    image: np.ndarray, calibration: Calibration, known: Sequence[np.ndarray] = ()
) -> list[tuple[Pose, Face]]:
    """Top faces of the calibrated size inside the compartment of a (H, W, 3) uint8 BGR frame, but
    for those that are `known` already, (4, 2) corners in frame pixels each. Their poses are those
    of upright dice."""
    rows, columns = calibration.around()
    origin = np.array((columns.start, rows.start), float)
    inside = [corners - origin for corners in known]
    faces = read_sized(image[rows, columns], calibration.die_px, inside)
    return [
        (_pose(die.corners + origin, calibration), die.face)
        for die in faces
        if die.face.confidence >= _MIN_SURE
        and die.face.contrast > MIN_STEP  # else they are grain, as on the floor
        and calibration.has_room_at((die.corners + origin).mean(axis=0))
    ]


def _pose(corners: np.ndarray, calibration: Calibration) -> Pose:
    mm = calibration.to_mm(corners, calibration.die_mm)
    x, y = mm.mean(axis=0).tolist()
    return Pose(x, y, math.radians(turn_deg(mm)))
