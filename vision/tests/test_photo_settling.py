"""What counts as a die on a photograph: sure ones, and unsure ones that fit them."""

from dataclasses import replace

import numpy as np
import pytest

from vision.faces_by_pips.faces import PhotoDie, PhotoReading
from vision.faces_by_pips.pips import Face
from vision.networks.classifier import FoundDie
from vision.parameters import PHOTO
from vision.photo.evidence import compare, settle
from vision.photo.finder import _without_overlap
from vision.photo.judgement import judge
from vision.photo.places import PlacesVote
from vision.reading import Reason, Unreadable, Verified
from vision.taught.lattice import PLACES


def found(x, edge, worth, value=3, turn_deg=20.0):
    """A die, turned by less than makes a corner of it the uppermost."""
    half, turn = edge / 2, np.radians(turn_deg)
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float32) * half
    ring = ring @ np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn)))) + (x, 200)
    p = np.full(6, (1 - worth) / 5, np.float32)
    p[value - 1] = worth
    return FoundDie(ring.astype(np.float32), value, p, 0.9, 1.0, np.zeros(2, np.float32))


def seen(die, value=3):
    return PhotoDie(die.corners, Face(value, 0.9, 60.0), 1.0, frozenset({id(die)}))


def reading(second, spots=()):
    """`spots`: x, y, diameter and contrast of each, beside the dice."""
    return PhotoReading(tuple(second), np.array(spots, float).reshape(-1, 4))


def vote(value=3, lead=4.0, plain=0.0, spacing=0.25):
    return PlacesVote(value, lead, plain, spacing * PLACES)


def settled(dice, second, votes=None):
    """As both readers see it; places have the model's value where nothing is said."""
    votes = votes or [vote(die.value) for die in dice]
    return settle(compare(dice, [], reading(second), votes, (640, 480)))


def judged(dice, faint, spots=(), alone=()):
    """The verdict on sure dice that both readers see, and on what is faint beside them."""
    second = reading([*map(seen, dice), *alone], spots)
    votes = [vote(die.value) for die in dice]
    return judge(settle(compare(dice, faint, second, votes, (640, 480))), None)


@pytest.mark.parametrize(("worth", "is_die"), [(0.45, False), (0.55, True)])
def test_a_letter_beside_sure_dice_is_none_unless_it_is_likely_to_be_one(worth, is_die):
    dice = [found(100, 60, 0.9), found(300, 60, 0.9), found(500, 18, worth, value=1)]
    evidence = settled(dice, [seen(dice[0]), seen(dice[1]), seen(dice[2], 1)])
    assert evidence.found == tuple(dice if is_die else dice[:2])
    assert isinstance(judge(evidence, None), Verified)


PIP, BODY = (500, 200, 9, 40), (502, 201, 60, 40)


@pytest.mark.parametrize(("edge", "worth", "spots", "is_verified"), [
    (50, 0.22, [PIP], True),  # a button
    (50, 0.22, [PIP, BODY], False),
    (50, 0.22, [BODY], True),
    (50, 0.45, [], False),
    (50, 0.12, [PIP], True),
    (50, 0.12, [PIP, BODY], False),  # a round thing of a die's size, with a spot on it
])  # fmt: skip
def test_what_is_faintly_a_die_counts_as_what_the_second_reader_sees_there(
    edge, worth, spots, is_verified
):
    dice = [found(100, 60, 0.9), found(300, 60, 0.9)]
    verdict = judged(dice, [replace(found(500, edge, 1.0), score=worth)], spots)
    assert isinstance(verdict, Verified if is_verified else Unreadable)
    if isinstance(verdict, Unreadable):
        assert "something else may be a die" in verdict.detail


@pytest.mark.parametrize(
    ("spot", "is_verified"),
    [
        ((500, 8, 12, 40), False),
        ((500, 8, 12, 30), True),
        ((500, 8, 40, 40), True),
        ((500, 70, 12, 40), True),
        ((100, 190, 12, 40), True),
    ],
    ids=["a pip", "too faint for a pip", "too large", "farther in", "on a die"],
)
def test_what_looks_like_a_pip_at_the_border_may_be_of_a_die_cut_off(spot, is_verified):
    dice = [found(100, 60, 0.9), found(300, 60, 0.9)]
    verdict = judged(dice, [], [spot])
    assert isinstance(verdict, Verified if is_verified else Unreadable)
    if isinstance(verdict, Unreadable):
        assert "the border may cut off one more" in verdict.detail


