"""A frame that confirms another is read where the dice were, from its own pixels, and only while
the whole compartment shows the same."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.reading import NoRoll, Reason, Unreadable, Verified
from vision.table.consensus import FRAMES, Consensus, agree
from vision.table.model_view import CLOSE_DIE_PX, CLOSE_SIDE
from vision.table.still_scene import StillScene
from vision.tests.drawing import Die
from vision.tests.taught_table import RIGHT, STEREO, WIDTH, frame, table
from vision.tests.truth import TruthFinder

DICE = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)]


class OneByOne(TruthFinder):
    """Shown the whole compartment it finds every die, shown one die again it finds that one."""

    def __init__(self, dice, view):
        super().__init__(dice, view=view, calibration=STEREO)
        self.again = [die.value for die in dice]
        self.flat_p = 0.99
        self.is_blind = False
        self.shown = []

    def find(self, image):
        self.shown.append(image.shape[:2])
        if image.shape[:2] != (CLOSE_SIDE, CLOSE_SIDE):
            return self._found
        if self.is_blind:
            return []
        number = sum(shape == (CLOSE_SIDE, CLOSE_SIDE) for shape in self.shown) - 1
        die = self._found[number % len(self._found)]
        larger = CLOSE_DIE_PX / die.edge_px
        corners = (die.corners - die.centre) * larger + CLOSE_SIDE / 2
        return [
            replace(
                die,
                corners=np.asarray(corners, np.float32),
                down=die.down * larger,
                value=self.again[number % len(self._found)],
                flat_p=self.flat_p,
            )
        ]


@pytest.fixture
def scene(teaching):
    def scene(dice=DICE):
        reader = table(teaching, dice)
        finder = reader._finder = OneByOne(dice, reader.view)
        return StillScene(reader), finder

    return scene


def shown(number, dice=DICE, change=None, **how):
    seen = frame(dice, number, **how)
    if change is not None:
        for lens, start in ((STEREO, 0), (RIGHT, WIDTH)):
            change(seen.image[:, start : start + WIDTH], lens)
    return seen


def test_a_frame_that_shows_the_same_confirms_by_its_own_pixels(scene):
    still, finder = scene()
    first, second = (still.look(shown(number)).observation for number in range(2))
    assert not first.is_confirming
    assert second.is_confirming
    assert second.quality is first.quality, "what shows the same is as bright and whole"
    assert second.opinion.values == first.opinion.values == (6, 3, 1)
    assert finder.shown[1:] == [(CLOSE_SIDE, CLOSE_SIDE)] * 2 * len(DICE), "in each of two frames"
    for before, after in zip(first.dice, second.dice, strict=True):
        assert after.second.confidence != before.second.confidence
        assert after.second.value == before.second.value
        assert after.odds == pytest.approx(before.odds, abs=1.5)


def disc(image, lens, at_mm, radius, colour):
    x, y = (int(v) for v in lens.to_px(np.array([at_mm]))[0])
    cv2.circle(image, (x, y), radius, colour, -1)


def coin(image, lens):
    disc(image, lens, (0.0, 0.0, 0.0), 30, (60, 110, 178))


def dirt_on_a_die(image, lens):
    disc(image, lens, (8.0, 20.0, STEREO.die_mm), 6, (90, 90, 90))


@pytest.mark.parametrize(
    "changed",
    [
        shown(1, [DICE[0], replace(DICE[1], value=2), DICE[2]]),
        shown(1, [DICE[0], replace(DICE[1], tilt_deg=20), DICE[2]]),
        shown(1, [DICE[0], replace(DICE[1], x=8.4), DICE[2]]),
        shown(1, DICE[:2]),
        shown(1, change=coin),
        shown(1, change=dirt_on_a_die),
        shown(1, light=0.85),
    ],
    ids=["value", "tilt", "creep", "gone", "coin", "dirt", "light"],
)
def test_a_frame_that_shows_anything_new_is_read_in_full(scene, changed):
    still, finder = scene()
    still.look(shown(0))
    assert not still.look(changed).observation.is_confirming
    assert finder.shown[1 + len(DICE)] != (CLOSE_SIDE, CLOSE_SIDE)


def test_a_window_says_which_value_a_die_has(scene):
    still, finder = scene()
    finder.again = [6, 2, 1]
    opinion = still.look(shown(0)).observation.opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.READERS_DISAGREE


def test_a_value_in_doubt_is_looked_at_once_more_with_the_window_turned(scene):
    still, finder = scene()
    straight, turned = np.full(6, 0.03), np.full(6, 0.002)
    straight[2], turned[2] = 0.85, 0.99
    see = finder.find
    windows = []

    def find(image):
        windows.append(image)
        dice = see(image)
        if len(dice) == 1 and dice[0].value == 3:
            is_first = not np.array_equal(image, np.rot90(windows[-2]))
            return [replace(dice[0], value_p=straight if is_first else turned)]
        return dice

    finder.find = find
    finder.again = [6, 3, 3]
    first = still.look(shown(0)).observation
    assert first.dice[1].model.value == 3
    assert 0.93 < first.dice[1].model.value_p < 0.99


def test_a_die_that_a_window_does_not_show_stays_as_it_was_found(scene):
    still, finder = scene()
    finder.is_blind = True
    assert still.look(shown(0)).observation.opinion.values == (6, 3, 1)


def test_the_model_counts_for_itself_in_a_frame_that_confirms(scene):
    still, finder = scene()
    still.look(shown(0))
    finder.again = [6, 2, 1]
    opinion = still.look(shown(1)).observation.opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.READERS_DISAGREE


def test_pips_are_counted_anew_in_a_frame_that_confirms(scene, monkeypatch):
    still, _ = scene()
    monkeypatch.setattr("vision.taught.reader._SAME_STEP", 255)
    first = still.look(shown(0)).observation
    changed = shown(1, [DICE[0], replace(DICE[1], value=2), DICE[2]])
    again = still.look(changed).observation
    assert again.is_confirming
    assert [die.second.value for die in first.dice] == [6, 3, 1]
    assert [die.second.value for die in again.dice] == [6, 2, 1]


def test_a_die_that_the_model_misses_where_it_was_has_the_frame_read_in_full(scene):
    still, finder = scene()
    still.look(shown(0))
    finder.is_blind = True
    assert not still.look(shown(1)).observation.is_confirming


def test_no_die_looks_flatter_alone_than_with_its_surroundings(scene):
    still, finder = scene()
    first = still.look(shown(0)).observation
    finder.flat_p = 1.0
    second = still.look(shown(1)).observation
    for before, after in zip(first.dice, second.dice, strict=True):
        assert after.model.flat_p == before.model.flat_p


def test_what_was_no_verdict_of_values_is_never_confirmed(scene):
    leaning = [DICE[0], replace(DICE[1], tilt_deg=25), DICE[2]]
    still, finder = scene(leaning)
    finder.flat_p = 0.02
    seen = [still.look(shown(number, leaning)).observation for number in range(3)]
    assert not any(isinstance(each.opinion, Verified) for each in seen)
    assert not any(each.is_confirming for each in seen)
    assert isinstance(seen[0].opinion, NoRoll)


def test_of_frames_that_must_agree_one_is_read_in_full_and_is_kept(scene):
    still, _ = scene()
    for number in range(7):
        still.look(shown(number))
        last = still.observations[-FRAMES:]
        if len(last) == FRAMES:
            assert not all(each.is_confirming for each in last)
            consensus = agree(still.observations)
            assert isinstance(consensus, Consensus)
            assert isinstance(consensus.verdict, Verified)
            assert consensus.verdict.values == (6, 3, 1)
            assert not consensus.shown_by.is_confirming
