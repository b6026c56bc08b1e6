"""What counts as a die on a photograph, and what its dice must show together to be verified."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from vision.networks.classifier import FoundDie
from vision.photo.evidence import PhotoEvidence, Thing, presence, settle
from vision.photo.finder import _without_overlap
from vision.photo.judgement import features, judge
from vision.photo.places import PlacesVote, Weights
from vision.reading import Reason, Unreadable, Verified
from vision.taught.lattice import PLACES

WEIGHTS = Weights(
    place=cast(Any, None),
    middle={},
    middle_least={},
    presence=(0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 4.0, 4.0),
    die_least=0.0,
    may_be_least=-2.0,
    certainty=(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    certainty_least=0.5,
)
"""Plain ones: a thing is a die by its score and size, and its value right by its score."""


def found(x, edge, worth, value=3, turn_deg=20.0):
    """A die, turned by less than makes a corner of it the uppermost."""
    half, turn = edge / 2, np.radians(turn_deg)
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float32) * half
    ring = ring @ np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn)))) + (x, 200)
    p = np.full(6, (1 - worth) / 5, np.float32)
    p[value - 1] = worth
    return FoundDie(ring.astype(np.float32), value, p, 0.9, 1.0, np.zeros(2, np.float32))


def thing(die, value=None, lead=4.0, plain=6.0, spacing=0.25, contrast=60.0):
    """A finding whose places have the model's value where nothing is said."""
    vote = PlacesVote(value or die.value, lead, 4.0, contrast, plain, spacing * PLACES)
    return Thing(die, vote)


def evidence(things, spots=()):
    """`spots`: x, y, diameter and contrast of each."""
    seen = [each if isinstance(each, Thing) else thing(each) for each in things]
    return PhotoEvidence(tuple(seen), (), np.array(spots, float).reshape(-1, 4), (640, 480))


def judged(things, spots=()):
    """The verdict on things of which each may be a die."""
    return judge(settle(evidence(things, spots), WEIGHTS), None, WEIGHTS)


DICE = [found(100, 60, 0.9), found(300, 60, 0.9, turn_deg=30)]


@pytest.mark.parametrize(
    ("score", "dice", "faint"), [(0.7, 3, 0), (0.4, 2, 1), (0.15, 2, 1), (0.05, 2, 0)]
)
def test_a_thing_is_a_die_may_be_one_or_is_none(score, dice, faint):
    other = replace(found(50, 60, 0.9), score=score)
    settled = settle(evidence([*DICE, other]), WEIGHTS)
    assert (len(settled.dice), len(settled.faint)) == (dice, faint)
    places = [die.centre[0] for die in settled.found]
    assert places == sorted(places)
    verdict = judged([*DICE, other])
    assert isinstance(verdict, Unreadable if faint else Verified)
    if isinstance(verdict, Unreadable):
        assert verdict.reason is Reason.COUNT
        assert "something else may be a die" in verdict.detail


@pytest.mark.parametrize("edge", [18, 33, 60, 110, 150])
def test_what_has_not_the_size_of_the_sure_dice_is_less_likely_one(edge):
    *_, smaller, larger = presence([*map(thing, DICE), thing(found(500, edge, 0.4))])[-1]
    assert smaller == pytest.approx(min(0.0, np.log(edge / 60)), abs=0.01)
    assert larger == pytest.approx(min(0.0, np.log(60 / edge)), abs=0.01)
    (*_, alike) = features([*map(thing, DICE), thing(found(500, edge, 0.9))])[-1]
    assert alike == pytest.approx(-abs(np.log(edge / 60)), abs=0.01)


@pytest.mark.parametrize(("contrast", "paler"), [(60.0, 0.0), (90.0, 0.0), (30.0, -np.log(2))])
def test_what_is_paler_than_the_sure_dice_is_less_likely_one(contrast, paler):
    things = [*map(thing, DICE), thing(found(500, 60, 0.4), contrast=contrast)]
    assert presence(things)[-1][4] == pytest.approx(paler)


def test_without_a_sure_die_the_size_of_all_counts():
    dice = [found(100, 60, 0.45), found(300, 60, 0.45), found(500, 120, 0.45)]
    assert [row[-1] for row in presence([*map(thing, dice)])] == [0, 0, pytest.approx(-np.log(2))]
    assert presence([]) == []


@pytest.mark.parametrize(
    ("spot", "is_verified"),
    [
        ((500, 8, 12, 40), False),
        ((500, 8, 12, 15), True),
        ((500, 8, 40, 40), True),
        ((500, 70, 12, 40), True),
        ((100, 190, 12, 40), True),
    ],
    ids=["a pip", "too faint for a pip", "too large", "farther in", "on a die"],
)
def test_what_looks_like_a_pip_at_the_border_may_be_of_a_die_cut_off(spot, is_verified):
    verdict = judged(DICE, [spot])
    assert isinstance(verdict, Verified if is_verified else Unreadable)
    if isinstance(verdict, Unreadable):
        assert "the border may cut off one more" in verdict.detail


@pytest.mark.parametrize(
    ("other", "is_verified"),
    [
        ((530, 220, 12, 45), False),
        ((580, 220, 12, 45), True),
        ((503, 200, 12, 45), True),
        ((530, 220, 7, 45), True),
        ((530, 220, 12, 20), True),
    ],
    ids=["two pips", "too far", "the same spot", "of another size", "fainter"],
)
def test_two_spots_alike_beside_the_dice_may_be_pips_of_one_that_the_model_missed(
    other, is_verified
):
    verdict = judged(DICE, [(500, 200, 12, 40), other])
    assert isinstance(verdict, Verified if is_verified else Unreadable)
    if isinstance(verdict, Unreadable):
        assert "may be pips of one more" in verdict.detail