@pytest.mark.parametrize(("edge", "counts"), [(60, True), (40, True), (30, False), (120, False)])
def test_an_unsure_die_must_have_the_size_of_the_sure_ones(edge, counts):
    dice = [found(100, 60, 0.9), found(300, edge, 0.45)]
    evidence = settled(dice, [seen(die) for die in dice])
    assert len(evidence.found) == 1 + counts


@pytest.mark.parametrize(("score", "is_verified"), [(0.25, False), (0.55, True)])
def test_a_picture_with_a_die_that_the_readers_are_not_sure_of_is_not_verified(score, is_verified):
    dice = [found(100, 60, 0.9), replace(found(300, 60, 0.9), score=score)]
    verdict = judge(settled(dice, [seen(die) for die in dice]), None)
    assert isinstance(verdict, Verified) == is_verified
    if isinstance(verdict, Unreadable):
        assert verdict.reason is Reason.DOUBTFUL
        assert "die 2 from the left: both readers together are" in verdict.detail


def test_a_sure_die_may_have_any_size():
    dice = [found(100, 60, 0.9), found(250, 62, 0.9), found(450, 150, 0.7)]
    assert len(settled(dice, [seen(die) for die in dice]).found) == 3


def test_without_a_sure_die_there_is_no_size_to_fit():
    dice = [found(100, 60, 0.45), found(300, 25, 0.45)]
    assert len(settled(dice, [seen(die) for die in dice]).found) == 2


def test_an_unsure_die_without_pips_does_not_count():
    dice = [found(100, 60, 0.9), found(300, 60, PHOTO.sure - 0.05)]
    assert len(settled(dice, [seen(dice[0])]).found) == 1
    assert len(settled(dice, [seen(die) for die in dice]).found) == 2


@pytest.mark.parametrize(("worth", "is_seen", "is_verified"), [
    (0.12, False, True), (0.12, True, False), (0.05, True, True),
])  # fmt: skip
def test_what_both_readers_hardly_see_may_be_a_die(worth, is_seen, is_verified):
    dice = [found(100, 60, 0.9), found(300, 60, 0.9)]
    ghost = replace(found(500, 50, 1.0), score=worth)
    face = replace(seen(ghost), face=Face(3, 0.5, 60.0))
    verdict = judged(dice, [ghost], alone=[face] if is_seen else [])
    assert isinstance(verdict, Verified if is_verified else Unreadable)


def test_a_die_that_seems_half_as_large_as_it_is_cut_off_is_none_to_be_passed_over():
    dice = [found(100, 60, 0.9), found(300, 60, 0.9)]
    verdict = judged(dice, [found(620, 33, 0.4)])
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.COUNT


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


def beside(die, by, shape=(1.0, 1.0)):
    """A face that only the second reader sees, so many edges from the middle of a die."""
    at = (die.corners - die.centre) * shape + die.centre + np.array(by) * die.edge_px
    return replace(seen(die, 5), corners=np.asarray(at, np.float32), members=frozenset({-1}))


@pytest.mark.parametrize(
    ("by", "shape", "is_verified"),
    [
        ((0.0, 1.0), (1.0, 1.0), False),
        ((1.0, 0.1), (1.0, 1.0), False),
        ((0.0, 0.7), (1.0, 0.5), True),
        ((0.0, 0.3), (1.0, 1.0), True),
    ],
    ids=["a die in front", "a die beside", "the front of the die", "the die itself, read askew"],
)
def test_a_die_that_touches_another_is_not_explained_by_it(by, shape, is_verified):
    far = seen_aside(450, 0, 3, 0.9, 0.7)
    die = seen_aside(100, 0, 3, 0.9, 0.7)
    verdict = judged([die, far], [], alone=[beside(die, by, shape)])
    assert isinstance(verdict, Verified if is_verified else Unreadable)


