"""The sums for and against flat: each measurement pulls its own way, and neither reader decides."""

from dataclasses import replace

import numpy as np
import pytest

from vision.reading import Measured, ModelVote, SecondVote
from vision.table import flatness

MODEL = ModelVote(3, 0.99, 0.95, 0.9, near_p=0.95, near_lean_deg=1.0)
MEASURED = Measured(edge_mm=16.0, skew=0.01, lean_deg=2.0, layer=1.2)
VOTE = SecondVote(
    3, 0.9, True, support=0.95, sides=3.0, directions=2, spread_mm=0.15, beyond_mm=1.0,
    offset=0.01, contrast=160.0,
)  # fmt: skip


def network(model=MODEL, measured=MEASURED):
    return flatness.NETWORK.sum(flatness.network_features(model, measured))


def outline(vote=VOTE):
    return flatness.OUTLINE.sum(flatness.outline_features(vote))


def test_a_plain_flat_die_is_flat_and_a_plain_cocked_one_is_not():
    assert flatness.is_flat(network(), outline())
    askew = replace(MODEL, flat_p=0.05, near_p=0.02, near_lean_deg=15.0)
    cocked = network(askew, replace(MEASURED, lean_deg=18.0, skew=0.06))
    leaning = outline(replace(VOTE, sides=-8.0, spread_mm=1.5, beyond_mm=4.0))
    assert flatness.is_not_flat(cocked, leaning)


@pytest.mark.parametrize(
    ("less_flat", "by"),
    [
        (network(replace(MODEL, flat_p=0.1)), "looks"),
        (network(replace(MODEL, near_p=0.4)), "near look"),
        (network(replace(MODEL, near_lean_deg=6.0)), "lean of the near look"),
        (network(measured=replace(MEASURED, skew=0.12)), "squareness"),
        (network(measured=replace(MEASURED, above=1.0)), "height"),
    ],
)
def test_each_measurement_of_the_network_pulls_its_own_way(less_flat, by):
    assert less_flat < network() - 0.3, by


@pytest.mark.parametrize("worse", [{"sides": -4.0}, {"beyond_mm": 4.0}, {"spread_mm": 1.5}])
def test_each_measurement_of_the_outline_pulls_its_own_way(worse):
    assert outline(replace(VOTE, **worse)) < outline() - 0.3


def test_side_faces_weigh_less_where_they_cannot_be_told_from_the_floor():
    def pull(contrast):
        clear = replace(VOTE, contrast=contrast)
        return outline(clear) - outline(replace(clear, sides=-4.0))

    assert pull(150.0) > 1.1 * pull(15.0)


def test_the_less_the_outline_says_the_surer_the_networks_must_be():
    least = [
        min(n for n in np.arange(-10, 10, 0.05) if flatness.is_flat(n, o))
        for o in np.arange(flatness.FLAT_LINE[0][0], 8, 0.5)
    ]
    assert least == sorted(least, reverse=True)
    assert least[0] > 3
    assert least[-1] > -3


def test_neither_reader_decides_alone():
    sure = 20.0
    assert not flatness.is_flat(flatness.FLAT_LINE[-1][1] - 0.1, sure)
    assert not flatness.is_flat(sure, flatness.FLAT_LINE[0][0] - 0.1)
    assert not flatness.is_not_flat(-sure, flatness.NOT_FLAT_MOST[1] + 0.1)
    assert not flatness.is_not_flat(flatness.NOT_FLAT_MOST[0] + 0.1, -sure)


def test_an_outline_that_no_cube_fits_speaks_against_one():
    faint = replace(VOTE, contrast=10.0, offset=0.11, sides=4.0, beyond_mm=0.0)
    assert flatness.outline_odds(faint) > 0
    assert flatness.outline_odds(replace(faint, spread_mm=2.5)) < 0
    worse = replace(VOTE, spread_mm=2.5, beyond_mm=6.0, sides=-8.0)
    assert flatness.outline_odds(worse) == flatness.OUTLINE.sum(flatness.outline_features(worse))


def test_no_number_is_too_wild_for_a_sum():
    wild = SecondVote(
        3, 0.9, None, support=9.0, sides=-1e6, directions=1, spread_mm=1e9, beyond_mm=-1e9,
        offset=0.0, contrast=1e9,
    )  # fmt: skip
    sums = [
        network(replace(MODEL, flat_p=p), Measured(16.0, 9.0, 90.0, -1e6, above=a))
        for p in (0.0, 1.0)
        for a in (-1e6, 1e6)
    ]
    assert np.isfinite([outline(wild), *sums]).all()
    assert max(map(abs, (*sums, outline(wild)))) < 100
