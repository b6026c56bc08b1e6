"""What dice from a drawer look like: round corners, coarse drilled pips, all sorts of paint.

Owns: face textures for `snapshots.py`. Must not know: poses, lights, renderers. The styles here
are apart from those in `looks.py`, so that its sets stay what they are and its held-out style is
still never drawn for training. Colours are linear BGR, 0..1.
"""

from __future__ import annotations

import cv2
import numpy as np

from models.training import looks
from models.training.looks import PLACES, TEXELS, DieLook, from_srgb, random_colour, smooth_noise

_BODIES = {
    "white": (238, 240, 240), "ivory": (190, 225, 235), "black": (28, 26, 26),
    "red": (35, 35, 200), "dark red": (40, 20, 120), "blue": (170, 70, 25),
    "navy": (90, 30, 25), "sky": (220, 160, 60), "green": (70, 130, 20), "lime": (60, 210, 150),
    "yellow": (30, 205, 240), "orange": (25, 110, 240), "purple": (120, 35, 80),
    "pink": (190, 130, 235), "grey": (130, 130, 130), "brown": (45, 75, 120),
    "gold": (70, 150, 190),
}  # fmt: skip
_SHARES = np.array([22, 8, 11, 11, 4, 6, 4, 3, 6, 2, 6, 5, 5, 3, 4, 3, 3], float)

_PAINTS = {
    "white": (245, 245, 245), "black": (15, 15, 15), "gold": (60, 165, 215),
    "silver": (190, 190, 190), "red": (30, 30, 200), "blue": (170, 60, 20),
    "yellow": (60, 220, 245),
}  # fmt: skip


def plastic_look(rng: np.random.Generator) -> DieLook:
    """A die of the kind that comes with board games."""
    name = str(rng.choice(list(_BODIES), p=_SHARES / _SHARES.sum()))
    body = _near(rng, _BODIES[name], 18)
    light = float(np.sqrt(body) @ np.array([0.1, 0.6, 0.3])) > 0.55
    pip = _near(rng, _PAINTS["black" if light else "white"], 12)
    if rng.random() < 0.22:
        other = _near(rng, _PAINTS[str(rng.choice(list(_PAINTS)))], 15)
        # Pips that the eye cannot tell from the body have no readable value.
        if np.abs(np.sqrt(other) - np.sqrt(body)).max() > 0.28:
            pip = other
    translucency = float(rng.uniform(0.25, 0.8)) if rng.random() < 0.12 else 0.0
    faces, pips = _faces(rng, body, pip)
    kind = rng.random()
    rounding = float(rng.uniform(0.1, 0.23) if kind < 0.7 else rng.uniform(0.02, 0.12))
    ball = float(rng.uniform(0.655, 0.76)) if kind < 0.6 else 0.9
    return DieLook(
        faces=faces,
        pips=pips,
        rounding=rounding,
        ball=ball,
        side_albedo=body.copy() if rng.random() < 0.9 else random_colour(rng, (0, 1), (0.1, 1)),
        gloss=float(rng.uniform(0.02, 0.09)),
        blur=float(rng.choice([rng.uniform(0.02, 0.1), rng.uniform(0.08, 0.4)])),
        translucency=translucency,
        tint=np.asarray(body / max(float(body.max()), 1e-3), np.float32),
        style="plastic",
    )


def _near(rng: np.random.Generator, bgr: tuple[int, int, int], spread: float) -> np.ndarray:
    return from_srgb(*np.clip(np.array(bgr) + rng.normal(0, spread, 3), 6, 252))


