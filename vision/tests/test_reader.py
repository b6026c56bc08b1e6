"""A frame states a value only where both readers and the geometry agree, and no roll only by two
witnesses."""

import dataclasses
import threading

import cv2
import numpy as np
import pytest

from vision.errors import ModelError
from vision.frame import Frame
from vision.overlay import draw_reading
from vision.quads import match, turn_deg
from vision.reading import NoRoll, Reason, Unreadable, Verified
from vision.table.model_view import CLOSE_DIE_PX, CLOSE_SIDE
from vision.table.reader import TableReader
from vision.tests.drawing import Die
from vision.tests.taught_table import STEREO, frame, table
from vision.tests.test_taught import toss_of
from vision.tests.truth import TruthFinder, found_die

DICE = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)]


@pytest.fixture
def read(teaching):
    def read(dice, image=None, wanted=3, threads=1, **lies):
        seen = frame(dice) if image is None else Frame(image)
        return table(teaching, dice, threads, **lies).read(seen, wanted)

    return read


def test_three_flat_dice_are_verified(read):
    opinion = read(DICE).opinion
    assert isinstance(opinion, Verified)
    assert opinion.values == (6, 3, 1)
    assert opinion.confidence > 0.6


def test_readers_beside_each_other_find_what_they_find_one_after_the_other(read):
    alone = read(DICE, threads=1)
    beside = read(DICE, threads=2)
    assert beside.opinion == alone.opinion
    assert beside.dice == alone.dice


def test_the_model_begins_before_anything_else_is_known_of_a_frame(teaching, monkeypatch):
    has_begun = threading.Event()

    class Waited(TruthFinder):
        def find(self, image):
            has_begun.set()
            return super().find(image)

    reader = table(teaching, DICE, threads=2)
    reader._finder = Waited(DICE, view=reader.view, calibration=STEREO)
    judged = reader._gate.judge

    def judge(image):
        assert has_begun.wait(10.0)
        return judged(image)

    monkeypatch.setattr(reader._gate, "judge", judge)
    assert isinstance(reader.read(frame(DICE)).opinion, Verified)


def test_a_model_that_fails_beside_the_second_reader_is_heard(read):
    class Broken:
        def find(self, image):
            raise ModelError("the model does not run")

    reader = TableReader(Broken(), STEREO, threads=2)
    with pytest.raises(ModelError):
        reader.read(frame(DICE))


@pytest.mark.parametrize("seed", range(8))
def test_a_lie_of_the_model_is_never_accepted(read, seed):
    dice = toss_of(seed)
    values = [die.value for die in dice]
    values[seed % 3] = values[seed % 3] % 6 + 1
    assert isinstance(read(dice, values=values).opinion, Unreadable)


def test_swapped_values_are_not_accepted(read):
    opinion = read(DICE, values=[3, 6, 1]).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.READERS_DISAGREE


def test_a_die_that_the_model_misses_is_not_accepted(read):
    opinion = read(DICE, missing=[1]).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.COUNT


def test_a_reflection_taken_for_a_die_is_not_accepted(read):
    ghost = found_die(Die(-25, 25, 40, 2), STEREO, 2, 0.99, np.zeros(2, np.float32))
    assert isinstance(read(DICE, extra=[ghost]).opinion, Unreadable)
    two = [DICE[0], DICE[1]]
    opinion = read(two, extra=[ghost]).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.NOT_FLAT_DOUBTFUL


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_another_number_of_flat_dice_is_a_wrong_count(read, count):
    dice = [*DICE, Die(-5, -33, 30, 2)][:count]
    opinion = read(dice).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.COUNT


