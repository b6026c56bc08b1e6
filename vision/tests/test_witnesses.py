"""What each witness says of a die: each measurement pulls its own way, and no side decides."""

from dataclasses import replace

import numpy as np
import pytest

from vision.parameters import LIMITS
from vision.reading import DieEvidence, GeometryReading, Measured, NetworkReading, Scene
from vision.table.judgement import passes
from vision.table.no_roll import fails
from vision.table.witnesses import (
    CONTACT,
    LOOKS,
    NETWORKS,
    OUTLINE,
    PIPS,
    SECOND,
    SIDES,
    TOP,
    combine,
    side_of,
)

MODEL = NetworkReading(3, 0.99, 0.95, 0.9, near_p=0.95, near_lean_deg=1.0)
MEASURED = Measured(edge_mm=16.0, skew=0.01, lean_deg=2.0, layer=1.2)
VOTE = GeometryReading(
    3, 0.9, support=0.95, sides=3.0, directions=2, spread_mm=0.15, beyond_mm=1.0,
    offset=0.01, contrast=160.0,
)  # fmt: skip
SCENE = Scene(3, 16.0, 74.0, 2.0, 0.05, 0.0)


def die(model=MODEL, vote=VOTE, measured=MEASURED, scene=SCENE, at=200.0):
    """The second of three dice: the others are flat, so that its height is beside theirs."""

    def placed(x, model, vote, measured):
        corners = ((x, 0.0), (x + 70.0, 0.0), (x + 70.0, 70.0), (x, 70.0))
        return DieEvidence(corners, x / 4.4, 0.0, 0.0, model, vote, measured)

    flat = [placed(x, MODEL, VOTE, MEASURED) for x in (0.0, 500.0)]
    return combine([flat[0], placed(at, model, vote, measured), flat[1]], scene)[1]


def odds(of: DieEvidence, *names: str) -> float:
    return side_of(of, names)


def test_a_plain_flat_die_is_flat_and_a_plain_cocked_one_is_not():
    plain = die()
    assert passes(odds(plain, *NETWORKS), odds(plain, *SECOND))
    cocked = die(
        replace(MODEL, flat_p=0.05, near_p=0.02, near_lean_deg=15.0),
        replace(VOTE, sides=-8.0, spread_mm=1.5, beyond_mm=4.0),
        replace(MEASURED, lean_deg=18.0, skew=0.06),
    )
    assert fails(odds(cocked, *NETWORKS), odds(cocked, *SECOND))


@pytest.mark.parametrize(
    ("worse", "by"),
    [
        (die(replace(MODEL, flat_p=0.1)), LOOKS),
        (die(replace(MODEL, near_p=0.4)), LOOKS),
        (die(replace(MODEL, near_lean_deg=6.0)), LOOKS),
        (die(measured=replace(MEASURED, skew=0.2)), TOP),
        (die(measured=replace(MEASURED, layer=2.2)), TOP),
        (die(measured=replace(MEASURED, layer=0.4)), TOP),
        (die(vote=replace(VOTE, beyond_mm=4.0)), OUTLINE),
        (die(vote=replace(VOTE, spread_mm=1.5)), OUTLINE),
        (die(vote=replace(VOTE, offset=0.1)), PIPS),
        (die(vote=replace(VOTE, sides=-4.0)), SIDES),
    ],
)
def test_each_measurement_speaks_through_its_own_witness(worse, by):
    assert odds(worse, by) < odds(die(), by) - 0.3
    others = {LOOKS, TOP, OUTLINE, PIPS, SIDES} - {by}
    assert all(odds(worse, other) == pytest.approx(odds(die(), other)) for other in others)


def test_side_faces_weigh_less_where_they_look_like_the_floor():
    def pull(contrast):
        clear = replace(VOTE, contrast=contrast)
        return odds(die(vote=clear), SIDES) - odds(die(vote=replace(clear, sides=-4.0)), SIDES)

    assert pull(150.0) > 1.1 * pull(15.0)


def test_neither_side_decides_alone():
    sure = 20.0
    assert not passes(LIMITS.against - 0.1, sure)
    assert not passes(sure, LIMITS.against - 0.1)
    assert not fails(-sure, LIMITS.no_roll_second + 0.1)
    assert not fails(LIMITS.against + 0.1, -sure)


def held(
    gap_mm: float, floor_mm: tuple[float, ...], turn_deg: float = 0.0, through: float = 0.0
) -> DieEvidence:
    """A die whose right side stands so far from a neighbour's."""
    vote = replace(VOTE, x_mm=16.0 + gap_mm, turn_deg=turn_deg)
    other = replace(die(), second=vote, x_mm=50.0)
    one = replace(die(), second=replace(VOTE, floor_mm=floor_mm, through=through))
    return combine([one, other], replace(SCENE, wall_mm=60.0))[0]


def test_contact_speaks_against_a_die_that_a_neighbour_may_hold_up():
    resting = held(1.8, (9.9, 0.5, 0.5, 0.5))
    assert resting.may_rest_on == "a neighbour"
    assert odds(resting, CONTACT) == LIMITS.lean_gap
    assert held(1.8, (1.3, 0.5, 0.5, 0.5)).may_rest_on == "a neighbour"
    assert held(1.8, (0.5, 9.9, 9.9, 9.9)).may_rest_on == ""  # the floor is seen between them
    assert held(0.5, (9.9, 0.5, 0.5, 0.5)).may_rest_on == ""  # a die that leans is farther away
    assert held(4.0, (9.9, 0.5, 0.5, 0.5)).may_rest_on == ""
    assert held(1.8, (9.9, 0.5, 0.5, 0.5), turn_deg=1.0).may_rest_on == "a neighbour"
    assert held(1.8, (9.9, 0.5, 0.5, 0.5), turn_deg=2.0).may_rest_on == ""  # not along an edge
    assert held(1.8, (9.9, 0.5, 0.5, 0.5), through=4.0).may_rest_on == ""  # its far face shows
    assert held(1.8, ()).may_rest_on == ""


def test_contact_speaks_against_a_die_that_the_wall_may_hold_up():
    def at_wall(gap_mm: float, far_mm: float) -> str:
        vote = replace(VOTE, x_mm=30.0, floor_mm=(9.9, 0.5, far_mm, 0.5))
        reach = float(np.hypot(38.0, 8.0))
        return die(vote=vote, scene=replace(SCENE, wall_mm=reach + gap_mm)).may_rest_on

    assert at_wall(2.0, 0.5) == "the wall"
    assert at_wall(2.0, 1.0) == ""  # a side face is seen that a lean hides
    assert at_wall(5.0, 0.5) == ""


def test_pips_that_say_where_a_die_is_say_nothing_of_their_place_on_it():
    assert odds(die(vote=replace(VOTE, offset=0.001)), PIPS) > 1.0
    assert odds(die(vote=replace(VOTE, offset=0.0)), PIPS) == 0.0


def test_no_number_is_too_wild_for_a_sum():
    wild = GeometryReading(
        3, 0.9, support=9.0, sides=-1e6, directions=1, spread_mm=1e9, beyond_mm=-1e9, contrast=1e9
    )
    sums = [
        die(replace(MODEL, flat_p=p), wild, Measured(16.0, 9.0, 90.0, layer)).odds
        for p in (0.0, 1.0)
        for layer in (-1e6, 1e6)
    ]
    assert np.isfinite(sums).all()
    assert max(map(abs, sums)) < 100
