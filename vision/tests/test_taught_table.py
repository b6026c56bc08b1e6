"""A table before two lenses that was taught its dice: what is stated, and what is refused."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.reading import NoRoll, Reason, Unreadable, Verified
from vision.table.consensus import agree
from vision.table.still_scene import StillScene
from vision.table.witnesses import HEIGHT, said_by
from vision.taught import TaughtReader
from vision.tests.taught_table import RIGHT, STEREO, WIDTH, frame, left, table
from vision.tests.test_taught import toss_of


@pytest.mark.parametrize("seed", range(700, 704))
def test_flat_dice_are_verified_by_their_height(teaching, seed):
    dice = sorted(toss_of(seed), key=lambda die: die.x)
    seen = table(teaching, dice).read(frame(dice))
    assert isinstance(seen.opinion, Verified)
    assert seen.opinion.values == tuple(die.value for die in dice)
    assert all(said_by(die, HEIGHT) >= 3 for die in seen.dice)


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
    first = second.read(left(frame(dice)))
    again = second.read_again(left(frame(dice, 1)), first)
    assert again is not None
    assert [die.value for die in again.dice] == [die.value for die in first.dice]
    assert any(
        one.margin != other.margin for one, other in zip(first.dice, again.dice, strict=True)
    )
    moved = [replace(dice[0], x=dice[0].x + 0.5), *dice[1:]]
    assert second.read_again(left(frame(moved, 1)), first) is None


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
    for lens, start in ((STEREO, 0), (RIGHT, WIDTH)):
        at = np.rint(lens.level_px(np.array([free], float))[0]).astype(int)
        part = seen.image[:, start : start + WIDTH]
        cv2.circle(part, at.tolist(), 25, (60, 110, 178), -1)
    opinion = table(teaching, dice).read(seen).opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.FOREIGN_OBJECT