@pytest.mark.parametrize(("overruled", "is_verified"), [(0, True), (1, True), (2, False)])
def test_a_photograph_that_may_be_upside_down_is_not_verified(overruled, is_verified):
    dice = [seen_aside(x, 0, 3, 0.9, 0.5) for x in (100, 400)]
    dice = [replace(die, is_overruled=i < overruled) for i, die in enumerate(dice)]
    verdict = judged(dice, [])
    assert isinstance(verdict, Verified if is_verified else Unreadable)
    if isinstance(verdict, Unreadable):
        assert "upside down" in verdict.detail


@pytest.mark.parametrize(
    ("turns_deg", "is_verified"),
    [((2.0, -3.0), False), ((2.0, 20.0), True), ((9.0, 7.0, 12.0), False), ((30.0, 32.0), True)],
)
def test_dice_that_all_stand_upright_in_one_row_may_be_seen_at_eye_level(turns_deg, is_verified):
    dice = [found(100 + 200 * i, 60, 0.9, turn_deg=turn) for i, turn in enumerate(turns_deg)]
    verdict = judged(dice, [])
    assert isinstance(verdict, Verified) == is_verified
    if not is_verified:
        assert "eye level" in verdict.detail


@pytest.mark.parametrize(("turn_deg", "is_verified"), [(4.0, False), (-8.0, False), (25.0, True)])
def test_one_die_that_stands_upright_may_be_seen_at_eye_level(turn_deg, is_verified):
    verdict = judged([found(100, 60, 0.9, turn_deg=turn_deg)], [])
    assert isinstance(verdict, Verified) == is_verified


@pytest.mark.parametrize(("down", "is_verified"), [(0.0, False), (0.4, True)])
def test_upright_dice_whose_sides_are_seen_below_their_tops_are_seen_from_above(down, is_verified):
    dice = [replace(found(100, 60, 0.9, turn_deg=3.0), down=np.array((0, 60 * down), np.float32))]
    assert isinstance(judged(dice, []), Verified) == is_verified


@pytest.mark.parametrize(
    ("odd", "plain", "is_verified"),
    [("", -9.0, True), ("a spot differs", 9.0, True), ("a spot differs", -9.0, False)],
    ids=["places alone", "pips alone", "both"],
)
def test_a_face_whose_middle_is_odd_to_its_pips_and_its_places_is_not_verified(
    odd, plain, is_verified
):
    dice = [found(100, 60, 0.9), found(300, 60, 0.9, turn_deg=30)]
    faces = [seen(die) for die in dice]
    faces[1] = replace(faces[1], face=replace(faces[1].face, oddity=odd))
    votes = [vote(), vote(plain=plain)]
    verdict = judge(settled(dice, faces, votes), None)
    assert isinstance(verdict, Verified) == is_verified
    if isinstance(verdict, Unreadable):
        assert verdict.reason is Reason.DOUBTFUL
        assert verdict.detail == (
            "die 2 from the left: a speck, a highlight or a lost pip: a spot differs"
        )


def test_a_die_whose_places_show_another_value_is_not_verified():
    dice = [found(100, 60, 0.9), found(300, 60, 0.9, turn_deg=30)]
    verdict = judge(settled(dice, list(map(seen, dice)), [vote(), vote(5, -2.0)]), None)
    assert verdict == Unreadable(
        Reason.READERS_DISAGREE, "die 2 from the left: the model reads 3, the second reader 5"
    )


@pytest.mark.parametrize(("spacing", "is_verified"), [(0.26, True), (0.34, False)])
def test_a_face_whose_places_are_in_sight_may_reach_beyond_the_border(spacing, is_verified):
    dice = [found(300, 60, 0.9), found(619, 60, 0.9, turn_deg=0)]
    votes = [vote(), vote(spacing=spacing)]
    verdict = judge(settled(dice, list(map(seen, dice)), votes), None)
    assert isinstance(verdict, Verified) == is_verified
    if isinstance(verdict, Unreadable):
        assert "the border cuts off die 2" in verdict.detail
