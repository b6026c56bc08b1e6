"""The camera is opened and read like any other, and fails in the ways that cameras fail."""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from hil_tests.rig.camera.card import Card
from hil_tests.rig.camera.stream import Camera, CameraPortError
from hil_tests.rig.plant.geometry import STANDARD
from hil_tests.rig.plant.joint import PlantInputs
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.plant.snapshot import SceneBoard

pytestmark = pytest.mark.rig


@pytest.fixture(scope="module")
def camera() -> Iterator[Camera]:
    board = SceneBoard()
    plant = Plant(STANDARD, "white", seed=3, board=board)
    plant.update(time.monotonic(), PlantInputs(ring_light=1.0))
    camera = Camera(STANDARD, board, seed=1)
    try:
        yield camera
    finally:
        camera.close()
        board.close()


@pytest.fixture
def stream(camera: Camera) -> Iterator[cv2.VideoCapture]:
    capture = cv2.VideoCapture(camera.url)
    assert capture.isOpened()
    yield capture
    capture.release()
    camera.clear()


def test_opencv_opens_it_and_reads_640_by_480(stream: cv2.VideoCapture) -> None:
    for _ in range(5):
        is_read, frame = stream.read()
        assert is_read
        assert frame.shape == (480, 640, 3)
    assert frame.mean() > 30.0


def test_frames_come_thirty_a_second(camera: Camera, stream: cv2.VideoCapture) -> None:
    stream.read()
    before, began = camera.status().frames, time.monotonic()
    time.sleep(1.0)
    rate = (camera.status().frames - before) / (time.monotonic() - began)
    assert rate == pytest.approx(30.0, abs=6.0)


def test_nothing_is_painted_while_nobody_looks(camera: Camera) -> None:
    deadline = time.monotonic() + 5.0
    while camera.status().clients and time.monotonic() < deadline:
        time.sleep(0.05)
    before = camera.status().frames
    time.sleep(0.3)
    assert camera.status().frames <= before + 1


def test_page_shows_the_stream(camera: Camera) -> None:
    page = urllib.request.urlopen(camera.url.replace("/camera.mjpg", "/"), timeout=5).read()
    assert b'src="/camera.mjpg"' in page


def test_a_buyer_is_told_what_is_printed_on_the_box_and_nothing_of_the_lens(camera: Camera) -> None:
    assert set(camera.as_delivered) == {"url", "serial", "image_size", "ruler_mm", "lenses"}


def test_a_card_lies_in_every_picture_until_it_is_taken_out(camera: Camera) -> None:
    def brightness() -> float:  # of a stream of its own: on a busy machine one lags behind
        return float(newest(cv2.VideoCapture(camera.url)).mean())

    dice = brightness()
    camera.lay_card(Card(np.full((900, 900), 255, np.uint8), 9.0, 49.5))
    assert brightness() > dice + 40
    camera.lay_card(None)
    assert abs(brightness() - dice) < 2


def newest(stream: cv2.VideoCapture) -> np.ndarray:
    """A frame that was made after everything that came before this call."""
    for _ in range(12):
        is_read, frame = stream.read()
        assert is_read
    return frame


def test_frozen_stream_repeats_one_picture_without_new_grain(
    camera: Camera, stream: cv2.VideoCapture
) -> None:
    newest(stream)
    camera.inject("frozen")
    first, second = newest(stream), newest(stream)
    assert np.array_equal(first, second)
    camera.clear("frozen")
    assert not np.array_equal(newest(stream), second)


@pytest.mark.parametrize(
    ("fault", "low", "high"), [("black", 0.0, 15.0), ("over_exposed", 130.0, 255.0)]
)
def test_brightness_faults_show(
    camera: Camera, stream: cv2.VideoCapture, fault: str, low: float, high: float
) -> None:
    camera.inject(fault)
    assert low <= newest(stream).mean() <= high


def test_dead_stream_stalls_and_comes_back(camera: Camera, stream: cv2.VideoCapture) -> None:
    stream.read()
    camera.inject("dead")
    time.sleep(0.2)
    before = camera.status().frames
    time.sleep(0.3)
    assert camera.status().frames == before
    camera.clear()
    assert newest(stream) is not None


def test_closed_camera_refuses_and_reopens(camera: Camera) -> None:
    camera.inject("closed")
    assert not cv2.VideoCapture(camera.url).isOpened()
    camera.clear()
    capture = cv2.VideoCapture(camera.url)
    assert capture.read()[0]
    capture.release()


def test_a_taken_port_is_told_to_whoever_chose_it(capfd: pytest.CaptureFixture[str]) -> None:
    board = SceneBoard()
    try:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(CameraPortError, match=f"port {port}: Address already in use"):
                Camera(STANDARD, board, port=port)
    finally:
        board.close()
    assert capfd.readouterr().err == ""


def test_a_camera_that_cannot_paint_ends_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    board = SceneBoard()
    plant = Plant(STANDARD, "white", seed=3, board=board)
    plant.dice_style = "plaid"  # Nothing in the rig lets this happen.
    plant.update(time.monotonic(), PlantInputs(ring_light=1.0))
    camera = Camera(STANDARD, board, seed=1)
    try:
        capture = cv2.VideoCapture(camera.url)
        capture.release()
        deadline = time.monotonic() + 10.0
        while camera.is_running and time.monotonic() < deadline:
            time.sleep(0.05)
        with pytest.raises(RuntimeError, match="has ended"):
            camera.status()
        assert "no dice style 'plaid'" in capfd.readouterr().err
    finally:
        camera.close()
        board.close()
