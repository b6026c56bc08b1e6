"""What is floor: what most of the compartment shows, and a disc that the dome mirrors on it."""

import cv2
import numpy as np
import pytest

from vision.cube_outlines.foreground import SCALE, FloorView
from vision.cube_outlines.reader import SecondReader
from vision.tests.drawing import RED, TABLE, Die, Look, draw

DICE = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 5)]
FLOOR = FloorView(TABLE)


@pytest.fixture(scope="module")
def reader():
    return SecondReader(TABLE)


def mirrored(image, radius_mm=26.0, at_mm=(0.0, 0.0), light=40.0):
    """The picture with a disc of light over whatever lies there."""
    veil = np.zeros(image.shape[:2], np.float32)
    x, y = TABLE.level_px(np.array([at_mm]))[0]
    radius = round(radius_mm * TABLE.floor_px_per_mm)
    cv2.circle(veil, (round(x), round(y)), radius, light, -1, cv2.LINE_AA)
    return np.clip(image + veil[..., None], 0, 255).astype(np.uint8)


def covered(image):
    """How much is no floor, in dice."""
    one = (TABLE.die_px / SCALE) ** 2
    return cv2.countNonZero(FLOOR.separate(FLOOR.shrink(image)).mask) / one


@pytest.mark.parametrize("radius_mm", [18.0, 26.0, 43.0])
def test_a_disc_of_light_about_the_middle_is_floor(reader, radius_mm):
    image = mirrored(draw(DICE), radius_mm)
    assert covered(draw(DICE)) == pytest.approx(covered(image), abs=0.6)
    assert [die.face.value for die in reader.read(image).dice] == [6, 3, 5]


@pytest.mark.parametrize(
    ("radius_mm", "at_mm", "light"),
    [
        (10.0, (0.0, 0.0), 40.0),  # smaller than a die
        (26.0, (9.0, 0.0), 40.0),  # beside the middle
        (26.0, (0.0, 0.0), -40.0),  # darker: nothing mirrored takes light away
    ],
)
def test_any_other_disc_is_something_on_the_floor(radius_mm, at_mm, light):
    image = mirrored(draw([], floor=(90, 120, 80)), radius_mm, at_mm, light)
    assert covered(image) > 1.0


WHITE_CHIP, YELLOW_CHIP = (225, 228, 230), (60, 190, 220)


@pytest.mark.parametrize("colour", [WHITE_CHIP, YELLOW_CHIP])
def test_a_chip_in_the_middle_is_no_mirrored_disc(colour):
    image = draw([])
    cv2.circle(image, (320, 240), round(19.5 * TABLE.floor_px_per_mm), colour, -1, cv2.LINE_AA)
    assert covered(image) > 3.0


@pytest.mark.parametrize("corners", [4, 6])
def test_what_is_not_round_is_no_mirrored_disc(corners):
    turns = np.linspace(0, 2 * np.pi, corners, endpoint=False) + 0.3
    outline = np.array([(320, 240)]) + 100 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    veil = np.zeros((480, 640), np.float32)
    cv2.fillPoly(veil, [outline.round().astype(np.int32)], 40.0)
    image = np.clip(draw([]) + veil[..., None], 0, 255).astype(np.uint8)
    assert covered(image) > 3.0


def test_a_lit_stripe_is_no_mirrored_disc():
    veil = np.zeros((480, 640), np.float32)
    veil[:, 320 - 88 : 320 + 88] = 40.0
    image = np.clip(draw([]) + veil[..., None], 0, 255).astype(np.uint8)
    assert covered(image) > 10.0


def test_a_die_in_a_disc_of_light_is_no_floor():
    inside = [Die(0, 0, 20, 4, look=RED)]
    assert covered(mirrored(draw(inside))) == pytest.approx(covered(draw(inside)), abs=0.4)


def test_dice_with_fewer_shades_than_the_floor_are_not_taken_for_it():
    blue = (120, 60, 50)
    dice = [Die(d.x, d.y, d.turn_deg, d.value, look=Look(face=blue)) for d in DICE]
    image = draw(dice, floor=(90, 130, 170), noise=0.0, jpeg=None)
    across = np.linspace(-0.3, 1.7, image.shape[1], dtype=np.float32).clip(0.2, 1.2)
    is_blue = np.abs(image.astype(int) - blue).max(axis=2) < 6
    lit = np.clip(image * across[:, None], 0, 255).astype(np.uint8)
    assert covered(np.where(is_blue[..., None], image, lit)) < 6.0
