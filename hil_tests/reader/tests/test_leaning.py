"""A set-up die leans as asked, inside the compartment and clear of the others; what leans is not
verified for want of a seen gap."""

import numpy as np
import pytest

from hil_tests.reader.leaning import SUPPORTS, lean
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.cube_outlines.reader import SecondReader


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


def test_the_far_face_of_a_clear_die_tells_how_it_lies(tosses):
    """What the side faces say alone is less: half of the flat clear dice of the rig have 1 to 3."""
    camera = RigCamera(GEOMETRIES["standard"], "red", seed=2)
    reader = SecondReader(camera.calibration)

    def evidence(toss: Toss) -> list[float]:
        at = toss.position_mm
        seen = reader.read(camera.picture(toss)).dice
        nearest = [
            min(seen, key=lambda die: np.hypot(die.pose.x_mm - x, die.pose.y_mm + y))
            for x, y, _ in at
        ]
        return [die.sides.evidence for die in nearest]

    for toss in tosses:
        for said, die in zip(evidence(toss), toss.dice, strict=True):
            assert die.value == 5 or said > 4.0, "near pips hide the far ones of a five"
        leaning = toss.tilted(7.0, np.random.default_rng(3), camera.die_mm)
        for said, die in zip(evidence(leaning), leaning.dice, strict=True):
            assert die.is_flat or said < -4.0
