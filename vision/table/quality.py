"""Whether a picture is fit to be read at all, before any die is looked for.

Owns: exposure, focus, size, missing parts, and whether the compartment is where the calibration
says. Must not know dice values. Each limit states its reason. A limit refuses a picture and never
corrects it.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.medians import median, usual_reach
from vision.reading import Quality, Reason

BLACK_MEDIAN = 14.0
"""Median grey below which the light is off or the lens covered. A dip to 55 % stays above it."""
BLACK_LEVEL = 10
WHITE_MEDIAN = 190.0
"""Median grey above which even a white floor loses its shades. Felt and wood have 60-120; an
exposure that is six times too long has 196 and more (virtual rig)."""
CLIPPED_LEVEL = 250
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
RIM_TOLERANCE_MM = 0.9
"""Shift of the rim from the calibration: 4 pixels. Then a value may still be right, but the
geometry that proves it is not."""
MIN_RIM_SEEN = 0.48
"""Share of the rim that must look as the rim does elsewhere. 90 pictures of the rig in three
compartments, dice and ribs at the wall: 0.62 and more; a hand or a cloth over half the dome: 0.38
and less. With less, no rim is known to be near either, in `place` and `dice_calibration`."""
_SAME_RIM = 0.4
"""Correlation of a ray's steps with the usual ones."""
_EVERY = 2
"""Of so many rows one is counted: levels and steps of grey have the same shares in it."""
_RARE = 0.005
"""Share of the pixels that is left out at each end, where a picture's contrast is measured."""
_RAYS = 90
_RIM_SEARCH_PX = 22
_RIM_NEAR_PX = 9.0
"""Distance from its calibrated place at which a step counts three fifths."""
_RIM_SHIFT_PX = 3.5
_RIM_STEP_PX = 4
"""Step between the radii of the places that are tried; and so many places on a circle per pixel of
its radius."""
_RIM_SHIFTS = np.array(
    [(0.0, 0.0)]
    + [
        (r * np.cos(turn), r * np.sin(turn))
        for r in range(_RIM_STEP_PX, _RIM_SEARCH_PX, _RIM_STEP_PX)
        for turn in np.linspace(0, 2 * np.pi, _RIM_STEP_PX * r, endpoint=False)
    ]
)
"""Places that a bumped camera's rim may have, pixels to the right and down."""
_MIN_RIM_STEP = 4.0
_MIN_RIM_RAYS = 0.35


