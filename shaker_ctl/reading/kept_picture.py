"""A picture as it is kept, and the pixels that keeping it leaves.

Owns: the encoding of stored frames. The reader is shown what the file will show, not what came from
the camera: a frame at one of its limits could otherwise read differently when a dispute, or
`shaker-ctl journal replay`, reads the file again (3 of 204 did). Costs some 2 ms a frame.
"""

from __future__ import annotations

import cv2
import numpy as np


def keep(image: np.ndarray, quality: int) -> tuple[bytes, np.ndarray]:
    """The JPEG file of a (H, W, 3) uint8 BGR picture at `quality` (50..100), and the (H, W, 3)
    picture in it."""
    jpeg = bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])
    return jpeg, np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR))
