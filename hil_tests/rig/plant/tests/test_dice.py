"""Dice are dice: layout, rest, and a compartment that nothing leaves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hil_tests.rig.plant.contacts import MATERIALS
from hil_tests.rig.plant.dice import FACE_NORMALS, Dice, Lie, top_face
from hil_tests.rig.plant.geometry import GEOMETRIES, STANDARD
from hil_tests.rig.plant.physics import toss_run


def test_opposite_faces_sum_to_seven_and_the_layout_is_right_handed() -> None:
    for value, normal in FACE_NORMALS.items():
        assert tuple(-n for n in normal) == FACE_NORMALS[7 - value]
    one, two, three = (np.array(FACE_NORMALS[v]) for v in (1, 2, 3))
    assert np.dot(np.cross(one, two), three) == 1


@pytest.mark.parametrize("values", [(1, 2, 3), (4, 5, 6), (6, 6, 6)])
def test_dice_lie_as_they_are_laid(values: tuple[int, int, int]) -> None:
    dice = Dice(STANDARD, seed=4)
    dice.lay(values)
    assert tuple(die.value for die in dice.lies()) == values
    assert all(die.lie is Lie.FLAT for die in dice.lies())
    assert dice.at_rest
    assert dice.inside()


def test_tilt_is_the_angle_of_the_nearest_face() -> None:
    angle = np.radians(20.0)
    rotation = np.array(
        [
            [1.0, 0.0, 0.0],
            [0.0, np.cos(angle), -np.sin(angle)],
            [0.0, np.sin(angle), np.cos(angle)],
        ]
    )
    value, tilt_deg = top_face(rotation)
    assert value == 3
    assert tilt_deg == pytest.approx(20.0)


def test_die_on_another_is_stacked() -> None:
    dice = Dice(STANDARD, seed=4)
    dice.lay((2, 3, 4))
    qpos = dice._data.qpos
    qpos[8:11] = qpos[1:4] + np.array([0.002, 0.001, 0.0161])
    dice.disturb()
    for _ in range(600):
        dice.step(0.0, 0.0)
    assert dice.at_rest
    assert [die.lie for die in dice.lies()] == [Lie.FLAT, Lie.STACKED, Lie.FLAT]


@pytest.mark.parametrize("geometry", list(GEOMETRIES))
def test_nothing_leaves_the_compartment_and_all_comes_to_rest(geometry: str) -> None:
    trial = toss_run(geometry, "nominal", 4, seed=8)
    assert trial.tosses == 4
    assert trial.escapes == 0
    assert max(trial.after_plate_s) < 5.0


@pytest.mark.parametrize("floor", ["felt", "wood", "rubber", "acrylic"])
@pytest.mark.parametrize("drop_mm", [5.0, 20.0, 50.0])
def test_a_drop_keeps_the_share_of_speed_that_its_floor_has(floor: str, drop_mm: float) -> None:
    coming = math.sqrt(2.0 * 9.81 * drop_mm / 1000.0)
    assert rebound(floor, drop_mm) / coming == pytest.approx(
        MATERIALS[floor].share(coming), abs=0.06
    )


@pytest.mark.parametrize("floor", ["felt", "wood", "rubber", "acrylic"])
def test_what_falls_a_hundredth_of_a_millimetre_does_not_rebound(floor: str) -> None:
    assert rebound(floor, 0.01) ** 2 / (2.0 * 9.81) < 4e-6  # metres


def rebound(floor: str, drop_mm: float) -> float:
    """Drop a die onto one face; return its greatest speed upwards, m/s."""
    dice = Dice(replace(STANDARD, floor=floor), seed=1)
    dice.lay((1, 2, 3))
    dice._data.qpos[3] += drop_mm / 1000.0
    dice.disturb()
    fastest = 0.0
    for _ in range(300):
        dice.step(0.0, 0.0)
        fastest = max(fastest, float(dice._data.qvel[3]))
    return fastest


def test_faster_impacts_keep_less_and_the_slowest_nothing() -> None:
    for material in MATERIALS.values():
        shares = [material.share(speed) for speed in (0.1, 0.3, 1.0, 3.0)]
        assert shares == sorted(shares, reverse=True)
        assert material.share(0.002) < 0.02


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_die_may_be_missing_or_one_too_many(count: int) -> None:
    dice = Dice(STANDARD, seed=2)
    dice.lay((6, 5, 4, 3)[:count])
    for _ in range(200):
        dice.step(0.0, 0.0)
    assert [die.value for die in dice.lies()] == [6, 5, 4, 3][:count]
    assert all(die.is_flat for die in dice.lies())
    assert dice.poses().position_mm.shape == (count, 3)


def test_a_die_on_a_crumb_lies_askew() -> None:
    dice = Dice(GEOMETRIES["littered"], seed=2)
    dice.lay((1,))
    x_mm, y_mm = GEOMETRIES["littered"].ridges[0].from_mm
    dice._data.qpos[1:4] = np.array([x_mm - 4.0, y_mm, 9.2]) / 1000.0
    dice.disturb()
    for _ in range(1200):
        dice.step(0.0, 0.0)
    assert dice.at_rest
    assert dice.lies()[0].lie is Lie.TILTED
    assert dice.lies()[0].tilt_deg > 1.5


def test_tosses_repeat_for_a_seed() -> None:
    first, second = (toss_run("standard", "nominal", 2, seed=5).records for _ in range(2))
    assert first == second
