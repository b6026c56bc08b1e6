"""What the reader relies on in any camera of a rig: rate, size, freshness, the circle it expects.

On a virtual rig the pictures are rendered from true poses; on a bench the camera of the rig file
looks at real dice, or at a monitor with the rendered scene.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import pytest

from hil_tests.report.measurement import Measure
from hil_tests.rig.camera.optics import FITTED
from hil_tests.rig.camera.stream import Camera
from hil_tests.rig.plant.joint import PlantInputs
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.plant.snapshot import SceneBoard
from hil_tests.rig.rigfile import PartKind, RigFile

FRAMES = 45
DIFFERS = 12.0
"""Grey levels of 255 by which a ring that is not floor differs from the floor."""


class Stream:
    """An opened stream, with what its calibration promises."""

    def __init__(self, url: str, calibration: dict[str, Any], lenses: int = 1) -> None:
        self.capture = cv2.VideoCapture(url)
        self.calibration, self.lenses = calibration, lenses

    def frames(self, count: int) -> list[tuple[float, np.ndarray]]:
        """Frames with the moments at which they came."""
        found = []
        for _ in range(count):
            is_read, picture = self.capture.read()
            assert is_read
            found.append((time.monotonic(), picture))
        return found


@pytest.fixture(scope="module")
def stream(rig_table: RigFile) -> Iterator[Stream]:
    """This rig's camera, dice at rest, ring light full."""
    if rig_table.camera.is_ is PartKind.DEVICE:
        opened = Stream(rig_table.camera.url, rig_table.camera.calibration)
        yield opened
        opened.capture.release()
        return
    board = SceneBoard()
    plant = Plant(seed=4, board=board)
    for step in range(5):
        plant.update(time.monotonic() + step * 0.001, PlantInputs(ring_light=1.0))
    camera = Camera(plant.geometry, board, seed=4, lens=FITTED)
    middle = camera.lens.project(np.zeros(3))
    size, scale = camera.as_delivered["image_size"], camera.lens.floor_px_per_mm
    sizes = {"image_size": size, "centre_px": middle, "floor_px_per_mm": scale}
    radius_mm = plant.geometry.radius_mm
    whole = {**sizes, "compartment_radius_mm": radius_mm}
    opened = Stream(camera.url, whole, camera.as_delivered["lenses"])
    yield opened
    opened.capture.release()
    camera.close()
    board.close()


def test_pictures_have_the_calibrated_size_and_come_often_enough(
    stream: Stream, measure: Measure
) -> None:
    stream.frames(5)
    frames = stream.frames(FRAMES)
    width, height = stream.calibration["image_size"]
    whole = (height, width * stream.lenses, 3)
    assert all(picture.shape == whole for _, picture in frames)
    gaps_ms = [1000 * (b - a) for (a, _), (b, _) in pairwise(frames)]
    rate = (FRAMES - 1) / (frames[-1][0] - frames[0][0])
    measure("frames a second", rate, "1/s", lower=20)
    measure("gap between frames, median", sorted(gaps_ms)[FRAMES // 2], "ms", upper=50)


def test_no_two_pictures_are_the_same_even_at_rest(stream: Stream) -> None:
    """A real sensor has noise: identical pictures are a frozen stream."""
    frames = stream.frames(10)
    assert all((a != b).any() for (_, a), (_, b) in pairwise(frames))


def test_the_compartment_is_where_the_calibration_has_it(stream: Stream, measure: Measure) -> None:
    """Inside the calibrated circle lies one even floor; on it there is an edge all around."""
    _, picture = stream.frames(1)[0]
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(float)
    x, y = stream.calibration["centre_px"]
    scale = float(stream.calibration["floor_px_per_mm"])
    radius = float(stream.calibration["compartment_radius_mm"]) * scale
    height, width = grey.shape
    around = np.linspace(0, 2 * np.pi, 180, endpoint=False)

    def ring(share: float) -> np.ndarray:
        columns = np.clip(x + share * radius * np.cos(around), 0, width - 1).astype(int)
        rows = np.clip(y + share * radius * np.sin(around), 0, height - 1).astype(int)
        return np.asarray(grey[rows, columns])

    floor = np.median([np.median(ring(share)) for share in np.arange(0.3, 0.85, 0.05)])
    shares = np.arange(0.80, 1.21, 0.01)
    differs = [abs(np.median(ring(share)) - floor) > DIFFERS for share in shares]
    edge = float(shares[differs.index(True)]) if True in differs else float("nan")
    measure("radius at which the floor ends, of the calibrated one", edge, "", lower=0.9, upper=1.1)
