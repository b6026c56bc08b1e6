"""The parts of the picture that move only with the plate: floor, wall, deck, dome.

It owns the painted backdrop for a set of plate heights, and the dome's reflections and scratches,
which lie over everything. It must not know of dice. The backdrop is painted once at start, in
linear light, and kept in square-root light.
"""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Image, Lens
from hil_tests.rig.plant.geometry import PLATE_STROKE_MM, Geometry
from hil_tests.rig.plant.looks import linear

Float = NDArray[Any]
"""float32 arrays; OpenCV's own types say less."""

HEIGHTS = 9
"""Painted plate heights; a step of 1.25 mm scales the floor's rim by one pixel."""

_TEXTURE_PX_PER_MM = 9.0
RIM_MM = 46.0
"""Height of the tube's rim, where the dome sits on it."""


class Backdrop:
    """The painted backdrops of one compartment."""

    def __init__(self, geometry: Geometry, lens: Lens, lights: LightRig, *, seed: int) -> None:
        random = np.random.default_rng(seed)
        self._geometry = geometry
        self._lens = lens
        self._floor = _floor_texture(geometry, random)
        self._vignette = vignette(lens)
        slopes = lens.slopes(2)
        surroundings = self._paint_surroundings(slopes, random)
        self._by_height = [
            self._paint(k * PLATE_STROKE_MM / (HEIGHTS - 1), slopes, surroundings, lights)
            for k in range(HEIGHTS)
        ]
        self.veil = _paint_veil(geometry, lens, lights, random)
        """Light that the dome adds: to be added to every picture, (height, width, 3) uint8."""

    def at(self, plate_mm: float) -> Image:
        """Return the backdrop with the plate at this height; not to be written to."""
        share = plate_mm / PLATE_STROKE_MM * (HEIGHTS - 1)
        return self._by_height[min(HEIGHTS - 1, max(0, round(share)))]

    def _paint(
        self, plate_mm: float, slopes: tuple[Float, Float], surroundings: Float, lights: LightRig
    ) -> Image:
        g, lens = self._geometry, self._lens
        x, y = (a.astype(np.float32) for a in lens.plane_at(plate_mm, slopes))
        side = self._floor.shape[0]
        map_x = x * _TEXTURE_PX_PER_MM + side / 2.0
        map_y = -y * _TEXTURE_PX_PER_MM + side / 2.0
        floor = cv2.remap(self._floor, map_x, map_y, cv2.INTER_LINEAR)
        light = lights.floor_light(x, y, plate_mm, g.radius_mm)
        lit = np.asarray(floor, dtype=np.float32) * light[..., None]
        inside = np.clip((g.radius_mm - np.hypot(x, y)) * lens.floor_px_per_mm * 2.0, 0.0, 1.0)
        both = lit * inside[..., None] + surroundings * (1.0 - inside[..., None])
        small = np.asarray(
            cv2.resize(both, (lens.width, lens.height), interpolation=cv2.INTER_AREA)
        )
        small = np.asarray(cv2.GaussianBlur(small, (0, 0), 0.55)) * self._vignette[..., None]
        return np.rint(np.sqrt(np.clip(small, 0.0, 1.0)) * 255.0).astype(np.uint8)

    def _paint_surroundings(
        self, slopes: tuple[Float, Float], random: np.random.Generator
    ) -> Float:
        """Wall, rim and deck: what lies outside the floor's disc, at twice the resolution."""
        g, lens = self._geometry, self._lens
        x, y = (a.astype(np.float32) for a in lens.plane_at(0.0, slopes))
        share, angle = _wall_met(x, y, lens, g.radius_mm)
        z = lens.height_mm * (1.0 - share)
        r = np.hypot(x, y)
        picture = self._deck(x, y, random)
        on_wall = np.clip((RIM_MM - z) * 2.0, 0.0, 1.0) * (r >= g.radius_mm)
        wall = self._wall(z, angle, random)
        picture = picture * (1.0 - on_wall[..., None]) + wall * on_wall[..., None]
        # The rim in the plane of the floor, as seen past it from the lens.
        nearer = RIM_MM / lens.height_mm
        eye_x, eye_y = lens.offset_mm
        r = np.hypot(x + nearer * (eye_x - x), y + nearer * (eye_y - y)) / (1.0 - nearer)
        rim_r = g.radius_mm / (1.0 - nearer)
        thickness = 3.2
        on_rim = np.clip((thickness / 2 - np.abs(r - rim_r - thickness / 2)) * 5.0, 0.0, 1.0)
        rim_light = 0.22 + 0.11 * np.cos(angle - 2.2) + 0.06 * np.cos(2.0 * angle + 0.4)
        bright_line = np.exp(-(((r - rim_r - 0.5) / 0.28) ** 2)) * 0.45
        rim = np.stack([rim_light + bright_line] * 3, axis=-1) * np.array([1.0, 0.99, 0.95])
        picture = picture * (1.0 - on_rim[..., None]) + rim * on_rim[..., None]
        return np.asarray(np.clip(picture, 0.0, 1.0), dtype=np.float32)

    def _deck(self, x: Float, y: Float, random: np.random.Generator) -> Float:
        """Brushed dark metal with four screws."""
        streak = random.standard_normal(x.shape).astype(np.float32)
        streak = np.asarray(cv2.blur(streak, (61, 1)))
        streak /= streak.std()
        level = 0.030 * (1.0 + 0.16 * streak) + 0.012 * np.exp(-((x + 30.0) ** 2) / 1800.0)
        for corner in ((-66.0, 46.0), (66.0, 46.0), (-66.0, -46.0), (66.0, -46.0)):
            d = np.hypot(x - corner[0], y - corner[1])
            head = np.clip((3.4 - d) * 4.0, 0.0, 1.0)
            slot = np.clip((0.5 - np.abs((x - corner[0]) * 0.8 + (y - corner[1]) * 0.6)) * 6, 0, 1)
            level = level * (1 - head) + head * (0.16 - 0.13 * slot + 0.02 * (y - corner[1]))
        return np.stack([level, level * 0.98, level * 0.96], axis=-1).astype(np.float32)

    def _wall(self, z: Float, angle: Float, random: np.random.Generator) -> Float:
        """The inside of the tube: floor colour thrown back below, ring light above."""
        g = self._geometry
        up = np.clip(z / RIM_MM, 0.0, 1.0)
        floor_mean = self._floor.mean(axis=(0, 1))
        bounce = floor_mean * (0.42 * np.exp(-up * 3.5))[..., None]
        glow = 0.035 + 0.10 * up**2
        bands = sum(
            a * np.exp(-((_turned(angle - c) / w) ** 2))
            for a, c, w in ((0.16, 2.3, 0.16), (0.07, 0.5, 0.09), (0.05, -1.1, 0.22))
        )
        level: Float = (glow + bands * (0.3 + 0.7 * up)).astype(np.float32)
        if g.wall == "rough":
            grit = random.standard_normal(z.shape).astype(np.float32)
            grit = np.asarray(cv2.GaussianBlur(grit, (0, 0), 1.6))
            level = level * 0.6 + 0.07 + 0.05 * grit / float(grit.std())
        for k in range(g.wall_ribs):
            away = _turned(angle - (k + 0.5) * math.tau / g.wall_ribs)
            across = away * g.radius_mm / 2.4
            profile = np.clip(1.0 - across * across, 0.0, 1.0)
            level = level * (1.0 - 0.75 * (profile > 0)) + 0.22 * profile * (1.0 - 0.5 * across)
        gap = 1.0 - 0.8 * np.exp(-z / 0.8)
        wall = (bounce + np.clip(level, 0.0, 1.0)[..., None]) * gap[..., None]
        return np.asarray(wall, dtype=np.float32)


