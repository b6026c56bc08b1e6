"""A camera that was bumped is named, at the start and later; a shaking plate is no such thing."""

from __future__ import annotations

import time
from dataclasses import replace
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pytest

from shaker_ctl.adapters.camera.dice_reader import LOST
from shaker_ctl.adapters.camera.grabber import Shot
from shaker_ctl.adapters.camera.process import CameraWorker, _shows_no_rim
from shaker_ctl.reading.messages import CameraFault, CameraRecovered
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.reading.wire import receive
from shaker_ctl.rules.vocabulary import FaultKind
from shaker_ctl.service.fault_queue import FaultQueue
from vision.frame import Frame
from vision.tests.drawing import TABLE, draw, toss

HALF_A_SECOND = 15
"""Frames between two looks at the picture's quality."""


class Bench:
    """A worker without its camera: frames are handed to its judgement."""

    def __init__(self, second: dict[str, Any] | None = None) -> None:
        self.link, theirs = Pipe()
        table = TABLE.to_table()
        seen = table if second is None else table | {"second": second}
        self.worker = CameraWorker(theirs, replace(CameraParameters().setup(), calibration=seen))
        self._number = 0

    def look(self, before: np.ndarray, image: np.ndarray) -> None:
        """One look: the frame before, and the one that is judged."""
        self._number += HALF_A_SECOND
        t = self._number / 30.0
        self.worker._previous = Shot(before, t - 1 / 30, self._number - 1)
        self.worker._check_quality(Frame(image, t, self._number))

    def watch(self, image: np.ndarray, seconds: float) -> None:
        """So long a view of a picture in which nothing moves."""
        for _ in range(round(2 * seconds)):
            self.look(image, image)
            for _ in range(HALF_A_SECOND):
                quality = self.worker._quality
                if quality is not None and _shows_no_rim(quality):
                    self._number += 1
                    t = self._number / 30.0
                    self.worker._previous = Shot(image, t - 1 / 30, self._number - 1)
                    self.worker._look_elsewhere(Frame(image, t, self._number))

    def said(self) -> list[str]:
        """Codes of faults, and of those that are over with a minus, since the last call."""
        codes = []
        while self.link.poll():
            message = receive(self.link)
            if isinstance(message, CameraFault):
                codes.append(message.code)
                self.remedy = message.remedy
            elif isinstance(message, CameraRecovered):
                codes.append(f"-{message.code}")
        return codes


@pytest.fixture(scope="module")
def scene() -> np.ndarray:
    return draw(toss(np.random.default_rng(4)), seed=4)


def bumped(image: np.ndarray, by: int = 9) -> np.ndarray:
    return np.roll(image, by, axis=1)


def test_a_bumped_camera_is_named_once_nothing_moves_for_two_seconds(scene: np.ndarray) -> None:
    bench = Bench()
    for _ in range(3):
        bench.look(bumped(scene), bumped(scene))
        assert bench.said() == []
    bench.look(bumped(scene), bumped(scene))
    assert bench.said() == ["camera-moved"]
    assert "calibrate camera" in bench.remedy
    for _ in range(2):
        bench.look(scene, scene)
    assert bench.said() == ["-camera-moved"]


def test_a_shaking_plate_is_no_moved_camera(scene: np.ndarray) -> None:
    bench = Bench()
    for turn in range(10):
        bench.look(bumped(scene, -6 if turn % 2 else 12), bumped(scene, 9))
    assert bench.said() == []


def test_a_camera_knocked_so_far_that_its_rim_is_out_of_reach_is_named_too(
    scene: np.ndarray,
) -> None:
    bench = Bench()
    knocked = np.roll(scene, (-21, 34), axis=(0, 1))
    bench.watch(knocked, 12.0)
    assert bench.said()[-1] == "camera-moved"
    bench.watch(scene, 1.0)
    assert "-camera-moved" in bench.said()


def test_a_hand_over_the_dome_is_no_moved_camera(scene: np.ndarray) -> None:
    bench = Bench()
    hidden = scene.copy()
    hidden[:, :330] = 12
    bench.watch(hidden, 8.0)
    assert "camera-moved" not in bench.said()


def test_a_frame_long_after_the_one_before_proves_no_rest(scene: np.ndarray) -> None:
    bench = Bench()
    for _ in range(6):
        bench.look(bumped(scene), bumped(scene))
        bench.worker._previous = None
    assert bench.said() == ["camera-moved"]
    bench = Bench()
    for _ in range(6):
        bench.worker._previous = None
        bench.worker._check_quality(Frame(bumped(scene), 1.0, 1))
    assert bench.said() == []


def test_it_counts_as_a_lost_reader_with_a_remedy() -> None:
    assert "camera-moved" in LOST
    queue = FaultQueue()
    queue.raise_(FaultKind.READER, "camera-moved", 0.0)
    (fault,) = queue.standing()
    assert "shaker-ctl calibrate camera" in fault.remedy


def test_a_camera_that_stops_behind_a_waiting_driver_is_silent_after_the_time_of_the_settings() -> (
    None
):
    bench = Bench()
    worker, grabber = bench.worker, bench.worker._grabber
    worker._is_ready = True
    now = time.monotonic()
    grabber._newest = now - 0.4
    worker._beat(now)
    assert bench.said() == []
    grabber._newest = now - 0.6
    worker._beat(now)
    assert bench.said() == ["camera-silent"]
