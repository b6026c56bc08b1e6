"""A stereo camera of the rig: measured by the card, and what its second lens adds to a reading."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from hil_tests.reader.samples import STEREO
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.parameters import LIMITS
from vision.reading import NO_HEIGHT, Reason, Unreadable, Verified
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene
from vision.table.witnesses import HEIGHT, side_of

SEED = 3


@functools.cache
def table(lens: int = 0) -> tuple[RigCamera, TableReader, Toss]:
    camera = STEREO.camera("standard", lens, 0, SEED)
    toss = flat_tosses(STEREO.compartments["standard"], SEED, 1)[0]
    return camera, TableReader(DieFinder(), camera.calibration), toss


@pytest.mark.parametrize("lens", range(len(STEREO.lenses)))
def test_flat_dice_are_as_high_as_dice(lens: int) -> None:
    camera, reader, toss = table(lens)
    seen = reader.read(Frame(camera.picture(toss)))
    assert isinstance(seen.opinion, Verified)
    heights = [die.height for die in seen.dice]
    assert all(height is not None and abs(height.above) < 0.0125 for height in heights)
    assert all(height is not None and height.least > LIMITS.height_likeness for height in heights)


@pytest.mark.parametrize("degrees", [6.0, 8.0, 12.0])
def test_a_leaning_die_is_higher(degrees: float) -> None:
    camera, reader, toss = table()
    tilted = toss.tilted(degrees, np.random.default_rng(SEED), camera.die_mm)
    seen = reader.read(Frame(camera.picture(tilted)))
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
    x_mm: float, y_mm: float, turn_deg: float
) -> None:
    camera, _, toss = table()
    right = camera.calibration.right
    assert right is not None
    x, y = right.compartment_mm
    beside = replace(right, compartment_mm=(x + x_mm, y + y_mm), turn_deg=right.turn_deg + turn_deg)
    reader = TableReader(DieFinder(), replace(camera.calibration, right=beside))
    for seed in range(4):
        tilted = toss.tilted(6.5, np.random.default_rng(seed), camera.die_mm)
        seen = reader.read(Frame(camera.picture(tilted)))
        assert max(side_of(die, (HEIGHT,)) for die in seen.dice) <= 0.0
        assert not isinstance(seen.opinion, Verified)


def test_frames_that_confirm_are_measured_anew() -> None:
    camera, reader, toss = table()
    scene = StillScene(reader)
    first, second = (scene.look(Frame(camera.picture(toss), n / 30, n)).observation for n in (0, 1))
    assert second.is_confirming
    assert not first.is_confirming
    for before, now in zip(first.dice, second.dice, strict=True):
        assert now.height not in (None, NO_HEIGHT, before.height)


def test_one_lens_alone_has_no_heights() -> None:
    camera, _, toss = table()
    left = camera.left()
    seen = TableReader(DieFinder(), left.calibration).read(Frame(left.picture(toss)))
    assert isinstance(seen.opinion, Verified)
    assert [die.height for die in seen.dice] == [None] * 3


def test_half_of_a_stereo_picture_is_of_the_wrong_size() -> None:
    camera, reader, toss = table()
    half = camera.picture(toss)[:, : camera.calibration.image_size[0]]
    opinion = reader.read(Frame(half)).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.WRONG_SIZE
    assert "must send 1600 x 600, both lenses' pictures" in opinion.detail


def test_a_second_lens_that_was_bumped_grants_nothing() -> None:
    camera, _, toss = table()
    second = camera.calibration.right
    assert second is not None
    x, y = second.compartment_mm
    # As if it stood where flat dice seem to lie a millimetre deeper.
    bumped = replace(second, compartment_mm=(x - 0.25, y))
    reader = TableReader(DieFinder(), replace(camera.calibration, right=bumped))
    seen = reader.read(Frame(camera.picture(toss)))
    odds = [side_of(die, (HEIGHT,)) for die in seen.dice]
    assert max(odds) <= 0.0
    assert min(die.height.above for die in seen.dice if die.height) < -LIMITS.height_above