def _turned(angle: Float) -> Float:
    """The same angle, from -π to π."""
    return np.asarray((angle + math.pi) % math.tau - math.pi)


def _wall_met(x: Float, y: Float, lens: Lens, radius_mm: float) -> tuple[Float, Float]:
    """Where the ways from the lens to points of the floor's plane first meet the tube.

    Shapes as `x`: the share of the way, at most 1, and the angle about the tube's axis. A lens that
    stands beside the tube sees past its near wall, and of a way that misses the tube the deck.
    """
    eye_x, eye_y = lens.offset_mm
    way_x, way_y = x - eye_x, y - eye_y
    a = np.maximum(way_x**2 + way_y**2, 1e-9)
    b = eye_x * way_x + eye_y * way_y
    c = eye_x**2 + eye_y**2 - radius_mm**2
    under = b * b - a * c
    share = np.where(under < 0.0, 0.0, np.minimum((np.sqrt(np.maximum(under, 0.0)) - b) / a, 1.0))
    return share, np.arctan2(eye_y + share * way_y, eye_x + share * way_x)


def vignette(lens: Lens) -> Float:
    """Return how much of the light arrives at each pixel, (height, width)."""
    v, u = np.mgrid[0 : lens.height, 0 : lens.width].astype(np.float32)
    r2 = ((u - lens.centre_px[0]) ** 2 + (v - lens.centre_px[1]) ** 2) / (lens.width / 2.0) ** 2
    return np.asarray(1.0 - 0.16 * r2, dtype=np.float32)


