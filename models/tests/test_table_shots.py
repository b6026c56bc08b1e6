"""Tables for verification are exposed as an installer exposes them, and those for training vary."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from models.training import floors, looks, table_shots
from models.training.layout import encoded
from models.training.table_shots import (
    CLEAR_FLOORS,
    FLOORS,
    PATTERNED_FLOORS,
    SHOTS,
    TAUGHT_FLOORS,
    RasterPainter,
    TableShots,
    exposed,
    random_setting,
)

SIZE = 230


def shots(*options: str, size: int = SIZE) -> TableShots:
    chosen = frozenset(options)
    return TableShots(size, chosen, RasterPainter(chosen))


@pytest.mark.parametrize("spares_dice", [True, False])
def test_white_dice_on_a_black_floor_are_not_burnt_out_for_the_floors_sake(spares_dice: bool):
    truth = shots().picture(np.random.default_rng(3)).labels
    linear = np.full((SIZE, SIZE, 3), 0.0005, np.float32)
    faces = np.zeros((SIZE, SIZE), np.uint8)
    for die in truth:
        cv2.fillConvexPoly(faces, np.round(die.corners).astype(np.int32), 1)
    linear[faces > 0] = 0.04
    made = exposed(np.random.default_rng(4), linear, truth, spares_dice=spares_dice)
    burnt = float((encoded(made)[faces > 0].max(axis=1) >= 250).mean())
    assert burnt == 0.0 if spares_dice else burnt > 0.5


def test_shots_of_one_setting_show_one_camera_and_the_same_dice():
    table, rng = shots("taught"), np.random.default_rng(6)
    pictures = [table.picture(rng) for _ in range(SHOTS + 1)]
    cameras = [str(picture.calibration) for picture in pictures]
    assert len(set(cameras[:SHOTS])) == 1
    assert cameras[SHOTS] != cameras[0]
    assert len({str(picture.labels) for picture in pictures}) == SHOTS + 1


def test_wild_compartments_are_no_tables():
    table, rng = shots("wild", size=96), np.random.default_rng(2)
    pictures = [table.picture(rng) for _ in range(12)]
    assert {picture.calibration for picture in pictures} == {None}
    assert len({len(picture.labels) for picture in pictures}) > 2


def test_held_out_compartments_have_floors_and_half_of_them_dice_that_no_training_sees():
    wild = frozenset({"wild"})
    table, rng = TableShots(96, wild, RasterPainter(wild), held_out=True), np.random.default_rng(2)
    notes = [table.picture(rng).notes for _ in range(12)]
    assert {note["floor"] for note in notes} == set(floors.HELD_OUT_KINDS)
    assert 2 <= sum(note["style"] in looks.HELD_OUT_STYLES for note in notes) <= 10


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (("taught", "patterned"), PATTERNED_FLOORS),
        (("taught", "clear", "patterned"), CLEAR_FLOORS),
        (("taught",), TAUGHT_FLOORS),
        ((), FLOORS),
    ],
)
def test_a_setting_has_a_floor_of_its_kinds(options, kinds):
    found = {
        random_setting(np.random.default_rng(seed), SIZE, frozenset(options)).floor_kind
        for seed in range(60)
    }
    assert found == set(kinds)
    assert not options or not found & (set(FLOORS) - set(TAUGHT_FLOORS)), "kept for verification"


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
