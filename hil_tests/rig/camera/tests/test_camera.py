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
from hil_tests.rig.camera.faults import CAMERA_FAULTS, CameraFaults
from hil_tests.rig.camera.stream import Camera, CameraPortError
from hil_tests.rig.camera.weather import WEATHER
from hil_tests.rig.plant.geometry import STANDARD
from hil_tests.rig.plant.joint import PlantInputs
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.plant.snapshot import BEHIND_S, SceneBoard

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
    assert set(camera.as_delivered) == {"url", "serial", "image_size", "ruler_mm"}


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


def test_a_card_lies_in_every_picture_until_it_is_taken_out(camera: Camera) -> None:
    stream = cv2.VideoCapture(camera.url)
    dice = newest(stream).astype(float)
    camera.lay_card(Card(np.full((900, 900), 255, np.uint8), 9.0, 49.5))
    card = newest(stream).astype(float)
    camera.lay_card(None)
    assert card.mean() > dice.mean() + 40
    assert abs(newest(stream).astype(float).mean() - dice.mean()) < 2
    stream.release()


def newest(stream: cv2.VideoCapture) -> np.ndarray:
    """A frame that was made after everything that came before this call."""
    for _ in range(12):
        is_read, frame = stream.read()
        assert is_read
    return frame


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


def test_unknown_fault_is_refused_with_the_known_ones(camera: Camera) -> None:
    with pytest.raises(KeyError, match="defocused"):
        camera.inject("sneeze")
    with pytest.raises(TypeError, match="seconds"):
        camera.inject("late", minutes=1.0)
    with pytest.raises(ValueError, match=r"0\.1 to 30"):
        camera.inject("slow", fps=0.0)


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


def pictures(count: int) -> list[np.ndarray]:
    return [np.full((480, 640, 3), k, np.uint8) for k in range(count)]


@pytest.mark.parametrize("fault", list(CAMERA_FAULTS))
def test_every_fault_can_be_injected_and_cleared(fault: str) -> None:
    faults = CameraFaults(30.0)
    for k, picture in enumerate(pictures(40)):
        faults.on_jpeg(k / 30.0, bytes([k]) * 2000)
        faults.on_picture(picture)
    faults.inject(fault)
    assert list(faults.active) == [fault]
    shown = faults.on_picture(np.full((480, 640, 3), 99, np.uint8))
    assert shown.dtype == np.uint8
    faults.heal()
    assert faults.active == {}


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
