"""A console's picture fits its line and still shows what is on it."""

from __future__ import annotations

import cv2
import numpy as np

from shaker_ctl.adapters.camera.small_picture import MAX_BYTES, small_jpeg


def shown(jpeg: bytes) -> np.ndarray:
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return picture


def noisy(sigma: float) -> np.ndarray:
    grey = np.full((480, 640, 3), 120.0)
    cv2.circle(grey, (320, 240), 100, (230.0, 230.0, 230.0), -1)
    grain = np.random.default_rng(1).normal(0.0, sigma, grey.shape)
    return np.clip(grey + grain, 0, 255).astype(np.uint8)


def test_a_camera_s_picture_keeps_its_size_and_fits_the_line() -> None:
    jpeg = small_jpeg(noisy(4.0))
    assert len(jpeg) <= MAX_BYTES
    assert shown(jpeg).shape == (480, 640, 3)
    assert abs(int(shown(jpeg)[240, 320].mean()) - 230) < 10


def test_a_picture_full_of_noise_is_halved_rather_than_sent_for_a_minute() -> None:
    jpeg = small_jpeg(noisy(60.0))
    assert shown(jpeg).shape[:2] == (240, 320)
    assert len(jpeg) < 60_000
