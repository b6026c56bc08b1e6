"""What a table sees of its camera and its light before it reads: a dip, a sway, a camera that hangs
still."""

from __future__ import annotations

import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from hil_tests.reader.tosses import RigCamera, tosses
from hil_tests.rig.camera.optics import FITTED
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.table.motion import StillnessDetector
from vision.table.place import RimSearch


def test_the_dip_of_the_rigs_light_is_seen_and_is_no_motion():
    geometry = GEOMETRIES["standard"]
    camera = RigCamera(geometry, "white", seed=2)
    toss = next(tosses(geometry, seed=23))
    watch = StillnessDetector(camera.calibration)
    before = watch.thumbnail(camera.picture(toss))
    for level in np.linspace(0.55, 0.75, 5):
        dipped = watch.thumbnail(camera.picture(toss, float(level)))
        assert not watch.has_moved(before, dipped)
        assert watch.light_ratio(before, dipped) < 0.92


@pytest.mark.parametrize("sway", [(0.25, 0.0), (-0.1, 0.2)])
def test_a_camera_that_sways_is_no_motion_and_a_die_that_slides_under_it_is(sway):
    geometry = GEOMETRIES["rough"]
    camera = RigCamera(geometry, "white", seed=2)
    toss = next(flat for flat in tosses(geometry, seed=23) if flat.truth == "flat")
    slid = replace(toss, position_mm=toss.position_mm + np.array([[0.2, 0, 0], [0] * 3, [0] * 3]))
    move = np.array([[1.0, 0.0, sway[0]], [0.0, 1.0, sway[1]]])
    watch = StillnessDetector(camera.calibration)
    before = watch.thumbnail(camera.picture(toss))
    swayed, under_it = (
        watch.thumbnail(cv2.warpAffine(seen, move, seen.shape[1::-1]))
        for seen in (camera.picture(toss), camera.picture(slid))
    )
    assert not watch.has_moved(before, swayed)
    assert watch.has_moved(before, under_it)


def test_a_camera_that_hangs_still_is_never_told_to_have_moved():
    """The rough wall has several rings: nearby places find one that stands where it must."""
    geometry = GEOMETRIES["rough"]
    camera = RigCamera(geometry, "white", seed=3, lens=FITTED)
    search = RimSearch(camera.calibration)
    for toss in itertools.islice(tosses(geometry, seed=5), 7, 14, 2):
        picture = camera.picture(toss)
        search.restart()
        assert [search.look(picture) for _ in range(8)] == [None] * 8
