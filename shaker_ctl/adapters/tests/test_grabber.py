"""Grabs: the camera's own files are compared as they are, and decoded when somebody looks."""

from __future__ import annotations

import threading
import time

import cv2
import numpy as np
import pytest

from hil_tests.waiting import until
from shaker_ctl.adapters.camera.grabber import Grabber, Shot
from shaker_ctl.errors import CameraError
from vision.tests.drawing import Die, draw

PICTURE = draw([Die(-20, -10, 15, 6)])
OTHER = draw([Die(-20, -10, 15, 6)], seed=9)


def coded(image: np.ndarray) -> np.ndarray:
    """As a capture that does not decode hands a JPEG file over: (1, N) uint8."""
    return np.asarray(cv2.imencode(".jpg", image)[1]).reshape(1, -1)


def with_comment(file: np.ndarray, words: bytes) -> np.ndarray:
    """The same picture with a comment segment behind the file's first marker."""
    content = file.tobytes()
    segment = b"\xff\xfe" + (len(words) + 2).to_bytes(2, "big") + words
    return np.frombuffer(content[:2] + segment + content[2:], np.uint8).reshape(1, -1)


def test_the_picture_is_what_the_cameras_file_shows() -> None:
    file = coded(PICTURE)
    frame = Shot(file, 1.5, 7).frame()
    assert frame is not None
    assert frame.jpeg == file.tobytes()
    shown = cv2.imdecode(file, cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.array_equal(frame.image, shown)
    assert (frame.t_capture, frame.sequence) == (1.5, 7)


def test_a_picture_without_a_file_is_taken_as_it_is() -> None:
    frame = Shot(PICTURE, 1.5, 7).frame()
    assert frame is not None
    assert frame.image is PICTURE
    assert frame.jpeg == b""


@pytest.mark.parametrize("taken", [coded, np.asarray])
def test_grabs_are_told_apart_without_decoding(taken, monkeypatch) -> None:
    monkeypatch.setattr(cv2, "imdecode", None)
    one, same, other = (Shot(taken(image), 0.0, 1) for image in (PICTURE, PICTURE.copy(), OTHER))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_a_replayed_picture_with_another_comment_is_the_same_picture() -> None:
    file = coded(PICTURE)
    replayed = Shot(with_comment(file, b"frame 4711"), 0.0, 2)
    assert replayed.frame() is not None
    assert replayed.fingerprint == Shot(file, 0.0, 1).fingerprint


def test_a_picture_is_decoded_once(monkeypatch) -> None:
    shot = Shot(coded(PICTURE), 0.0, 1)
    assert shot.frame() is not None
    monkeypatch.setattr(cv2, "imdecode", None)
    assert shot.frame() is shot.frame()


def test_a_file_that_is_no_picture_has_no_frame() -> None:
    shot = Shot(np.arange(200, dtype=np.uint8).reshape(1, -1), 0.0, 1)
    assert shot.frame() is None
    assert shot.frame() is None


@pytest.mark.parametrize("is_coded", [True, False])
def test_the_pictures_of_two_lenses_are_parted(is_coded: bool) -> None:
    taken = coded(PICTURE) if is_coded else PICTURE
    width = PICTURE.shape[1] // 2
    frame = Shot(taken, 0.0, 1, width).frame()
    whole = Shot(taken, 0.0, 1).frame()
    assert frame is not None
    assert whole is not None
    assert frame.right is not None
    assert np.array_equal(np.hstack((frame.image, frame.right)), whole.image)
    assert whole.right is None


class Capture:
    """A camera that sends files for ever."""

    def __init__(self) -> None:
        self.file = coded(PICTURE)

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def grab(self) -> bool:
        return True

    def retrieve(self):
        return True, self.file

    def get(self, number: int) -> float:
        return 0.0

    def set(self, number: int, value: float) -> bool:
        return True

    def release(self) -> None:
        pass


def test_a_stream_that_nobody_looks_at_is_not_decoded(monkeypatch) -> None:
    decoded: list[int] = []
    decode = cv2.imdecode

    def counted(*arguments):
        decoded.append(1)
        return decode(*arguments)

    monkeypatch.setattr(cv2, "imdecode", counted)
    grabber = Grabber(0, Capture, frames_per_s=30.0, on_trouble=lambda _: None)
    grabber.start()
    try:
        assert grabber.next(5, 10.0) is not None
        assert not decoded
        assert grabber.newest is not None
        assert decoded
    finally:
        grabber.stop()


class Stopping(Capture):
    """A camera that stops after some frames, behind a driver that goes on waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 5
        self.goes_on = threading.Event()

    def grab(self) -> bool:
        self.left -= 1
        if self.left < 0:
            self.goes_on.wait(10.0)
            self.left = 1 << 30
        return True


def test_silence_is_noticed_while_the_driver_still_waits_and_is_over_with_the_next_frame() -> None:
    camera, trouble = Stopping(), list[str | None]()
    grabber = Grabber(0, lambda: camera, frames_per_s=30.0, on_trouble=trouble.append)
    grabber.start()
    try:
        until(lambda: grabber.state.frames == 5)
        grabber.judge_silence(60.0)
        assert trouble == []
        time.sleep(0.06)
        grabber.judge_silence(0.05)
        grabber.judge_silence(0.05)
        assert trouble == ["the camera 0 stopped giving frames"]
        camera.goes_on.set()
        until(lambda: trouble[-1] is None)
        assert trouble == ["the camera 0 stopped giving frames", None]
    finally:
        grabber.stop()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("numpy.dtype size changed"), "fails: ValueError: numpy.dtype size changed"),
        (CameraError("no rpicam-vid", remedy="Install it"), "fails: no rpicam-vid. Install it"),
    ],
)
def test_whatever_an_opener_raises_is_a_trouble_with_a_name_and_tried_again(
    error: Exception, said: str
) -> None:
    tries, trouble = list[int](), list[str | None]()

    def opened() -> Capture:
        tries.append(1)
        if len(tries) == 1:
            raise error
        return Capture()

    grabber = Grabber("/dev/video0", opened, frames_per_s=30.0, on_trouble=trouble.append)
    grabber.start()
    try:
        assert grabber.next(1, 10.0) is not None
        assert trouble == [f"the camera '/dev/video0' {said}", None]
    finally:
        grabber.stop()
