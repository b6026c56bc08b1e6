"""What the evidence of a frame proves where a die is hidden under another."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vision.reading import (
    DieEvidence,
    GeometryReading,
    Kind,
    Measured,
    NetworkReading,
    NoRoll,
    Reason,
    Scene,
    Unreadable,
    Verified,
)
from vision.table.judgement import judge
from vision.table.witnesses import LOOKS, NETWORKS, SECOND, TOP, combine, side_of
from vision.tests.drawing import TABLE

EDGE = TABLE.die_mm


def evidence(
    x_mm: float, y_mm: float = 0.0, above: float = 0.0, near_p: float = 0.95, sides: float = 2.0
) -> DieEvidence:
    half = EDGE / 2
    square = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
    points = np.c_[square + np.array((x_mm, y_mm)), np.full(4, EDGE)]
    corners = tuple((float(x), float(y)) for x, y in TABLE.to_px(points))
    return DieEvidence(
        corners=corners,
        x_mm=x_mm,
        y_mm=y_mm,
        turn_deg=0.0,
        model=NetworkReading(3, 0.99, 0.8, 0.9, near_p=near_p, near_lean_deg=1.0),
        second=GeometryReading(
            3, 0.9, support=0.9, sides=sides, spread_mm=0.15, beyond_mm=1.0, offset=0.01,
            contrast=150.0,
        ),
        measured=Measured(EDGE, 0.01, 2.0, 1.2 + above),
    )  # fmt: skip


def judged(*dice: DieEvidence, wanted: int | None = 3):
    scene = Scene(wanted, EDGE, TABLE.die_px, 2.0, 0.0, 0.0)
    return judge(combine(dice, scene), scene)


FLOOR = evidence(-25.0)
RAISED = evidence(10.0, above=1.0)


def test_two_of_three_dice_and_one_of_them_higher_is_a_stack():
    verdict = judged(FLOOR, RAISED)
    assert isinstance(verdict, NoRoll)
    assert (verdict.die, verdict.kind, verdict.angle_deg) == (1, Kind.STACKED, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        evidence(10.0),
        evidence(10.0, above=0.7),
    ],
    ids=["as high", "hardly higher"],
)
def test_two_dice_on_the_floor_are_a_wrong_count(other):
    verdict = judged(FLOOR, other)
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.COUNT


def test_a_height_that_no_stack_has_hides_no_die():
    verdict = judged(FLOOR, evidence(10.0, above=2.5))
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.COUNT


@pytest.mark.parametrize(("low", "high"), [(0.8, 1.8), (-0.9, 0.1)])
def test_a_hidden_die_needs_another_one_on_the_floor(low, high):
    verdict = judged(evidence(-25.0, above=low), evidence(10.0, above=high))
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.COUNT


def test_as_many_dice_as_were_asked_for_hide_none():
    assert not isinstance(judged(FLOOR, RAISED, wanted=2), NoRoll)
    assert not isinstance(judged(FLOOR, RAISED, wanted=None), NoRoll)


def test_what_the_second_reader_sees_alone_must_lie_under_the_raised_die():
    under = replace(evidence(10.0 + 0.6 * EDGE), model=None, measured=None)
    beside = replace(evidence(10.0 + 1.05 * EDGE), model=None, measured=None)
    assert isinstance(judged(FLOOR, RAISED, under), NoRoll)
    assert not isinstance(judged(FLOOR, RAISED, beside), NoRoll)


@pytest.mark.parametrize(
    ("vote", "reason"),
    [
        (GeometryReading(1, 0.9, support=0.9, offset=0.02), Reason.READERS_DISAGREE),
        (GeometryReading(1, 0.9, support=0.9, offset=0.45), Reason.FOREIGN_OBJECT),
        (GeometryReading(None, 0.0, support=0.9), Reason.FOREIGN_OBJECT),
    ],
    ids=["a die that the model misses", "a spot at its edge", "no face"],
)
def test_what_only_the_second_reader_sees_is_a_die_if_its_pips_are_where_it_is(vote, reason):
    alone = replace(evidence(25.0, 25.0), model=None, measured=None, second=vote)
    dice = (evidence(-25.0), evidence(0.0, -25.0), evidence(25.0, -10.0), alone)
    verdict = judged(*dice)
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is reason


@pytest.mark.parametrize(
    ("vote", "reason"),
    [
        (GeometryReading(None, 0.0, support=0.9, spread_mm=0.1), Reason.NO_LEGAL_FACE),
        (
            GeometryReading(None, 0.0, face_is_strange=True, support=0.9, spread_mm=0.1),
            Reason.UNKNOWN_STYLE,
        ),
        (GeometryReading(None, 0.0, support=0.9, spread_mm=1.5), Reason.COUNT),
        (GeometryReading(1, 0.9, support=0.9, spread_mm=0.1), Reason.COUNT),
    ],
    ids=["no legal face", "an unknown one", "no upright cube", "a legal face"],
)
def test_an_upright_cube_that_the_model_misses_is_refused_for_what_it_shows(vote, reason):
    missed = replace(evidence(25.0, 25.0), model=None, measured=None, second=vote)
    verdict = judged(evidence(-25.0), evidence(0.0, -25.0), missed)
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is reason


ASKEW = NetworkReading(3, 0.99, 0.1, 0.9, near_p=0.1, near_lean_deg=9.0)


def leaning(**changes) -> DieEvidence:
    return replace(replace(evidence(10.0, sides=-6.0), model=ASKEW), **changes)


OTHERS = (FLOOR, evidence(0.0, y_mm=25.0))


@pytest.mark.parametrize(("above", "verdict"), [(2.0, NoRoll), (2.5, Unreadable)])
def test_a_top_face_higher_than_three_dice_are_proves_nothing(above, verdict):
    die = leaning(measured=Measured(EDGE, 0.01, 2.0, 1.2 + above))
    judgement = judged(*OTHERS, die)
    assert isinstance(judgement, verdict)
    if isinstance(judgement, Unreadable):
        assert judgement.reason is Reason.NOT_FLAT_DOUBTFUL


def test_a_no_roll_needs_both_sides():
    assert isinstance(judged(*OTHERS, leaning()), NoRoll)
    by_looks = leaning(second=evidence(10.0).second)
    by_sides = leaning(model=evidence(10.0).model)
    for alone, witness in ((by_looks, "looks"), (by_sides, "side faces")):
        verdict = judged(*OTHERS, alone)
        assert isinstance(verdict, Unreadable)
        assert verdict.reason is Reason.NOT_FLAT_DOUBTFUL
        assert f"by {witness};" in verdict.detail


@pytest.mark.parametrize(("near_p", "verdict"), [(0.1, NoRoll), (0.9, Unreadable)])
def test_looks_that_say_flat_leave_nothing_proved(near_p, verdict):
    askew = Measured(EDGE, 0.3, 2.0, 1.2)
    looks = NetworkReading(3, 0.99, 0.5, 0.9, near_p=near_p, near_lean_deg=4.0)
    assert isinstance(judged(*OTHERS, leaning(model=looks, measured=askew)), verdict)


def test_a_strange_face_on_an_upright_cube_is_no_proof_of_a_lean():
    """What is painted on a face is taken for its edges; looks suffer as well."""
    strange = GeometryReading(None, 0.0, support=0.98, face_is_strange=True, spread_mm=0.03)
    painted = replace(
        evidence(10.0), model=ASKEW, second=strange, measured=Measured(EDGE, 0.3, 2.0, 1.2)
    )
    assert isinstance(judged(*OTHERS, painted), Unreadable)
    no_cube = replace(painted, second=replace(strange, spread_mm=1.5))
    assert isinstance(judged(*OTHERS, no_cube), NoRoll)


def test_looks_and_top_face_are_one_witness_of_a_stack_and_the_dealer_is_asked():
    die = replace(evidence(10.0, above=1.0), model=ASKEW)
    found = combine((*OTHERS, die), Scene(3, EDGE, TABLE.die_px, 2.0, 0.0, 0.0))[2]
    assert side_of(found, SECOND) > 0 > side_of(found, NETWORKS)
    assert side_of(found, (LOOKS,)) < 0 > side_of(found, (TOP,))
    verdict = judged(*OTHERS, die)
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.NOT_FLAT_DOUBTFUL
    assert "by looks;" in verdict.detail


@pytest.mark.parametrize(("through", "value"), [(-9.0, 3), (0.0, 3), (-9.0, 4)])
def test_a_neighbour_spoils_no_far_face(through, value):
    beside = evidence(-25.0 + 1.05 * EDGE, near_p=0.05, sides=-8.0)
    assert beside.model is not None
    assert beside.second is not None
    vote = replace(beside.second, value=value, through=through, sides_lean_deg=14.0)
    model = replace(beside.model, flat_p=0.3)
    verdict = judged(FLOOR, replace(beside, model=model, second=vote), evidence(20.0, 20.0))
    if (through, value) == (-9.0, 3):
        assert isinstance(verdict, NoRoll)
        assert (verdict.die, verdict.angle_deg) == (1, 14.0)
    else:  # nothing shines through, or pips of another face were read
        assert isinstance(verdict, Unreadable)


def test_a_die_that_the_second_reader_does_not_see_proves_nothing():
    """What covers a flat die hides its cube, too."""
    askew = Measured(EDGE, 0.3, 2.0, 1.2)
    assert isinstance(judged(*OTHERS, leaning(measured=askew)), NoRoll)
    assert isinstance(judged(*OTHERS, leaning(measured=askew, second=None)), Unreadable)


@pytest.mark.parametrize(("sides", "verdict"), [(-3.0, NoRoll), (3.0, Unreadable)])
def test_between_neighbours_side_faces_of_an_upright_cube_deny_a_lean(sides, verdict):
    between = evidence(10.0, near_p=0.05, sides=sides)
    assert between.second is not None
    second = replace(between.second, spread_mm=3.0, offset=0.1)
    leans = replace(between, model=replace(ASKEW, near_lean_deg=12.0), second=second)
    beside = evidence(10.0 - 1.03 * EDGE), evidence(10.0 + 1.03 * EDGE)
    assert isinstance(judged(*beside, leans), verdict)


@pytest.mark.parametrize("sides", [2.0, 9.0])
def test_a_window_beside_the_die_proves_no_lean_that_the_second_reader_does_not_see(sides):
    seen = evidence(5.0, near_p=0.05, sides=sides)
    assert seen.model is not None
    assert seen.second is not None
    missed = replace(
        seen,
        model=replace(seen.model, value=1, flat_p=0.3, near_lean_deg=8.0),
        measured=Measured(EDGE, 0.3, 2.0, 1.2),
        second=replace(seen.second, support=0.5),
    )
    assert isinstance(judged(FLOOR, missed, evidence(25.0, 20.0)), Unreadable)


@pytest.mark.parametrize("field", ["value_p", "score", "confidence", "foreground", "unexplained"])
def test_a_measurement_that_is_no_number_states_nothing(field):
    odd: dict[str, Any] = {field: math.nan}
    dice = [evidence(x) for x in (-25.0, 0.0, 25.0)]
    scene = Scene(3, EDGE, TABLE.die_px, 2.0, 0.0, 0.0)
    assert isinstance(judge(combine(dice, scene), scene), Verified)
    if field in ("foreground", "unexplained"):
        scene = replace(scene, **odd)
    elif field == "confidence":
        assert dice[0].second is not None
        dice[0] = replace(dice[0], second=replace(dice[0].second, confidence=math.nan))
    else:
        assert dice[0].model is not None
        dice[0] = replace(dice[0], model=replace(dice[0].model, **odd))
    verdict = judge(combine(dice, scene), scene)
    assert isinstance(verdict, Unreadable)
