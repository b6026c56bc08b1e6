"""Materials, lights and lenses for the one count of path-traced tables that nothing was chosen on.

    python -m models.training scenes traced shots blind --seed SEED --count 400 --size 320

Owns: dice, floors and light that no other set of scenes has. Must not know the reader. These scenes
are never trained on, no limit is chosen on them, and after a count other materials take their
place. Colours are linear BGR, 0..1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from models.training import looks
from models.training.layout import Camera
from models.training.looks import TEXELS, DieLook, from_srgb, smooth_noise
from models.training.pathtrace import Studio, panel, rgb

_CASINO = (
    ("casino amber", (16, 120, 214), (240, 240, 240), True),
    ("casino violet", (150, 40, 90), (238, 236, 240), True),
    ("casino teal", (130, 128, 10), (240, 240, 238), True),
    ("casino ruby", (36, 12, 160), (240, 238, 240), True),
    ("opaque navy", (92, 40, 22), (120, 200, 230), False),
    ("opaque slate", (88, 80, 74), (226, 236, 240), False),
    ("opaque cream", (206, 230, 240), (20, 20, 130), False),
    ("terrazzo", (214, 216, 214), (28, 26, 24), False),
    ("bone", (196, 214, 226), (34, 48, 64), False),
)
"""Name, body and pips as sRGB (blue, green, red), clear or not."""


def random_look(rng: np.random.Generator) -> DieLook:
    """One kind of precision dice: sharp edges, flush pips."""
    name, body_srgb, pip_srgb, is_clear = _CASINO[int(rng.integers(len(_CASINO)))]
    body, pip = from_srgb(*body_srgb), from_srgb(*pip_srgb)
    spacing, radius = float(rng.uniform(0.25, 0.29)), float(rng.uniform(0.08, 0.105))
    relief = float(rng.uniform(0.3, 0.8)) if name == "bone" else 0.0
    heading = float(rng.uniform(0, 2 * np.pi))
    faces = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    for value in range(1, 7):
        face = np.array(np.broadcast_to(body, (TEXELS, TEXELS, 3)), np.float32)
        if name == "terrazzo":
            flecks = smooth_noise(rng, TEXELS, TEXELS, 40, 3)
            face = face * np.where(flecks > 1.6, 0.35, 1.0)
        mask, shade = looks.face_pips(rng, value, spacing, radius, relief, heading)
        face = face * (1 - mask[..., None]) + pip * shade[..., None] * mask[..., None]
        quarter = int(rng.integers(4))
        faces[value - 1], pips[value - 1] = np.rot90(face, quarter), np.rot90(mask, quarter)
    return DieLook(
        faces=np.clip(faces, 0, 1),
        pips=pips,
        rounding=float(rng.uniform(0.005, 0.015) if name != "bone" else 0.06),
        ball=0.9,
        side_albedo=body,
        gloss=0.05,
        blur=float(rng.uniform(0.04, 0.25)),
        translucency=float(is_clear),
        tint=np.asarray(body / max(float(body.max()), 1e-3), np.float32),
        style=name,
    )


def _baize(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Woven cloth with a nap that was brushed in patches."""
    base = from_srgb(*((62, 96, 20), (120, 62, 24), (44, 34, 120))[int(rng.integers(3))])
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    step = 2 * np.pi / (edge * float(rng.uniform(0.05, 0.08)))
    weave = 0.08 * np.sin((x + y) * step) * np.sin((x - y) * step)
    nap = 0.12 * smooth_noise(rng, size, size, 5)[..., 0]
    return base * (1 + weave + nap)[..., None]


def _parquet(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Short boards laid in a herringbone."""
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    width = edge * float(rng.uniform(0.7, 1.3))
    is_along = ((x // width) + (y // width)) % 2 < 1
    board = np.where(is_along, x // width * 7.3 + y // (3 * width), y // width * 3.7)
    grain = smooth_noise(rng, size, size, 90)[..., 0] * 0.08
    shade = 0.75 + 0.25 * np.sin(board * 12.9) + grain
    return from_srgb(60, 104, 150) * shade[..., None]


def _crumb(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Dark rubber pressed of crumbs, some of them coloured."""
    cells = size / (0.12 * edge)
    flecks = smooth_noise(rng, size, size, cells)[..., 0] > 1.5
    colour = looks.random_colour(rng, (0.3, 0.9), (0.3, 0.7))
    base = from_srgb(52, 50, 50) * (1 + 0.25 * smooth_noise(rng, size, size, cells))
    return np.where(flecks[..., None], colour, base)


def _cork(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Pressed cork: light grains with dark seams."""
    wave = smooth_noise(rng, size, size, size / (0.3 * edge))
    fine = smooth_noise(rng, size, size, size / (0.06 * edge))
    return from_srgb(88, 136, 186) * np.clip(
        1 - 0.35 * np.exp(-6 * wave**2) + 0.06 * fine, 0.1, 1.4
    )


def _leather(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Grained leather: shallow creases."""
    wave = smooth_noise(rng, size, size, size / (0.09 * edge))
    base = from_srgb(*((36, 40, 74), (40, 38, 36), (60, 92, 120))[int(rng.integers(3))])
    return base * (1 - 0.3 * np.exp(-9 * wave**2))


_Painter = Callable[[np.random.Generator, int, float], np.ndarray]
FLOORS: dict[str, _Painter] = {
    "baize": _baize, "parquet": _parquet, "crumb": _crumb, "cork": _cork, "leather": _leather,
}  # fmt: skip


class BlindStudio(Studio):
    """Draws compartments with floors and light of its own."""

    def paint_floor(self, rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
        """As `Studio.paint_floor`."""
        floor = np.asarray(FLOORS[self.floor_kinds[0]](rng, size, edge), np.float32)
        turn = cv2.getRotationMatrix2D((size / 2, size / 2), float(rng.uniform(0, 360)), 1.45)
        turned = cv2.warpAffine(floor, turn, (size, size), borderMode=cv2.BORDER_REFLECT)
        return np.ascontiguousarray(np.clip(turned, 0.002, 1), np.float32)

    def light(
        self, rng: np.random.Generator, scene: dict[str, Any], camera: Camera, radius: float
    ) -> None:
        """A ring with a gap or in two colours, a dome of light in every second compartment, and
        one window that stands low."""
        warm, cold = np.array([0.45, 0.75, 1.0]), np.array([1.0, 0.85, 0.72])
        is_domed = rng.random() < 0.5
        tone = warm if rng.random() < 0.5 else cold
        scene["sky"] = {"type": "constant", "radiance": rgb(tone * (0.9 if is_domed else 0.12))}
        heading = float(rng.uniform(0, 2 * np.pi))
        for i in range(3):
            at = [14 * np.cos(heading + i), 14 * np.sin(heading + i), float(rng.uniform(4, 8))]
            scene[f"lamp{i}"] = panel(at, 2.5, tone * float(rng.uniform(2, 7)) * (i == 0))
        gap, is_mixed = int(rng.integers(0, 4)), rng.random() < 0.4
        high = float(rng.uniform(4.5, 7.0))
        for i in range(8):
            angle, reach = 2 * np.pi * i / 8 + heading, radius * 1.25
            at = [reach * np.cos(angle), reach * np.sin(angle), high]
            own = (warm, cold)[i % 2] if is_mixed else tone
            power = float(rng.uniform(25, 60)) * (i >= gap) / (3 if is_domed else 1)
            scene[f"ring{i}"] = panel(at, 0.25, own * power)
