"""Paints one die into a small patch: perspective, light, gloss, translucence, motion blur.

It owns the rasteriser. It must not know of the floor or of shadows on it. Of the other dice it
knows only the light that they block.

Theory of operation. A cube's faces stay flat under the camera, so each visible face is one textured
quadrilateral. Its texture is multiplied by the light on a coarse grid over the face, and the
mirrored light is added. The result is warped into the patch: oversampled if the die rests, as
several poses in turn if it moves. The outline is filled separately, with soft edges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.fault_set import Active
from hil_tests.rig.plant.dice import CORNERS, FACE_NORMALS
from hil_tests.rig.plant.looks import TEXELS, DiceStyle, paint_faces

Float = NDArray[Any]

GRID = 4
"""Points per side of a face at which light is computed."""

MAX_POSES = 5
PIXELS_PER_POSE = 3.5
"""A moving die is painted once for each such stretch of its way during the exposure."""

REFRACTION = 1.49
_PAD = 2


@dataclass(frozen=True, slots=True)
class Patch:
    """A die as seen: colour already weighted by coverage, in linear light."""

    left: int
    top: int
    colour: Float
    """(height, width, 3)."""
    coverage: Float
    """(height, width, 1), 0-1."""


@dataclass(frozen=True, slots=True)
class _Face:
    value: int
    normal: Float
    corners: Float
    """Four corners in the die's axes, edge length 2: top left, top right, bottom right, bottom
    left of the texture as seen from outside."""
    grid: Float
    """(GRID, GRID, 3) points over the face."""


def _faces() -> list[_Face]:
    faces = []
    for value, normal in FACE_NORMALS.items():
        n = np.array(normal, dtype=np.float64)
        right = np.roll(n, 1)
        if n.sum() < 0:
            right = -right
        up = np.cross(n, right)
        corners = np.stack([n - right + up, n + right + up, n + right - up, n - right - up])
        steps = np.linspace(-1.0, 1.0, GRID) * (1.0 - 1.0 / GRID)
        grid = n + steps[None, :, None] * right - steps[:, None, None] * up
        faces.append(_Face(value, n, corners, grid))
    return faces


class DiePainter:
    """Paints dice of one style and size."""

    def __init__(
        self,
        style: DiceStyle,
        lens: Lens,
        lights: LightRig,
        *,
        die_mm: float,
        seed: int,
        flaws: Active,
    ) -> None:
        """Paint the faces. `flaws`: what is wrong with this die, as in `faults.toml`; a chip's
        corner is of `dice.CORNERS`, from 1."""
        self._lens = lens
        self._lights = lights
        self._half_mm = die_mm / 2.0
        self._round_mm = style.round_mm * die_mm / 16.0
        self._faces = _faces()
        self._normals = np.stack([face.normal for face in self._faces])
        self._grids = np.stack([face.grid for face in self._faces])
        self._eye = lens.eye_mm
        looks = paint_faces(style, die_mm=die_mm, seed=seed, lost_pip=flaws.get("pip_lost"))
        if wrong := flaws.get("die_misspotted"):
            face, shown = int(wrong["face"]) - 1, int(wrong["shows"]) - 1
            for textures in filter(None, (looks.albedo, looks.inner, looks.pip_mask)):
                textures[face] = textures[shown]
        if chip := flaws.get("die_chipped"):
            corner = CORNERS[int(chip["corner"]) - 1]
            for sided, texture in zip(self._faces, looks.albedo, strict=True):
                _break(texture, sided, corner, float(chip["depth_mm"]) / die_mm)
        self._glow = looks.glow
        self._fine = [_padded(t, TEXELS) for t in looks.albedo]
        self._coarse = [_padded(t, TEXELS // 2) for t in looks.albedo]
        self._inner = looks.inner
        self._pip_mask = looks.pip_mask

    def paint(self, positions: Float, rotations: Float, others: Float, floor_mm: float) -> Patch:
        """Paint a die along its way during the exposure.

        `positions` (n, 3) and `rotations` (n, 3, 3) are its poses at evenly spaced moments, n ≥ 1;
        `others` (m, 3) the centres of the other dice; `floor_mm` the height of the plate.
        """
        chosen = self._poses_needed(positions, rotations)
        positions, rotations = positions[chosen], rotations[chosen]
        scale = 3 if len(chosen) == 1 else 1
        corners_mm = positions[:, None, :] + self._half_mm * (
            CORNERS @ rotations.transpose(0, 2, 1)
        )
        corners_px = self._lens.project(corners_mm)
        low = np.floor(corners_px.min(axis=(0, 1))).astype(int) - 3
        high = np.ceil(corners_px.max(axis=(0, 1))).astype(int) + 4
        size = (int(high[0] - low[0]), int(high[1] - low[1]))
        colour = np.zeros((size[1], size[0], 3), np.float32)
        coverage = np.zeros((size[1], size[0]), np.float32)
        middle = len(chosen) // 2
        lighting = self._light(positions[middle], rotations[middle], others, floor_mm)
        lit: dict[int, Float] = {}
        for position, rotation, outline in zip(positions, rotations, corners_px, strict=True):
            mask, picture = self._raster(
                position, rotation, outline - low, low, size, scale, lighting, lit
            )
            if scale > 1:
                mask = cv2.resize(mask, size, interpolation=cv2.INTER_AREA)
                picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
            coverage += mask
            colour += picture
        share = 1.0 / len(chosen)
        colour = np.asarray(cv2.GaussianBlur(colour * share, (0, 0), 0.55))
        coverage = np.asarray(cv2.GaussianBlur(coverage * share, (0, 0), 0.55))
        return Patch(int(low[0]), int(low[1]), colour, coverage[..., None])

    def _poses_needed(self, positions: Float, rotations: Float) -> NDArray[np.intp]:
        """Pick evenly as many of the poses as the die's way over the picture asks for."""
        ends = positions[[0, -1], None, :] + self._half_mm * (
            CORNERS @ rotations[[0, -1]].transpose(0, 2, 1)
        )
        first, last = self._lens.project(ends)
        way_px = float(np.abs(last - first).max())
        count = min(
            MAX_POSES, len(positions), 1 + math.ceil(max(0.0, way_px - 0.3) / PIXELS_PER_POSE)
        )
        if count == 1:
            return np.array([len(positions) // 2])
        return np.rint(np.linspace(0, len(positions) - 1, count)).astype(np.intp)

    def _raster(
        self,
        position: Float,
        rotation: Float,
        outline: Float,
        low: Float,
        size: tuple[int, int],
        scale: int,
        lighting: tuple[Float, Float],
        lit: dict[int, Float],
    ) -> tuple[Float, Float]:
        """Return coverage and covered colour of one pose, at `scale` times the resolution.

        `lit` keeps the lit textures from pose to pose: during one exposure a die's light hardly
        changes, and multiplying it out is half of the work.
        """
        size = (size[0] * scale, size[1] * scale)
        normals = self._normals @ rotation.T
        to_eye = self._eye - (position + self._half_mm * normals)
        facing = np.einsum("ij,ij->i", normals, to_eye) / np.linalg.norm(to_eye, axis=1)
        seen = [int(i) for i in np.argsort(facing) if facing[i] > 1e-3]
        texels = TEXELS if scale > 1 else TEXELS // 2
        square = _texture_corners(texels)
        picture = np.zeros((size[1], size[0], 3), np.float32)
        for i in seen:
            quad_mm = position + self._half_mm * (self._faces[i].corners @ rotation.T)
            quad = (self._lens.project(quad_mm) - low + 0.5) * scale - 0.5
            if i not in lit:
                lit[i] = self._lit(i, lighting, texels)
                if self._glow is not None and i == seen[-1]:
                    lit[i] += self._seen_through(
                        i, position, rotation, quad, low, scale, texels, lighting[0][i]
                    )
            warp = cv2.getPerspectiveTransform(square, quad.astype(np.float32))
            cv2.warpPerspective(
                lit[i],
                warp,
                size,
                dst=picture,
                flags=cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_TRANSPARENT,
            )
        hull = cv2.convexHull((((outline + 0.5) * scale - 0.5) * 16).astype(np.int32))
        mask8 = np.zeros((size[1], size[0]), np.uint8)
        cv2.fillConvexPoly(mask8, hull, 255, cv2.LINE_AA, 4)
        if self._round_mm:
            high_mm = self._lens.height_mm - float(position[2])
            side = 2 * round(self._round_mm * self._lens.focal_px / high_mm * scale) + 1
            round_ = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
            mask8 = np.asarray(cv2.morphologyEx(mask8, cv2.MORPH_OPEN, round_), np.uint8)
        mask = mask8.astype(np.float32) * np.float32(1.0 / 255.0)
        return mask, picture * mask[..., None]

    def _lit(self, face: int, lighting: tuple[Float, Float], texels: int) -> Float:
        """A face's texture under its light, with what it mirrors."""
        light, shine = lighting
        side = texels + 2 * _PAD
        texture = self._fine[face] if texels == TEXELS else self._coarse[face]
        lit: Float = texture * _spread(light[face], side)[..., None]
        lit += _spread(shine[face], side)[..., None]
        return lit

    def _light(
        self, position: Float, rotation: Float, others: Float, floor_mm: float
    ) -> tuple[Float, Float]:
        """Return light and mirrored light on the grid of each face, (6, GRID, GRID)."""
        points = (self._grids @ rotation.T * self._half_mm + position).astype(np.float32)
        normals = (self._normals @ rotation.T).astype(np.float32)
        towards = np.broadcast_to(normals[:, None, None, :], points.shape)
        light = self._lights.irradiance(points, towards)
        above = np.clip((points[..., 2] - floor_mm) / 14.0, 0.0, 1.0)
        sideways = 1.0 - np.clip(towards[..., 2], 0.0, 1.0)
        light *= 1.0 - 0.62 * sideways * (1.0 - above)
        for other in others:
            away = (other - points).astype(np.float32)
            distance = np.linalg.norm(away, axis=-1)
            facing = np.einsum("...i,...i->...", away, towards) / distance
            taken = 1.5 * (self._half_mm / distance) ** 2 * np.maximum(facing, 0.0)
            light *= 1.0 - np.clip(taken, 0.0, 0.72)
        return light, self._lights.mirrored(points, towards, self._eye.astype(np.float32))

    def _seen_through(
        self,
        face: int,
        position: Float,
        rotation: Float,
        quad: Float,
        low: Float,
        scale: int,
        texels: int,
        light: Float,
    ) -> Float:
        """Light of the far face's pips through a translucent die, on this face's texture.

        Seen through the near face the far one appears lifted: an edge deep, it seems to lie at
        edge / 1.49.
        """
        assert self._inner is not None
        assert self._glow is not None
        near = self._faces[face]
        far = next(f for f in self._faces if f.value == 7 - near.value)
        lifted = far.corners + near.normal * 2.0 * (1.0 - 1.0 / REFRACTION)
        apparent_mm = position + self._half_mm * (lifted @ rotation.T)
        apparent = (self._lens.project(apparent_mm) - low + 0.5) * scale - 0.5
        to_texture = cv2.getPerspectiveTransform(quad.astype(np.float32), _texture_corners(texels))
        on_texture = cv2.perspectiveTransform(apparent[None].astype(np.float32), to_texture)[0]
        side = texels + 2 * _PAD
        source = np.array(
            [[0, 0], [TEXELS, 0], [TEXELS, TEXELS], [0, TEXELS]], dtype=np.float32
        ) - np.float32(0.5)
        warp = cv2.getPerspectiveTransform(source, on_texture.astype(np.float32))
        shown: Float = cv2.warpPerspective(self._inner[far.value - 1], warp, (side, side))
        mask = self._pip_mask[near.value - 1]
        hidden: Float = cv2.resize(mask, (side, side), interpolation=cv2.INTER_AREA)
        strength = shown * (1.0 - hidden) * 0.62 * float(light.mean())
        return strength[..., None] * self._glow


def _break(texture: Float, face: _Face, corner: Float, share: float) -> None:
    """Paint the rough triangle of a corner that is broken off, where the face has that corner;
    `share` of an edge is gone."""
    if face.normal @ corner < 0:
        return
    at = int(np.argmin(np.linalg.norm(face.corners - corner, axis=1)))
    side = texture.shape[0] - 1
    square = np.array([[0, 0], [side, 0], [side, side], [0, side]], dtype=np.float64)
    legs = [square[at] + share * (square[(at + way) % 4] - square[at]) for way in (1, -1)]
    triangle = np.rint(np.array([square[at], *legs])).astype(np.int32)
    rough = 0.55 * texture.reshape(-1, texture.shape[-1]).mean(axis=0) + 0.1
    cv2.fillConvexPoly(texture, triangle, [float(part) for part in rough])


def _padded(texture: Float, texels: int) -> Float:
    """Shrink a texture and repeat its border, so that neighbouring faces meet without a gap."""
    small = cv2.resize(texture, (texels, texels), interpolation=cv2.INTER_AREA)
    return cv2.copyMakeBorder(small, _PAD, _PAD, _PAD, _PAD, cv2.BORDER_REPLICATE)


def _texture_corners(texels: int) -> NDArray[np.float32]:
    """Corners of the face itself in a padded texture, in OpenCV's pixel-centre coordinates."""
    near, far = _PAD - 0.5, _PAD + texels - 0.5
    return np.array([[near, near], [far, near], [far, far], [near, far]], dtype=np.float32)


def _spread(grid: Float, side: int) -> Float:
    """Enlarge values on the grid to a whole texture."""
    return cv2.resize(grid, (side, side), interpolation=cv2.INTER_LINEAR)
