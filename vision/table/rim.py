"""Where the rim of the compartment's floor is in a picture, and how much of it is in sight.

Owns how the rim is found: by the strongest steps along rays from the middle, of grey or of colour.
Must not know what follows from a rim that is elsewhere (`quality`, `place`), nor how a camera is
measured.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.medians import median, usual_reach

TOLERANCE_MM = 0.9
"""Shift of the rim from the calibration: 4 pixels. Then a value may still be right, but the
geometry that proves it is not."""
MIN_SEEN = 0.48
"""Share of the rim that must look as the rim does elsewhere. 90 pictures of the rig in three
compartments, dice and ribs at the wall: 0.62 and more; a hand or a cloth over half the dome: 0.38
and less. With less, no rim is known to be near either, in `place`."""

_RAYS = 90
"""From the middle of the compartment: one for each 4°."""
_REACH_PX = 22
"""How far inward and outward of its calibrated place the rim is looked for."""
_NEAR_PX = 9.0
"""Distance from its calibrated place at which a step counts three fifths."""
_AGREE_PX = 3.5
"""Farthest of a ray's step from a shift that the ray agrees with."""
_RINGS_PX = 4
"""Between the rings of `_SHIFTS`, so that one of them agrees with any rim within reach."""
_SHIFTS = np.array(
    [(0.0, 0.0)]
    + [
        (r * np.cos(turn), r * np.sin(turn))
        for r in range(_RINGS_PX, _REACH_PX, _RINGS_PX)
        for turn in np.linspace(0, 2 * np.pi, round(2 * np.pi * r), endpoint=False)
    ]
)
"""Places that a bumped camera's rim may have, pixels to the right and down: a pixel apart on
rings."""
_MIN_STEP = 4.0
"""Least step along a ray, levels over four pixels, as a mean of the colours."""
_MIN_RAYS = 0.35
"""Least share of rays with a step: with fewer this camera shows no rim, and none is asked for."""
_SAME_STEPS = 0.4
"""Correlation of a ray's steps with the usual ones."""


class Rim:
    """The rim before one calibrated camera."""

    def __init__(self, calibration: Calibration) -> None:
        turn = np.linspace(0, 2 * np.pi, _RAYS, endpoint=False)
        self._direction = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        at = calibration.level_px(self._direction * calibration.compartment_radius_mm)
        self._steps = steps = np.arange(-_REACH_PX, _REACH_PX + 1, dtype=np.float32)
        # (2, _RAYS, n): x and y.
        rays = at.T[..., None] + self._direction.T[..., None] * steps
        self._rays = rays.astype(np.float32)
        self._moved = (_SHIFTS @ self._direction.T).astype(np.float32)
        self._base = np.concatenate([self._direction, np.ones((_RAYS, 1))], axis=1)
        self._nearer = np.exp(-0.5 * (steps[2:-2] / _NEAR_PX) ** 2)
        ends, size = self._rays[..., -1].T, np.array(calibration.image_size)
        self._inside = ((ends > 0) & (ends < size - 1)).all(axis=1)
        self._tolerance_px = TOLERANCE_MM * calibration.floor_px_per_mm

    def away(self, image: np.ndarray) -> tuple[float | None, float]:
        """How far the rim in a (H, W, 3) uint8 BGR picture is from where it must be, pixels (None:
        none is found), and the share of it that is in sight, 0..1 (1 where this camera shows no rim
        at all)."""
        shift, in_sight = self.shift(image)
        return (None if shift is None else _size(shift)), in_sight

    def shift(self, image: np.ndarray) -> tuple[np.ndarray | None, float]:
        """As `away`, with where the rim is instead of how far: (3,) right, down, and larger, px.

        Along each ray from the centre the strongest step within reach is taken. A nearer step
        counts more, because a wall may have a brighter ring farther out. The shift is fitted to all
        rays together, so that dice and glints on some of them do not matter. What the rim looks
        like is what most rays show at that place. Floor and wall may be equally bright: if the grey
        rim is not at its place, the colours count if more rays agree on theirs.
        """
        shift, in_sight, agree = self._found(image, is_grey=True)
        if shift is None or _size(shift) > self._tolerance_px or in_sight < MIN_SEEN:
            by_colour = self._found(image, is_grey=False)
            if by_colour[2] > agree:
                shift, in_sight, _ = by_colour
        return shift, in_sight

    def _found(self, image: np.ndarray, *, is_grey: bool) -> tuple[np.ndarray | None, float, int]:
        """`shift` by the picture's grey or by its colours, and how many rays agree on it."""
        profile = self._along_rays(image, np.zeros(_RAYS), is_grey)
        step = np.sqrt((profile * profile).mean(axis=2))
        if (self._inside & (step.max(axis=1) > _MIN_STEP)).mean() < _MIN_RAYS:
            return None, 1.0, 0
        # Of a camera that has moved far, a few rays show steps near the old place; most agree
        # on where the rim is. Where most agree on both, or both have one middle, a wall has a
        # stronger ring farther out.
        near, far = self._fitted(step * self._nearer), self._fitted(step)
        is_near = near[1] >= min(far[1], 2 * _MIN_RAYS * _RAYS)
        shift, agree = near if is_near or _have_one_middle(near[0], far[0]) else far
        if shift is not None:
            profile = self._along_rays(image, self._base @ shift, is_grey)
        profile = profile[self._inside].reshape(int(self._inside.sum()), -1)
        usual = np.median(profile, axis=0)
        size = np.linalg.norm(profile, axis=1) * np.linalg.norm(usual)
        in_sight = float(((profile @ usual) > _SAME_STEPS * np.maximum(size, 1e-6)).mean())
        return shift, in_sight, agree

    def _fitted(self, step: np.ndarray) -> tuple[np.ndarray | None, int]:
        """The shift that the strongest steps of the rays agree on, as `shift`, and how many rays
        do; None and 0 where too few agree."""
        at = self._steps[2:-2][step.argmax(axis=1)]
        seen = self._inside & (step.max(axis=1) > _MIN_STEP)
        # Where the strongest steps are partly another ring's, a fit to all ends between the two.
        # So the shift that most rays agree with comes first.
        fits = np.abs(self._moved - at) < _AGREE_PX
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

    def _along_rays(self, image: np.ndarray, shift: np.ndarray, is_grey: bool) -> np.ndarray:
        """(_RAYS, n, 1 or 3) steps of grey, or of the colours, along the rays, each ray moved
        outward by its shift, pixels."""
        x, y = self._rays + (self._direction.T * shift)[..., None].astype(np.float32)
        seen = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        profile = seen.astype(np.float32)
        shown = cv2.cvtColor(profile, cv2.COLOR_BGR2GRAY) if is_grey else profile
        smooth = np.asarray(cv2.blur(shown, (3, 1))).reshape(*profile.shape[:2], -1)
        return np.asarray(smooth[:, 4:] - smooth[:, :-4])


def _have_one_middle(near: np.ndarray | None, far: np.ndarray | None) -> bool:
    """True if two rings are of one wall."""
    if near is None or far is None:
        return False
    return bool(np.hypot(*(near - far)[:2]) < _AGREE_PX / 2)


def _size(shift: np.ndarray) -> float:
    """How far a shift moves the rim at most, pixels."""
    return float(np.hypot(shift[0], shift[1]) + abs(shift[2]))
