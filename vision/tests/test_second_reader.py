"""The second reader alone: values of flat dice, silence or doubt about everything else."""

import dataclasses

import cv2
import numpy as np
import pytest

from vision.cube_outlines.reader import SecondReader
from vision.faces_by_pips.pieces import FACE_PX
from vision.faces_by_pips.pips import SPOTS, read_face
from vision.parameters import LIMITS
from vision.tests.drawing import IVORY, LOOKS, TABLE, Die, Look, draw, texture_of, toss


@pytest.fixture(scope="module")
def reader():
    return SecondReader(TABLE)


def face_patch(look, value, quarter=0):
    texture = cv2.resize(texture_of(look, value), (FACE_PX, FACE_PX), interpolation=cv2.INTER_AREA)
    return np.rot90(texture, quarter).astype(np.uint8)


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize("quarter", range(4))
def test_every_legal_face_is_read_in_every_orientation(name, value, quarter):
    face = read_face(np.ascontiguousarray(face_patch(LOOKS[name], value, quarter)))
    assert face.value == value
    assert face.confidence > 0.6


ILLEGAL = {
    "two side by side": [(-1, 0), (1, 0)],
    "three in a row along an edge": [(-1, 0), (0, 0), (1, 0)],
    "four with one moved": [(-1, -1), (1, -1), (-1, 1), (0, 1)],
    "seven": [(-1, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (1, 1)],
    "one off the middle": [(1, 1)],
    "five as a triangle": [(-1, -1), (1, -1), (0, 0), (0, 1), (0, -1)],
}


def drawn(name):
    patch = np.full((FACE_PX, FACE_PX, 3), 230, np.uint8)
    for x, y in ILLEGAL[name]:
        cv2.circle(
            patch, (round(36 + x * 18), round(36 + y * 18)), 7, (25, 25, 25), -1, cv2.LINE_AA
        )
    return read_face(patch)


@pytest.mark.parametrize("name", [name for name in ILLEGAL if name != "one off the middle"])
def test_a_pattern_that_no_die_has_is_no_value(name):
    assert drawn(name).value is None


def test_one_pip_off_the_middle_is_measured_as_such():
    assert np.hypot(*drawn("one off the middle").offset) > 0.2


@pytest.mark.parametrize(
    ("radius", "shift", "is_pip"), [(7, 0, True), (11, 0, False), (7, 4, False)]
)
def test_an_emblem_between_the_pips_of_a_two_makes_no_three(radius, shift, is_pip):
    patch = np.full((FACE_PX, FACE_PX, 3), 230, np.uint8)
    for x, y, r in ((18, 18, 7), (36 + shift, 36, radius), (54, 54, 7)):
        cv2.circle(patch, (x, y), r, (40, 40, 40), -1, cv2.LINE_AA)
    assert read_face(patch).value == (3 if is_pip else None)


@pytest.mark.parametrize("columns", range(33, 39))
def test_a_face_of_which_half_is_covered_is_no_value(columns):
    patch = np.full((FACE_PX, FACE_PX, 3), 250, np.uint8)
    patch[:, :columns] = 0  # the middle colour is then that of hardly any pixel
    assert read_face(patch).value is None


def test_a_blank_face_and_a_logo_are_no_value():
    patch = np.full((FACE_PX, FACE_PX, 3), 200, np.uint8)
    assert read_face(patch).value is None
    cv2.rectangle(patch, (20, 12), (52, 60), (20, 20, 20), -1)
    assert read_face(patch).value is None


@pytest.mark.parametrize("seed", range(12))
def test_three_flat_dice_are_read_whatever_they_touch(reader, seed):
    look = list(LOOKS.values())[seed % len(LOOKS)]
    floor = [(60, 105, 45), (60, 60, 66), (40, 90, 130)][seed % 3]
    dice = toss(np.random.default_rng(100 + seed), look=look)
    seen = reader.read(draw(dice, floor=floor, seed=seed))
    truth = sorted((die.x, die.y, die.value) for die in dice)
    assert len(seen.dice) == 3
    for die, (x, y, value) in zip(seen.dice, truth, strict=True):
        assert die.face.value == value
        assert np.hypot(die.pose.x_mm - x, die.pose.y_mm - y) < 0.8
        assert np.hypot(*die.face.offset) < 0.06


@pytest.mark.parametrize("light", [0.45, 0.7, 1.05])
def test_brightness_does_not_change_a_value(reader, light):
    dice = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)]
    seen = reader.read(draw(dice, light=light))
    assert [die.face.value for die in seen.dice] == [6, 3, 1]


