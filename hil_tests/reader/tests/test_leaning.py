"""A set-up die leans as asked, inside the compartment and clear of the others; what leans is not
verified for want of a seen gap."""

import numpy as np
import pytest

from hil_tests.reader.leaning import SUPPORTS, lean
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import flat_tosses
from hil_tests.rig.plant.geometry import GEOMETRIES


@pytest.fixture(scope="module")
def tosses():
    return flat_tosses(RIG.compartments["standard"], 17, 3)


@pytest.mark.parametrize("support", SUPPORTS)
def test_a_die_leans_as_asked_and_lies_on_the_floor(tosses, support):
    random, made = np.random.default_rng(4), []
    radius = GEOMETRIES["standard"].radius_mm
    cube = np.array([[x, y, z] for x in (-8, 8) for y in (-8, 8) for z in (-8, 8)], float)
    for number in range(300):
        toss = lean(tosses[number % 3], support, 7.0, radius, 16.0, random)
        if toss is None:
            continue
        made.append(toss)
        assert toss.dice[0].tilt_deg == pytest.approx(7.0, abs=0.01)
        assert toss.truth == "not flat"
        corners = cube @ toss.rotation[0].T + toss.position_mm[0]
        assert corners[:, 2].min() == pytest.approx(0.0, abs=1e-6)
        assert np.hypot(*corners[:, :2].T).max() < radius
    assert made
    if support == "neighbour":
        gaps = [np.hypot(*(t.position_mm[1] - t.position_mm[0])[:2]) for t in made]
        assert max(gaps) < 19.0
