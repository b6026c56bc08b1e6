"""The doctor tells a rig's camera that exposes by itself from one that does not."""

from pathlib import Path

import cv2
import pytest

from hil_tests.reader.samples import seen_by
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses
from hil_tests.rig.camera.stream import FPS
from hil_tests.rig.plant.geometry import GEOMETRIES
from shaker_ctl.adapters.camera.small_picture import brightness, small_jpeg
from shaker_ctl.doctor.camera import DIMMED, DIMMED_S, SHORT_S, Dimming

RIGS = Path(__file__).parents[1] / "rigs"


def levels(camera: RigCamera, toss: Toss, light: float, seconds: float) -> list[float]:
    shots = (camera.picture(toss, light) for _ in range(round(seconds * FPS)))
    return [brightness(small_jpeg(cv2.resize(shot, None, fx=0.5, fy=0.5))) for shot in shots]


@pytest.mark.parametrize(("file", "moves"), [("second_look.toml", False), ("neglected.toml", True)])
def test_only_the_neglected_camera_s_exposure_moves(file: str, moves: bool):
    (toss,) = flat_tosses(GEOMETRIES["standard"], 5, 1)
    camera = seen_by(RIGS / file).camera("standard", 0, 0, 5)
    seen = Dimming(
        levels(camera, toss, 1.0, SHORT_S),
        levels(camera, toss, DIMMED, DIMMED_S),
        levels(camera, toss, 1.0, DIMMED_S),
    )
    assert seen.answers
    assert bool(seen.moved) == moves
