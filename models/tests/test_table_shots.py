"""Tables for verification are exposed as an installer exposes them, and those for training vary."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from models.training import floors, table_shots
from models.training.table_shots import PATTERNED_FLOORS, RasterShots, random_setting

SIZE = 230


@pytest.mark.parametrize("spares_dice", [True, False])
def test_white_dice_on_a_black_floor_are_not_burnt_out_for_the_floors_sake(spares_dice: bool):
    shots = RasterShots(SIZE)
    picture = shots.picture(np.random.default_rng(3))
    linear = np.full((SIZE, SIZE, 3), 0.0005, np.float32)
    faces = np.zeros((SIZE, SIZE), np.uint8)
    for die in picture.labels:
        cv2.fillConvexPoly(faces, np.round(die.corners).astype(np.int32), 1)
    linear[faces > 0] = 0.04
    made = table_shots._finish(
        np.random.default_rng(4), linear, shots._setting, picture, spares_dice=spares_dice
    )
    burnt = float((made.image[faces > 0].max(axis=1) >= 250).mean())
    assert burnt == 0.0 if spares_dice else burnt > 0.5


def test_a_patterned_setting_has_a_floor_of_a_kind_that_is_not_kept_for_verification():
    held_out = set(table_shots.FLOORS) - set(table_shots.TAUGHT_FLOORS)
    assert held_out == {"wood", "carpet"}
    kinds = {
        random_setting(
            np.random.default_rng(seed), SIZE, is_taught=True, floor_kinds=PATTERNED_FLOORS
        ).floor_kind
        for seed in range(40)
    }
    assert kinds == set(PATTERNED_FLOORS) <= set(floors.KINDS)
    assert not kinds & held_out