def test_a_picture_with_a_die_that_the_readers_are_not_sure_of_is_not_verified():
    verdict = judged([DICE[0], replace(DICE[1], score=0.55)])
    assert verdict == Unreadable(
        Reason.DOUBTFUL,
        "die 2 from the left: both readers together are 0.55 sure (0.62 needed)",
    )


def test_a_face_whose_middle_is_odd_is_not_verified():
    verdict = judged([DICE[0], thing(DICE[1], plain=-0.1)])
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.DOUBTFUL
    assert "die 2 from the left: a speck, a highlight or a lost pip" in verdict.detail


def test_two_spots_on_a_die_are_its_own_pips():
    assert isinstance(judged(DICE, [(90, 190, 12, 40), (110, 210, 12, 45)]), Verified)


def test_a_die_whose_places_hardly_tell_its_value_is_not_verified():
    verdict = judged([DICE[0], thing(DICE[1], lead=0.4)])
    assert isinstance(verdict, Unreadable)
    assert "die 2 from the left: the second reader hardly tells a 3" in verdict.detail


def test_a_die_whose_places_show_another_value_is_not_verified():
    verdict = judged([DICE[0], thing(DICE[1], 5, -2.0)])
    assert verdict == Unreadable(
        Reason.READERS_DISAGREE, "die 2 from the left: the model reads 3, the second reader 5"
    )


@pytest.mark.parametrize(("spacing", "is_verified"), [(0.26, True), (0.34, False)])
def test_a_face_whose_places_are_in_sight_may_reach_beyond_the_border(spacing, is_verified):
    at_border = thing(found(619, 60, 0.9, turn_deg=0), spacing=spacing)
    verdict = judged([DICE[1], at_border])
    assert isinstance(verdict, Verified) == is_verified
    if isinstance(verdict, Unreadable):
        assert "the border cuts off die 2" in verdict.detail


def seen_aside(x, y, value, worth, down):
    """A face of a die seen from the side, its bottom face `down` edges below it."""
    die = found(x, 60, worth, value)
    return replace(
        die,
        corners=die.corners + np.array((0, y), np.float32),
        score=worth,
        down=np.array((0, 60 * down), np.float32),
    )


def test_of_two_faces_of_a_die_the_upper_is_the_top_and_says_if_the_lower_looked_more_like_it():
    upper, lower = seen_aside(100, 0, 5, 0.6, 0.5), seen_aside(100, 50, 3, 0.9, -0.5)
    for faces in ([upper, lower], [lower, upper]):
        kept = _without_overlap(faces)
        assert [(die.value, die.is_overruled) for die in kept] == [(5, True)]
    surer = replace(upper, score=0.95)
    assert [(die.value, die.is_overruled) for die in _without_overlap([surer, lower])] == [
        (5, False)
    ]


@pytest.mark.parametrize(("edge", "value"), [(60, 5), (40, 5), (30, 3), (12, 3)])
def test_a_thing_of_another_size_above_a_die_is_not_its_top(edge, value):
    """A pip, a glint or a far thing must not take the place of a die, nor of its value."""
    front = seen_aside(100, 50, 3, 0.9, -0.5)
    upper = seen_aside(100, 0, 5, 0.6, 0.5)
    small = (upper.corners - upper.centre) * edge / 60 + upper.centre
    kept = _without_overlap([replace(upper, corners=small.astype(np.float32)), front])
    assert kept[0].value == value


@pytest.mark.parametrize(("overruled", "is_verified"), [(0, True), (1, True), (2, False)])
def test_a_photograph_that_may_be_upside_down_is_not_verified(overruled, is_verified):
    dice = [seen_aside(x, 0, 3, 0.9, 0.5) for x in (100, 400)]
    dice = [replace(die, is_overruled=i < overruled) for i, die in enumerate(dice)]
    verdict = judged(dice)
    assert isinstance(verdict, Verified if is_verified else Unreadable)
    if isinstance(verdict, Unreadable):
        assert "upside down" in verdict.detail


@pytest.mark.parametrize(
    ("turns_deg", "is_verified"),
    [((2.0, -3.0), False), ((2.0, 20.0), True), ((9.0, 7.0, 12.0), False), ((30.0, 32.0), True)],
)
def test_dice_that_all_stand_upright_in_one_row_may_be_seen_at_eye_level(turns_deg, is_verified):
    dice = [found(100 + 200 * i, 60, 0.9, turn_deg=turn) for i, turn in enumerate(turns_deg)]
    verdict = judged(dice)
    assert isinstance(verdict, Verified) == is_verified
    if not is_verified:
        assert "eye level" in verdict.detail


@pytest.mark.parametrize(("turn_deg", "is_verified"), [(4.0, False), (-8.0, False), (25.0, True)])
def test_one_die_that_stands_upright_may_be_seen_at_eye_level(turn_deg, is_verified):
    verdict = judged([found(100, 60, 0.9, turn_deg=turn_deg)])
    assert isinstance(verdict, Verified) == is_verified


@pytest.mark.parametrize(("down", "is_verified"), [(0.0, False), (0.4, True)])
def test_upright_dice_whose_sides_are_seen_below_their_tops_are_seen_from_above(down, is_verified):
    dice = [replace(found(100, 60, 0.9, turn_deg=3.0), down=np.array((0, 60 * down), np.float32))]
    assert isinstance(judged(dice), Verified) == is_verified
