"""What is read of a picture is what its file shows."""

from __future__ import annotations

import cv2
import numpy as np

from shaker_ctl.reading.kept_picture import kept
from vision.frame import Frame
from vision.tests.drawing import Die, draw

IMAGE = draw([Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)])


def test_the_file_shows_exactly_what_is_read() -> None:
    seen = kept(Frame(IMAGE, 1.5, 7))
    again = cv2.imdecode(np.frombuffer(seen.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert again is not None
    assert np.array_equal(again, seen.image)
    assert (seen.t_capture, seen.sequence) == (1.5, 7)
    assert float(np.abs(seen.image.astype(int) - IMAGE).mean()) < 6.0


def test_the_cameras_own_file_is_kept_as_it_is() -> None:
    frame = Frame(IMAGE, 1.5, 7, jpeg=b"as it came")
    assert kept(frame) is frame


def test_one_file_shows_what_both_lenses_of_a_stereo_camera_show() -> None:
    right = np.ascontiguousarray(IMAGE[:, ::-1])
    seen = kept(Frame(np.hstack((IMAGE, right))).parted(IMAGE.shape[1]))
    again = cv2.imdecode(np.frombuffer(seen.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert again is not None
    assert seen.right is not None
    assert np.array_equal(again, np.hstack((seen.image, seen.right)))
    assert float(np.abs(seen.right.astype(int) - right).mean()) < 6.0


def test_a_picture_of_another_width_is_not_parted() -> None:
    assert Frame(IMAGE).parted(IMAGE.shape[1]).right is None