@pytest.mark.parametrize("tilt", [10, 15, 25])
def test_a_tilted_die_shows_more_than_an_upright_one_could(reader, tilt):
    flat = reader.read(draw([Die(10, 5, 20, 4)])).dice[0].fit
    for axis in range(0, 360, 60):
        seen = reader.read(draw([Die(10, 5, 20, 4, tilt_deg=tilt, tilt_axis_deg=axis)]))
        assert seen.dice[0].fit.beyond_mm > flat.beyond_mm + 0.8


def test_a_coin_counts_as_one_more_thing_beside_the_dice(reader):
    dice = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)]
    image = draw(dice)
    cv2.circle(image, (250, 330), 42, (70, 150, 190), -1, cv2.LINE_AA)
    seen = reader.read(image)
    assert [die.face.value for die in seen.dice if die.face.value] == [6, 3, 1]
    assert len(seen.dice) == 4


def test_an_empty_compartment_has_no_dice(reader):
    assert reader.read(draw([])).dice == ()


def test_reading_needs_no_particular_die_size():
    for edge in (12.0, 19.0, 25.0):
        calibration = dataclasses.replace(TABLE, die_mm=edge)
        dice = [Die(-22, -12, 15, 5), Die(4, 24, 50, 2), Die(24, -14, 80, 6)]
        seen = SecondReader(calibration).read(draw(dice, calibration))
        assert [die.face.value for die in seen.dice] == [5, 2, 6]


@pytest.mark.parametrize(("drawn_mm", "inset"), [(16.0, 0.0), (15.2, 0.4), (14.6, 0.7)])
def test_a_die_whose_edges_are_lost_has_its_outline_inset_alike_on_all_sides(drawn_mm, inset):
    places = [Die(-22, -12, 15, 5), Die(4, 24, 50, 2), Die(24, -14, 80, 6)]
    picture = draw(places, dataclasses.replace(TABLE, die_mm=drawn_mm))
    seen = SecondReader(TABLE).read(picture)
    assert [die.face.value for die in seen.dice] == [5, 2, 6]
    for die, place in zip(seen.dice, places, strict=True):
        assert abs(die.fit.inset_mm - inset) < 0.3
        assert die.fit.spread_mm < 0.45
        assert np.hypot(die.pose.x_mm - place.x, die.pose.y_mm - place.y) < 0.6


@pytest.mark.parametrize(
    ("look", "floor"), [(IVORY, (30, 36, 34)), (Look((58, 140, 74), (240, 240, 240)), (40, 80, 34))]
)
@pytest.mark.parametrize("gap_mm", [0.1, 0.6])
def test_the_rows_of_a_six_are_no_edges_of_its_die(reader, look, floor, gap_mm):
    picture = draw([Die(-10, 6, 0, 6, look=look), Die(6 + gap_mm, 9, 0, 5, look=look)], floor=floor)
    for die in reader.read(picture).dice:
        assert die.fit.spread_mm < 0.45
        assert np.hypot(*die.face.offset) < 0.02


