"""A reader taught by drawn tosses: it finds, reads and doubts the dice it was taught, no others."""

from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.calibration import Calibration
from vision.taught import (
    Missed,
    Rate,
    TaughtReader,
    Teaching,
    TeachingError,
    Toss,
    lattice,
    rate,
    teach,
)
from vision.taught.own_rate import why_missed
from vision.taught.teaching import MAX_BYTES
from vision.tests.drawing import ASIAN, RED, TABLE, WHITE, Die, draw

TAUGHT = 12
REACH_MM = 36.0
APART_MM = 25.0


def toss_of(seed, look=WHITE, tilt_deg=0.0):
    """Three dice somewhere, apart from each other; the first leans."""
    random = np.random.default_rng(seed)
    places: list[np.ndarray] = []
    while len(places) < 3:
        place = random.uniform(-REACH_MM, REACH_MM, 2)
        is_free = all(np.hypot(*(place - other)) > APART_MM for other in places)
        if np.hypot(*place) < REACH_MM and is_free:
            places.append(place)
    turns, values = random.uniform(0, 90, 3), random.integers(1, 7, 3)
    axis = float(random.uniform(0, 360))
    return [
        Die(float(x), float(y), float(turn), int(value), tilt_deg * (i == 0), axis, look=look)
        for i, ((x, y), turn, value) in enumerate(zip(places, turns, values, strict=True))
    ]


def corners_of(die):
    half = TABLE.die_mm / 2
    c, s = np.cos(np.radians(die.turn_deg)), np.sin(np.radians(die.turn_deg))
    square = half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) @ np.array([(c, s), (-s, c)])
    return TABLE.level_px(square + np.array((die.x, die.y)), TABLE.die_mm)


def shown(dice, **how):
    return draw(dice, **how)


def confirmed(seed, look=WHITE, **how):
    dice = toss_of(seed, look)
    corners = np.array([corners_of(die) for die in dice])
    return Toss(shown(dice, **how), corners, tuple(die.value for die in dice))


@pytest.fixture(scope="module", params=[WHITE, RED, ASIAN], ids=["white", "red", "asian"])
def table(request):
    teaching = teach(TABLE, [confirmed(seed, request.param) for seed in range(TAUGHT)])
    return request.param, TaughtReader(TABLE, teaching)


@pytest.fixture(scope="module")
def white():
    return TaughtReader(TABLE, teach(TABLE, [confirmed(seed) for seed in range(TAUGHT)]))


@pytest.mark.parametrize("seed", range(100, 106))
def test_what_was_taught_is_read_with_its_place(table, seed):
    look, reader = table
    dice = toss_of(seed, look)
    seen = reader.read(shown(dice))
    dice.sort(key=lambda die: die.x)
    assert [die.value for die in seen.dice] == [die.value for die in dice]
    for die, true in zip(seen.dice, dice, strict=True):
        assert np.hypot(die.x_mm - true.x, die.y_mm - true.y) < 0.03 * TABLE.die_mm
        off = (np.degrees(die.turn) - true.turn_deg + 45) % 90 - 45
        assert abs(off) < 4
    assert seen.unexplained < 0.05


@pytest.mark.parametrize("grey", [20, 250])
def test_a_speck_in_the_middle_of_a_two_is_no_three(white, grey):
    dice = [Die(-20.0, 0.0, 20.0, 2), Die(18.0, -15.0, 60.0, 6), Die(15.0, 20.0, 5.0, 4)]
    picture = shown(dice)
    at = corners_of(dice[0]).mean(axis=0)
    cv2.circle(picture, np.rint(at).astype(int).tolist(), 4, (grey, grey, grey), -1, cv2.LINE_AA)
    die = white.read(picture).dice[0]
    assert die.value == 2 or "row 2, column 2" in die.oddity
    assert not any(die.oddity for die in white.read(shown(dice)).dice)


