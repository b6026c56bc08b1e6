"""What a scene is: dice with poses and looks, a camera, and the labels that follow from them.

Owns: the geometry shared by both renderers and by the labels. Must not know: pixels' colours,
files, networks. World axes: x right, y away, z up, floor at z = 0; lengths in die edges of the
scene's standard die, so that one number (pixels per edge) sets the scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

FLAT_DEG = 1.5
"""A die tilted no more than this lies flat."""

NOT_FLAT_DEG = 6.0
"""A die tilted at least this does not. Between the two no label is given."""

FACE_AXES = np.array(
    [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float64
)
"""Outward normals of the six faces in die coordinates; `Die.values` has the same order."""

FACE_FRAMES = np.array(
    [
        [[0, 1, 0], [0, 0, 1]],
        [[0, 0, 1], [0, 1, 0]],
        [[0, 0, 1], [1, 0, 0]],
        [[1, 0, 0], [0, 0, 1]],
        [[1, 0, 0], [0, 1, 0]],
        [[0, 1, 0], [1, 0, 0]],
    ],
    np.float64,
)
"""Per face the two axes u, v of its texture, with u × v = the outward normal."""

RIGHT_HANDED = (2, 5, 3, 4, 1, 6)
LEFT_HANDED = (5, 2, 3, 4, 1, 6)
"""Values by face for the two ways in which dice are numbered; opposite faces add up to 7."""


@dataclass(slots=True)
class Die:
    """A die's pose and numbering. `rotation` columns are its axes in the world."""

    centre: np.ndarray
    rotation: np.ndarray
    edge: float
    values: tuple[int, ...]
    stacked: bool = False

    def corners(self) -> np.ndarray:
        """(8, 3) corners of the sharp cube, world."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(self.centre + (signs * self.edge / 2) @ self.rotation.T)

    def top_face(self) -> int:
        """Index of the face that most faces up."""
        return int(np.argmax((FACE_AXES @ self.rotation.T)[:, 2]))

    def tilt_deg(self) -> float:
        """Angle between the top face's normal and the vertical, 0..54.7 degrees."""
        up = float((FACE_AXES @ self.rotation.T)[:, 2].max())
        return float(np.degrees(np.arccos(np.clip(up, -1, 1))))

    def face_corners(self, face: int) -> np.ndarray:
        """(4, 3) corners of one face, world, in order around it."""
        u, v = FACE_FRAMES[face]
        ring = np.array([-u - v, u - v, u + v, -u + v]) + FACE_AXES[face]
        return np.asarray(self.centre + (ring * self.edge / 2) @ self.rotation.T)


@dataclass(slots=True)
class Pinhole:
    """A pinhole with one radial coefficient, given as *undistortion*: the ray through a pixel at
    normalised distance ρ from the axis is that of a pinhole at ρ·(1 + k·ρ²)."""

    size: int
    """Width and height of the picture; the axis goes through its middle."""
    focal_px: float
    k: float
    position: np.ndarray
    rotation: np.ndarray
    """Rows: the camera's right, down and forward axes in the world."""

    def project(self, points: np.ndarray) -> np.ndarray:
        """(n, 3) world points to (n, 2) pixels, pixel (0, 0) covering [0, 1) × [0, 1)."""
        local = (np.asarray(points) - self.position) @ self.rotation.T
        pin = local[:, :2] / np.maximum(local[:, 2:], 1e-6)
        bent = pin.copy()
        for _ in range(6):
            bent = pin / (1 + self.k * (bent**2).sum(axis=1, keepdims=True))
        return np.asarray(bent * self.focal_px + self.size / 2)

    def rays(self, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
        """(..., 3) unit-free float32 directions, world, through pixel coordinates."""
        x = (xs - self.size / 2) / self.focal_px
        y = (ys - self.size / 2) / self.focal_px
        swell = 1 + self.k * (x * x + y * y)
        local = np.stack([x * swell, y * swell, np.ones_like(x)], axis=-1)
        return np.asarray(local @ self.rotation, np.float32)


def look_down(
    size: int, px_per_edge: float, distance: float, tilt_deg: float, turn_deg: float, k: float = 0.0
) -> Pinhole:
    """A camera that looks at the origin from `distance` edges away, `tilt_deg` off the vertical.

    A floor-level edge at the origin spans `px_per_edge` pixels across the line of sight.
    """
    tilt, turn = np.radians([tilt_deg, turn_deg])
    forward = np.array([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), -np.cos(tilt)])
    right = np.array([-np.sin(turn), np.cos(turn), 0.0])
    down = np.cross(forward, right)
    return Pinhole(
        size=size,
        focal_px=px_per_edge * distance,
        k=k,
        position=-forward * distance,
        rotation=np.stack([right, down, forward]),
    )


