"""What shows beside a top face tells how a die lies, and nothing else does."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

from vision.cube_outlines.foreground import FloorView
from vision.cube_outlines.reader import SecondReader
from vision.cube_outlines.sides import Sides, measure_sides, rooms_mm
from vision.faces_by_pips.pieces import FACE_PX
from vision.faces_by_pips.pips import Face, read_face
from vision.parameters import LIMITS
from vision.quads import turn_matrices
from vision.tests.drawing import ASIAN, RED, TABLE, WHITE, Die, Look, draw

PLACES = [(0, 0), (30, -8), (-22, 24), (4, -36)]
FULL_CONTRAST = 100.0
"""Grey levels; a die of the floor's colour has 60 to 100."""
SIDES_FLAT = -0.5
"""Of 1,259 flat dice of the rig one had less, of 231 that leaned by 6° to 14° seven more."""
FLOOR = (60, 105, 45)
NO_FACE = Face(None, 0.0, 0.0)
LOOKS = {"white": WHITE, "red": RED, "asian": ASIAN}


@pytest.fixture(scope="module")
def reader():
    return SecondReader(TABLE)


def seen(reader: SecondReader, picture: np.ndarray, place: tuple[float, float]) -> Sides:
    dice = reader.read(picture).dice
    gaps = [np.hypot(die.pose.x_mm - place[0], die.pose.y_mm - place[1]) for die in dice]
    assert gaps, "the second reader sees no die"
    assert min(gaps) < 5.0
    return dice[int(np.argmin(gaps))].sides


def paint(picture: np.ndarray, corners_mm: list[tuple[float, float, float]], colour) -> None:
    """Fill a polygon whose corners are places of the table."""
    ring = np.round(TABLE.to_px(np.array(corners_mm))).astype(np.int32)
    cv2.fillPoly(picture, [ring], colour)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("place", PLACES)
def test_a_flat_die_shows_what_the_calibration_foretells(reader, place, look):
    picture = draw([Die(place[0], place[1], 25, 5, look=LOOKS[look])])
    sides = seen(reader, picture, place)
    assert sides.axes == 2
    assert sides.evidence > SIDES_FLAT
    assert sides.lean_deg <= 2.5


@pytest.mark.parametrize("axis", [25, 115, 205, 295, 70])
@pytest.mark.parametrize("tilt", [6, 8, 10])
def test_a_leaning_die_shows_more_on_one_side(reader, tilt, axis):
    picture = draw([Die(0, 0, 25, 5, tilt_deg=tilt, tilt_axis_deg=axis)])
    sides = seen(reader, picture, (0, 0))
    assert sides.evidence < SIDES_FLAT
    assert sides.lean_deg == pytest.approx(tilt, abs=2.5)


def test_a_die_that_leans_towards_the_lens_shows_too_little_and_proves_no_lean(reader):
    """At the wall its top faces the lens: no side is wide, but one that must be seen is missing. An
    upright die with sides as dark as the shaded floor looks like it."""
    picture = draw([Die(34, 0, 0, 4, tilt_deg=-8, tilt_axis_deg=90)])
    sides = seen(reader, picture, (34, 0))
    assert -5.0 < sides.evidence < SIDES_FLAT
    assert sides.beyond_mm < LIMITS.sides_beyond_mm
    one_is_wide = draw([Die(-34, 0, 0, 4, tilt_deg=-8, tilt_axis_deg=90)])
    assert seen(reader, one_is_wide, (-34, 0)).evidence < -8.0


def test_a_shadow_is_no_side_face(reader):
    picture = draw([Die(0, 0, 0, 6)]).astype(np.float32)
    shade = np.ones(picture.shape[:2], np.float32)
    cv2.rectangle(shade, (350, 190), (395, 290), 0.6, cv2.FILLED)
    shade = np.asarray(cv2.GaussianBlur(shade, (0, 0), 2.0))
    top = np.zeros(picture.shape[:2], np.uint8)
    corners = np.array([(-8, -8, 16), (8, -8, 16), (8, 8, 16), (-8, 8, 16)], float)
    cv2.fillConvexPoly(top, TABLE.to_px(corners).astype(np.int32), 1)
    shade[top > 0] = 1.0
    sides = seen(reader, (picture * shade[..., None]).astype(np.uint8), (0, 0))
    assert sides.evidence > SIDES_FLAT


def test_a_thing_beside_part_of_a_die_is_no_side_face(reader):
    picture = draw([Die(0, 0, 0, 3)])
    cv2.rectangle(picture, (361, 215), (384, 235), (40, 90, 120), cv2.FILLED)
    sides = seen(reader, picture, (0, 0))
    assert not (sides.evidence < LIMITS.sides_lean and sides.beyond_mm > LIMITS.sides_beyond_mm)


def test_two_blocks_that_are_hidden_hide_no_lean(reader):
    """The floor's colour on two of five blocks: the median block still shows the side face."""
    picture = draw([Die(0, 0, 0, 3, tilt_deg=8, tilt_axis_deg=90)])
    paint(picture, [(-14, -8, 14), (-8.3, -8, 14), (-8.3, -1.9, 14), (-14, -1.9, 14)], FLOOR)
    assert seen(reader, picture, (0, 0)).evidence < -8.0


def test_a_side_whose_blocks_differ_proves_no_lean(reader):
    """The foot of a side face is straight: a wedge beside the die is none."""
    picture = draw([Die(0, 0, 0, 3)])
    paint(picture, [(8, -8, 16), (8, 8, 16), (8 + 10 / 3, 8, 16)], (40, 90, 120))
    assert seen(reader, picture, (0, 0)).evidence > LIMITS.sides_lean


