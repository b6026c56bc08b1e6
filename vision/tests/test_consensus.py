"""Many frames, one verdict: only what several in a row agree on."""

import dataclasses
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.reading import (
    DieEvidence,
    Height,
    Kind,
    NetworkReading,
    NoRoll,
    Observation,
    Reason,
    Scene,
    SecondVote,
    Unreadable,
    Verified,
    Witness,
)
from vision.table.consensus import FRAMES, agree, refuse
from vision.table.judgement import judge
from vision.table.witnesses import HEIGHT, LOOKS

PLACES = ((-20.0, 0.0), (0.0, 10.0), (22.0, -8.0))


SCENE = Scene(3, 3.0, 0.0, is_taught=True, has_heights=True)
FLAT, DOUBTFUL, LEANING = 4.0, 1.5, -6.0
"""Odds of the height: clearly flat, short of the limit, clearly not."""


def die(x, y, value, turn=30.0, odds=FLAT, value_p=0.99):
    at = 10.0 * x
    return DieEvidence(
        corners=((at, 0), (at + 1, 0), (at + 1, 1), (at, 1)),
        x_mm=x,
        y_mm=y,
        turn_deg=turn,
        model=NetworkReading(value, value_p, 0.98, 0.9, 0.98, max(1.0, -odds)),
        second=SecondVote(value, 0.98),
        height=Height(0.0, 0.95, 0.9),
        witnesses=(Witness(LOOKS, min(odds, 0.0)), Witness(HEIGHT, odds)),
    )


def frame(
    values=(1, 2, 3),
    shift=0.0,
    t_capture=0.0,
    order=(0, 1, 2),
    odds=(FLAT, FLAT, FLAT),
    value_p=0.99,
):
    dice = tuple(
        die(PLACES[i][0] + shift, PLACES[i][1], values[i], odds=odds[i], value_p=value_p)
        for i in order
    )
    return Observation(t_capture, None, dice, judge(dice, SCENE), scene=SCENE)


def unfit(reason=Reason.BLOCKED, detail=""):
    return Observation(0.0, None, (), Unreadable(reason, detail))


def test_three_agreeing_frames_are_a_verdict():
    assert agree([frame()] * (FRAMES - 1)) is None
    consensus = agree([frame()] * FRAMES)
    assert consensus is not None
    assert consensus.verdict == Verified((1, 2, 3), 0.9)


def test_one_other_value_in_between_starts_the_count_anew():
    frames = [frame(), frame(), frame((1, 2, 4)), frame(), frame()]
    assert agree(frames) is None
    assert agree([*frames, frame()]) is not None


def test_an_unreadable_frame_in_between_starts_the_count_anew():
    for bad in (unfit(), frame(value_p=0.5)):
        assert agree([frame(), frame(), bad, frame(), frame()]) is None
        assert agree([frame(), bad, frame(), frame(), frame()]) is not None


def test_dice_that_swap_their_order_in_the_picture_are_still_the_same_dice():
    consensus = agree([frame(), frame(order=(1, 0, 2)), frame()])
    assert consensus is not None
    assert consensus.verdict == Verified((1, 2, 3), 0.9)


def test_same_values_in_other_places_are_no_consensus():
    assert agree([frame((1, 2, 3)), frame((2, 1, 3)), frame((1, 2, 3))]) is None


def test_slow_motion_is_no_rest():
    creeping = [frame(shift=0.5 * i) for i in range(FRAMES)]
    assert agree(creeping) is None
    assert refuse(creeping).reason is Reason.MOVING


def test_how_a_die_lies_is_judged_by_the_mean_of_what_each_witness_says():
    doubted = frame(odds=(FLAT, DOUBTFUL, FLAT))
    assert isinstance(doubted.opinion, Unreadable)
    consensus = agree([frame(), doubted, frame()])
    assert consensus is not None
    assert consensus.verdict == Verified((1, 2, 3), 0.9)
    assert consensus.shown_by.opinion == Verified((1, 2, 3), 0.9)
    assert agree([doubted, frame(), doubted]) is None
    assert agree([doubted, doubted, doubted] * 9) is None


