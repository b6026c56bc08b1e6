"""A square window of a picture around a point: turned, scaled, and smooth where it shrinks.

Owns: the arithmetic of pixels between picture and window. Must not know what is in a window.
"""

from __future__ import annotations

import cv2
import numpy as np

SIDE = 96
"""Side of the window that a look has, pixels."""
PADDING = (114,) * 3
"""What lies beyond the picture's border, BGR."""
_MIN_WARPED = 0.6
"""Below this scale a warp alone would skip pixels: the part is made smaller first."""


def cut(
    image: np.ndarray,
    centre: np.ndarray | tuple[float, float],
    scale: float,
    turn_deg: float,
    side: int,
    stretch: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """The (side, side, 3) uint8 window of a (H, W, 3) uint8 picture, and the (2, 3) float64 matrix
    from its pixels to the picture's.

    The picture is drawn `stretch` times as tall, then all of it `scale` times as large, and then
    turned counter-clockwise by `turn_deg` around `centre` (x, y).
    """
    x, y = (float(v) for v in centre)
    part, shift, shrunk = image, np.zeros(2), 1.0
    if scale < _MIN_WARPED:
        reach = 0.75 * side / scale  # half the window, turned by 45 degrees
        height, width = image.shape[:2]
        left = min(max(0, int(x - reach)), width - 1)
        top = min(max(0, int(y - reach)), height - 1)
        part = image[top : max(top, int(y + reach)) + 1, left : max(left, int(x + reach)) + 1]
        size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        shift = np.array((left, top), float)
        shrunk = size[0] / part.shape[1]
        part = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.uint8)
    matrix = np.asarray(cv2.getRotationMatrix2D((0.0, 0.0), turn_deg, scale / shrunk), np.float64)
    matrix[:, 1] *= stretch
    matrix[:, 2] = (side - 1) / 2 - matrix[:, :2] @ (
        (np.array((x, y)) - shift + 0.5) * shrunk - 0.5
    )
    flags = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_LINEAR
    window = cv2.warpAffine(part, matrix, (side, side), flags=flags, borderValue=PADDING)
    inverse = np.asarray(cv2.invertAffineTransform(matrix), np.float64)
    origin = (inverse[:, 2] + 0.5) / shrunk - 0.5 + shift
    return np.asarray(window, np.uint8), np.column_stack([inverse[:, :2] / shrunk, origin])
