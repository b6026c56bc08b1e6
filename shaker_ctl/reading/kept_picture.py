"""The JPEG file that is kept of a frame, and the pixels of this file.

Owns: which file is stored for a frame. The reader gets the pixels of this file, not the camera's
pixels. Otherwise a frame near a limit could read differently when the file is read again, in a
dispute or by `shaker-ctl journal replay` (3 of 204 did). A camera that sends JPEG files has already
made the file. For other cameras the file is made here, which costs some 2 ms per frame.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from vision.frame import Frame

JPEG_QUALITY = 92
"""Quality of the files made here: overlays, and frames of a camera that gives no JPEG files. A file
that the camera made is stored as it came."""


def encoded(image: cv2.typing.MatLike) -> bytes:
    """A (H, W, 3) uint8 BGR picture as a JPEG file."""
    return bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1])


def kept(frame: Frame) -> Frame:
    """The frame with its JPEG file, and the (H, W, 3) uint8 BGR picture that this file shows; of a
    stereo camera one file shows the pictures of both lenses."""
    if frame.jpeg:
        return frame
    whole = frame.image if frame.right is None else np.hstack((frame.image, frame.right))
    jpeg = encoded(whole)
    image = np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR))
    again = replace(frame, image=image, jpeg=jpeg)
    return again if frame.right is None else again.parted(frame.image.shape[1])
