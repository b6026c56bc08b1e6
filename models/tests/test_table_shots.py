"""Tables for verification are exposed as an installer exposes them, and those for training vary."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from models.training import floors, looks, table_shots
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


def test_a_varied_setting_has_any_floor_but_those_that_no_training_sees():
    assert set(floors.KINDS) < set(table_shots.VARIED_FLOORS)
    assert not set(floors.HELD_OUT_KINDS) & set(table_shots.VARIED_FLOORS)


def test_flecks_are_few_and_stand_out_and_creases_are_darker_or_lighter_lines():
    def shares(kind: str) -> list[float]:
        """How much of each floor differs from its most common colour by a fifth and more."""
        off = []
        for seed in range(12):
            floor = floors.random_floor(np.random.default_rng(seed), 160, 40.0, (kind,), 0.0)
            usual = np.median(floor, axis=(0, 1))
            off.append(float((np.abs(floor / usual - 1) > 0.2).any(axis=2).mean()))
        return off

    flecked, creased, plain = (
        np.median(shares(kind)) for kind in (floors.FLECKED, floors.CREASED, "plain")
    )
    assert plain < 0.02 < min(flecked, creased)
    assert max(flecked, creased) < 0.5


def test_sharpened_dice_have_the_edges_of_precision_dice():
    random = np.random.default_rng(2)
    for look in (looks.random_look(random) for _ in range(20)):
        sharp = looks.sharpened(random, look)
        assert sharp.rounding <= 0.02
        assert sharp.ball == 0.9
        assert sharp.faces is look.faces
