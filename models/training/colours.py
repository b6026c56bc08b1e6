"""What textures are made of: colours, noise, print. Colours are linear, blue-green-red, 0..1."""

from __future__ import annotations

import cv2
import numpy as np


def from_srgb(*bgr: float) -> np.ndarray:
    """sRGB 0..255 to linear 0..1."""
    return np.asarray((np.array(bgr, np.float32) / 255) ** 2.2, np.float32)


def random_colour(
    rng: np.random.Generator, saturation: tuple[float, float], value: tuple[float, float]
) -> np.ndarray:
    """A colour of any hue, linear BGR."""
    hsv = np.array([[[rng.uniform(0, 360), rng.uniform(*saturation), rng.uniform(*value)]]])
    bgr = cv2.cvtColor(hsv.astype(np.float32), cv2.COLOR_HSV2BGR)[0, 0]
    return np.asarray(bgr**2.2, np.float32)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The contrast of two linear colours: the largest difference of a channel's square root."""
    return float(np.abs(np.sqrt(one) - np.sqrt(other)).max())


def blend(one: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    """One texture or colour with another over it; `share`: (H, W) or (H, W, 1), cut to 0..1."""
    over = np.clip(share if share.ndim == 3 else share[..., None], 0, 1)
    return np.asarray(one * (1 - over) + other * over, np.float32)


def smooth_noise(rng: np.random.Generator, height: int, width: int, cells: float) -> np.ndarray:
    """(height, width, 1) float32: about `cells` bumps across, mean 0, deviation about 1."""
    rows = max(2, round(cells * height / max(width, 1)) + 1)
    grid = rng.standard_normal((rows, max(2, round(cells) + 1))).astype(np.float32)
    big = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(big)[..., None]


def plain(colour: np.ndarray, size: int) -> np.ndarray:
    """(size, size, 3) float32 of one colour."""
    return np.array(np.broadcast_to(colour, (size, size, 3)), np.float32, order="C")


def write(
    surface: np.ndarray, words: str, at: tuple[int, int], scale: float, ink: np.ndarray, width: int
) -> None:
    """Print words in one colour, in place."""
    stencil = np.zeros(surface.shape[:2], np.uint8)
    cv2.putText(stencil, words, at, cv2.FONT_HERSHEY_SIMPLEX, scale, 255, width, cv2.LINE_AA)
    surface[:] = blend(surface, ink, stencil.astype(np.float32) / 255)
