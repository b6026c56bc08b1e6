"""Two cases of each kind that must be refused; `refusals` counts them by the fifties."""

from __future__ import annotations

import cv2
import pytest

from hil_tests.reader.refusals import KINDS, STYLES, judge, stage_of
from hil_tests.reader.tosses import RigCamera, flat_tosses
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.networks.classifier import DieFinder
from vision.reading import Reason, Unreadable, Verified
from vision.table.reader import TableReader


@pytest.fixture(scope="module")
def table():
    cv2.setNumThreads(1)
    geometry = GEOMETRIES["standard"]
    first = RigCamera(geometry, STYLES[0], 3)
    cameras = [first.with_dice(style) for style in STYLES[:3]]
    return cameras, flat_tosses(geometry, 3, 8), TableReader(DieFinder(), cameras[0].calibration)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_three_readable_dice_is_accepted_and_the_reason_is_right(table, kind):
    cameras, pool, reader = table
    verdicts = [judge(reader, KINDS[kind][0](stage_of(n, 3, pool, cameras))) for n in range(2)]
    assert not any(isinstance(verdict, Verified) for verdict in verdicts)
    right = [isinstance(v, Unreadable) and v.reason in KINDS[kind][1] for v in verdicts]
    # What lies under a smear may also look like something else: one of the two will do.
    assert any(right) if kind == "touching, seam smeared" else all(right), verdicts


def test_an_unknown_style_is_told_though_two_of_its_dice_touch(table):
    """Seed 77: in four of these six tosses two dice touch, and were all that was said."""
    cameras, _, reader = table
    pool = flat_tosses(GEOMETRIES["standard"], 77, 8)
    stages = [stage_of(n, 77, pool, cameras) for n in range(6)]
    verdicts = [judge(reader, KINDS["unknown style"][0](stage)) for stage in stages]
    assert [verdict.reason for verdict in verdicts if isinstance(verdict, Unreadable)] == [
        Reason.UNKNOWN_STYLE
    ] * 6
