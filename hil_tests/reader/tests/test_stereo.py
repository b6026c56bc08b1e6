"""What the second lens of a taught table adds to a reading."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hil_tests.reader.tables import Table
from hil_tests.reader.tosses import RigCamera, Toss
from vision.calibration import Calibration
from vision.frame import Frame
from vision.reading import NO_HEIGHT, Reason, Unreadable, Verified
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene
from vision.taught.heights import LIKENESS
from vision.taught.teaching import digest_of


def shown(table: Table) -> tuple[RigCamera, Toss]:
    toss = table.case("flat", 0).toss
    assert toss is not None
    assert table.camera is not None
    return table.camera, toss


def beside(table: Table, x_mm: float, y_mm: float, turn_deg: float) -> TableReader:
    """The table's reader, whose right lens is not where it was measured."""
    right = table.calibration.right
    assert right is not None
    x, y = right.compartment_mm
    moved = replace(right, compartment_mm=(x + x_mm, y + y_mm), turn_deg=right.turn_deg + turn_deg)
    calibration: Calibration = replace(table.calibration, right=moved)
    teaching = replace(table.teaching, calibration=digest_of(calibration))
    return TableReader(table.finder, calibration, teaching=teaching)


def test_flat_dice_are_as_high_as_dice(table: Table) -> None:
    camera, toss = shown(table)
    seen = table.reader.read(Frame(camera.picture(toss)))
    assert isinstance(seen.opinion, Verified)
    heights = [die.height for die in seen.dice]
    assert all(height is not None and abs(height.above) < 0.0125 for height in heights)
    assert all(height is not None and height.least > LIKENESS for height in heights)


@pytest.mark.parametrize("degrees", [6.0, 8.0, 12.0])
def test_a_leaning_die_is_higher(table: Table, degrees: float) -> None:
    camera, toss = shown(table)
    tilted = toss.tilted(degrees, np.random.default_rng(3), camera.die_mm)
    seen = table.reader.read(Frame(camera.picture(tilted)))
    highest = max(die.height.above for die in seen.dice if die.height is not None)
    lean = np.radians(degrees)
    assert highest == pytest.approx(np.cos(lean) - 1 + np.sin(lean) / 2, abs=0.0125)
    assert not isinstance(seen.opinion, Verified)


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "turn_deg"),
    [
        (-0.07, 0.2, -0.25),
        (-0.2, -0.18, -0.28),
        (0.1, 0.0, 0.2),
        (-0.05, 0.0, 0.0),
        (-0.16, 0.0, 0.1),
    ],
)
def test_a_right_lens_a_little_beside_its_place_makes_no_leaning_die_flat(
    table: Table, x_mm: float, y_mm: float, turn_deg: float
) -> None:
    camera, toss = shown(table)
    reader = beside(table, x_mm, y_mm, turn_deg)
    for seed in range(4):
        tilted = toss.tilted(6.5, np.random.default_rng(seed), camera.die_mm)
        assert not isinstance(reader.read(Frame(camera.picture(tilted))).opinion, Verified)


def test_a_second_lens_that_was_bumped_verifies_nothing(table: Table) -> None:
    camera, toss = shown(table)
    # As if it stood where flat dice seem to lie a millimetre deeper.
    seen = beside(table, -0.25, 0.0, 0.0).read(Frame(camera.picture(toss)))
    assert isinstance(seen.opinion, Unreadable)
    usual = table.teaching.height
    assert usual is not None
    assert min(die.height.above for die in seen.dice if die.height) < usual.middle - usual.reach


def test_frames_that_confirm_are_measured_anew(table: Table) -> None:
    camera, toss = shown(table)
    scene = StillScene(table.reader)
    first, second = (scene.look(Frame(camera.picture(toss), n / 30, n)).observation for n in (0, 1))
    assert second.is_confirming
    assert not first.is_confirming
    for before, now in zip(first.dice, second.dice, strict=True):
        assert now.height not in (None, NO_HEIGHT, before.height)


def test_half_of_a_stereo_picture_is_of_the_wrong_size(table: Table) -> None:
    camera, toss = shown(table)
    half = camera.picture(toss)[:, : camera.calibration.image_size[0]]
    opinion = table.reader.read(Frame(half)).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.WRONG_SIZE
    assert "must send 1600 x 600, both lenses' pictures" in opinion.detail
