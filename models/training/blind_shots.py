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
from models.training.layout import Camera  # of commit 1557214
from models.training.looks import TEXELS, DieLook, from_srgb, smooth_noise
from models.training.pathtrace import Studio, panel, rgb

_CASINO = (
    ("casino emerald", (60, 110, 12), (236, 240, 238), True),
    ("casino sapphire", (170, 62, 14), (240, 238, 236), True),
    ("casino smoke", (62, 60, 64), (240, 240, 240), True),
    ("casino rose", (104, 60, 196), (240, 240, 240), True),
    ("opaque onyx", (28, 26, 26), (110, 190, 222), False),
    ("opaque forest", (40, 74, 30), (232, 238, 238), False),
    ("opaque chalk", (232, 236, 236), (30, 24, 22), False),
    ("pearl", (206, 200, 214), (90, 30, 40), False),
    ("coral", (92, 104, 226), (240, 242, 242), False),
)
"""Name, body and pips as sRGB (blue, green, red), clear or not."""


def random_look(rng: np.random.Generator) -> DieLook:
    """One kind of precision dice: sharp edges, flush pips."""
    name, body_srgb, pip_srgb, is_clear = _CASINO[int(rng.integers(len(_CASINO)))]
    body, pip = from_srgb(*body_srgb), from_srgb(*pip_srgb)
    spacing, radius = float(rng.uniform(0.25, 0.29)), float(rng.uniform(0.08, 0.105))
    relief = float(rng.uniform(0.3, 0.8)) if name == "coral" else 0.0
    heading = float(rng.uniform(0, 2 * np.pi))
    faces = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    for value in range(1, 7):
        face = np.array(np.broadcast_to(body, (TEXELS, TEXELS, 3)), np.float32)
        if name == "pearl":
            swirl = smooth_noise(rng, TEXELS, TEXELS, 3)
            face = face * (1 + 0.12 * np.sin(6 * swirl))
        mask, shade = looks.face_pips(rng, value, spacing, radius, relief, heading)
        face = face * (1 - mask[..., None]) + pip * shade[..., None] * mask[..., None]
        quarter = int(rng.integers(4))
        faces[value - 1], pips[value - 1] = np.rot90(face, quarter), np.rot90(mask, quarter)
    return DieLook(
        faces=np.clip(faces, 0, 1),
        pips=pips,
        rounding=float(rng.uniform(0.005, 0.015) if name != "coral" else 0.045),
        ball=0.9,
        side_albedo=body,
        gloss=0.05,
        blur=float(rng.uniform(0.04, 0.25)),
        translucency=float(is_clear),
        tint=np.asarray(body / max(float(body.max()), 1e-3), np.float32),
        style=name,
    )


def _linen(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Coarse threads both ways, uneven."""
    base = from_srgb(*((150, 176, 190), (96, 84, 72), (70, 90, 60))[int(rng.integers(3))])
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    step = 2 * np.pi / (edge * float(rng.uniform(0.06, 0.11)))
    uneven = 1.5 * smooth_noise(rng, size, size, 7)[..., 0]
    weave = 0.09 * np.sin(x * step + uneven) + 0.09 * np.sin(y * step - uneven)
    return base * (1 + weave)[..., None]


def _corduroy(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Ribs one way."""
    base = from_srgb(*((50, 70, 110), (90, 56, 40), (58, 62, 66))[int(rng.integers(3))])
    x = np.arange(size, dtype=np.float32)[None, :]
    wave = np.sin(x * 2 * np.pi / (edge * float(rng.uniform(0.12, 0.22))))
    fluff = 0.06 * smooth_noise(rng, size, size, 120)[..., 0]
    return base * (0.8 + 0.2 * wave + fluff)[..., None]


def _granules(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Recycled rubber: granules of three colours."""
    cells = size / (edge * float(rng.uniform(0.05, 0.09)))
    pick = smooth_noise(rng, size, size, cells)[..., 0]
    tones = [from_srgb(*rng.uniform(20, 110, 3)) for _ in range(3)]
    floor = np.where((pick > 0.9)[..., None], tones[1], tones[0])
    return np.where((pick < -1.2)[..., None], tones[2], floor)


def _planks(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Oiled boards with long grain and dark joints."""
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    width = edge * float(rng.uniform(1.2, 2.2))
    board = np.floor(x / width)
    grain = cv2.resize(rng.standard_normal((12, size)).astype(np.float32), (size, size))
    shade = 0.8 + 0.14 * np.sin(board * 7.7) + 0.1 * grain
    shade = np.where(x % width < 0.04 * edge, 0.35, shade)
    return from_srgb(*((52, 84, 120), (110, 150, 186))[int(rng.integers(2))]) * shade[..., None]


def _suede(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Brushed suede: cloudy at two scales."""
    base = from_srgb(*((40, 84, 40), (110, 50, 30), (36, 30, 100))[int(rng.integers(3))])
    cloud = 0.14 * smooth_noise(rng, size, size, 6) + 0.08 * smooth_noise(rng, size, size, 40)
    return base * (1 + cloud)


_Painter = Callable[[np.random.Generator, int, float], np.ndarray]
FLOORS: dict[str, _Painter] = {
    "linen": _linen, "corduroy": _corduroy, "granules": _granules, "planks": _planks,
    "suede": _suede,
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
        """Two soft boxes of unequal strength, and a strip of eight lamps on one side of the rim."""
        tone = np.array([0.75, 0.9, 1.0]) if rng.random() < 0.5 else np.array([1.0, 0.94, 0.86])
        scene["sky"] = {"type": "constant", "radiance": rgb(tone * float(rng.uniform(0.2, 0.7)))}
        heading = float(rng.uniform(0, 2 * np.pi))
        for i in range(3):
            turn = heading + np.pi * i
            at = [9 * np.cos(turn), 9 * np.sin(turn), float(rng.uniform(8, 14))]
            power = (1.0, float(rng.uniform(0.2, 0.8)), 0.0)[i] * float(rng.uniform(2, 6))
            scene[f"lamp{i}"] = panel(at, 4.0, tone * power)
        high, span = float(rng.uniform(3.5, 6.0)), float(rng.uniform(1.5, 4.5))
        power = float(rng.uniform(15, 60))
        for i in range(8):
            angle = heading + span * (i / 7 - 0.5)
            at = [radius * 1.3 * np.cos(angle), radius * 1.3 * np.sin(angle), high]
            scene[f"ring{i}"] = panel(at, 0.2, tone * power)