@pytest.mark.parametrize(("edges", "is_read"), [(0.0, True), (0.37, True), (0.6, False)])
def test_a_die_found_beside_its_place_is_read_in_its_window(teaching, monkeypatch, edges, is_read):
    """The smaller picture shows an ace beside a die; the window shows the die."""
    reader = table(teaching, DICE)
    true = [found_die(die, STEREO, die.value, 0.99, np.zeros(2, np.float32)) for die in DICE]
    off = np.array((edges * STEREO.die_px, 0.0), np.float32)
    ace = found_die(DICE[1], STEREO, 1, 0.99, off)
    show_one, shown = reader.view.show_one, []

    def recorded(image, die):
        shown.append(die.centre)
        return show_one(image, die)

    class Nearby:
        def find(self, image):
            if image.shape[:2] != (CLOSE_SIDE, CLOSE_SIDE):
                return [reader.view.from_frame(die) for die in (true[0], ace, true[2])]
            larger = CLOSE_DIE_PX / STEREO.die_px
            moved = ((die.corners - shown[-1]) * larger + CLOSE_SIDE / 2 for die in true)
            return [
                dataclasses.replace(die, corners=corners, down=die.down * larger)
                for die, corners in zip(true, moved, strict=True)
                if (np.abs(corners.mean(axis=0) - CLOSE_SIDE / 2) < CLOSE_SIDE / 2).all()
            ]

    monkeypatch.setattr(reader.view, "show_one", recorded)
    reader._finder = Nearby()
    opinion = reader.read(frame(DICE)).opinion
    assert isinstance(opinion, Verified) == is_read


def test_any_number_may_be_read_when_asked_for(read):
    opinion = read(DICE[:2], wanted=None).opinion
    assert isinstance(opinion, Verified)
    assert opinion.values == (6, 3)


@pytest.mark.parametrize("tilt_deg", [14, 22, 30])
@pytest.mark.parametrize("axis", range(0, 360, 90))
def test_one_tilted_die_makes_a_no_roll_whatever_the_others_show(read, axis, tilt_deg):
    dice = [DICE[0], Die(8, 20, 50, 3, tilt_deg=tilt_deg, tilt_axis_deg=axis), DICE[2]]
    seen = read(dice)
    opinion = seen.opinion
    assert isinstance(opinion, NoRoll)
    assert seen.dice[opinion.die].x_mm == pytest.approx(8, abs=10)


def test_a_die_on_a_die_is_stacked_though_only_two_are_seen(read):
    dice = [DICE[0], Die(8, 20, 50, 3, z=24.0)]
    opinion = read(dice, flat_p=[0.99, 0.05]).opinion
    assert isinstance(opinion, NoRoll)
    assert opinion.kind == "stacked"


def test_a_coin_and_a_hand_are_named(read):
    coin = frame(DICE).image
    cv2.circle(coin, (250, 330), 42, (70, 150, 190), -1, cv2.LINE_AA)
    opinion = read(DICE, coin).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason in (Reason.FOREIGN_OBJECT, Reason.READERS_DISAGREE)
    hand = frame(DICE).image
    cv2.rectangle(hand, (150, 60), (520, 330), (120, 150, 200), -1)
    assert isinstance(read(DICE, hand).opinion, Unreadable)


def test_a_spoilt_picture_is_refused_before_any_value_counts(read):
    opinion = read(DICE, (frame(DICE).image * 0.03).astype(np.uint8)).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.BLACK
    opinion = read(DICE, frame(DICE).image[:240, :320]).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.WRONG_SIZE


def test_overlay_shows_every_verdict(read):
    image = frame(DICE).image
    for lies in ({}, {"flat_p": [0.99, 0.05, 0.99]}, {"values": [1, 1, 1]}):
        observation = read(DICE, image, **lies)
        picture = draw_reading(image, observation, observation.opinion)
        assert picture.shape[0] > image.shape[0]
        assert (picture[: image.shape[0]] != image).any()


def test_points_are_matched_nearest_first_and_once():
    a, b = np.array([(0.0, 0), (10, 0)]), np.array([(9.0, 0), (1, 0), (50, 0)])
    assert match(a, b, np.full(2, 5.0)) == {0: 1, 1: 0}
    assert match(a, b, np.array([5.0, 0.5])) == {0: 1}
    assert match(a, np.zeros((0, 2)), np.full(2, 5.0)) == {}


@pytest.mark.parametrize("turn", [0.5, 20, 44, 46, 89])
def test_orientation_of_a_square_is_found_mod_a_quarter_turn(turn):
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    a = np.radians(turn)
    matrix = np.array([(np.cos(a), -np.sin(a)), (np.sin(a), np.cos(a))])
    assert turn_deg(corners @ matrix.T) == pytest.approx(turn, abs=0.01)