@pytest.fixture(scope="module")
def glinting():
    """Taught by tosses of which one has a glint on a corner of a die: that is far from the usual,
    but says nothing of the middles."""
    tosses = [confirmed(seed) for seed in range(2 * TAUGHT)]
    at = 0.8 * tosses[0].corners[0, 0] + 0.2 * tosses[0].corners[0, 2]
    cv2.circle(tosses[0].image, np.rint(at).astype(int).tolist(), 4, (255, 160, 90), -1)
    return TaughtReader(TABLE, teach(TABLE, tosses))


@pytest.mark.parametrize("left", [0.5, 0.3, 0.1])
def test_a_middle_pip_that_lost_its_paint_leaves_its_trace(glinting, left):
    dice = [Die(-20.0, 0.0, 20.0, 5), Die(18.0, -15.0, 60.0, 6), Die(15.0, 20.0, 5.0, 4)]
    picture, plain = shown(dice), shown([replace(dice[0], value=4), *dice[1:]])
    middle = np.zeros(picture.shape[:2], np.uint8)
    cv2.circle(middle, np.rint(corners_of(dice[0]).mean(axis=0)).astype(int).tolist(), 8, 1, -1)
    worn = np.where(middle[..., None], left * picture + (1 - left) * plain, picture)
    die = glinting.read(worn.astype(np.uint8)).dice[0]
    assert die.value == 5 or "row 2, column 2" in die.oddity


def test_an_odd_place_that_leaves_no_other_value_open_is_no_doubt():
    side, middle = (np.arange(9) == place for place in (3, 4))
    ace, two, six = (lattice.ON[value == lattice.VALUES][0] for value in (1, 2, 6))
    assert lattice.rivals(ace, side) == lattice.rivals(six, side) == []
    assert lattice.rivals(two, middle) == [3]
    assert lattice.rivals(six, side | (np.arange(9) == 5)) == [4]


@pytest.mark.parametrize("turn_deg", [0.0, 30.0, 45.0])
def test_dice_that_touch_are_found(white, turn_deg):
    x, y = 16.2 * np.cos(np.radians(turn_deg)), 16.2 * np.sin(np.radians(turn_deg))
    dice = [
        Die(float(step * x), float(step * y), turn_deg, value)
        for step, value in ((-1, 6), (0, 5), (1, 6))
    ]
    seen = white.read(shown(dice))
    assert sorted(die.value for die in seen.dice) == [5, 6, 6]


def test_what_is_no_die_and_no_floor_is_left_over(white):
    dice = toss_of(300)
    picture = shown(dice)
    free = next(
        (x, y)
        for x in range(-30, 31, 5)
        for y in range(-30, 31, 5)
        if all(np.hypot(x - die.x, y - die.y) > 22 for die in dice)
    )
    at = TABLE.level_px(np.array([free], float))[0]
    cv2.circle(picture, np.rint(at).astype(int).tolist(), 22, (30, 60, 200), -1)
    assert white.read(picture).unexplained > 0.25


def test_dice_that_were_not_taught_are_not_stated(white):
    for seed in range(400, 404):
        dice = toss_of(seed, RED)
        true = tuple(sorted(die.value for die in dice))
        assert why_missed(white.read(shown(dice)), true) is not None


def test_the_same_tosses_teach_the_same():
    tosses = [confirmed(seed) for seed in range(6)]
    one, other = (teach(TABLE, tosses) for _ in range(2))
    assert np.array_equal(one.pip.weights, other.pip.weights)
    assert one.least == other.least


@pytest.fixture
def few(monkeypatch):
    """So many tosses are enough, in three parts instead of ten: a test must not take minutes."""
    monkeypatch.setattr("vision.taught.own_rate._PARTS", 3)
    monkeypatch.setattr("vision.taught.own_rate.MIN_TOSSES", 18)
    return range(18)


def test_a_plain_table_reads_its_own_tosses(few):
    own = rate(TABLE, [confirmed(seed) for seed in few])
    assert own.tosses == len(few)
    # So few dice do not show how unlike each other they may look.
    assert set(own.missed) <= {Missed.ODD}
    assert own.read > 0.8


