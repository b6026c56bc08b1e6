"""The real reader on the rig's own tosses: values that are true, or none.

`verification` counts thousands of tosses; this keeps its promise in a few seconds.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import cv2
import numpy as np
import pytest

from hil_tests.reader.cases import toss_case
from hil_tests.reader.outcomes import examine
from hil_tests.reader.tosses import RigCamera, tosses
from hil_tests.rig.camera.optics import FITTED
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.cube_outlines.reader import SecondReader
from vision.networks.classifier import DieFinder
from vision.table.consensus import FRAMES
from vision.table.motion import StillnessDetector
from vision.table.place import RimSearch
from vision.table.reader import TableReader


@pytest.fixture(scope="module")
def finder():
    cv2.setNumThreads(1)
    return DieFinder()


@pytest.mark.parametrize(("compartment", "least_read"), [("standard", 9), ("rough", 5)])
def test_what_is_accepted_is_true(finder, compartment, least_read):
    geometry = GEOMETRIES[compartment]
    camera = RigCamera(geometry, "white", seed=2)
    reader = TableReader(finder, camera.calibration)
    read = 0
    for toss in itertools.islice(tosses(geometry, seed=21), 10):
        case = toss_case(0, camera, toss, partial(camera.picture, toss, 0.65))
        outcome = examine(reader, case, FRAMES)
        assert not outcome.wrongly_accepted
        read += outcome.said == "right"
        assert outcome.said != "no roll" or toss.truth != "flat"
    assert read >= least_read


@pytest.mark.parametrize("style", ["white", "ivory", "red", "blue", "green", "asian"])
def test_the_second_reader_alone_reads_every_style(style):
    geometry = GEOMETRIES["standard"]
    camera = RigCamera(geometry, style, seed=2)
    reader = SecondReader(camera.calibration)
    exact = 0
    for toss in itertools.islice(tosses(geometry, seed=22), 6):
        values = [die.face.value for die in reader.read(camera.picture(toss)).dice]
        read = [value for value in values if value is not None]
        is_exact = len(values) == 3 and tuple(sorted(read)) == toss.values
        assert is_exact or toss.truth != "flat" or len(read) < 3
        exact += is_exact
    assert exact >= 5


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
