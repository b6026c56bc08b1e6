"""A picture as it is kept, and the pixels that keeping it leaves.

Owns: which file is stored for a frame. The reader is shown what that file will show, not what came
from the camera: a frame at one of its limits could otherwise read differently when a dispute, or
`shaker-ctl journal replay`, reads the file again (3 of 204 did). A camera that sends JPEG files has
made the file already; for another one it is made here, which costs some 2 ms a frame.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from vision.frame import Frame


def kept(frame: Frame, quality: int) -> Frame:
    """The frame with its JPEG file, and the (H, W, 3) uint8 BGR picture that this file shows.
    `quality` (50..100): of a file that is made here."""
    if frame.jpeg:
        return frame
    jpeg = bytes(cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])
    image = np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR))
    return replace(frame, image=image, jpeg=jpeg)