@pytest.mark.parametrize("gap_mm", [1.0, 2.0, 4.0])
def test_a_neighbour_is_no_side_face(reader, gap_mm):
    picture = draw([Die(-8, 0, 0, 2), Die(8 + gap_mm, 0, 0, 3)])
    for place in ((-8, 0), (8 + gap_mm, 0)):
        assert seen(reader, picture, place).evidence > SIDES_FLAT


def test_a_side_against_an_upright_neighbour_cannot_be_raised(reader):
    neighbour = Die(-24.2, 0, 0, 5)
    assert seen(reader, draw([neighbour, Die(-8, 0, 0, 4)]), (-8, 0)).evidence > 2.5
    leaning = Die(-8, 0, 0, 4, tilt_deg=8, tilt_axis_deg=90)
    away = dataclasses.replace(neighbour, x=-26.2)
    assert seen(reader, draw([away, leaning]), (-8, 0)).evidence < 1.0


def test_room_beside_a_top_face_ends_at_the_next_one_and_at_the_wall():
    places = np.array([(0.0, 0.0), (17.0, 3.0), (-22.0, 0.0), (0.0, 41.0)])
    turns = np.radians([0, 0, 45, 0])
    rooms = rooms_mm(places, turn_matrices(turns), TABLE)
    assert rooms[0] == pytest.approx([1.0, 25.0, 14.0 - 8 * np.sqrt(2), 41.4], abs=0.05)
    assert rooms[3] == pytest.approx([1.9, 0.4, 1.9, 25.0], abs=0.1)


def test_a_die_of_the_floors_colour_is_known_as_such(reader):
    green = Look(face=(74, 140, 58), pip=(235, 235, 235))
    sides = seen(reader, draw([Die(5, 5, 20, 6, look=green)]), (5, 5))
    assert sides.contrast < FULL_CONTRAST
    white = seen(reader, draw([Die(5, 5, 20, 6)]), (5, 5))
    assert white.contrast > FULL_CONTRAST


def test_a_side_face_as_dark_as_a_shadow_of_the_floor_tells_nothing(reader):
    die = Die(34, 0, 0, 4, look=Look(face=(70, 140, 52), pip=(235, 235, 235)))
    picture = draw([die], floor=(40, 80, 30))
    for x, shade in ((22, 0.9), (23, 0.8), (24, 0.7), (25, 0.65), (26, 0.65)):
        dark = np.array([(x, -8, 0), (x, 8, 0), (26, 8, 16), (26, -8, 16)], float)
        colour = [shade * level for level in (40, 80, 30)]
        cv2.fillConvexPoly(picture, TABLE.to_px(dark).astype(np.int32), colour)
    assert seen(reader, picture, (34, 0)).evidence > SIDES_FLAT


def two_over(*far: tuple[int, int]) -> Face:
    """A red two below which these spots shine."""
    patch = np.full((FACE_PX, FACE_PX, 3), RED.face, np.uint8)
    for at in far:
        cv2.circle(patch, at, 7, (60, 55, 240), -1, cv2.LINE_AA)
    for at in ((17, 17), (55, 55)):
        cv2.circle(patch, at, 7, RED.pip, -1, cv2.LINE_AA)
    face = read_face(patch)
    assert face.value == 2
    return face


def beside(first: Face, second: Face) -> list[Sides]:
    """The sides of two dice that show these faces."""
    picture = draw([Die(-20, 0, 0, 3, look=RED), Die(20, 0, 0, 5, look=RED)])
    floor = FloorView(TABLE)
    ground = floor.separate(floor.shrink(picture))
    alone, places = [np.zeros_like(ground.inside)] * 2, [(-20.0, 0.0, 0.0), (20.0, 0.0, 0.0)]
    return measure_sides(picture, ground, alone, places, [first, second], TABLE)


@pytest.mark.parametrize("value", [5, 3])
def test_a_five_that_hides_its_far_pips_lies_flat_if_other_dice_show_theirs(value):
    """Which dice of one toss are clear, the dice that show their far pips say."""
    clear, hidden = two_over((36, 36), (17, 55), (55, 17)), Face(value, 0.9, 60.0)
    more = beside(clear, hidden)[1].evidence - beside(NO_FACE, hidden)[1].evidence
    assert more == pytest.approx(2.0 if value == 5 else 0.0)


@pytest.mark.parametrize("value", [5, 3])
def test_a_two_has_lost_a_pip_only_if_the_other_dice_may_be_clear(value):
    """Of clear dice a three shows its far pips: else a light on an opaque two looks like some."""
    lost, other = two_over((17, 55), (55, 17)), Face(value, 0.9, 60.0)
    assert beside(lost, other)[0].lacks_far_middle == (value == 5)
    assert not beside(two_over((36, 36), (17, 55), (55, 17)), other)[0].lacks_far_middle


def test_what_stands_on_the_floor_does_not_say_what_colour_the_floor_has():
    """Of two dice side by side one may lean, and all that is seen between them be its side face."""
    picture = draw([Die(0, 0, 0, 5)])
    floor = FloorView(TABLE)
    ground = floor.separate(floor.shrink(picture))
    crowded = dataclasses.replace(ground, mask=np.full_like(ground.mask, 255))
    alone, place = np.zeros_like(ground.inside), (0.0, 0.0, 0.0)
    assert measure_sides(picture, ground, [alone], [place], [NO_FACE], TABLE)[0].axes == 2
    assert measure_sides(picture, crowded, [alone], [place], [NO_FACE], TABLE)[0].axes == 0
