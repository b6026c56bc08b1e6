"""How high the pips of a die lie, seen by the two lenses of a camera.

Owns: the height of each pip, and of a die by its pips. Must not know what a height is enough for.

Theory of operation. The left lens says where the pips are if they lie on top of a flat die. A pip
that lies higher has moved away from that place for the right lens, along one known line. So the
small picture of a pip is looked for along this line: where the right lens shows it again, there is
its height. The lowest edge of a die that leans stands on the floor. By 6° this raises the middle of
its top by 0.75 mm, and of the pips on it half lie at least so high. Shades, side faces and
neighbours have no part in this.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.reading import NO_HEIGHT, Height

_SPAN, _STEP = 0.2, 0.02
_HEIGHTS = np.arange(-_SPAN, _SPAN, _STEP)
"""Heights at which a pip is looked for, beside that of a flat die's top, in dice. The top of a die
that leans by 30° on an edge is 0.12 higher."""
_ALL_HEIGHTS = np.arange(-0.3, 1.3, _STEP)
"""The same for single pips of a die that leans by up to 45°, or lies on another."""
_REACH, _SAMPLES = 0.8, 14
"""A pip's picture is a disc that reaches so many diameters from its middle, with so many samples
across. A larger one shows the edge of the face, with the floor behind it."""
_ACROSS = np.linspace(-_REACH, _REACH, _SAMPLES)
_PATCH = np.stack(np.meshgrid(_ACROSS, _ACROSS), axis=-1).reshape(-1, 2)
_BETWEEN = (_ACROSS[1:] + _ACROSS[:-1]) / 2
_IS_DISC = np.hypot(_BETWEEN, _BETWEEN[:, None]) <= _REACH
_SAME_LINE = 0.5
"""Pips that spread across a line by less than this share of what they do along it lie on it: those
of a two and a three. A six's spread by 0.8."""


@dataclass(frozen=True, slots=True, eq=False)
class Pips:
    """Where the pips of a die are, if it lies flat."""

    places_mm: np.ndarray
    """(N, 2): they, and places that may have one."""
    count: int
    diameter_mm: float


def measure_height(
    left: np.ndarray,
    right: np.ndarray,
    pips: Pips | None,
    calibration: Calibration,
    heights: np.ndarray = _HEIGHTS,
) -> Height:
    """The height of a die; `NO_HEIGHT` of one whose pips are not known. `left` and `right`,
    (H, W, 3) uint8: the pictures of both lenses of this calibration. `heights`: where pips are
    looked for."""
    lens, edge = calibration.right, calibration.die_mm
    if lens is None or pips is None:
        return NO_HEIGHT
    places, value = pips.places_mm, pips.count
    patch = _PATCH * pips.diameter_mm
    shown = _slopes(left, calibration.level_px(places[:, None] + patch, edge))
    # The pips are where the face is least plain.
    strongest = np.argsort((shown * shown).sum(axis=1))[-value:]
    shown, places = shown[strongest], places[strongest]
    # A pip that is a die higher is seen so far beside its place; less high, by that share of it.
    ways = edge * (_moved(lens, places) - _moved(calibration, places))
    ways_px = lens.level_px(places + ways, edge) - lens.level_px(places, edge)
    looked_at_px = (
        lens.level_px(places[:, None] + patch, edge)[:, None]
        + heights[:, None, None] * ways_px[:, None, None]
    )
    there = _slopes(right, looked_at_px)
    alike = (there @ shown[:, :, None])[:, :, 0]
    strong = (shown * shown).sum(axis=1)[:, None] * np.einsum("...i,...i", there, there)
    # Where nothing is to be seen, nothing is alike.
    highest, likeness = _peaks(alike / np.sqrt(strong + 1.0), heights)
    off = (places - places.mean(axis=0)) / edge
    rises, *_ = np.linalg.lstsq(off, highest - highest.mean(), rcond=_SAME_LINE)
    likeness.sort()
    return Height(
        above=float(np.median(highest)),
        likeness=float(likeness[value // 4]),
        least=float(likeness[0]),
        slope=float(np.hypot(*rises)),
    )


def _slopes(image: np.ndarray, px: np.ndarray) -> np.ndarray:
    """(..., N) float32: how the picture changes across and along discs at (..., M, 2) pixels. The
    lenses see gloss differently, but they see the edge of a pip at one place."""
    x, y = px.reshape(-1, len(_PATCH), 2).astype(np.float32).transpose(2, 0, 1)
    seen = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    square = seen.astype(np.float32).reshape(*px.shape[:-2], _SAMPLES, _SAMPLES, 3)
    across = np.diff(square, axis=-2)[..., 1:, :, :][..., _IS_DISC, :]
    along = np.diff(square, axis=-3)[..., 1:, :][..., _IS_DISC, :]
    return np.concatenate((across, along), axis=-2).reshape(*px.shape[:-2], -1)


def _moved(calibration: Calibration, places: np.ndarray) -> np.ndarray:
    """(N, 2): by how much each place seems to move in the plane of a flat die's top, if it rises by
    a millimetre, mm."""
    top = calibration.die_mm
    return calibration.to_mm(calibration.level_px(places, top + 1), top) - places


def measure_lean(
    left: np.ndarray, right: np.ndarray, pips: Pips | None, calibration: Calibration
) -> Height:
    """The same of a die that may lean steeply, so that some of its pips lie much higher."""
    return measure_height(left, right, pips, calibration, _ALL_HEIGHTS)


def _peaks(curves: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N,) places of the highest points of (N, H) at (H,) heights, in dice, by a parabola; and (N,)
    how high they are. What is most alike at an end of the search is no pip, and 0 alike."""
    highest = curves.argmax(axis=1)
    peak = np.clip(highest, 1, len(heights) - 2)
    before, top, after = (curves[np.arange(len(curves)), peak + k] for k in (-1, 0, 1))
    bend = np.minimum(before - 2 * top + after, -1e-6)
    beside = np.clip((before - after) / bend / 2, -1, 1)
    return heights[peak] + beside * _STEP, np.where(highest == peak, top, 0.0)
