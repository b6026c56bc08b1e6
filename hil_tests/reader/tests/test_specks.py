"""A disc lies where its kind says, and a speck that makes another legal face is not verified."""

from typing import Any

import cv2
import numpy as np
import pytest

from hil_tests.reader.cases import toss_case
from hil_tests.reader.picture_damage import disc, top_corners
from hil_tests.reader.samples import RIG
from hil_tests.reader.specks import PLACES, place_in_shot, place_mm
from hil_tests.reader.tosses import flat_tosses
from hil_tests.rig.plant.looks import pip_places
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import Verified
from vision.table.reader import TableReader


@pytest.fixture(scope="module")
def tosses():
    return flat_tosses(RIG.compartments["standard"], 11, 8)


@pytest.mark.parametrize("value", range(1, 7))
def test_a_face_has_its_pips_and_the_other_places_are_empty(value):
    assert len(pip_places(value)) == value
    assert len(pip_places(value, are_empty=True)) == 9 - value


@pytest.mark.parametrize("kind", PLACES)
def test_a_disc_lies_on_a_top_face_or_on_the_dome(tosses, kind):
    random = np.random.default_rng(2)
    for _ in range(20):
        toss = tosses[int(random.integers(8))]
        at = place_mm(kind, toss, 16.0, random)
        gap = np.abs(toss.position_mm[:, :2] - at[:2]).max(axis=1).min()
        assert kind == "dome" or gap < 16.0 * 0.75
        assert at[2] == pytest.approx(16.0, abs=0.5)


@pytest.mark.parametrize(
    ("grey", "values", "radius_px"),
    [(30, (2, 4), 6.5), (240, (3, 5), 6.5), (240, (3, 5), 8.0), (230, (3, 5), 8.0)],
    ids=["dark", "bright", "bright and large", "as bright as the face"],
)
def test_a_spot_in_the_middle_that_makes_another_legal_face_is_not_verified(
    tosses, grey, values, radius_px
):
    cv2.setNumThreads(1)
    camera = RIG.camera("standard", 0, 0, 11)
    reader = TableReader(DieFinder(), camera.calibration)
    tried = 0
    for toss in tosses:
        for number, die in enumerate(toss.dice):
            if die.value not in values or tried == 6:
                continue
            tried += 1
            middle = camera.to_px((toss.position_mm[number] + (0, 0, 8.0))[None])[0]
            picture = disc(camera.picture(toss), middle, radius_px, grey, 1.5)
            opinion = reader.read(Frame(picture)).opinion
            assert not isinstance(opinion, Verified) or tuple(sorted(opinion.values)) == toss.values
    assert tried >= 3


def test_in_a_shot_a_disc_lies_on_a_top_face_or_on_the_dome():
    camera = RIG.camera("standard", 0, 0, 11)
    toss = flat_tosses(RIG.compartments["standard"], 11, 1)[0]
    case = toss_case(0, camera, toss, lambda: camera.picture(toss))
    labels: list[dict[str, Any]] = [
        {"corners": top_corners(camera, toss, number) + 0.5, "value": die.value}
        for number, die in enumerate(toss.dice)
    ]
    middles = np.array([label["corners"].mean(axis=0) for label in labels])
    random = np.random.default_rng(3)
    for kind in PLACES:
        for _ in range(20):
            at = place_in_shot(case, labels, kind, random)
            gap = np.linalg.norm(middles - at, axis=1).min()
            assert kind == "dome" or gap < 0.75 * case.calibration.die_px
            assert kind != "centre" or gap < 0.05 * case.calibration.die_px
