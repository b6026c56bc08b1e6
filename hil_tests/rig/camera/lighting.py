"""The light at the table: a ring of lamps around the compartment, a window, the room.

It owns how strongly a small surface is lit, what it mirrors, and where shadows fall. It must not
know what the surfaces are. Linear light; 1 is a level white surface in the middle of the floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Float = NDArray[Any]
"""float32 arrays; OpenCV's own types say less."""


def _ring(count: int, radius_mm: float, height_mm: float) -> NDArray[np.float64]:
    angles = np.arange(count) * math.tau / count + 0.2
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1) * radius_mm
    ring[:, 2] = height_mm
    return ring


@dataclass(frozen=True, slots=True)
class LightRig:
    """Lamps around the tube above its rim, a window to the upper left, and the room."""

    lamps_mm: NDArray[np.float64] = field(default_factory=lambda: _ring(8, 96.0, 128.0))
    lamp_share: float = 0.80
    window: tuple[float, float, float] = (-0.55, 0.45, 0.70)
    window_share: float = 0.13
    room_share: float = 0.12
    dead: int = 0
    """Lamps of the ring, in a row, that give no light: a strip of LEDs that has failed."""

    @property
    def lit_mm(self) -> NDArray[np.float64]:
        """Where the lamps are that burn, (n, 3)."""
        return self.lamps_mm[self.dead :]

    def irradiance(self, points_mm: Float, normals: Float) -> Float:
        """Return the light on surface elements; shapes (..., 3) and (..., 3) give (...)."""
        to_lamp = self.lit_mm.astype(np.float32) - points_mm[..., None, :]
        distance2 = np.einsum("...i,...i->...", to_lamp, to_lamp)
        facing = np.einsum("...ki,...i->...k", to_lamp, normals) / np.sqrt(distance2)
        lamps = (np.maximum(facing, 0.0) / distance2).sum(axis=-1) / self._norm
        window = np.maximum(normals @ np.asarray(self.window, np.float32), 0.0) / 0.7
        room = 0.55 + 0.45 * normals[..., 2]
        return np.asarray(
            self.lamp_share * lamps + self.window_share * window + self.room_share * room,
            dtype=np.float32,
        )

    @property
    def _norm(self) -> float:
        """Light of all lamps, those that are dead included, on the middle of the floor."""
        d2 = np.einsum("ki,ki->k", self.lamps_mm, self.lamps_mm)
        return float((self.lamps_mm[:, 2] / d2**1.5).sum())

    def mirrored(self, points_mm: Float, normals: Float, eye_mm: Float) -> Float:
        """Return the light that a polished surface throws towards the eye, shape (...)."""
        to_eye = eye_mm - points_mm
        to_eye /= np.linalg.norm(to_eye, axis=-1, keepdims=True)
        cosine = np.einsum("...i,...i->...", to_eye, normals)[..., None]
        out = 2.0 * cosine * normals - to_eye
        to_lamp = self.lit_mm.astype(np.float32) - points_mm[..., None, :]
        to_lamp /= np.linalg.norm(to_lamp, axis=-1, keepdims=True)
        near_lamp = np.einsum("...ki,...i->...k", to_lamp, out)
        lamps = np.exp(90.0 * (near_lamp - 1.0)).sum(axis=-1)
        window = np.exp(14.0 * (out @ np.asarray(self.window, np.float32) - 1.0))
        fresnel = 0.04 + 0.96 * np.clip(1.0 - cosine[..., 0], 0.0, 1.0) ** 5
        return np.asarray(
            fresnel * (7.0 * lamps + 2.2 * window + 0.22 * np.maximum(out[..., 2], 0.0)),
            dtype=np.float32,
        )

    def floor_light(self, x_mm: Float, y_mm: Float, z_mm: float, radius_mm: float) -> Float:
        """Return the light on the floor: the wall takes some away near the edge."""
        coarse = 8
        xs, ys = x_mm[::coarse, ::coarse], y_mm[::coarse, ::coarse]
        points = np.stack([xs, ys, np.full_like(xs, z_mm)], axis=-1)
        normals = np.zeros_like(points)
        normals[..., 2] = 1.0
        light = self.irradiance(points, normals)
        shape = (x_mm.shape[1], x_mm.shape[0])
        full = np.asarray(cv2.resize(light, shape, interpolation=cv2.INTER_CUBIC))
        to_wall = np.clip(radius_mm - np.hypot(x_mm, y_mm), 0.0, None)
        return np.asarray(full * (1.0 - 0.5 * np.exp(-to_wall / 4.5)), dtype=np.float32)

    def shadow_sources(self) -> list[tuple[NDArray[np.float64], float]]:
        """Return positions that cast a shadow, with the share of light that each one takes."""
        weight = self.lamp_share / len(self.lamps_mm)
        window = np.asarray(self.window) * 900.0
        return [(lamp, weight) for lamp in self.lit_mm] + [(window, self.window_share)]