def share_inside(corners: np.ndarray, size: int) -> float:
    """Share of a convex shape, (n, 2) pixels, that lies within a picture."""
    frame = np.array([[0, 0], [size, 0], [size, size], [0, size]], np.float32)
    shape = corners.astype(np.float32)
    area, _ = cv2.intersectConvexConvex(shape, frame)
    return float(area) / max(float(cv2.contourArea(shape)), 1.0)


@dataclass(slots=True)
class DieLabel:
    """What a picture shows of one die. Pixels are the picture's."""

    corners: list[list[float]]
    """Four corners of the top face, in order around it."""

    value: int
    tilt_deg: float
    stacked: bool
    down: list[float]
    """From the centre of the top face to that of the bottom face, pixels."""

    visible: float
    """Share of the top face that the picture shows, 0..1."""


def label(die: Die, camera: Pinhole, visible: float) -> DieLabel:
    """The truth about one die in one picture."""
    top = die.top_face()
    corners = camera.project(die.face_corners(top))
    ends = camera.project(
        np.array([die.face_corners(face).mean(axis=0) for face in (top, top ^ 1)])
    )
    return DieLabel(
        corners=np.round(corners, 3).tolist(),
        value=die.values[top],
        tilt_deg=round(die.tilt_deg(), 3),
        stacked=die.stacked,
        down=np.round(ends[1] - ends[0], 3).tolist(),
        visible=round(visible, 3),
    )


def labels(dice: Sequence[Die], camera: Pinhole, strangers: int = 0) -> list[DieLabel]:
    """The truth about each die; visible is what the others and the picture's border leave. So many
    of the last dice are none: they only hide others."""
    owner = np.full((camera.size, camera.size), -1, np.int16)

    def covered(outline: np.ndarray) -> np.ndarray:
        mask = np.zeros(owner.shape, np.uint8)
        cv2.fillConvexPoly(mask, np.round(outline * 16).astype(np.int32), 1, cv2.LINE_8, 4)
        return mask > 0

    depth = [float(np.linalg.norm(die.centre - camera.position)) for die in dice]
    for index in np.argsort(depth)[::-1]:
        hull = cv2.convexHull(camera.project(dice[index].corners()).astype(np.float32))
        owner[covered(hull)] = index
    found = []
    for index, die in enumerate(dice[: len(dice) - strangers]):
        face = camera.project(die.face_corners(die.top_face()))
        whole = max(float(cv2.contourArea(face.astype(np.float32))), 1.0)
        share = min(float((covered(face) & (owner == index)).sum()) / whole, 1.0)
        found.append(label(die, camera, share))
    return found


@dataclass(slots=True)
class RenderedPicture:
    """A rendered scene: BGR uint8 and what it shows."""

    image: np.ndarray
    labels: list[DieLabel]
    camera: Pinhole
    notes: dict[str, str] = field(default_factory=dict)
    calibration: dict[str, Any] | None = None
    """Of the camera, as a table's settings have it, where the picture is of a table."""


def encoded(linear: np.ndarray) -> np.ndarray:
    """Linear light as uint8."""
    tone = np.clip(linear, 0, 1) ** np.float32(1 / 2.2)
    return np.asarray(tone * 255 + 0.5, np.uint8)
