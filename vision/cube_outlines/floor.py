"""The floor's colour, as one frame shows it.

Owns: a smooth model of that colour, fitted to the frame itself. Must not know what a die looks
like. The floor is what most of the compartment shows: three dice cover a tenth to a quarter of it.
A dome mirrors the lit underside of what is above it as a lighter disc in the middle; there the
floor has its own fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.medians import median

MIN_STEP = 13.0
"""Smallest Lab distance from the floor that counts as something else."""

_MIN_SPREAD = 8.0
"""Smallest distance from the floor's colour, in steps of Lab, that still is the floor's grain."""
_CELL = 16
"""Side, in steps of Lab, of a cell in which the floor's colour is looked for."""
_MIN_FLOOR = 0.5
"""Share of the compartment that is floor; if less has the likeliest colour, another is tried. Also
the share of a mirrored disc that is in sight. Half of it is enough for the middle, the rim and the
ring around a disc, which dice may cover."""
_DISC_OFF = 0.02
"""Largest distance of a mirrored disc's middle from the view's, in its widths. In path-traced
pictures of nine domes it is at most 0.01; the discs' radii are 0.22 to 0.42. A round grey thing
that lies so exactly in the middle is taken for one."""
_RING_PX = 2
"""Pixels between a disc and the ring around it that is compared with it, and the ring's width."""

NEAR = np.ones((3, 3), np.uint8)
"""A pixel and its eight neighbours, to widen or to narrow a mask by one pixel."""


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """The floor's colour, as fitted to one frame."""

    lab: np.ndarray
    """(3, h, w) float32, 8-bit Lab."""
    spread: float
    """How far the floor's own pixels usually are from it."""
    is_near: np.ndarray
    """(N,) bool: which samples of the picture it explains."""


