"""Dice from a drawer, a casino's own dice, and dice with faint pips.

Owns: face textures for `pictures.py`. Must not know: poses, lights, renderers. `looks.py` does
not have these looks: so its sets do not change, and training never draws its held-out style.
Colours are linear BGR, 0..1.

Plastic dice have round corners, coarse drilled pips and many kinds of paint. A house's dice are
clear and razor-edged. Their flush pips are so large that those of a six nearly touch; the house's
name, monogram and serial stand between them. A finder that learns without such dice misses 51 of
279 photographs of them (`chase-crops`). Faint pips differ from the body in hue, and hardly in
lightness: red on dark blue. Most dice that the finder misses on `nell-byler` have faint pips.
"""

from __future__ import annotations

import cv2
import numpy as np

from models.training.looks import (
    PLACES,
    TEXELS,
    DieLook,
    face_pips,
    from_srgb,
    plain,
    random_colour,
    smooth_noise,
)

_BODIES = {
    "white": (238, 240, 240), "ivory": (190, 225, 235), "black": (28, 26, 26),
    "red": (35, 35, 200), "dark red": (40, 20, 120), "blue": (170, 70, 25),
    "navy": (90, 30, 25), "sky": (220, 160, 60), "green": (70, 130, 20), "lime": (60, 210, 150),
    "yellow": (30, 205, 240), "orange": (25, 110, 240), "purple": (120, 35, 80),
    "pink": (190, 130, 235), "grey": (130, 130, 130), "brown": (45, 75, 120),
    "gold": (70, 150, 190),
}  # fmt: skip
_BODY_SHARES = np.array([22, 8, 11, 11, 4, 6, 4, 3, 6, 2, 6, 5, 5, 3, 4, 3, 3], float)

_PAINTS = {
    "white": (245, 245, 245), "black": (15, 15, 15), "gold": (60, 165, 215),
    "silver": (190, 190, 190), "red": (30, 30, 200), "blue": (170, 60, 20),
    "yellow": (60, 220, 245),
}  # fmt: skip

_TINTS = {
    "red": (25, 15, 190), "blue": (190, 70, 15), "green": (60, 140, 15), "purple": (130, 25, 95),
    "amber": (15, 120, 230), "clear": (200, 205, 205), "black": (30, 28, 28),
}  # fmt: skip
_TINT_SHARES = (0.46, 0.2, 0.12, 0.07, 0.06, 0.04, 0.05)
_WASHED = 0.15
"""Share of house dice whose top mirrors a bright panel: pale, with pips hardly paler."""

_LETTERS = list("ABCDEGHKLMNORSTUVY0123456789&*")
_FONTS = (
    cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_SCRIPT_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
)  # fmt: skip

_FAINT = (0.16, 0.67)
"""Distance of faint pips from the body, the largest of the three channels' square roots: from the
least that an eye reads at a glance."""
_BY_HUE = 0.12
"""Most that faint pips are lighter or darker than the body, in the same measure."""


def plastic_look(rng: np.random.Generator) -> DieLook:
    """A die of the kind that comes with board games."""
    name = str(rng.choice(list(_BODIES), p=_BODY_SHARES / _BODY_SHARES.sum()))
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
        face = plain(body)
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


def house_look(rng: np.random.Generator) -> DieLook:
    """A casino's die: clear or nearly, with a razor edge and a house's prints."""
    tint_name = str(rng.choice(list(_TINTS), p=_TINT_SHARES))
    tint = from_srgb(*np.clip(np.array(_TINTS[tint_name]) + rng.normal(0, 14, 3), 4, 250))
    tint = np.asarray(tint * np.exp(rng.normal(0, 0.35)), np.float32).clip(0.002, 1)
    body = np.asarray(tint * rng.uniform(0.3, 1.0), np.float32)
    translucency = float(rng.uniform(0.55, 1.0))
    if rng.random() < _WASHED:
        pale = float(rng.uniform(0.25, 0.6))
        body = np.asarray(body * (1 - pale) + pale * rng.uniform(0.6, 1.0), np.float32)
        translucency = float(rng.uniform(0.1, 0.45))
    white = from_srgb(240, 242, 242) * np.float32(rng.uniform(0.7, 1.0))
    radius = float(rng.uniform(0.095, 0.135))
    spacing = float(rng.uniform(max(0.25, 2.05 * radius), 0.47 - radius))
    prints = rng.random(7) < rng.choice([0.0, 0.4, 1.0], p=[0.25, 0.4, 0.35])
    house = "".join(rng.choice(_LETTERS, 14))
    font = int(rng.choice(_FONTS))
    ink = white if rng.random() < 0.65 else np.asarray(tint * rng.uniform(0.1, 2.5), np.float32)
    faces = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    for value in range(1, 7):
        face = plain(body)
        drawn = np.zeros((TEXELS, TEXELS), np.float32)
        if prints[value]:
            drawn = _house_print(rng, value, house, font, radius, spacing)
            drawn *= np.float32(rng.uniform(0.35, 1.0))
            face = face * (1 - drawn[..., None]) + ink * drawn[..., None]
        mask, _ = face_pips(rng, value, spacing, radius, 0.0, 0.0)
        face = face * (1 - mask[..., None]) + white * mask[..., None]
        mask = np.maximum(mask, drawn)  # of a clear die, all that is painted can be seen
        quarter = int(rng.integers(4))
        faces[value - 1], pips[value - 1] = np.rot90(face, quarter), np.rot90(mask, quarter)
    return DieLook(
        faces=np.clip(faces, 0, 1), pips=pips,
        rounding=float(rng.uniform(0.004, 0.025)), ball=0.9, side_albedo=body.copy(),
        gloss=float(rng.uniform(0.03, 0.1)), blur=float(rng.uniform(0.02, 0.15)),
        translucency=translucency, tint=np.asarray(tint / max(float(tint.max()), 0.02), np.float32),
        style="house",
    )  # fmt: skip


