"""What is read of a picture is what its file shows."""

from __future__ import annotations

import cv2
import numpy as np

from shaker_ctl.reading.kept_picture import keep
from vision.tests.drawing import Die, draw


def test_the_file_shows_exactly_what_is_read() -> None:
    image = draw([Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)])
    jpeg, seen = keep(image, 92)
    again = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert again is not None
    assert np.array_equal(again, seen)
    assert seen.shape == image.shape
    assert float(np.abs(seen.astype(int) - image).mean()) < 6.0
