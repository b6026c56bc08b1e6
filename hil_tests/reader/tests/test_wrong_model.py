"""A model that is wrong is caught by the rest of the reader: three of each way to be wrong.

`wrong_model` counts them by the hundreds.
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from hil_tests.reader.tosses import RigCamera, flat_tosses
from hil_tests.reader.wrong_model import LIES, Deceived, lean, says_flat
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.networks.classifier import DieFinder


@pytest.fixture(scope="module")
def table():
    cv2.setNumThreads(1)
    geometry = GEOMETRIES["standard"]
    camera = RigCamera(geometry, "white", seed=8)
    return camera, flat_tosses(geometry, 81, 3), Deceived(DieFinder(), camera.calibration)


def test_the_truth_is_accepted(table):
    camera, pool, deceived = table
    said = [deceived.trial(camera.picture(toss), lambda found, *_: found, 0) for toss in pool]
    assert said.count("accepted") >= 2


@pytest.mark.parametrize("name", LIES)
def test_a_wrong_finding_is_never_accepted(table, name):
    camera, pool, deceived = table
    told = [deceived.trial(camera.picture(toss), LIES[name], 7 + i) for i, toss in enumerate(pool)]
    assert "accepted" not in told
    assert told != ["-"] * len(told)


def test_a_leaning_die_is_not_accepted_because_the_model_calls_it_flat(table):
    camera, pool, deceived = table
    random = np.random.default_rng(5)
    for toss in pool:
        picture = camera.picture(lean(toss, random, GEOMETRIES["standard"].die_mm))
        assert deceived.trial(picture, says_flat, 1) in ("refused", "no roll")