def _house_print(
    rng: np.random.Generator, value: int, house: str, font: int, radius: float, spacing: float
) -> np.ndarray:
    """What a house prints between the pips of that face: a share 0..1, (TEXELS, TEXELS)."""
    ink: np.ndarray = np.zeros((TEXELS, TEXELS), np.uint8)
    middle = TEXELS / 2
    if value in (1, 3, 5):  # a pip is in the middle: letters in a ring about it
        ring = TEXELS * (radius + rng.uniform(0.06, 0.13))
        count = int(rng.integers(8, 15))
        size = float(rng.uniform(0.3, 0.5))
        for i in range(count):
            tile = np.zeros((32, 32), np.uint8)
            cv2.putText(tile, house[i % len(house)], (8, 22), font, size, 255, 1, cv2.LINE_AA)
            angle = 360.0 * i / count
            turn = np.asarray(cv2.getRotationMatrix2D((16, 16), -angle, 1), float)
            place = np.radians(angle - 90)
            turn[:, 2] += middle - 16 + ring * np.array([np.cos(place), np.sin(place)])
            ink = np.maximum(ink, cv2.warpAffine(tile, turn, (TEXELS, TEXELS)))
    elif value == 6:  # the serial, between the two rows
        text = house[: int(rng.integers(2, 6))]
        size = float(rng.uniform(0.35, 0.7))
        (wide, high), _ = cv2.getTextSize(text, font, size, 1)
        at = (int(middle - wide / 2), int(middle + high / 2))
        cv2.putText(ink, text, at, font, size, 255, int(rng.integers(1, 3)), cv2.LINE_AA)
        if rng.random() < 0.5:  # the pips' rows run down the face
            ink = cv2.rotate(ink, cv2.ROTATE_90_CLOCKWISE)
    else:  # a monogram in the middle, as large as a pip or two
        size = float(rng.uniform(0.8, 1.9))
        text = house[: int(rng.integers(1, 3))]
        thick = int(rng.integers(1, 5))
        (wide, high), _ = cv2.getTextSize(text, font, size, thick)
        at = (int(middle - wide / 2), int(middle + high / 2))
        cv2.putText(ink, text, at, font, size, 255, thick, cv2.LINE_AA)
        if rng.random() < 0.4:
            cv2.circle(
                ink, (int(middle), int(middle)), int(TEXELS * rng.uniform(0.1, 0.2)), 255,
                int(rng.integers(1, 4)), cv2.LINE_AA,
            )  # fmt: skip
        if rng.random() < 0.4:  # only its outline
            ink = cv2.morphologyEx(ink, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    return np.asarray(ink, np.float32) / 255


def faint_look(rng: np.random.Generator) -> DieLook:
    """A die whose pips differ from its body by hue more than by lightness; glossy and round."""
    body, pip = _faint_pair(rng)
    second = np.asarray(body * rng.uniform(0.3, 1.9, 3), np.float32).clip(0.003, 1)
    if np.abs(np.sqrt(second) - np.sqrt(pip)).max() < _FAINT[0]:
        second = body
    cells = float(rng.uniform(2, 26))
    radius = float(rng.uniform(0.065, 0.115))
    spacing = float(rng.uniform(max(0.19, 2.1 * radius), 0.28))
    relief = float(rng.uniform(0, 0.5))
    heading = float(rng.uniform(0, 2 * np.pi))
    mottled = float(rng.uniform(0, 0.9)) if rng.random() < 0.6 else 0.0
    faces = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    for value in range(1, 7):
        blotch = np.clip(smooth_noise(rng, TEXELS, TEXELS, cells), 0, 1) * mottled
        face = body * (1 - blotch) + second * blotch
        mask, shade = face_pips(rng, value, spacing, radius, relief, heading)
        face = face * (1 - mask[..., None]) + pip * shade[..., None] * mask[..., None]
        quarter = int(rng.integers(4))
        faces[value - 1], pips[value - 1] = np.rot90(face, quarter), np.rot90(mask, quarter)
    is_round = rng.random() < 0.75
    return DieLook(
        faces=np.clip(faces, 0, 1), pips=pips,
        rounding=float(rng.uniform(0.08, 0.22) if is_round else rng.uniform(0.01, 0.08)),
        ball=float(rng.uniform(0.655, 0.76)) if is_round else 0.9,
        side_albedo=body.copy(),
        gloss=float(rng.uniform(0.03, 0.12)), blur=float(rng.uniform(0.02, 0.12)),
        translucency=0.0, tint=np.ones(3, np.float32), style="faint",
    )  # fmt: skip


def _faint_pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Colours of body and pips: they differ, but hardly in lightness."""
    weights = np.array([0.11, 0.59, 0.3])
    while True:
        body = random_colour(rng, (0.0, 1.0), (0.06, 0.75))
        pip = random_colour(rng, (0.5, 1.0), (0.2, 1.0))
        gap = np.sqrt(pip) - np.sqrt(body)
        if _FAINT[0] < np.abs(gap).max() < _FAINT[1] and abs(gap @ weights) < _BY_HUE:
            return body, pip
