"""Many frames, one verdict: only what several in a row agree on."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from vision.reading import (
    DieEvidence,
    Kind,
    ModelVote,
    NoRoll,
    Observation,
    Reason,
    SecondVote,
    Unreadable,
    Verified,
)
from vision.table.consensus import FRAMES, agree, refuse

PLACES = ((-20.0, 0.0), (0.0, 10.0), (22.0, -8.0))


def die(x, y, value, turn=30.0, not_flat=()):
    return DieEvidence(
        corners=((0, 0), (1, 0), (1, 1), (0, 1)),
        x_mm=x,
        y_mm=y,
        turn_deg=turn,
        model=ModelVote(value, 0.99, 0.98, 0.9),
        second=SecondVote(value, 0.8, True),
        measured=None,
        not_flat=not_flat,
    )


def frame(values=(1, 2, 3), opinion=None, shift=0.0, sequence=0, order=(0, 1, 2)):
    dice = tuple(die(PLACES[i][0] + shift, PLACES[i][1], values[i]) for i in order)
    return Observation(
        sequence, 0.0, None, dice, opinion or Verified(tuple(values[i] for i in order), 0.8)
    )


def test_three_agreeing_frames_are_a_verdict():
    assert agree([frame()] * (FRAMES - 1)) is None
    consensus = agree([frame()] * FRAMES)
    assert consensus is not None
    assert consensus.verdict == Verified((1, 2, 3), 0.8)


def test_one_other_value_in_between_starts_the_count_anew():
    frames = [frame(), frame(), frame((1, 2, 4)), frame(), frame()]
    assert agree(frames) is None
    assert agree([*frames, frame()]) is not None


def test_an_unreadable_frame_in_between_starts_the_count_anew():
    bad = frame(opinion=Unreadable(Reason.DOUBTFUL))
    assert agree([frame(), frame(), bad, frame(), frame()]) is None


def test_dice_that_swap_their_order_in_the_picture_are_still_the_same_dice():
    consensus = agree([frame(), frame(order=(1, 0, 2)), frame()])
    assert consensus is not None
    assert consensus.verdict == Verified((1, 2, 3), 0.8)


def test_same_values_in_other_places_are_no_consensus():
    assert agree([frame((1, 2, 3)), frame((2, 1, 3)), frame((1, 2, 3))]) is None


def test_slow_motion_is_no_rest():
    creeping = [frame(shift=0.5 * i) for i in range(FRAMES)]
    assert agree(creeping) is None
    assert refuse(creeping).reason is Reason.MOVING


def test_no_roll_needs_the_same_die_in_every_frame():
    roll = [frame(opinion=NoRoll(1, Kind.TILTED, 12.0 + i)) for i in range(3)]
    consensus = agree(roll)
    assert consensus is not None
    assert consensus.verdict == NoRoll(1, Kind.TILTED, 13.0)
    roll[1] = frame(opinion=NoRoll(2, Kind.TILTED, 12.0))
    assert agree(roll) is None


def test_a_no_roll_and_a_value_never_make_a_consensus():
    assert agree([frame(), frame(opinion=NoRoll(0, Kind.TILTED, 20.0)), frame()]) is None


def test_refusal_says_what_most_frames_lacked():
    frames = [frame(opinion=Unreadable(Reason.BLOCKED, "a hand"))] * 3 + [frame()]
    assert refuse(frames) == Unreadable(Reason.BLOCKED, "a hand")
    assert refuse([]).reason is Reason.NO_FRAMES


def test_refusal_of_frames_that_disagree_names_what_they_said():
    refusal = refuse([frame(), frame((1, 2, 4)), frame(), frame((1, 2, 5))])
    assert refusal.reason is Reason.NO_CONSENSUS
    assert "1-2-3" in refusal.detail


@given(st.lists(st.sampled_from(["right", "wrong", "no roll", "bad", "shifted"]), max_size=12))
def test_whatever_comes_a_verdict_is_carried_by_its_last_frames(kinds):
    made = {
        "right": frame(),
        "wrong": frame((1, 2, 4)),
        "no roll": frame(opinion=NoRoll(0, Kind.TILTED, 9.0)),
        "bad": frame(opinion=Unreadable(Reason.DOUBTFUL)),
        "shifted": frame(shift=4.0),
    }
    frames = [dataclasses.replace(made[kind], sequence=i) for i, kind in enumerate(kinds)]
    consensus = agree(frames)
    if consensus is not None:
        assert consensus.frames == tuple(frames[-FRAMES:])
        assert len(set(kinds[-FRAMES:])) == 1
        assert kinds[-1] != "bad"
