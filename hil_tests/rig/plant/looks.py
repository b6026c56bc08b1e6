"""How dice look: colours, pips and the texture of each face, painted once per style.

Owns styles and face textures, in linear light. Must not know where a die is or how it is lit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hil_tests.rig.fault_set import Value

Texture = NDArray[np.float32]
Colour = tuple[float, float, float]

TEXELS = 144
"""Side of a face texture: a 16 mm die at 4.7 px/mm, twice oversampled."""


@dataclass(frozen=True, slots=True)
class DiceStyle:
    """Material and pips. Colours are sRGB 0-255 as (red, green, blue)."""

    name: str
    body: Colour
    pip: Colour
    red_values: tuple[int, ...] = ()
    """Faces whose pips are red, as on Asian dice."""
    red: Colour = (190, 20, 22)
    pip_mm: float = 3.0
    """Diameter of a pip on a 16 mm die."""
    large_one_mm: float | None = None
    recess: float = 0.0
    """Depth look of the pips: 0 flush as on casino dice, 1 drilled."""
    glow: Colour | None = None
    """Translucent material: its colour where light comes through. None is opaque."""
    round_mm: float = 0.0
    """Radius of edges and corners; 0 is a casino's razor edge."""
    veins: Colour | None = None
    """Marbled material: the colour of its veins."""
    monogram: str = ""
    """A house's letters, printed around the middle of each face and as a serial number."""
    worn: float = 0.0
    """Share of the ink that is gone from the pips, and how scratched the faces are, 0-1."""


STYLES: dict[str, DiceStyle] = {
    style.name: style
    for style in (
        DiceStyle("white", (236, 234, 226), (22, 22, 24), recess=0.25),
        DiceStyle("ivory", (232, 218, 184), (44, 28, 20), recess=0.8),
        DiceStyle("red", (112, 6, 14), (240, 236, 228), glow=(226, 26, 34), pip_mm=3.3),
        DiceStyle("blue", (10, 22, 92), (238, 238, 234), glow=(30, 74, 220), pip_mm=3.3),
        DiceStyle("green", (6, 62, 30), (238, 238, 230), glow=(24, 168, 84), pip_mm=3.3),
        DiceStyle(
            "asian", (238, 236, 230), (20, 20, 26), red_values=(1, 4), large_one_mm=6.4, recess=0.9
        ),
        DiceStyle("black", (30, 30, 33), (240, 238, 232), recess=0.3),
        DiceStyle("rounded", (234, 230, 220), (24, 22, 24), recess=0.9, round_mm=2.0),
        DiceStyle("marbled", (206, 40, 58), (246, 242, 232), recess=0.6, veins=(242, 196, 190)),
        DiceStyle("house", (112, 6, 14), (240, 236, 228), glow=(226, 26, 34), monogram="SHAKER 07"),
        DiceStyle("worn", (226, 218, 198), (46, 42, 40), recess=0.8, round_mm=1.0, worn=0.45),
    )
}

_GRID = 0.265
_SPOTS: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


def pip_places(value: int, are_empty: bool = False) -> list[tuple[float, float]]:
    """Where a face has pips, or where another face would have one; from its middle, in edges."""
    lattice = [(u, v) for u in (-1, 0, 1) for v in (-1, 0, 1)]
    return [(_GRID * u, _GRID * v) for u, v in lattice if ((u, v) in _SPOTS[value]) != are_empty]


@dataclass(frozen=True, slots=True)
class FaceTextures:
    """The six faces of one style; index 0 is the face with one pip."""

    albedo: list[Texture]
    """Colour of the face under light 1, each (TEXELS, TEXELS, 3), blue first."""
    inner: list[Texture] | None
    """For translucent dice: how strongly the pips show through from behind, (TEXELS, TEXELS)."""
    pip_mask: list[Texture]
    """How much of each texel a pip covers, (TEXELS, TEXELS)."""
    glow: NDArray[np.float32] | None
    """Colour of light through the material, (3,); None for opaque dice."""


def linear(colour: Colour) -> NDArray[np.float32]:
    """Return an sRGB colour as linear light, blue first."""
    share = np.array(colour[::-1], dtype=np.float32) / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4).astype(
        np.float32
    )


def paint_faces(
    style: DiceStyle, *, die_mm: float, seed: int, lost_pip: Mapping[str, Value] | None = None
) -> FaceTextures:
    """Paint the six faces of a style. `lost_pip`: a `face`, and how much of its middle pip is
    `left`, 0-1; its hole stays."""
    random = np.random.default_rng(seed)
    left = dict.fromkeys(range(1, 7), 1.0)
    if lost_pip is not None:
        left[int(lost_pip["face"])] = float(lost_pip["left"])
    albedo = [_paint_face(style, value, die_mm, random, left[value]) for value in left]
    masks = [_pip_coverage(style, value, die_mm, left[value]) for value in left]
    if style.glow is None:
        return FaceTextures(albedo, None, masks, None)
    inner = [np.asarray(cv2.GaussianBlur(mask, (0, 0), 2.2), dtype=np.float32) for mask in masks]
    return FaceTextures(albedo, inner, masks, linear(style.glow))


