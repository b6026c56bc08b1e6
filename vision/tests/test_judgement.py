"""What the evidence of a frame proves: the rules, one at a time."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from vision.parameters import LIMITS
from vision.reading import (
    DieEvidence,
    Height,
    Kind,
    NetworkReading,
    NoRoll,
    Reason,
    Scene,
    SecondVote,
    Unreadable,
    Verdict,
    Verified,
    Witness,
)
from vision.table.judgement import judge
from vision.table.witnesses import HEIGHT, LOOKS, combine, said_by
from vision.taught.heights import UsualHeight

USUAL = UsualHeight(0.004, 0.01, 0.05)
SCENE = Scene(3, 3.0, 0.0, is_taught=True, has_heights=True)
VOTE, MODEL = SecondVote(4, 0.999), NetworkReading(4, 0.99, 0.95, 0.9, 0.95, 1.0)
AT_THE_TOP = Height(0.004, 0.97, 0.95)
LEANS = Height(0.06, 0.97, 0.95)
SEES_A_LEAN = replace(MODEL, flat_p=0.05, near_p=0.05, near_lean_deg=12.0)


def evidence(x_mm, **changes):
    """A flat die of which nothing is doubted, but for the changes."""
    corners = tuple((4 * (x_mm + x), 4.0 * y) for x, y in ((-8, -8), (8, -8), (8, 8), (-8, 8)))
    return replace(DieEvidence(corners, x_mm, 0.0, 0.0, MODEL, VOTE, AT_THE_TOP), **changes)


def said(scene=SCENE, usual: UsualHeight | None = USUAL, **changes) -> Verdict:
    dice = [evidence(x_mm, **(changes if x_mm == 0 else {})) for x_mm in (-25.0, 0.0, 25.0)]
    return judge(combine(dice, usual), scene)


def test_what_nothing_speaks_against_is_verified():
    assert said() == Verified((4, 4, 4), 0.9)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"height": Height(0.03, 0.97, 0.95)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.02, 0.97, 0.95), "model": replace(MODEL, flat_p=0.5, near_p=0.5)},
         Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.004, 0.7, 0.6)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(-0.1, 0.97, 0.95), "model": replace(MODEL, value_p=0.9)},
         Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.004, 0.97, 0.95, slope=0.1)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": None}, Reason.NOT_FLAT_DOUBTFUL),
        ({"height": Height(0.004, 0.9, 0.4)}, Reason.DOUBTFUL),
        ({"model": replace(SEES_A_LEAN, near_lean_deg=11.0)}, Reason.NOT_FLAT_DOUBTFUL),
        ({"model": replace(MODEL, value_p=0.9)}, Reason.DOUBTFUL),
        ({"model": replace(MODEL, score=0.3)}, Reason.DOUBTFUL),
        ({"second": replace(VOTE, value=5)}, Reason.READERS_DISAGREE),
        ({"second": None}, Reason.READERS_DISAGREE),
        ({"second": replace(VOTE, confidence=0.9)}, Reason.DOUBTFUL),
        ({"second": replace(VOTE, oddity="row 2, column 2")}, Reason.DOUBTFUL),
        ({"model": None}, Reason.COUNT),
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
    ],
)
def test_what_lies_beside_the_dice_refuses(scene, reason):
    opinion = said(scene)
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is reason


@pytest.mark.parametrize(
    ("part", "field"),
    [("model", "value_p"), ("model", "score"), ("second", "confidence"), ("height", "least"),
     ("scene", "foreground"), ("scene", "unexplained")],
)  # fmt: skip
def test_a_measurement_that_is_no_number_states_nothing(part, field):
    parts: dict[str, Any] = {
        "model": MODEL, "second": VOTE, "height": AT_THE_TOP, "scene": SCENE,
    }  # fmt: skip
    whole = parts[part]
    assert isinstance(said(**{part: replace(whole, **{field: math.nan})}), Unreadable)


@pytest.mark.parametrize(
    ("changes", "is_no_roll"),
    [
        ({"height": LEANS}, False),
        ({"height": LEANS, "model": SEES_A_LEAN}, True),
        ({"height": replace(LEANS, above=0.1), "model": replace(MODEL, flat_p=0.6, near_p=0.3)},
         True),
        ({"height": LEANS, "second": None}, True),
        ({"height": LEANS, "second": None, "model": replace(MODEL, value_p=0.9)}, False),
        ({"height": LEANS, "model": replace(SEES_A_LEAN, value_p=0.9)}, True),
        ({"height": LEANS, "model": None}, True),
        ({"height": replace(LEANS, likeness=0.7), "model": SEES_A_LEAN}, True),
        ({"height": replace(LEANS, likeness=0.7), "second": None}, False),
        ({"height": replace(LEANS, likeness=0.4), "model": SEES_A_LEAN}, False),
        ({"model": SEES_A_LEAN}, False),
    ],
)  # fmt: skip
def test_a_no_roll_needs_the_height_and_a_reader(changes, is_no_roll):
    assert isinstance(said(**changes), NoRoll) is is_no_roll


def test_a_fourth_thing_that_the_networks_miss_proves_no_lean():
    dice = [evidence(x_mm) for x_mm in (-40.0, -20.0, 0.0)]
    ghost = evidence(20.0, model=None, height=LEANS)
    assert not isinstance(judge(combine([*dice, ghost], USUAL), SCENE), NoRoll)


def test_a_die_as_high_as_another_lies_on_it_though_only_two_are_seen():
    dice = [evidence(0.0), evidence(25.0, second=None, height=Height(1.0, 0.95, 0.9))]
    verdict = judge(combine(dice, USUAL), SCENE)
    assert verdict == NoRoll(1, Kind.STACKED, 1.0)


def test_where_no_die_is_as_high_as_a_flat_one_the_lens_has_moved():
    dice = [evidence(x, height=LEANS, model=SEES_A_LEAN) for x in (-25.0, 0.0, 25.0)]
    opinion = judge(combine(dice, USUAL), SCENE)
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.NOT_FLAT_DOUBTFUL


# ── Before one lens, and before any teaching ────────────────────────────────

ONE_LENS = replace(SCENE, has_heights=False)


def test_before_one_lens_the_looks_say_how_a_die_lies_and_nothing_proves_a_no_roll():
    assert isinstance(said(ONE_LENS, None, height=None), Verified)
    opinion = said(ONE_LENS, None, height=None, model=SEES_A_LEAN)
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.NOT_FLAT_DOUBTFUL


def test_an_untaught_table_states_nothing_and_names_the_networks_word():
    opinion = said(Scene(3), None, second=None)
    assert opinion == Unreadable(Reason.UNTAUGHT, "the network alone sees 4 4 4")


# ── The witnesses ───────────────────────────────────────────────────────────


def test_looks_and_height_are_the_witnesses():
    (die,) = combine([evidence(0.0)], USUAL)
    assert [witness.name for witness in die.witnesses] == [LOOKS, HEIGHT]
    assert die.witnesses[-1] == Witness(HEIGHT, LIMITS.height)
    (alone,) = combine([evidence(0.0)], None)
    assert [witness.name for witness in alone.witnesses] == [LOOKS]


@pytest.mark.parametrize(
    "worse", [{"flat_p": 0.1}, {"near_p": 0.4}, {"near_lean_deg": 6.0}, {"near_p": 0.0}]
)
def test_each_look_pulls_its_own_way_and_no_number_is_too_wild(worse):
    plain, doubted = combine([evidence(0.0), evidence(0.0, model=replace(MODEL, **worse))], USUAL)
    assert said_by(doubted, LOOKS) < said_by(plain, LOOKS) - 0.3
    assert said_by(doubted, LOOKS) >= -12.0


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