class QualityGate:
    """Judges frames of one calibrated camera."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        turn = np.linspace(0, 2 * np.pi, _RAYS, endpoint=False)
        self._direction = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        self._rim = calibration.level_px(self._direction * calibration.compartment_radius_mm)
        steps = np.arange(-_RIM_SEARCH_PX, _RIM_SEARCH_PX + 1, dtype=np.float32)
        self._steps = steps
        self._ray_x = (self._rim[:, :1] + self._direction[:, :1] * steps).astype(np.float32)
        self._ray_y = (self._rim[:, 1:] + self._direction[:, 1:] * steps).astype(np.float32)
        self._moved = (_RIM_SHIFTS @ self._direction.T).astype(np.float32)
        self._base = np.concatenate([self._direction, np.ones((_RAYS, 1))], axis=1)
        self._nearer = np.exp(-0.5 * (steps[2:-2] / _RIM_NEAR_PX) ** 2)
        self._crop = calibration.box_of(self._rim)

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
        rim_px, rim_seen = self.rim(grey)
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
        elif rim_seen < MIN_RIM_SEEN:
            fault = Reason.BLOCKED
            detail = f"only {rim_seen:.0%} of the compartment's rim look as a rim does"
        elif rim_px is not None and rim_px > RIM_TOLERANCE_MM * self.calibration.floor_px_per_mm:
            fault = Reason.CAMERA_MOVED
            detail = f"the compartment's rim is {rim_px:.1f} pixels off its calibrated place"
        return Quality(
            median=median,
            sharpness=sharp,
            rim_px=-1.0 if rim_px is None else rim_px,
            fault=fault,
            detail=detail,
        )

    def rim(self, grey: np.ndarray) -> tuple[float | None, float]:
        """How far the compartment's rim is from where it must be, pixels (None: none is found), and
        the share of it that is in sight, 0..1 (1 where this camera shows no rim at all).

        Along each ray from the centre the strongest step within reach is taken. A nearer step
        counts more, because a wall may have a brighter ring farther out. The shift is fitted to all
        rays together, so that dice and glints on some of them do not matter. What the rim looks
        like is what most rays show at that place.
        """
        shift, in_sight = self.rim_shift(grey)
        if shift is None:
            return None, in_sight
        return float(np.hypot(shift[0], shift[1]) + abs(shift[2])), in_sight

    def rim_shift(self, grey: np.ndarray) -> tuple[np.ndarray | None, float]:
        """As `rim`, with where the rim is instead of how far: (3,) right, down, and larger, px."""
        profile = self._along_rays(grey, np.zeros(_RAYS))
        step = np.abs(profile)
        ends_x, ends_y = self._ray_x[:, -1], self._ray_y[:, -1]
        width, height = self.calibration.image_size
        inside = (ends_x < width - 1) & (ends_x > 0) & (ends_y < height - 1) & (ends_y > 0)
        if (inside & (step.max(axis=1) > _MIN_RIM_STEP)).mean() < _MIN_RIM_RAYS:
            return None, 1.0
        # Of a camera that has moved far, a few rays show steps near the old place; most agree
        # on where the rim is. Where most agree on both, a wall has a stronger ring farther out.
        near, far = self._fitted(step * self._nearer, inside), self._fitted(step, inside)
        is_near = near[1] >= min(far[1], 2 * _MIN_RIM_RAYS * _RAYS)
        shift, _ = near if is_near else far
        if shift is not None:
            profile = self._along_rays(grey, self._base @ shift)
        profile = profile[inside]
        usual = np.median(profile, axis=0)
        size = np.linalg.norm(profile, axis=1) * np.linalg.norm(usual)
        in_sight = float(((profile @ usual) > _SAME_RIM * np.maximum(size, 1e-6)).mean())
        return shift, in_sight

    def _fitted(self, step: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray | None, int]:
        """The shift that the strongest steps of the rays agree on, as `rim_shift`, and how many
        rays do; None and 0 where too few agree."""
        at = self._steps[2:-2][step.argmax(axis=1)]
        seen = inside & (step.max(axis=1) > _MIN_RIM_STEP)
        # Where the strongest steps are partly another ring's, a fit to all ends between the two.
        # So the shift that most rays agree with comes first.
        fits = np.abs(self._moved - at) < _RIM_SHIFT_PX
        keep = seen & fits[(fits & seen).sum(axis=1).argmax()]
        shift = np.zeros(self._base.shape[1])
        for _ in range(4):
            if keep.sum() < 8:
                break
            base = self._base[keep]
            shift = np.linalg.solve(base.T @ base, base.T @ at[keep])
            off = np.abs(at - self._base @ shift)
            before = keep
            keep = seen & (off < usual_reach(median(off[keep])))
            if np.array_equal(keep, before):
                break
        agree = int(keep.sum())
        return (shift, agree) if agree > 0.5 * seen.sum() else (None, 0)

    def _along_rays(self, grey: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """(_RAYS, n) steps of grey along the rays, each ray moved outward by its shift, pixels."""
        moved = (self._direction * shift[:, None]).astype(np.float32)
        profile = cv2.remap(
            grey,
            self._ray_x + moved[:, :1],
            self._ray_y + moved[:, 1:],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        ).astype(np.float32)
        smooth = np.asarray(cv2.blur(profile, (3, 1)))
        return np.asarray(smooth[:, 4:] - smooth[:, :-4])


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