def _pip_coverage(style: DiceStyle, value: int, die_mm: float, left: float = 1.0) -> Texture:
    """How much of each texel a pip covers, 0-1; `left`: how much of the middle pip does."""
    scale = TEXELS / die_mm
    radius = (style.pip_mm * die_mm / 16.0) * scale / 2.0
    if value == 1 and style.large_one_mm is not None:
        radius = (style.large_one_mm * die_mm / 16.0) * scale / 2.0
    v, u = np.mgrid[0:TEXELS, 0:TEXELS].astype(np.float32) + 0.5
    coverage = np.zeros((TEXELS, TEXELS), np.float32)
    for across, down in _SPOTS[value]:
        centre_u = TEXELS * (0.5 + _GRID * across)
        centre_v = TEXELS * (0.5 + _GRID * down)
        distance = np.hypot(u - centre_u, v - centre_v)
        share = left if (across, down) == (0, 0) else 1.0
        coverage = np.maximum(coverage, share * np.clip(radius - distance + 0.5, 0.0, 1.0))
    return coverage


def _paint_face(
    style: DiceStyle, value: int, die_mm: float, random: np.random.Generator, left: float
) -> Texture:
    body = _body(style, random)
    pips = _pip_coverage(style, value, die_mm, left)[..., None]
    ink = linear(style.red if value in style.red_values else style.pip)
    shade = _recess(style, value, die_mm)[..., None]
    if style.worn:
        pips = pips * _wear(style.worn, random)
    if style.monogram:
        body = _printed(body, style, value)
    painted = body * (1.0 - pips) + ink * shade * pips
    if left < 1.0:  # what has lost its paint is still a hole, and its edge throws a shadow
        painted = painted * (1.0 - _HOLE_SHADOW * (1.0 - left) * _edge_of_hole(style, die_mm))
    if style.recess > 0.0:
        painted += 0.05 * style.recess * _catchlight(style, value, die_mm)[..., None]
    return np.ascontiguousarray(painted.astype(np.float32))


def _body(style: DiceStyle, random: np.random.Generator) -> Texture:
    """Material without pips: faint mottling; deep middle and bright rim where translucent."""
    noise = cv2.GaussianBlur(
        random.standard_normal((TEXELS, TEXELS)).astype(np.float32), (0, 0), 9.0
    )
    mottle = 1.0 + 0.02 * np.asarray(noise) / float(np.std(noise))
    body = linear(style.body) * mottle[..., None]
    if style.veins is not None:
        body = _marbled(body, linear(style.veins), random)
    if style.worn:
        body = _scratched(body, style.worn, random)
    if style.round_mm:
        return _rounded(body, style.round_mm)
    if style.glow is not None:
        along = np.abs(np.linspace(-1.0, 1.0, TEXELS, dtype=np.float32))
        edge = np.maximum(along[:, None] ** 5, along[None, :] ** 5)
        slope = np.linspace(-0.5, 0.5, TEXELS, dtype=np.float32)
        turn = random.uniform(0.0, 2.0 * np.pi)
        facets = 0.16 + 0.22 * (
            np.abs(slope[:, None] * np.cos(turn) + slope[None, :] * np.sin(turn))
        )
        mix = np.clip(facets + 0.55 * edge, 0.0, 1.0)[..., None]
        body = body * (1.0 - mix) + linear(style.glow) * mix
    rim = linear(style.glow) * 0.5 + 0.35 if style.glow else np.minimum(linear(style.body), 0.9)
    outermost = np.zeros((TEXELS, TEXELS, 1), np.float32)
    outermost[[0, -1], :] = outermost[:, [0, -1]] = 0.8
    outermost[[1, -2], 1:-1] = outermost[1:-1, [1, -2]] = 0.35
    return np.asarray(body * (1.0 - outermost) + rim * outermost, dtype=np.float32)


def _marbled(body: Texture, veins: NDArray[np.float32], random: np.random.Generator) -> Texture:
    """Swirls of a second colour, as in dice cast from two melts."""
    coarse, fine = (
        np.asarray(cv2.GaussianBlur(random.standard_normal((TEXELS, TEXELS)), (0, 0), sigma))
        for sigma in (16.0, 5.0)
    )
    swirl = coarse / coarse.std() + 0.35 * fine / fine.std()
    share = np.exp(-((swirl / 0.32) ** 2))[..., None] * 0.8
    return np.asarray(body * (1.0 - share) + veins * share, dtype=np.float32)


