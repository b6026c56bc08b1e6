"""Both pictures of a stereo camera are watched; one with another number of lenses is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shaker_ctl.adapters.tests.test_camera_moved import Bench
from shaker_ctl.reading.messages import CameraFault
from shaker_ctl.reading.wire import receive
from vision.frame import Frame
from vision.tests.drawing import TABLE, draw, toss

RIGHT = replace(TABLE, compartment_mm=(-30.0, 0.0))
WIDTH = TABLE.image_size[0]


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    return draw(toss(np.random.default_rng(4)), seed=4)


def faults(bench: Bench, image: np.ndarray) -> list[CameraFault]:
    """What is reported of a picture that stays for two seconds."""
    for number in range(4):
        bench.worker._check_quality(Frame(image, 0.5 * number, number).parted(WIDTH))
    found = []
    while bench.link.poll():
        message = receive(bench.link)
        if isinstance(message, CameraFault):
            found.append(message)
    return found


def test_a_stereo_camera_in_order_is_no_fault(picture: np.ndarray) -> None:
    assert not faults(Bench(RIGHT.to_right_table()), np.hstack((picture, picture)))


def test_a_dark_right_lens_is_named(picture: np.ndarray) -> None:
    dark = np.hstack((picture, np.zeros_like(picture)))
    (fault,) = faults(Bench(RIGHT.to_right_table()), dark)
    assert (fault.code, "right lens" in fault.text) == ("black", True)


def test_one_picture_where_two_are_expected_is_named(picture: np.ndarray) -> None:
    (fault,) = faults(Bench(RIGHT.to_right_table()), picture)
    assert fault.code == "wrong-size"
    assert "must send 1280 x 480, both lenses' pictures side by side" in fault.text


def test_two_pictures_where_one_is_expected_are_named(picture: np.ndarray) -> None:
    bench = Bench()
    for number in range(4):
        bench.worker._check_quality(Frame(np.hstack((picture, picture)), 0.5 * number, number))
    fault = receive(bench.link)
    assert isinstance(fault, CameraFault)
    assert fault.code == "wrong-size"
    assert "[camera.second]" in fault.text
