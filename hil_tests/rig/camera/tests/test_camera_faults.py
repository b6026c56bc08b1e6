"""What each fault does to a picture or to the stream, without a camera's process."""

from __future__ import annotations

import numpy as np
import pytest

from hil_tests.rig.camera.faults import CameraFaults
from hil_tests.rig.camera.optics import FITTED
from hil_tests.rig.camera.weather import WEATHER
from hil_tests.rig.plant.snapshot import BEHIND_S, SceneBoard


def test_no_picture_shows_dice_at_rest_because_the_computer_of_the_machine_is_late() -> None:
    board = SceneBoard()
    try:
        lies, turned = np.zeros((3, 3)), np.tile(np.eye(3), (3, 1, 1))
        for at_s, height_mm in ((0.0, 9.0), (0.002, 8.0)):
            board.record(at_s, 1.0, 0.0, lies + height_mm, turned)
        assert not board.is_behind(0.02)
        assert board.is_behind(0.01 + BEHIND_S)
        board.record(0.004, 1.0, 0.0, lies + 8.0, turned)
        assert not board.is_behind(60.0), "a machine at rest has nothing to be late for"
    finally:
        board.close()


@pytest.mark.parametrize("name", WEATHER)
def test_weather_changes_a_picture_and_keeps_what_can_be_seen_in_it(name: str) -> None:
    v, u = np.mgrid[0:480, 0:640]
    checks = np.where((u // 40 + v // 40) % 2, 190, 60).astype(np.uint8)
    picture = np.stack([checks, np.minimum(checks, 170), checks], axis=-1)
    faults = CameraFaults(30.0)
    faults.inject(name)
    first, second = (faults.on_picture(picture, 10.0 + k / 30.0) for k in range(2))
    assert first.shape == picture.shape
    assert first.dtype == np.uint8
    assert (second != picture).any()
    assert np.corrcoef(second.ravel(), picture.ravel())[0, 1] > 0.9


def test_a_breathing_picture_is_never_the_same_and_a_hot_pixel_stays() -> None:
    picture = np.full((480, 640, 3), 90, np.uint8)
    picture[200:280, 280:360] = 220
    faults = CameraFaults(30.0)
    faults.inject("breathing")
    assert (faults.on_picture(picture, 1.0) != faults.on_picture(picture, 1.03)).any()
    faults.heal()
    faults.inject("hot_pixels", count=12)
    hot = [faults.on_picture(picture, at_s) == 250 for at_s in (1.0, 9.0)]
    assert (hot[0] == hot[1]).all()
    assert hot[0].sum() == 12


@pytest.mark.parametrize(("name", "is_apart"), [("dirty_dome", True), ("shifted", False)])
def test_each_lens_of_a_stereo_camera_shows_what_is_wrong(name: str, is_apart: bool) -> None:
    v, u = np.mgrid[0:480, 0:640]
    one = np.repeat(np.where((u // 40 + v // 40) % 2, 190, 60).astype(np.uint8)[..., None], 3, 2)
    faults = CameraFaults(30.0, FITTED)
    faults.inject(name)
    left, right = np.hsplit(faults.on_picture(np.hstack([one, one]), 1.0), 2)
    assert (left != one).any()
    assert (right != one).any()
    assert (left != right).any() == is_apart, "the dome is nearer than the floor, and lies apart"


def test_one_lens_alone_may_be_dark() -> None:
    faults = CameraFaults(30.0, FITTED)
    faults.inject("black", lens=2)
    left, right = np.hsplit(faults.on_picture(np.full((480, 1280, 3), 90, np.uint8)), 2)
    assert (left == 90).all()
    assert right.max() < 10


def pictures(count: int) -> list[np.ndarray]:
    return [np.full((480, 640, 3), k, np.uint8) for k in range(count)]


def test_late_stream_sends_what_was_taken_then() -> None:
    faults = CameraFaults(30.0)
    faults.inject("late", seconds=1.0)
    sent = [faults.on_jpeg(k / 30.0, bytes([k])) for k in range(60)]
    assert sent[:30] == [None] * 30
    assert sent[45] == bytes([15])


def test_looped_stream_replays_the_last_seconds() -> None:
    faults = CameraFaults(30.0)
    for k in range(60):
        faults.on_jpeg(k / 30.0, bytes([k]))
    faults.inject("looped", seconds=0.1)
    assert faults.needs_no_picture()
    assert [faults.replay() for _ in range(4)] == [
        bytes([57]),
        bytes([58]),
        bytes([59]),
        bytes([57]),
    ]


def test_torn_picture_holds_two_moments() -> None:
    faults = CameraFaults(30.0)
    for picture in pictures(20):
        faults.on_picture(picture)
    faults.inject("torn", seconds=0.3)
    torn = faults.on_picture(np.full((480, 640, 3), 200, np.uint8))
    assert torn[0, 0, 0] == 200
    assert torn[-1, 0, 0] == 11