def _faces(
    rng: np.random.Generator, body: np.ndarray, pip: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Six painted faces and their pip masks."""
    radius, spacing = rng.uniform(0.062, 0.125), rng.uniform(0.19, 0.285)
    radius = min(radius, 0.46 * spacing)
    stretch = rng.uniform(0.85, 1.15) if rng.random() < 0.25 else 1.0
    relief = rng.uniform(0.2, 1.0) if rng.random() < 0.75 else 0.0
    heading = rng.uniform(0, 2 * np.pi)
    rim = random_colour(rng, (0, 0.6), (0, 1)) if rng.random() < 0.15 else None
    ace = float(rng.uniform(1.2, 2.1)) if rng.random() < 0.18 else 1.0
    is_ace_red = rng.random() < 0.08
    plate = rng.random()
    tone = _second_tone(rng, body, pip)
    swirl = (
        smooth_noise(rng, TEXELS, TEXELS, rng.uniform(1.2, 3.0)) if rng.random() < 0.14 else None
    )
    faces: np.ndarray = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    axis = (np.arange(TEXELS, dtype=np.float32) + 0.5) / TEXELS - 0.5
    x, y = axis[None, :], axis[:, None]
    disc_radius = rng.uniform(0.36, 0.46)
    for value in range(1, 7):
        face = looks.plain(body)
        if swirl is not None:
            share = np.clip(0.5 + 1.5 * np.roll(swirl, 31 * value, axis=0), 0, 1)
            face = face * (1 - share) + tone * share
        elif plate < 0.1:
            # A coloured disc or square on the face, as on two-tone and on worn dice.
            far = np.hypot(x, y) if plate < 0.07 else np.maximum(np.abs(x), np.abs(y))
            share = np.clip((disc_radius - far) * TEXELS / 2, 0, 1)[..., None]
            face = face * (1 - share) + tone * share
        size = radius * (ace if value == 1 else 1.0)
        mask = np.zeros((TEXELS, TEXELS), np.float32)
        shade = np.ones((TEXELS, TEXELS), np.float32)
        around = np.zeros((TEXELS, TEXELS), np.float32)
        for u, v in PLACES[value]:
            wobble = rng.normal(0, 0.006, 2)
            dx, dy = x - u * spacing - wobble[0], y - v * spacing * stretch - wobble[1]
            distance = np.sqrt(dx * dx + dy * dy)
            inside = np.clip((size - distance) * TEXELS + 0.5, 0, 1)
            mask = np.maximum(mask, inside)
            around = np.maximum(around, np.clip((1.22 * size - distance) * TEXELS + 0.5, 0, 1))
            slope = (dx * np.cos(heading) + dy * np.sin(heading)) / size
            shade = np.where(inside > 0, 1 + 0.8 * relief * slope, shade)
            spot = np.hypot(dx + 0.4 * size * np.cos(heading), dy + 0.4 * size * np.sin(heading))
            shade = shade + (spot < 0.3 * size) * (inside > 0) * 1.5 * max(relief - 0.4, 0)
        if rim is not None:
            face = face * (1 - around[..., None]) + rim * around[..., None]
        ink = from_srgb(30, 25, 190) if value == 1 and is_ace_red else pip
        face = (
            face * (1 - mask[..., None]) + ink * np.clip(shade, 0.1, 5)[..., None] * mask[..., None]
        )
        quarter = int(rng.integers(4))
        faces[value - 1], pips[value - 1] = np.rot90(face, quarter), np.rot90(mask, quarter)
    if rng.random() < 0.2:
        dust = np.clip(smooth_noise(rng, TEXELS, TEXELS, 30) - 1.0, 0, 1) * rng.uniform(0.1, 0.5)
        faces = faces * (1 - dust) + random_colour(rng, (0, 0.4), (0.2, 1)) * dust
    if rng.random() < 0.12:
        speck = (rng.random((TEXELS, TEXELS)) < 0.03).astype(np.float32)
        speck = cv2.GaussianBlur(speck, (0, 0), 0.8)[..., None] * 0.8
        faces = faces * (1 - speck) + tone * speck
    return np.ascontiguousarray(np.clip(faces, 0, 1), np.float32), pips


def _second_tone(rng: np.random.Generator, body: np.ndarray, pip: np.ndarray) -> np.ndarray:
    """A colour that the pips are still told from."""
    for _ in range(8):
        tone = random_colour(rng, (0, 1), (0.1, 1))
        if rng.random() < 0.5:
            tone = np.asarray(body * rng.uniform(0.3, 2.0), np.float32).clip(0, 1)
        if np.abs(np.sqrt(tone) - np.sqrt(pip)).max() > 0.25:
            return np.asarray(tone, np.float32)
    return body