class FloorFit:
    """Fits the floor's colour in views of one compartment."""

    def __init__(self, inside: np.ndarray, radius: float, min_disc: float) -> None:
        """`inside`, (h, w) bool: the floor. `radius`: of the floor, pixels of the view. `min_disc`:
        smallest radius of a mirrored disc, likewise."""
        self._inside, self._min_disc = inside, min_disc
        self._rows, self._columns = (each[::19].copy() for each in np.nonzero(inside))
        v, u = (
            np.arange(count, dtype=np.float32) / np.float32(count) - np.float32(0.5)
            for count in inside.shape
        )
        self._along = np.stack([np.ones_like(u), u, u * u])
        self._down = np.stack([np.ones_like(v), v, v * v], axis=1)
        x, y = u[self._columns], v[self._rows]
        self._base = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
        # Through a ring, or a disc, a surface of the second degree may go anywhere beyond it.
        self._plane = np.stack([np.ones_like(x), x, y], axis=1)
        away = np.hypot(x * inside.shape[1], y * inside.shape[0])
        self._middle = away < min_disc
        self._rim = away > radius - min_disc / 2

    def fit(self, lab: np.ndarray) -> Floor:
        """The floor in a (h, w, 3) uint8 view in Lab."""
        samples = lab[self._rows, self._columns].astype(np.float32)
        fitted = self._fit_surface(samples, np.ones(len(samples), bool), self._base)
        if fitted is None:
            colour = _mode(samples)[:, None, None]
            nothing = np.zeros(len(samples), bool)
            return Floor(np.ones_like(self._inside, np.float32) * colour, _MIN_SPREAD, nothing)
        if fitted.is_near.mean() < _MIN_FLOOR:
            # Dice, or a mirrored disc, may have fewer shades than the floor.
            other = self._fit_surface(samples, ~fitted.is_near, self._base)
            if other is not None and other.is_near.sum() > fitted.is_near.sum():
                fitted = other
        colour = fitted.lab
        # Dice may cover three quarters of either part.
        has_middle, has_rim = (
            bool(fitted.is_near[part].sum() > _MIN_FLOOR / 2 * part.sum())
            for part in (self._middle, self._rim)
        )
        if has_middle != has_rim:
            rest = self._fit_surface(samples, ~fitted.is_near, self._plane)
            if rest is not None:
                outer, inner = (rest, fitted) if has_middle else (fitted, rest)
                disc = self._mirrored(lab, outer.lab, inner.lab)
                if disc is not None:
                    colour = np.where(disc, inner.lab, outer.lab)
        return replace(fitted, lab=colour)

    def _fit_surface(
        self, samples: np.ndarray, among: np.ndarray, terms: np.ndarray
    ) -> Floor | None:
        """A surface through the samples near the most common colour; None if they are fewer than
        30. `among`: (N,) bool, which samples to use. `terms`: `_plane` or `_base`."""
        if not among.any():
            return None
        near = _length(samples - _mode(samples.compress(among, axis=0))) < 2 * _CELL
        for _ in range(3):
            near &= among
            if near.sum() < 30:
                return None
            # `compress` takes a third of the time of `[near]`.
            base, seen = (each.compress(near, axis=0) for each in (terms, samples))
            # All may lie in one line, then there are many solutions.
            weights = np.linalg.lstsq(base.T @ base, base.T @ seen)[0]
            offset = _length(samples - terms @ weights)
            spread = median(offset.compress(near))
            near = offset < max(_MIN_SPREAD, 3.5 * spread)
        one, x, y, *curve = weights
        zero = np.zeros_like(one)
        xx, xy, yy = curve or (zero, zero, zero)
        # A surface of the second degree is, in each row, a parabola of the columns.
        parts = np.array([(one, x, xx), (y, xy, zero), (yy, zero, zero)]).reshape(3, 9)
        rows = (self._down @ parts).reshape(-1, 3, 3).transpose(2, 0, 1).reshape(-1, 3)
        return Floor((rows @ self._along).reshape(3, *self._inside.shape), spread, near)

    def _mirrored(self, lab: np.ndarray, floor: np.ndarray, lit: np.ndarray) -> np.ndarray | None:
        """(h, w) bool: the lighter disc in the middle of the picture that the dome's reflection
        makes; None if there is none. It is the largest disc about the middle that has no plain
        floor inside; it has plain floor around, and most of it has the lit colour. `floor`, `lit`:
        (3, h, w), the two fitted colours."""
        seen = lab.transpose(2, 0, 1)
        from_floor, from_lit = (
            np.sqrt(np.square(seen - each).sum(axis=0)) for each in (floor, lit)
        )
        is_floor = self._inside & (from_floor < np.minimum(from_lit, MIN_STEP))
        plain = cv2.morphologyEx(is_floor.astype(np.uint8), cv2.MORPH_OPEN, NEAR)
        _, pieces, stats, _ = cv2.connectedComponentsWithStats(plain)
        is_large = stats[:, cv2.CC_STAT_AREA] > self._min_disc**2
        is_large[0] = False  # what is no floor
        nothing = (~is_large[pieces]).astype(np.uint8)
        free = cv2.distanceTransform(nothing, cv2.DIST_L2, cv2.DIST_MASK_5)
        height, width = free.shape
        off = round(_DISC_OFF * width)
        top, left = height // 2 - off, width // 2 - off
        _, radius, _, (x, y) = cv2.minMaxLoc(free[top:, left:][: 2 * off + 1, : 2 * off + 1])
        rows, columns = np.ogrid[:height, :width]
        away = np.hypot(columns - left - x, rows - top - y)
        is_disc = away < radius
        is_ring = (away > radius + _RING_PX) & (away < radius + 2 * _RING_PX)
        # Dice cover up to 0.6 of what is around; 0.75 is allowed.
        around = np.count_nonzero(is_floor & is_ring)
        if radius < self._min_disc or around <= _MIN_FLOOR / 2 * np.count_nonzero(is_ring):
            return None
        is_lit = from_lit < MIN_STEP
        if is_lit[is_disc].mean() < _MIN_FLOOR or is_lit[is_ring].mean() > _MIN_FLOOR / 2:
            return None
        # Mirrored light is added, and has hardly a colour: things that lie there differ more.
        light, *tints = (float(each[is_disc].mean()) for each in lit - floor)
        return is_disc if light > 0 and max(map(abs, tints)) < 2 * MIN_STEP else None


def _mode(samples: np.ndarray) -> np.ndarray:
    """The most common colour: the densest cell of a coarse histogram, then its mean."""
    cells = (samples / _CELL).astype(np.int32)
    keys = np.ravel_multi_index(cells.T, 3 * (256 // _CELL,))
    values, counts = np.unique(keys, return_counts=True)
    best = values[counts.argmax()]
    centre = samples.compress(keys == best, axis=0).mean(axis=0)
    near = _length(samples - centre) < _CELL
    return np.asarray(samples.compress(near, axis=0).mean(axis=0))


def _length(steps: np.ndarray) -> np.ndarray:
    """(N,) of (N, 3)."""
    return np.sqrt(np.einsum("nc,nc->n", steps, steps))