def test_a_table_whose_floor_has_the_colour_of_the_dice_says_so(few):
    own = rate(TABLE, [confirmed(seed, floor=WHITE.face, noise=6.0) for seed in few])
    assert not own.is_enough
    assert "the floor" in own.advice()


@pytest.mark.parametrize(
    ("missed", "is_enough"),
    [({}, True), ({Missed.ODD: 1}, False), ({Missed.WRONG: 1}, False)],
)
def test_one_toss_of_thirty_that_is_missed_is_too_many(missed, is_enough):
    assert Rate(30, Counter(missed)).is_enough is is_enough


def test_one_wrong_value_among_many_is_too_many():
    assert Rate(100, Counter({Missed.ODD: 3})).is_enough
    assert not Rate(100, Counter({Missed.WRONG: 1})).is_enough


def test_few_tosses_say_nothing_of_a_table():
    assert not Rate(20, Counter()).is_enough
    assert Rate(20, Counter()).advice() == "confirm 10 more tosses"


def test_a_frame_of_another_calibration_is_searched_in_its_own_view():
    small = Calibration(
        image_size=(420, 420), floor_px_per_mm=2.9, height_mm=300.0, centre_px=(208.0, 211.5),
        compartment_radius_mm=50.0, die_mm=16.0, k1=-0.03,
    )  # fmt: skip
    tosses = []
    for seed in range(TAUGHT):
        dice = toss_of(seed)
        square = np.array([corners_of(die) for die in dice])
        mm = TABLE.to_mm(square.reshape(-1, 2), TABLE.die_mm)
        corners = small.level_px(mm, small.die_mm).reshape(-1, 4, 2)
        values = tuple(die.value for die in dice)
        tosses.append(Toss(draw(dice, small), corners, values))
    dice = toss_of(500)
    seen = TaughtReader(small, teach(small, tosses)).read(draw(dice, small)).dice
    assert [die.value for die in seen] == [d.value for d in sorted(dice, key=lambda die: die.x)]


# ── The file of a teaching ──────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kept(white):
    return white.teaching.to_bytes()


def test_a_teaching_reads_the_same_from_its_file(white, kept):
    again = TaughtReader(TABLE, Teaching.from_bytes(kept, TABLE))
    assert again.teaching.to_bytes() == kept
    picture = shown(toss_of(600))
    one, other = white.read(picture), again.read(picture)
    assert [(d.value, d.margin) for d in one.dice] == [
        (d.value, pytest.approx(d.margin)) for d in other.dice
    ]
    assert other.unexplained == pytest.approx(one.unexplained)


def test_a_damaged_file_is_no_teaching(kept):
    damages = [
        b"", b"{}", b"[]", kept[:-1], b"[" * 100_000, b" " * (MAX_BYTES + 1),
        kept.replace(b"taught dice 3", b"taught dice 2"),
        kept.replace(b'"die": [', b'"die": [1e300, '), kept.replace(b'"die": [', b'"die": [NaN, '),
        kept.replace(b'"die": [', b'"die": ["a", '), kept.replace(b'"die"', b'"dye"'),
        kept.replace(b'"pip": [[', b'"pip": [[1.0, '),
        kept.replace(b'"height": null', b'"height": [0, -1, 1]'),
        kept.replace(b'"picture": [[[', b'"picture": [[[1.0, '),
    ]  # fmt: skip
    for damaged in damages:
        assert damaged != kept
        with pytest.raises(TeachingError, match="teach the table again"):
            Teaching.from_bytes(damaged, TABLE)


def test_a_teaching_is_of_one_calibration(white):
    other = replace(TABLE, k1=TABLE.k1 + 1e-4)
    with pytest.raises(TeachingError, match="measured anew"):
        TaughtReader(other, white.teaching)
    with pytest.raises(TeachingError, match="measured anew"):
        Teaching.from_bytes(white.teaching.to_bytes(), other)
