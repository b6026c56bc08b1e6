"""Whether a picture is fit to be read at all, before any die is looked for.

Owns: exposure, focus, size, missing parts, and whether the compartment is where the calibration
says. Must not know dice values. Each limit states its reason. A limit refuses a picture and never
corrects it.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.reading import Quality, Reason
from vision.table.rim import MIN_SEEN, TOLERANCE_MM, Rim

BLACK_MEDIAN = 14.0
"""Median grey below which the light is off or the lens covered. A dip to 55 % stays above it."""
BLACK_LEVEL = 10
"""Grey level up to which a pixel is black."""
WHITE_MEDIAN = 190.0
"""Median grey above which even a white floor loses its shades. Felt and wood have 60-120; an
exposure that is six times too long has 196 and more (virtual rig)."""
CLIPPED_LEVEL = 250
"""Level of a colour channel from which on it clips."""
CLIPPED_SHARE = 0.05
"""Share of the compartment that clips in one colour channel, above which a picture is over-exposed.
One channel counts, because a green die loses its shades in green long before it looks white. Three
dice cover at most 15 % of the compartment. Source: 240 pictures of the virtual rig in six colours
have 0.005 at most; at seven times the exposure they have 0.07 and more."""
SEEN_LEVEL = 35
"""If a tenth of a dark picture is brighter than this grey, the view is hidden and not dark."""
MIN_SHARPNESS = 0.105
"""Sharpness below which a picture is out of focus; see `sharpness`."""
TORN_ROWS = 0.06
"""Largest share of the picture's rows that may have no grain. A decoder fills missing rows with one
flat grey, or it repeats the last good row."""
_EVERY = 2
"""Of so many rows one is counted: levels and steps of grey have the same shares in it."""
_RARE = 0.005
"""Share of the pixels that is left out at each end, where a picture's contrast is measured."""


class QualityGate:
    """Judges frames of one calibrated camera."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._rim = Rim(calibration)
        self._crop = calibration.box_of(calibration.circle_px(calibration.compartment_radius_mm))

    def judge(self, image: np.ndarray) -> Quality:
        """Judge a (H, W, 3) uint8 BGR picture."""
        width, height = self.calibration.image_size
        if image.shape[:2] != (height, width):
            detail = (
                f"the picture is {image.shape[1]}×{image.shape[0]}, "
                f"the calibration is for {width}×{height}"
            )
            return Quality(0.0, 0.0, -1.0, Reason.WRONG_SIZE, detail)
        grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        core = grey[self._crop]
        shares = _shares(core[::_EVERY])
        median = float(np.searchsorted(shares, 0.5))
        dark = float(shares[BLACK_LEVEL])
        blue, green, red = cv2.split(image[self._crop][::_EVERY])
        brightest = np.asarray(cv2.max(cv2.max(blue, green), red))
        clipped = float(np.count_nonzero(brightest >= CLIPPED_LEVEL) / max(brightest.size, 1))
        sharp = sharpness(core)
        rim_px, rim_seen = self._rim.away(image)
        fault, detail = None, ""
        flat_rows = rows_without_grain(grey)
        # Nothing that hides the compartment is as wide as it and as straight as a row.
        black_rows = float((core.max(axis=1) <= BLACK_LEVEL).mean())
        is_cut = black_rows > TORN_ROWS
        if median < BLACK_MEDIAN:
            is_hidden = float(np.searchsorted(shares, 0.9)) > SEEN_LEVEL
            hidden = Reason.TORN if is_cut else Reason.BLOCKED
            fault = hidden if is_hidden else Reason.BLACK
            detail = f"median grey {median:.0f} of 255, {dark:.0%} of the compartment is black"
        elif clipped > CLIPPED_SHARE or median > WHITE_MEDIAN:
            fault = Reason.OVER_EXPOSED
            detail = f"{clipped:.0%} of the compartment is white, median grey {median:.0f} of 255"
        elif sharp < MIN_SHARPNESS:
            fault = Reason.DEFOCUSED
            detail = f"sharpness {sharp:.3f}, needed {MIN_SHARPNESS:.3f}"
        elif flat_rows > TORN_ROWS or is_cut:
            lost = max(flat_rows, black_rows)
            fault, detail = Reason.TORN, f"{lost:.0%} of the rows are empty or repeated"
        elif rim_seen < MIN_SEEN:
            fault = Reason.BLOCKED
            detail = f"only {rim_seen:.0%} of the compartment's rim look as a rim does"
        elif rim_px is not None and rim_px > TOLERANCE_MM * self.calibration.floor_px_per_mm:
            fault = Reason.CAMERA_MOVED
            detail = f"the compartment's rim is {rim_px:.1f} pixels off its calibrated place"
        return Quality(
            median=median,
            sharpness=sharp,
            rim_px=-1.0 if rim_px is None else rim_px,
            fault=fault,
            detail=detail,
        )


def sharpness(grey: np.ndarray) -> float:
    """Steepest steps as a share of the contrast, per pixel: about 0.4 for a sharp edge, 0.1 for
    one that is smeared over ten pixels. Does not care how bright or contrasty the scene is."""
    small = _means_of_four(grey)
    dx = cv2.absdiff(small[::_EVERY, 1:], small[::_EVERY, :-1])
    dy = cv2.absdiff(small[1::_EVERY], small[:-1:_EVERY])
    steep = sum(_level(_shares(steps), 0.998) for steps in (dx, dy)) / 2
    levels = _shares(small[::_EVERY])
    return steep / max(_level(levels, 1 - _RARE) - _level(levels, _RARE), 12.0)


def _means_of_four(grey: np.ndarray) -> np.ndarray:
    """(h - 1, w - 1) uint8 of (h, w): the means of each pixel, the next, and both below."""
    pairs = np.add(grey[1:], grey[:-1], dtype=np.uint16)
    fours = pairs[:, 1:] + pairs[:, :-1]
    fours += 2
    fours >>= 2
    return fours.astype(np.uint8)


def rows_without_grain(grey: np.ndarray) -> float:
    """Share of rows that are one flat tone or a copy of the row above."""
    border = grey.shape[1] // 8
    inner = np.ascontiguousarray(grey[:, border:-border:2])
    is_flat = inner.max(axis=1) - inner.min(axis=1) <= 1
    same = np.zeros(len(inner), bool)
    same[1:] = cv2.absdiff(inner[1:], inner[:-1]).max(axis=1) <= 1
    # A dark surround is no tear.
    is_black = inner.sum(axis=1, dtype=np.uint32) < 3 * inner.shape[1]
    return float(((is_flat | same) & ~is_black).mean())


def _shares(values: np.ndarray) -> np.ndarray:
    """(256,) the share of (h, w) uint8 values that each grey level is not exceeded by."""
    counts = cv2.calcHist([values], [0], None, [256], [0, 256]).ravel()
    return np.asarray(np.cumsum(counts, dtype=np.float64) / max(values.size, 1))


def _level(shares: np.ndarray, share: float) -> float:
    """The least grey level that such a share of the values does not exceed."""
    return float(np.searchsorted(shares, share))
