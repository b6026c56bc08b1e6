"""Windows of a picture: which pixel of one is which of the other."""

import cv2
import numpy as np
import pytest

from vision.networks.windows import PADDING, cut


def dotted(x: int, y: int) -> np.ndarray:
    picture = np.full((240, 320, 3), 40, np.uint8)
    cv2.circle(picture, (x, y), 5, (255, 255, 255), -1)
    return picture


def brightest(window: np.ndarray) -> np.ndarray:
    weight = np.clip(window[..., 0].astype(float) - 130, 0, None)
    rows, columns = np.indices(weight.shape)
    return np.array([(columns * weight).sum(), (rows * weight).sum()]) / weight.sum()


@pytest.mark.parametrize("scale", [0.2, 0.5, 0.59, 1.0, 2.5])
@pytest.mark.parametrize("turn_deg", [0.0, 30.0, 200.0])
@pytest.mark.parametrize("stretch", [1.0, 1.5])
def test_a_spot_of_the_window_is_where_the_matrix_says(scale, turn_deg, stretch):
    picture = dotted(155, 106)
    window, back = cut(picture, (160.0, 100.0), scale, turn_deg, 96, stretch)
    assert window.shape == (96, 96, 3)
    at = back[:, :2] @ brightest(window) + back[:, 2]
    assert np.hypot(*(at - (155, 106))) < max(0.5, 0.3 / scale), at


def test_a_positive_turn_is_counter_clockwise():
    window, _ = cut(dotted(180, 100), (160.0, 100.0), 1.0, 90.0, 96)
    x, y = brightest(window)
    assert abs(x - 47.5) < 1
    assert y < 30


@pytest.mark.parametrize("centre", [(-60.0, 100.0), (500.0, 100.0), (160.0, -90.0), (160.0, 400.0)])
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_beside_the_picture_there_is_padding(centre, scale):
    window, _ = cut(dotted(155, 106), centre, scale, 0.0, 32)
    assert (window == PADDING).mean() > 0.4
