"""Two cases of each kind that must be refused; `refusal_bench` counts them by the fifties."""

from __future__ import annotations

import cv2
import pytest

from hil_tests.contracts.reading_bench import RigCamera
from hil_tests.contracts.refusal_bench import KINDS, STYLES, cases, flat_tosses, judge
from hil_tests.rig.geometry import GEOMETRIES
from vision.classifier import DieFinder
from vision.reader import TableReader
from vision.reading import Verified


@pytest.fixture(scope="module")
def table():
    cv2.setNumThreads(1)
    geometry = GEOMETRIES["standard"]
    first = RigCamera(geometry, STYLES[0], 3)
    cameras = [first.with_dice(style) for style in STYLES]
    return cameras, flat_tosses(geometry, 3, 8), TableReader(DieFinder(), cameras[0].calibration)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_three_readable_dice_is_accepted(table, kind):
    cameras, pool, reader = table
    for frames in cases(kind, 2, 3, pool, cameras):
        assert not isinstance(judge(reader, frames), Verified), kind