def test_the_picture_kept_of_a_no_roll_shows_the_same_die_not_flat():
    askew = [frame(odds=(FLAT, LEANING, FLAT), t_capture=i) for i in range(2)]
    newest = frame(odds=(1.2 * LEANING, LEANING, FLAT), t_capture=2)
    assert isinstance(newest.opinion, NoRoll)
    assert newest.opinion.die == 0
    consensus = agree([*askew, newest])
    assert consensus is not None
    assert isinstance(consensus.verdict, NoRoll)
    assert consensus.verdict.die == 1
    assert consensus.shown_by == askew[1]


def test_a_die_that_topples_in_the_last_frame_is_not_hidden_by_the_frames_before():
    """Refused for another reason than no roll."""
    sure, askew = (25.0, FLAT, FLAT), (LEANING, FLAT, FLAT)
    frames = [frame(odds=sure), frame(odds=sure, t_capture=1), frame(odds=askew, t_capture=2)]
    doubted = replace(frames[-1], opinion=Unreadable(Reason.DOUBTFUL, "a glint"))
    assert sum(each.dice[0].odds for each in frames) / 3 > FLAT, "the mean alone says flat"
    assert agree([*frames[:2], doubted]) is None
    assert agree([*frames[:2], frame(odds=sure, t_capture=2)]) is not None


@pytest.mark.parametrize(
    ("name", "against", "short_of_it"), [(HEIGHT, -2.1, -1.9), (LOOKS, -4.1, -3.9)]
)
def test_a_frame_in_which_one_witness_is_strongly_against_bears_out_no_values(
    name, against, short_of_it
):
    """A die that topples: the mean over all frames hides it."""
    before = [frame(odds=(25.0, FLAT, FLAT), t_capture=i) for i in range(2)]

    def last(odds: float) -> Observation:
        newest = frame(t_capture=2)
        die = newest.dice[0]
        witnesses = tuple(
            replace(each, odds=odds) if each.name == name else each for each in die.witnesses
        )
        dice = (replace(die, witnesses=witnesses), *newest.dice[1:])
        return replace(newest, dice=dice, opinion=judge(dice, SCENE))

    assert agree([*before, last(against)]) is None
    assert agree([*before, last(short_of_it)]) is not None


def test_one_frame_at_least_states_the_verdict_by_itself():
    """So that the picture which is kept of a toss shows what was read."""
    much = 9.0
    first, other = frame(odds=(much, DOUBTFUL, FLAT)), frame(odds=(DOUBTFUL, much, FLAT))
    assert agree([first, other, first, other]) is None
    consensus = agree([first, frame(), other])
    assert consensus is not None
    assert consensus.shown_by == frame()


def test_no_roll_is_judged_by_the_same_die_in_every_frame():
    second = [frame(odds=(FLAT, LEANING - i, FLAT)) for i in range(3)]
    consensus = agree(second)
    assert consensus is not None
    assert isinstance(consensus.verdict, NoRoll)
    assert (consensus.verdict.die, consensus.verdict.kind) == (1, Kind.TILTED)
    second[1] = frame(odds=(FLAT, FLAT, LEANING))
    assert agree(second) is None


def test_a_die_that_falls_flat_where_it_leant_is_not_called_no_roll():
    leaning = [frame(odds=(FLAT, 4 * LEANING, FLAT))] * 9
    assert agree([*leaning, frame()]) is None
    assert agree([*leaning, frame(), frame(), frame()]) is None


def test_a_no_roll_and_a_value_never_make_a_consensus():
    assert agree([frame(), frame(odds=(2 * LEANING, FLAT, FLAT)), frame()]) is None


def test_an_edge_that_only_the_second_reader_sees_now_and_then_hinders_no_no_roll():
    edge = replace(die(-20.0, 8.0, 2), model=None)
    roll = frame(odds=(LEANING, FLAT, FLAT))
    with_edge = replace(roll, dice=(*roll.dice, edge))
    consensus = agree([roll, with_edge, roll])
    assert consensus is not None
    assert isinstance(consensus.verdict, NoRoll)


def test_refusal_says_what_most_frames_lacked():
    frames = [unfit(Reason.BLOCKED, "a hand")] * 3 + [frame()]
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
        "no roll": frame(odds=(LEANING, FLAT, FLAT)),
        "bad": unfit(),
        "shifted": frame(shift=4.0),
    }
    frames = [dataclasses.replace(made[kind], t_capture=i) for i, kind in enumerate(kinds)]
    consensus = agree(frames)
    if consensus is not None:
        assert consensus.shown_by in frames[-FRAMES:]
        assert len(set(kinds[-FRAMES:])) == 1
        assert kinds[-1] != "bad"