def _scratched(body: Texture, worn: float, random: np.random.Generator) -> Texture:
    """Fine scratches and the grime in them."""
    lines = np.zeros((TEXELS, TEXELS), np.float32)
    for _ in range(round(40 * worn)):
        start, end = random.uniform(0, TEXELS, 2), random.uniform(0, TEXELS, 2)
        end = start + (end - start) * random.uniform(0.1, 0.5)
        a, b = (int(start[0]), int(start[1])), (int(end[0]), int(end[1]))
        cv2.line(lines, a, b, float(random.uniform(0.1, 0.6)), 1, cv2.LINE_AA)
    soft = np.asarray(cv2.GaussianBlur(lines, (0, 0), 0.8))[..., None]
    return np.asarray(body * (1.0 - 0.5 * soft), dtype=np.float32)


def _wear(worn: float, random: np.random.Generator) -> Texture:
    """How much ink is left at each place, (TEXELS, TEXELS, 1)."""
    cloud = np.asarray(cv2.GaussianBlur(random.standard_normal((TEXELS, TEXELS)), (0, 0), 5.0))
    gone = np.clip(cloud / cloud.std() - (1.3 - 2.2 * worn), 0.0, 1.0) * 0.85
    return np.asarray(1.0 - gone[..., None], dtype=np.float32)


def _rounded(body: Texture, round_mm: float) -> Texture:
    """The face of a die with round edges: they turn away from the light above."""
    reach = round_mm * TEXELS / 16.0
    away = np.minimum(np.arange(TEXELS), np.arange(TEXELS)[::-1]) + 0.5
    to_edge = np.minimum(away[:, None], away[None, :])
    turned = np.clip(1.0 - to_edge / reach, 0.0, 1.0)[..., None]
    return np.asarray(body * (1.0 - 0.38 * turned**2), dtype=np.float32)


def _printed(body: Texture, style: DiceStyle, value: int) -> Texture:
    """The house's letters across the face and its serial number along an edge, pressed in gold."""
    print_ = np.zeros((TEXELS, TEXELS), np.uint8)
    name, _, serial = style.monogram.partition(" ")
    if value in (1, 2, 3):
        cv2.putText(print_, name, (24, 54), cv2.FONT_HERSHEY_DUPLEX, 0.62, 255, 1, cv2.LINE_AA)
        cv2.ellipse(print_, (72, 72), (34, 34), 0, 20, 160, 255, 1, cv2.LINE_AA)
    if value == 6:
        cv2.putText(
            print_, f"{serial}413", (46, 78), cv2.FONT_HERSHEY_PLAIN, 0.9, 255, 1, cv2.LINE_AA
        )
    share = 0.75 * np.asarray(print_, np.float32)[..., None] / 255.0
    gold = linear((222, 186, 104))
    return np.asarray(body * (1.0 - share) + gold * share, dtype=np.float32)


_HOLE_SHADOW = 0.25
"""How much darker the edge of an empty hole is than the face; estimate, 0.1 to 0.4 by the light."""


def _edge_of_hole(style: DiceStyle, die_mm: float) -> Texture:
    """Where the edge of the middle pip's hole is, 0-1, (TEXELS, TEXELS, 1)."""
    radius = style.pip_mm * die_mm / 16.0 * TEXELS / die_mm / 2.0
    v, u = np.mgrid[0:TEXELS, 0:TEXELS].astype(np.float32) + 0.5
    distance = np.hypot(u - TEXELS / 2, v - TEXELS / 2)
    ring = np.exp(-(((distance - 0.8 * radius) / (0.2 * radius)) ** 2))
    return np.asarray(ring[..., None], dtype=np.float32)


def _recess(style: DiceStyle, value: int, die_mm: float) -> Texture:
    """Shading inside drilled pips: dark under the upper rim, lighter on the far slope."""
    if style.recess == 0.0:
        return np.ones((TEXELS, TEXELS), np.float32)
    pips = _pip_coverage(style, value, die_mm)
    soft = np.asarray(cv2.GaussianBlur(pips, (0, 0), 4.0), dtype=np.float32)
    down, across = np.gradient(soft)
    slope = (down + across) / max(1e-6, float(np.abs(down + across).max()))
    return np.asarray(1.0 + style.recess * (0.7 * slope - 0.15), dtype=np.float32)


def _catchlight(style: DiceStyle, value: int, die_mm: float) -> Texture:
    """The glint of the lacquer in each drilled pip."""
    pips = _pip_coverage(style, value, die_mm)
    inside = np.asarray(cv2.erode(pips, np.ones((7, 7), np.uint8)), dtype=np.float32)
    moved = np.roll(inside, (5, 5), axis=(0, 1))
    return np.asarray(
        cv2.GaussianBlur(np.clip(inside - moved, 0.0, 1.0), (0, 0), 1.4), dtype=np.float32
    )
