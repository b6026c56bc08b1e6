"""A table before two lenses that was taught its dice: what is stated, and what is refused."""

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest

from vision.frame import Frame
from vision.reading import (
    DieEvidence,
    GeometryReading,
    Height,
    Measured,
    NetworkReading,
    NoRoll,
    Reason,
    Scene,
    Unreadable,
    Verified,
    Witness,
)
from vision.table.consensus import agree
from vision.table.judgement import judge
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene
from vision.table.witnesses import HEIGHT, LOOKS, TOP, combine, side_of
from vision.taught import TaughtReader, Toss, teach
from vision.taught.heights import UsualHeight
from vision.tests.drawing import TABLE, draw
from vision.tests.test_taught import corners_of, toss_of
from vision.tests.truth import TruthFinder

APART_MM = 40.0
RIGHT = replace(TABLE, compartment_mm=(-APART_MM, 0.0), centre_px=(480.0, 240.0))
STEREO = replace(TABLE, right=RIGHT)


def frame(dice, number=0):
    lenses = [draw(dice, lens, seed=2 * number + i) for i, lens in enumerate((STEREO, RIGHT))]
    return Frame(np.hstack(lenses), number / 30, number)


def confirmed(seed):
    dice, seen = toss_of(seed), frame(toss_of(seed)).parted(TABLE.image_size[0])
    corners = np.array([corners_of(die) for die in dice])
    return Toss(seen.image, corners, tuple(die.value for die in dice), seen.right)


@pytest.fixture(scope="module")
def teaching():
    return teach(STEREO, [confirmed(seed) for seed in range(30)])


def table(teaching, dice, **lies):
    reader = TableReader(TruthFinder([]), STEREO, teaching=teaching)
    reader._finder = TruthFinder(dice, view=reader.view, calibration=STEREO, **lies)
    return reader


@pytest.mark.parametrize("seed", range(700, 704))
def test_flat_dice_are_verified_by_their_height(teaching, seed):
    dice = sorted(toss_of(seed), key=lambda die: die.x)
    seen = table(teaching, dice).read(frame(dice))
    assert isinstance(seen.opinion, Verified)
    assert seen.opinion.values == tuple(die.value for die in dice)
    assert all(side_of(die, (HEIGHT,)) >= 3 for die in seen.dice)


@pytest.mark.parametrize("tilt_deg", [6.0, 10.0, 14.0, 20.0, 30.0])
@pytest.mark.parametrize("flat_p", [0.99, 0.02])
def test_a_die_that_leans_is_never_verified_and_no_roll_if_a_reader_says_so(
    teaching, tilt_deg, flat_p
):
    dice = toss_of(710, tilt_deg=tilt_deg)
    opinion = table(teaching, dice, flat_p=[flat_p, 0.99, 0.99]).read(frame(dice)).opinion
    assert not isinstance(opinion, Verified)
    if flat_p < 0.5:
        assert isinstance(opinion, NoRoll)


def test_a_later_frame_confirms_where_nothing_differs(teaching):
    dice = toss_of(720)
    scene = StillScene(table(teaching, dice))
    second = scene._reader._second
    assert isinstance(second, TaughtReader)
    first = second.read(frame(dice).image[:, : TABLE.image_size[0]])
    again = second.read_again(frame(dice, 1).image[:, : TABLE.image_size[0]], first)
    assert again is not None
    assert [die.value for die in again.dice] == [die.value for die in first.dice]
    assert any(
        one.margin != other.margin for one, other in zip(first.dice, again.dice, strict=True)
    )
    moved = [replace(dice[0], x=dice[0].x + 0.5), *dice[1:]]
    assert second.read_again(frame(moved, 1).image[:, : TABLE.image_size[0]], first) is None


def test_frames_agree_on_what_they_state(teaching):
    dice = toss_of(720)
    reader = table(teaching, dice)
    seen = [reader.read(frame(dice, number)) for number in range(3)]
    consensus = agree(seen)
    assert consensus is not None
    assert isinstance(consensus.verdict, Verified)


def test_a_coin_is_no_floor(teaching):
    dice = toss_of(720)
    seen = frame(dice)
    free = max(
        ((x, y) for x in range(-30, 31, 10) for y in range(-30, 31, 10)),
        key=lambda at: min(np.hypot(at[0] - die.x, at[1] - die.y) for die in dice),
    )
    for lens, left in ((STEREO, 0), (RIGHT, TABLE.image_size[0])):
        at = np.rint(lens.level_px(np.array([free], float))[0]).astype(int)
        part = seen.image[:, left : left + TABLE.image_size[0]]
        cv2.circle(part, at.tolist(), 25, (60, 110, 178), -1)
    opinion = table(teaching, dice).read(seen).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.FOREIGN_OBJECT


def test_with_one_lens_the_table_reads_as_before(teaching):
    """Its height is not known, so that the outline of a cube must say how a die lies."""
    reader = TableReader(TruthFinder([]), TABLE, teaching=replace(teaching, height=None))
    assert not isinstance(reader._second, TaughtReader)


# ── The rules, one at a time ────────────────────────────────────────────────

USUAL = UsualHeight(0.004, 0.01, 0.05)
SCENE = Scene(3, 16.0, 60.0, 3.0, 0.0, 0.0, 50.0, is_taught=True)


