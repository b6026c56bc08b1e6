"""What in the compartment is not floor.

Owns: a smooth model of the floor's colour, fitted to the frame itself, and each pixel's distance
from it. Must not know what a die looks like. The floor is what most of the compartment
shows: three dice cover a tenth to a quarter of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration

_MIN_STEP = 13.0
"""Smallest Lab distance from the floor that counts as something else."""

_SHADOW_FLOOR = 0.42
"""Smallest brightness, as a share of the floor's, at which a pixel of the floor's colour is
shadow."""

_CHROMA_STEP = 7.0


@dataclass(frozen=True, slots=True, eq=False)
class Foreground:
    """The compartment at reduced size: what stands on the floor."""

    distance: np.ndarray
    """(h, w) float32: distance from the floor's colour in steps; above 1 it is something else."""
    mask: np.ndarray
    """(h, w) uint8, 0 or 255, holes filled, inside the floor's circle only."""
    inside: np.ndarray
    """(h, w) bool: inside the floor's circle."""
    origin: tuple[int, int]
    """Pixel of the frame at the corner of this view."""
    scale: float
    """Frame pixels per pixel of this view."""

    def to_view(self, points_px: np.ndarray) -> np.ndarray:
        """(..., 2) frame pixels to pixels of this view."""
        return (np.asarray(points_px) + 0.5 - self.origin) / self.scale - 0.5

    def to_frame(self, points: np.ndarray) -> np.ndarray:
        """(..., 2) pixels of this view to frame pixels."""
        return (np.asarray(points) + 0.5) * self.scale + self.origin - 0.5


class FloorView:
    """Everything about the compartment that does not change from frame to frame."""

    def __init__(self, calibration: Calibration, scale: float = 2.0) -> None:
        self.calibration = calibration
        width, height = calibration.image_size
        turn = np.linspace(0, 2 * np.pi, 121)
        circle = np.c_[np.cos(turn), np.sin(turn)] * calibration.compartment_radius_mm
        rim = calibration.to_px(np.c_[circle, np.zeros(len(turn))])
        # The tops of dice at the rim, and of one on top of another, reach beyond the floor.
        reach = calibration.to_px(np.c_[circle, np.full(len(turn), 1.3 * calibration.die_mm)])
        x0, y0 = np.floor(np.maximum(reach.min(axis=0), 0)).astype(int)
        x1, y1 = np.ceil(np.minimum(reach.max(axis=0), (width, height))).astype(int)
        self.origin = (int(x0), int(y0))
        self.scale = scale
        self.size = (max(8, int((x1 - x0) / scale)), max(8, int((y1 - y0) / scale)))
        self.crop = (
            slice(int(y0), int(y0 + self.size[1] * scale)),
            slice(int(x0), int(x0 + self.size[0] * scale)),
        )
        disc = np.zeros((self.size[1], self.size[0]), np.uint8)
        view = (rim + 0.5 - self.origin) / scale - 0.5
        cv2.fillPoly(disc, [np.round(view * 16).astype(np.int32)], 255, cv2.LINE_8, 4)
        # The seam between floor and wall is neither.
        self.disc = cv2.erode(disc, np.ones((3, 3), np.uint8))
        self.inside = self.disc > 0
        rows, columns = np.nonzero(self.inside)
        keep = slice(None, None, 19)
        self._rows, self._columns = rows[keep], columns[keep]
        self._base = self._terms(self._columns, self._rows)
        grid_y, grid_x = np.mgrid[0 : self.size[1], 0 : self.size[0]]
        self._grid = self._terms(grid_x.ravel(), grid_y.ravel())

    def _terms(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u = x.astype(np.float32) / self.size[0] - 0.5
        v = y.astype(np.float32) / self.size[1] - 0.5
        return np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=1)

    def separate(self, image: np.ndarray) -> Foreground:
        """Tell what is not floor in a (H, W, 3) uint8 BGR frame of the calibrated size."""
        small = cv2.resize(image[self.crop], self.size, interpolation=cv2.INTER_AREA)
        lab = cv2.cvtColor(small, cv2.COLOR_BGR2Lab).astype(np.float32)
        floor, spread = self._fit_floor(lab)
        step = lab - floor
        lightness, a, b = cv2.split(step)
        distance = cv2.magnitude(lightness, np.float32(1.6) * cv2.magnitude(a, b))
        distance = distance / np.float32(max(_MIN_STEP, 4.0 * spread))
        # A shadow darkens the floor and shrinks its chroma in proportion.
        ratio = lab[..., 0] / np.maximum(floor[..., 0], 1.0)
        shrink = np.clip(ratio, 0.0, 1.0)
        tint_a = (lab[..., 1] - 128) - shrink * (floor[..., 1] - 128)
        tint_b = (lab[..., 2] - 128) - shrink * (floor[..., 2] - 128)
        chroma_step = max(_CHROMA_STEP, 3.0 * spread)
        is_shadow = (
            (lightness < 0)
            & (ratio > _SHADOW_FLOOR)
            & (cv2.magnitude(tint_a, tint_b) < chroma_step)
        )
        distance[is_shadow] *= 0.35
        distance = cv2.GaussianBlur(distance, (3, 3), 0)
        return Foreground(
            distance=distance,
            mask=self._solid(distance),
            inside=self.inside,
            origin=self.origin,
            scale=self.scale,
        )

    def _fit_floor(self, lab: np.ndarray) -> tuple[np.ndarray, float]:
        samples = lab[self._rows, self._columns]
        centre = _mode(samples)
        spread = 8.0
        offset = np.linalg.norm(samples - centre, axis=1)
        near = offset < 28.0
        for _ in range(3):
            if near.sum() < 30:
                break
            base = self._base[near]
            terms = np.linalg.solve(base.T @ base, base.T @ samples[near])
            offset = np.linalg.norm(samples - self._base @ terms, axis=1)
            spread = float(np.median(offset[near]))
            near = offset < max(8.0, 3.5 * spread)
        else:
            return (self._grid @ terms).reshape(lab.shape), spread
        return np.broadcast_to(centre, lab.shape).astype(np.float32), spread

    def _solid(self, distance: np.ndarray) -> np.ndarray:
        thick = ((distance > 1.0) & self.inside).astype(np.uint8) * 255
        raw = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
        contours, _ = cv2.findContours(raw, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        solid = np.zeros_like(raw)
        cv2.drawContours(solid, contours, -1, 255, cv2.FILLED)
        return solid


def _mode(samples: np.ndarray) -> np.ndarray:
    """The most common colour: the densest cell of a coarse histogram, then its mean."""
    cells = (samples / 16).astype(np.int32)
    keys = cells[:, 0] * 4096 + cells[:, 1] * 64 + cells[:, 2]
    values, counts = np.unique(keys, return_counts=True)
    best = values[counts.argmax()]
    centre = samples[keys == best].mean(axis=0)
    near = np.linalg.norm(samples - centre, axis=1) < 16
    return np.asarray(samples[near].mean(axis=0))