@pytest.mark.parametrize("glyph", "0123456789BDEHOQRX")
def test_digits_and_letters_are_no_pips(glyph):
    patch = np.full((FACE_PX, FACE_PX, 3), 225, np.uint8)
    size = FACE_PX / 42
    (wide, high), _ = cv2.getTextSize(glyph, cv2.FONT_HERSHEY_SIMPLEX, size, 5)
    at = ((FACE_PX - wide) // 2, (FACE_PX + high) // 2)
    cv2.putText(patch, glyph, at, cv2.FONT_HERSHEY_SIMPLEX, size, (25, 25, 25), 5, cv2.LINE_AA)
    assert read_face(patch).value is None


def drawn_face(spots, radius, thickness=-1):
    """A white face with black spots at shares of its edge; with a thickness they are rings."""
    fine = np.full((4 * FACE_PX, 4 * FACE_PX, 3), 225, np.uint8)
    for x, y in spots:
        at = (round((x + 0.5) * 4 * FACE_PX), round((y + 0.5) * 4 * FACE_PX))
        cv2.circle(fine, at, round(radius * 4 * FACE_PX), (25, 25, 25), thickness, cv2.LINE_AA)
    return cv2.resize(fine, (FACE_PX, FACE_PX), interpolation=cv2.INTER_AREA)


FIVE = [(-0.24, -0.24), (0.24, -0.24), (0.0, 0.0), (-0.24, 0.24), (0.24, 0.24)]
SIX = [(x, y) for x in (-0.19, 0.19) for y in (-0.175, 0.0, 0.175)]


def test_rings_are_pips_with_confidence():
    face = read_face(drawn_face(FIVE, 0.07, thickness=9))
    assert face.value == 5
    assert face.confidence > 0.6
    assert abs(face.pip_diameter - 0.16) < 0.03


def test_pips_that_run_into_each_other_are_counted_each():
    patch = drawn_face(SIX, 0.082)
    for x in (-0.19, 0.19):
        side = round((x + 0.5) * FACE_PX)
        patch[FACE_PX // 3 : 2 * FACE_PX // 3, side - 3 : side + 3] = 25
    face = read_face(patch)
    assert face.value == 6
    assert abs(face.spacing - 0.18) < 0.02


def test_pips_that_run_into_a_dark_bevel_are_parted_from_it():
    patch = drawn_face(FIVE, 0.085)
    patch[:5] = patch[:, :5] = 40
    patch[:14, 14:21] = 40
    assert read_face(patch).value == 5


def test_bars_are_no_rows_of_pips():
    patch = np.full((FACE_PX, FACE_PX, 3), 225, np.uint8)
    for x in (26, 46):
        cv2.rectangle(patch, (x - 5, 14), (x + 5, 58), (25, 25, 25), -1)
    assert read_face(patch).value is None


def test_a_ring_with_a_spot_in_its_middle_and_a_bridge_between_is_no_pip():
    patch = np.full((FACE_PX, FACE_PX, 3), 225, np.uint8)
    middle = (FACE_PX // 2, FACE_PX // 2)
    cv2.circle(patch, middle, 20, (25, 25, 25), 7)
    cv2.circle(patch, middle, 5, (25, 25, 25), -1)
    cv2.line(patch, middle, (middle[0] + 20, middle[1]), (25, 25, 25), 2)
    assert read_face(patch).value is None


def test_a_large_round_ace_is_read():
    patch = np.full((FACE_PX, FACE_PX, 3), 225, np.uint8)
    cv2.circle(patch, (FACE_PX // 2, FACE_PX // 2), FACE_PX // 5, (30, 25, 180), -1, cv2.LINE_AA)
    assert read_face(patch).value == 1


def face_of(pips, levels, radius=6, light=225):
    """A light face with round spots at shares of its edge, each of its own darkness, blurred."""
    patch = np.full((FACE_PX, FACE_PX, 3), light, np.uint8)
    for (x, y), level in zip(pips, levels, strict=True):
        at = (round((x + 0.5) * FACE_PX - 0.5), round((y + 0.5) * FACE_PX - 0.5))
        cv2.circle(patch, at, radius, (level,) * 3, -1, cv2.LINE_AA)
    return cv2.GaussianBlur(patch, (5, 5), 0)


@pytest.mark.parametrize("value", [2, 3, 4, 5, 6])
def test_pips_that_fade_towards_one_side_are_all_counted_or_none_is(value):
    for layout in SPOTS[value]:
        pips = [(0.25 * x, 0.25 * y) for x, y in layout]
        for weakest, is_read in ((135, True), (180, False)):
            fading = [round(weakest * (0.56 + 0.44 * (x + 0.25) / 0.5)) for x, _ in pips]
            face = read_face(face_of(pips, fading))
            assert face.value == value if is_read else face.value is None or is_beside(face)


def is_beside(face):
    """True if its pips are so far off the middle that they belong to another face."""
    return np.hypot(*face.offset) > LIMITS.off_face_edges


def test_the_marks_of_a_chip_in_the_floors_own_colour_are_unexplained_together(reader):
    picture = draw([Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)])
    before = reader.read(picture)
    mark = round(0.14 * TABLE.die_px)
    for turn in np.arange(6) * np.pi / 3:
        x, y = 250 + 42 * np.cos(turn), 330 + 42 * np.sin(turn)
        cv2.circle(picture, (round(x), round(y)), mark, (200, 40, 220), -1, cv2.LINE_AA)
    after = reader.read(picture)
    assert before.unexplained < 0.1
    assert after.unexplained > 0.25
    assert [die.face.value for die in after.dice] == [6, 3, 1]


@pytest.mark.parametrize("seed", [2, 5, 11])
def test_flecks_that_crowd_by_chance_are_no_chip(reader, seed):
    picture = draw([Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)])
    rng = np.random.default_rng(seed)
    mark = round(0.12 * TABLE.die_px)
    for turn, away in zip(rng.uniform(0, 2 * np.pi, 40), np.sqrt(rng.random(40)), strict=True):
        at = 320 + 190 * away * np.cos(turn), 240 + 190 * away * np.sin(turn)
        cv2.circle(picture, tuple(map(round, at)), mark, (200, 40, 220), -1, cv2.LINE_AA)
    assert reader.read(picture).unexplained < LIMITS.foreign_dice