def evidence(x_mm, **changes):
    """A flat die of which nothing is doubted, but for the changes."""
    whole = DieEvidence(
        corners=tuple((4 * (x_mm + x), 4.0 * y) for x, y in ((-8, -8), (8, -8), (8, 8), (-8, 8))),
        x_mm=x_mm, y_mm=0.0, turn_deg=0.0,
        model=NetworkReading(4, 0.99, 0.95, 0.9, 0.95, 1.0),
        second=GeometryReading(4, 0.999), measured=Measured(16.0, 0.01, 1.0, 1.0),
        height=Height(0.004, 0.97, 0.95),
    )  # fmt: skip
    return replace(whole, **changes)


def said(scene=SCENE, **changes):
    dice = [evidence(x_mm, **(changes if x_mm == 0 else {})) for x_mm in (-25.0, 0.0, 25.0)]
    return judge(combine(dice, scene, usual=USUAL), scene)


def test_what_nothing_speaks_against_is_verified():
    assert isinstance(said(), Verified)


def test_edges_that_are_not_square_say_less_than_the_height():
    assert isinstance(said(measured=Measured(16.0, 1.0, 1.0, 1.0)), Verified)


VOTE, MODEL = GeometryReading(4, 0.999), NetworkReading(4, 0.99, 0.95, 0.9, 0.95, 1.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"height": Height(0.03, 0.97, 0.95)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.02, 0.97, 0.95), "model": replace(MODEL, flat_p=0.5, near_p=0.5)},
         Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.004, 0.7, 0.6)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(-0.1, 0.97, 0.95)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.004, 0.97, 0.95, slope=0.1)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.004, 0.9, 0.4)}, Reason.DOUBTFUL),
        ({"model": replace(MODEL, flat_p=0.05, near_p=0.05, near_lean_deg=12.0)},
         Reason.NOT_FLAT_DOUBTFUL),
        ({"model": replace(MODEL, value_p=0.9)}, Reason.DOUBTFUL),
        ({"model": replace(MODEL, score=0.3)}, Reason.DOUBTFUL),
        ({"second": replace(VOTE, value=5)}, Reason.READERS_DISAGREE),
        ({"second": None}, Reason.READERS_DISAGREE),
        ({"second": replace(VOTE, confidence=0.9)}, Reason.DOUBTFUL),
        ({"second": replace(VOTE, oddity="row 2, column 2")}, Reason.DOUBTFUL),
        ({"model": None, "measured": None}, Reason.COUNT),
    ],
)  # fmt: skip
def test_each_doubt_refuses(changes, reason):
    opinion = said(**changes)
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is reason


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (replace(SCENE, unexplained=0.2), Reason.FOREIGN_OBJECT),
        (replace(SCENE, foreground=9.0), Reason.BLOCKED),
        (replace(SCENE, wanted=2), Reason.COUNT),
        (replace(SCENE, wanted=4), Reason.COUNT),
        (replace(SCENE, unexplained=float("nan")), Reason.DOUBTFUL),
    ],
)
def test_what_lies_beside_the_dice_refuses(scene, reason):
    opinion = said(scene)
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is reason


LEANS = Height(0.06, 0.97, 0.95)
SEES_A_LEAN = replace(MODEL, flat_p=0.05, near_p=0.05, near_lean_deg=12.0)


@pytest.mark.parametrize(
    ("changes", "is_no_roll"),
    [
        ({"height": LEANS}, False),
        ({"height": LEANS, "model": SEES_A_LEAN}, True),
        ({"height": LEANS, "second": None}, True),
        ({"height": LEANS, "second": None, "model": replace(MODEL, value_p=0.9)}, False),
        ({"height": replace(LEANS, likeness=0.7), "model": SEES_A_LEAN}, False),
        ({"model": SEES_A_LEAN}, False),
    ],
)
def test_a_no_roll_needs_the_height_and_a_reader(changes, is_no_roll):
    assert isinstance(said(**changes), NoRoll) is is_no_roll


def test_where_no_die_is_as_high_as_a_flat_one_the_lens_has_moved():
    dice = [evidence(x, height=LEANS, model=SEES_A_LEAN) for x in (-25.0, 0.0, 25.0)]
    opinion = judge(combine(dice, SCENE, usual=USUAL), SCENE)
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.NOT_FLAT_DOUBTFUL


def test_the_usual_height_is_the_middle_and_its_reach_follows_the_spread():
    heights = [Height(0.01 + 0.002 * (i % 5 - 2), 0.95, 0.9) for i in range(30)]
    usual = UsualHeight.taught([*heights, Height(0.3, 0.2, 0.1)])
    assert usual is not None
    assert usual.middle == pytest.approx(0.01)
    assert usual.reach == pytest.approx(5 * 1.48 * 0.002, rel=0.01)
    odds = [
        usual.odds(replace(heights[0], above=0.01 + away), 6.0) for away in (0, 0.012, 0.03, 0.1)
    ]
    assert all(more > less for more, less in pairwise(odds))
    assert UsualHeight.taught([Height(0.0, 0.2, 0.1)]) is None


def test_only_the_networks_and_the_height_are_witnesses():
    (die,) = combine([evidence(0.0)], SCENE, usual=USUAL)
    assert [witness.name for witness in die.witnesses] == [LOOKS, TOP, HEIGHT]
    assert die.witnesses[-1] == Witness(HEIGHT, 6.0)