def _floor_texture(g: Geometry, random: np.random.Generator) -> Float:
    """Albedo of the floor with its ridges, seen from above, (side, side, 3)."""
    side = int(2.2 * g.radius_mm * _TEXTURE_PX_PER_MM)
    painters = {"felt": _felt, "wood": _wood, "rubber": _rubber, "acrylic": _acrylic}
    albedo = painters[g.floor](side, random)
    for ridge in g.ridges:
        _paint_ridge(albedo, ridge.from_mm, ridge.to_mm, ridge.height_mm)
    return np.asarray(np.clip(albedo, 0.0, 1.0), dtype=np.float32)


def _cloud(side: int, sigma: float, random: np.random.Generator) -> Float:
    """Smooth noise of unit deviation."""
    shrink = max(1, int(sigma // 3))
    small = random.standard_normal((side // shrink + 2, side // shrink + 2)).astype(np.float32)
    small = np.asarray(cv2.GaussianBlur(small, (0, 0), max(0.6, sigma / shrink)))
    full = np.asarray(cv2.resize(small, (side, side), interpolation=cv2.INTER_CUBIC))
    return np.asarray((full - full.mean()) / full.std(), dtype=np.float32)


def _felt(side: int, random: np.random.Generator) -> Float:
    """Green wool felt: short fibres in all directions over soft patches."""
    fibres = np.zeros((side, side), np.float32)
    count = side * side // 90
    starts = random.uniform(0, side, (count, 2))
    turns = random.uniform(0, math.tau, count)
    lengths = random.uniform(6, 26, count)
    shades = random.normal(0.0, 1.0, count)
    ends = starts + np.stack([np.cos(turns), np.sin(turns)], 1) * lengths[:, None]
    for a, b, shade in zip(starts.astype(int), ends.astype(int), shades, strict=True):
        cv2.line(fibres, (int(a[0]), int(a[1])), (int(b[0]), int(b[1])), float(shade), 1)
    fibres = np.asarray(cv2.GaussianBlur(fibres, (0, 0), 0.9))
    level = 1.0 + 0.115 * fibres / fibres.std() + 0.05 * _cloud(side, 40, random)
    level += 0.07 * _cloud(side, 1.5, random)
    return np.asarray(linear((22, 92, 62)) * level[..., None], dtype=np.float32)


def _wood(side: int, random: np.random.Generator) -> Float:
    """Oiled beech: drawn-out grain with darker pores."""
    v = np.mgrid[0:side, 0:side][0].astype(np.float32)
    bend = 22.0 * _cloud(side, 110, random) + 5.0 * _cloud(side, 30, random)
    rings = np.sin((v + bend) * 0.085) + 0.5 * np.sin((v + bend) * 0.21 + 1.0)
    grain = random.standard_normal((side, side)).astype(np.float32)
    grain = np.asarray(cv2.GaussianBlur(grain, (0, 0), 18.0, sigmaY=0.8))
    pores = np.clip(grain / grain.std() - 1.6, 0.0, 2.0)
    level = 1.0 + 0.07 * rings + 0.05 * grain / grain.std() - 0.18 * pores
    return np.asarray(linear((176, 128, 82)) * level[..., None], dtype=np.float32)


def _rubber(side: int, random: np.random.Generator) -> Float:
    """Dark rubber with light specks and the scuffs of many dice."""
    level = 1.0 + 0.10 * _cloud(side, 1.6, random) + 0.08 * _cloud(side, 60, random)
    albedo = linear((58, 60, 66)) * level[..., None]
    specks = _cloud(side, 2.2, random)
    albedo += (0.10 * np.clip(specks - 2.3, 0.0, 1.0))[..., None]
    scuffs = np.zeros((side, side), np.float32)
    for _ in range(70):
        start = random.uniform(0, side, 2)
        turn, length = random.uniform(0, math.tau), random.uniform(10, 120)
        end = start + length * np.array([math.cos(turn), math.sin(turn)])
        a, b = (int(start[0]), int(start[1])), (int(end[0]), int(end[1]))
        cv2.line(scuffs, a, b, float(random.uniform(0.2, 1.0)), 1, cv2.LINE_AA)
    albedo += 0.035 * np.asarray(cv2.GaussianBlur(scuffs, (0, 0), 1.1))[..., None]
    return np.asarray(albedo, dtype=np.float32)


def _acrylic(side: int, random: np.random.Generator) -> Float:
    """Light grey frosted acrylic."""
    level = 1.0 + 0.015 * _cloud(side, 2.0, random) + 0.03 * _cloud(side, 90, random)
    return np.asarray(linear((186, 188, 192)) * level[..., None], dtype=np.float32)


def _paint_ridge(
    albedo: Float, from_mm: tuple[float, float], to_mm: tuple[float, float], height_mm: float
) -> None:
    """Paint a round bar of worn brass, lit from all round, with the floor dark along its feet."""
    side = albedo.shape[0]
    v, u = np.mgrid[0:side, 0:side].astype(np.float32)
    x = (u + 0.5 - side / 2.0) / _TEXTURE_PX_PER_MM
    y = -(v + 0.5 - side / 2.0) / _TEXTURE_PX_PER_MM
    start, end = np.array(from_mm), np.array(to_mm)
    along = end - start
    t = ((x - start[0]) * along[0] + (y - start[1]) * along[1]) / float(along @ along)
    t = np.clip(t, 0.0, 1.0)
    away = np.hypot(x - start[0] - t * along[0], y - start[1] - t * along[1]) / height_mm
    foot = np.exp(-((np.maximum(away - 1.0, 0.0) / 0.35) ** 2))
    albedo *= (1.0 - 0.55 * foot)[..., None]
    up = np.sqrt(np.clip(1.0 - away * away, 0.0, 1.0))
    x, y = x - start[0], y - start[1]
    side_light = (x * along[1] - y * along[0]) / float(np.hypot(*along))
    shine = 0.30 + 0.45 * up + 0.35 * np.exp(-((side_light / height_mm - 0.35) ** 2) / 0.02)
    bar = linear((150, 128, 84)) * shine[..., None]
    inside = np.clip((1.0 - away) * height_mm * _TEXTURE_PX_PER_MM, 0.0, 1.0)[..., None]
    albedo[:] = albedo * (1.0 - inside) + bar * inside


_HALO_PX = 40
"""Beyond it nothing is left of a mirrored lamp."""


def _paint_veil(g: Geometry, lens: Lens, lights: LightRig, random: np.random.Generator) -> Image:
    """Reflections of the ring light and a window in the dome, dust and fine scratches."""
    v, u = np.mgrid[0 : lens.height, 0 : lens.width].astype(np.float32)
    cx, cy = lens.project(np.array([0.0, 0.0, RIM_MM]))
    veil = np.zeros((lens.height, lens.width, 3), np.float32)
    scale = lens.floor_px_per_mm * g.radius_mm / 50.0
    # The ring's 24 lamps mirrored in the dome: a circle of short streaks near the wall.
    for k in range(24):
        angle = k * math.tau / 24 + 0.06
        gx, gy = cx + 48.5 * scale * math.cos(angle), cy - 48.5 * scale * math.sin(angle)
        near = tuple(
            slice(max(0, int(at) - _HALO_PX), max(0, int(at) + _HALO_PX)) for at in (gy, gx)
        )
        to_x, to_y = u[near] - gx, v[near] - gy
        along = to_x * math.cos(angle) - to_y * math.sin(angle)
        across = to_x * math.sin(angle) + to_y * math.cos(angle)
        core = np.exp(-((along / 1.3) ** 2 + (across / 2.6) ** 2))
        halo = np.exp(-(along**2 + across**2) / 60.0)
        strength = random.uniform(0.75, 1.1) * (k >= 24 * lights.dead / len(lights.lamps_mm))
        veil[near] += strength * (150.0 * core + 7.0 * halo)[..., None]
    # A window in the room: two faint panes, bent by the dome.
    for pane in (-1.0, 1.0):
        px, py = cx - 25.0 * scale + pane * 4.6 * scale, cy - 17.0 * scale
        lean = (u - px) * 0.93 + (v - py) * 0.36 - 0.0016 * (v - py) ** 2
        tall = -(u - px) * 0.36 + (v - py) * 0.93
        inside = 0.5 - 0.5 * np.tanh((np.abs(lean) - 3.6 * scale) / 4.0)
        inside *= 0.5 - 0.5 * np.tanh((np.abs(tall) - 9.5 * scale) / 5.0)
        veil += inside[..., None] * np.array([13.0, 12.0, 10.5])
    scratches = np.zeros((lens.height * 2, lens.width * 2), np.float32)
    for _ in range(46):
        centre = random.uniform(-400, 1600, 2) * lens.size_share
        reach = random.uniform(150, 900) * lens.size_share
        start = random.uniform(0, 360)
        sweep = random.uniform(4, 24)
        cv2.ellipse(
            scratches,
            (int(centre[0]), int(centre[1])),
            (int(reach), int(reach * random.uniform(0.7, 1.0))),
            random.uniform(0, 180),
            start,
            start + sweep,
            float(random.uniform(0.2, 1.0)),
            1,
            cv2.LINE_AA,
        )
    for _ in range(70):
        spot = (int(random.uniform(0, 2 * lens.width)), int(random.uniform(0, 2 * lens.height)))
        cv2.circle(scratches, spot, 1, float(random.uniform(0.4, 1.6)), -1, cv2.LINE_AA)
    fine = cv2.resize(scratches, (lens.width, lens.height), interpolation=cv2.INTER_AREA)
    veil += 13.0 * np.asarray(fine)[..., None]
    veil += 2.0
    dome_r = g.radius_mm * 1.28 * lens.floor_px_per_mm
    inside = np.clip((dome_r - np.hypot(u - cx, v - cy)) / 2.0, 0.0, 1.0)[..., None]
    return np.clip(np.rint(veil * inside), 0, 255).astype(np.uint8)
