"""The way by pips: dice that cannot be told from the floor, and what must not become one."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.cube_outlines.pips_first import find_by_pips
from vision.cube_outlines.reader import SecondReader
from vision.tests.drawing import TABLE, Die, Look, draw

FLOOR = (60, 105, 45)
LIKE_FLOOR = Look(face=(64, 110, 49), pip=(235, 235, 235))
DICE = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 5)]


@pytest.fixture(scope="module")
def reader():
    return SecondReader(TABLE)


def _values(seen):
    return [die.face.value for die in seen.dice]


def test_dice_of_the_floors_colour_are_read_where_they_lie(reader):
    hidden = [Die(d.x, d.y, d.turn_deg, d.value, look=LIKE_FLOOR) for d in DICE]
    seen = reader.read(draw(hidden, floor=FLOOR))
    assert _values(seen) == [6, 3, 5]
    for die, truth in zip(seen.dice, DICE, strict=True):
        assert np.hypot(die.pose.x_mm - truth.x, die.pose.y_mm - truth.y) < 2.0


@pytest.mark.parametrize(
    ("value", "disc_px", "disc", "blur_px", "says"),
    [
        (2, 6, (235, 235, 235), 2.5, (3, "the face does not show the 3")),
        (5, 4, LIKE_FLOOR.face, 0.5, (4, "the middle is not as plain")),
    ],
    ids=["a soft disc makes a three", "a disc leaves a ring of the middle pip"],
)
def test_pips_that_alone_say_where_a_die_is_must_look_like_pips(
    reader, value, disc_px, disc, blur_px, says
):
    hidden = [replace(die, look=LIKE_FLOOR) for die in (*DICE[:2], replace(DICE[2], value=value))]
    assert [die.face.oddity for die in reader.read(draw(hidden, floor=FLOOR)).dice] == ["", "", ""]
    image = draw(hidden, floor=FLOOR)
    x, y = TABLE.to_px(np.array([(DICE[2].x, DICE[2].y, TABLE.die_mm)]))[0]
    spot = cv2.circle(np.zeros(image.shape[:2]), (round(x), round(y)), disc_px, 1.0, -1)
    share = cv2.GaussianBlur(spot, (0, 0), blur_px)[..., None]
    image = (image * (1 - share) + np.array(disc) * share).astype(np.uint8)
    face = reader.read(image).dice[2].face
    assert (face.value, face.oddity[: len(says[1])]) == says


def test_pips_that_the_face_does_not_show_make_a_die_odd(reader, monkeypatch):
    said = find_by_pips(draw([replace(DICE[0], value=4), *DICE[1:]]), TABLE)
    monkeypatch.setattr("vision.cube_outlines.reader.find_by_pips", lambda *_: said)
    seen = reader.read(draw([replace(die, look=LIKE_FLOOR) for die in DICE], floor=FLOOR))
    assert [(die.face.value, die.face.oddity) for die in seen.dice] == [
        (4, "the face does not show the 4 of its pips"), (3, ""), (5, ""),
    ]  # fmt: skip


def test_a_patch_of_light_across_dice_and_floor_hides_no_value(reader):
    image = draw(DICE, floor=(50, 80, 40))
    lit = np.zeros(image.shape[:2], np.float32)
    cv2.ellipse(lit, (250, 200), (130, 80), 30, 0, 360, 1.0, -1)
    image = np.clip(image * (1 + 1.1 * lit[..., None]), 0, 255).astype(np.uint8)
    seen = reader.read(image)
    assert sorted(value for value in _values(seen) if value) == [3, 5, 6]


def test_what_the_outline_reads_is_not_asked_again(reader, monkeypatch):
    def never(*_):
        raise AssertionError("three legal faces leave no question")

    monkeypatch.setattr("vision.cube_outlines.reader.find_by_pips", never)
    assert _values(reader.read(draw(DICE))) == [6, 3, 5]


def test_two_answers_at_one_place_are_none_where_the_outline_fits_badly(reader, monkeypatch):
    image = draw(DICE[:2])
    said = find_by_pips(draw([Die(-20, -10, 15, 4), DICE[1]]), TABLE)
    monkeypatch.setattr("vision.cube_outlines.reader.find_by_pips", lambda *_: said)
    assert _values(reader.read(image)) == [6, 3], "an outline that fits is believed"
    monkeypatch.setattr("vision.cube_outlines.reader.GOOD_FIT_MM", 0.0)
    seen = reader.read(image)
    assert _values(seen) == [None, 3]
    assert "6 pips in the outline, 4 else" in seen.dice[0].face.note


def test_pips_beside_the_top_of_a_cube_that_fits_are_the_top_of_a_die_that_leans(
    reader, monkeypatch
):
    image = draw(DICE)
    x, y = TABLE.to_px(np.array([(DICE[0].x, DICE[0].y, TABLE.die_mm)]))[0]
    cv2.circle(image, (round(x), round(y)), 6, Look().pip, -1, cv2.LINE_AA)  # a seventh pip
    for away_mm, value in ((0.5, None), (3.0, 4)):
        said = find_by_pips(draw([replace(DICE[0], x=DICE[0].x + away_mm, value=4)]), TABLE)
        monkeypatch.setattr("vision.cube_outlines.reader.find_by_pips", lambda *_, s=said: s)
        assert _values(reader.read(image)) == [value, 3, 5]


def test_other_sizes_and_places_beyond_the_wall_are_no_dice():
    image = draw([])
    for step in (-1, 1):  # a two for giants, and one as small as a pip
        cv2.circle(image, (320 + 45 * step, 240 + 45 * step), 22, (240, 240, 240), -1, cv2.LINE_AA)
        cv2.circle(image, (260 + 6 * step, 150 + 6 * step), 3, (240, 240, 240), -1, cv2.LINE_AA)
    assert find_by_pips(image, TABLE) == []
    outside = draw([Die(70, 0, 10, 5)])
    assert find_by_pips(outside, TABLE) == []


def with_a_two(image, colour):
    """The picture with two spots on the floor that lie as the pips of a two."""
    for step_mm in (-4.2, 4.2):
        x, y = TABLE.to_px(np.array([(step_mm - 5, step_mm - 32, TABLE.die_mm)]))[0]
        cv2.circle(image, (round(x), round(y)), 7, colour, -1, cv2.LINE_AA)
    return image


@pytest.mark.parametrize(("flecks", "values"), [(5, [6, 2, 3, 5]), (40, [6, 3, 5])])
def test_two_of_many_flecks_are_no_two(reader, flecks, values):
    image = draw([*DICE[:2], replace(DICE[2], look=LIKE_FLOOR)], floor=FLOOR)
    rng = np.random.default_rng(5)
    for x, y in TABLE.level_px(rng.uniform(-30, 30, (flecks, 2))).round().astype(int).tolist():
        cv2.circle(image, (x, y), 3, (235, 235, 235), -1, cv2.LINE_AA)
    assert _values(reader.read(with_a_two(image, (235, 235, 235)))) == values


def test_a_two_on_a_flecked_floor_still_speaks_against_an_outline_that_fits_badly(
    reader, monkeypatch
):
    said = find_by_pips(draw([Die(-20, -10, 15, 2), DICE[1]]), TABLE)
    monkeypatch.setattr("vision.cube_outlines.reader.find_by_pips", lambda *_: said)
    monkeypatch.setattr("vision.cube_outlines.reader.GOOD_FIT_MM", 0.0)
    monkeypatch.setattr("vision.cube_outlines.reader._MAX_FLECKS", -1)
    seen = reader.read(draw(DICE[:2]))
    assert "6 pips in the outline, 2 else" in seen.dice[0].face.note


@pytest.mark.parametrize(("colour", "count"), [((235, 235, 235), 1), ((80, 128, 66), 0)])
def test_spots_that_hardly_differ_from_the_floor_are_no_pips(colour, count):
    empty = draw([], floor=FLOOR, noise=0.5)
    assert len(find_by_pips(with_a_two(empty, colour), TABLE)) == count


def test_an_empty_compartment_stays_empty(reader):
    assert find_by_pips(draw([]), TABLE) == []
    assert reader.read(draw([])).dice == ()


def test_places_are_good_to_a_millimetre():
    for truth, (pose, face) in zip(
        sorted(DICE, key=lambda d: d.x), find_by_pips(draw(DICE), TABLE), strict=True
    ):
        assert face.value == truth.value
        assert np.hypot(pose.x_mm - truth.x, pose.y_mm - truth.y) < 1.0
