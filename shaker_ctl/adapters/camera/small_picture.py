"""A picture for a console: small enough for a serial line, large enough to see three dice.

Owns the trade of quality for size. Used in the camera's process, which has the frames.
"""

from __future__ import annotations

import cv2
import numpy as np

MAX_BYTES = 20_000
"""Bytes. As base64 they are 27,000 characters: 2.4 s at 115200 baud."""

QUALITIES = (70, 50, 35, 20)
"""JPEG qualities, the best first. Pips are distinct at 20; the rig's frames fit at 50."""


def small_jpeg(image: cv2.typing.MatLike) -> bytes:
    """Return `image` as the best JPEG of at most `MAX_BYTES` bytes, halved in size if it must be.

    The smallest that there is, where not even that fits (noise from edge to edge).
    """
    encoded = b""
    for size in (1.0, 0.5):
        smaller = image if size == 1.0 else cv2.resize(image, None, fx=size, fy=size)
        for quality in QUALITIES:
            encoded = bytes(cv2.imencode(".jpg", smaller, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])
            if len(encoded) <= MAX_BYTES:
                return encoded
    return encoded


def brightness(jpeg: bytes) -> float:
    """Mean grey of the middle of a picture, 0 to 255; 0 where there is none."""
    data = np.frombuffer(jpeg, np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_REDUCED_GRAYSCALE_8) if jpeg else None
    if image is None:
        return 0.0
    height, width = image.shape
    middle = image[height // 4 : -height // 4, width // 4 : -width // 4]
    return float(middle.mean())
