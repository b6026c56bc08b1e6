"""What dice look like: bodies, pips, prints, wear, rounding.

Owns: face textures and material numbers, drawn from a seeded generator. Must not know: poses,
lights, which renderer uses them. Colours are linear, blue-green-red, 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

TEXELS = 144
"""Face textures are this many texels square."""

PLACES = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    5: [(-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0)],
    6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}
"""Where the pips of each value are, in steps from the middle of a face."""

STYLES = ("white", "ivory", "dark", "coloured", "translucent", "asian", "worn")
_SHARES = (0.2, 0.1, 0.13, 0.22, 0.17, 0.1, 0.08)

HELD_OUT_STYLES = ("marbled",)
"""Never drawn for training: what the model makes of dice that it was not shown."""


@dataclass(frozen=True, slots=True)
class Glow:
    """How a clear die passes light on. Shares of the light from above, but where it says else."""

    index: float = 1.5
    """Of refraction: 1.48 acetate .. 1.6 resin."""

    ground: float = 0.10
    """What comes through where nothing is painted."""

    marks: float = 0.45
    """What a pip on a far wall sends back."""

    far_edges: float = 0.5
    near_edges: float = 0.0
    """What edges send out that light was led to: those behind, and those of the face itself."""

    near_width: float = 0.05
    """How far from the edge that is seen, in die edges."""

    slope: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """How much more comes from one side of the body than from the other, along each axis."""

    most: float = 0.85
    """Share of what is seen that comes from within, of a wholly clear die."""


@dataclass(slots=True)
class DieLook:
    """The looks of one die; faces are indexed by value − 1."""

    faces: np.ndarray
    """(6, TEXELS, TEXELS, 3) float32, albedo."""

    pips: np.ndarray
    """(6, TEXELS, TEXELS) float32, 1 where a pip is."""

    rounding: float
    """Radius of the edges, in die edges: 0.01 razor .. 0.22 soft."""

    ball: float
    """Radius of the ball that cuts the corners off, in die edges; 0.87 and above cuts nothing."""

    side_albedo: np.ndarray
    """(3,) albedo where the ball cut through."""

    gloss: float
    """Strength of mirror reflection at normal incidence, 0..0.1."""

    blur: float
    """Roughness: how far highlights spread, 0.02 polished .. 0.5 matt."""

    translucency: float
    """0 opaque .. 1 clear tinted."""

    tint: np.ndarray
    """(3,) colour that light takes on the way through."""

    style: str

    glow: Glow = Glow()
    """Of a clear die."""


def from_srgb(*bgr: float) -> np.ndarray:
    """sRGB 0..255 to linear 0..1."""
    return np.asarray((np.array(bgr, np.float32) / 255) ** 2.2, np.float32)


def random_colour(
    rng: np.random.Generator, saturation: tuple[float, float], value: tuple[float, float]
) -> np.ndarray:
    """A colour of any hue, linear BGR."""
    hsv = np.array([[[rng.uniform(0, 360), rng.uniform(*saturation), rng.uniform(*value)]]])
    bgr = cv2.cvtColor(hsv.astype(np.float32), cv2.COLOR_HSV2BGR)[0, 0]
    return np.asarray(bgr**2.2, np.float32)


def smooth_noise(rng: np.random.Generator, height: int, width: int, cells: float) -> np.ndarray:
    """(height, width, 1) float32: about `cells` bumps across, mean 0, deviation about 1."""
    rows = max(2, round(cells * height / max(width, 1)) + 1)
    grid = rng.standard_normal((rows, max(2, round(cells) + 1))).astype(np.float32)
    big = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(big)[..., None]


def plain(colour: np.ndarray, size: int = TEXELS) -> np.ndarray:
    """(size, size, 3) float32 of one colour."""
    return np.array(np.broadcast_to(colour, (size, size, 3)), np.float32, order="C")


def write(
    surface: np.ndarray, words: str, at: tuple[int, int], scale: float, ink: np.ndarray, width: int
) -> None:
    """Print words in one colour, in place."""
    stencil = np.zeros(surface.shape[:2], np.uint8)
    cv2.putText(stencil, words, at, cv2.FONT_HERSHEY_SIMPLEX, scale, 255, width, cv2.LINE_AA)
    share = stencil[..., None].astype(np.float32) / 255
    surface[:] = surface * (1 - share) + np.asarray(ink, np.float32) * share


def random_look(rng: np.random.Generator, style: str | None = None) -> DieLook:
    """A die of the given style, or of a random one."""
    style = style or str(rng.choice(STYLES, p=_SHARES))
    white, black = from_srgb(235, 235, 235), from_srgb(18, 18, 18)
    dark_pips = rng.random() < 0.5
    translucency = 0.0
    if style in ("white", "asian", "worn"):
        body = from_srgb(*(rng.uniform(215, 250) + rng.uniform(-8, 4, 3)).clip(0, 255))
        pip = black * rng.uniform(0.3, 3.0)
        if rng.random() < 0.12:
            pip = random_colour(rng, (0.6, 1.0), (0.2, 0.7))
    elif style == "ivory":
        body = from_srgb(*np.array([165, 215, 232]) + rng.uniform(-25, 15, 3))
        pip = black if dark_pips else from_srgb(20, 35, 60)
    elif style == "dark":
        body = random_colour(rng, (0.0, 0.9), (0.04, 0.35))
        pip = white * rng.uniform(0.6, 1.0)
        if rng.random() < 0.2:
            pip = random_colour(rng, (0.3, 1.0), (0.7, 1.0))
    elif style == "translucent":
        body = random_colour(rng, (0.7, 1.0), (0.15, 0.75))
        pip = white
        translucency = rng.uniform(0.5, 1.0)
    else:
        body = random_colour(rng, (0.25, 1.0), (0.3, 1.0))
        light_body = float(body @ np.array([0.1, 0.6, 0.3])) > 0.25
        pip = black if (light_body and rng.random() < 0.75) else white * rng.uniform(0.7, 1.0)
        if rng.random() < 0.1:
            pip = random_colour(rng, (0.5, 1.0), (0.8, 1.0))
    # Pips that the eye cannot tell from the body have no readable value.
    if np.abs(np.sqrt(pip) - np.sqrt(body)).max() < 0.25:
        pip = black if float(np.sqrt(body).mean()) > 0.5 else white

    spacing, radius = rng.uniform(0.2, 0.3), rng.uniform(0.055, 0.11)
    if translucency:
        spacing, radius = rng.uniform(0.24, 0.31), rng.uniform(0.085, 0.125)
    asian = style == "asian"
    if asian:
        spacing, radius = rng.uniform(0.17, 0.25), rng.uniform(0.07, 0.1)
    radius = min(radius, 0.47 * spacing)
    relief = 0.0 if translucency else rng.uniform(0, 1.0) * (rng.random() < 0.8)
    relief_heading = rng.uniform(0, 2 * np.pi)
    red = from_srgb(*np.array([30, 25, 200]) + rng.uniform(-25, 35, 3).clip(-25, 35))
    printed = rng.random() < (0.6 if translucency else 0.15)
    marble = (
        np.clip(smooth_noise(rng, TEXELS, TEXELS, rng.uniform(3, 9)), -1.5, 1.5)
        if style == "marbled"
        else None
    )
    vein = random_colour(rng, (0.2, 1.0), (0.1, 1.0))
    mix = rng.uniform(0.2, 0.6)
    if np.abs(np.sqrt(pip) - np.sqrt(vein)).max() < 0.3:
        mix = 0.1

    faces = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    ring_pips = rng.random() < 0.06
    for value in range(1, 7):
        face = plain(body)
        if marble is not None:
            share = np.clip(0.5 + 0.5 * np.roll(marble, value * 31, axis=1), 0, 1) * mix
            face = face * (1 - share) + vein * share
        if printed and (value == 1 or rng.random() < 0.35):
            face = _print(rng, face, body, pip, value, spacing)
        colour = red if asian and value in (1, 4) else pip
        size = radius
        if value == 1 and (asian or rng.random() < 0.06):
            size = rng.uniform(0.12, 0.24) if asian else radius * rng.uniform(1, 1.6)
        mask, shade = face_pips(rng, value, spacing, size, relief, relief_heading)
        if ring_pips:
            inner, _ = face_pips(rng, value, spacing, size * 0.45, 0, 0, jitter=False)
            mask = mask - inner
        face = face * (1 - mask[..., None]) + (colour * shade[..., None]) * mask[..., None]
        quarter = int(rng.integers(4))
        faces[value - 1] = np.rot90(face, quarter)
        pips[value - 1] = np.rot90(mask, quarter)
    if style == "worn" or rng.random() < 0.15:
        faces = _wear(rng, faces, body)
    faces *= 1 + 0.02 * smooth_noise(rng, TEXELS, TEXELS, 40)[None]

    razor = rng.random() < (0.8 if translucency else 0.2)
    rounding = rng.uniform(0.004, 0.02) if razor else rng.uniform(0.03, 0.2)
    ball = 0.9
    if not razor and rng.random() < 0.5:
        ball = rng.uniform(0.66, 0.8)
    side = body.copy()
    if ball < 0.8 and rng.random() < 0.12:
        side = (
            from_srgb(225, 225, 225) if rng.random() < 0.6 else random_colour(rng, (0, 1), (0, 1))
        )
    return DieLook(
        faces=np.ascontiguousarray(np.clip(faces, 0, 1), np.float32),
        pips=pips,
        rounding=float(rounding),
        ball=float(ball),
        side_albedo=side,
        gloss=float(rng.uniform(0.02, 0.07)),
        blur=float(rng.choice([rng.uniform(0.02, 0.12), rng.uniform(0.1, 0.5)])),
        translucency=float(translucency),
        tint=np.asarray(body / max(float(body.max()), 1e-3), np.float32),
        style=style,
    )


def sharpened(rng: np.random.Generator, look: DieLook) -> DieLook:
    """The die with the edges of precision dice, whose rounding is a hundredth of an edge."""
    return replace(look, rounding=float(rng.uniform(0.004, 0.02)), ball=0.9)


def random_glow(rng: np.random.Generator) -> Glow:
    """How some clear die passes light on: no two alike, from smoky to bright at the edges."""
    slope = rng.normal(0, 0.12, 3)
    return Glow(
        index=float(rng.uniform(1.35, 1.6)),
        ground=float(rng.uniform(0.02, 0.35)),
        marks=float(rng.uniform(0.05, 0.8)),
        far_edges=float(rng.uniform(0.0, 0.7) * (rng.random() < 0.7)),
        near_edges=float(rng.uniform(0.1, 1.0) * (rng.random() < 0.7)),
        near_width=float(rng.uniform(0.015, 0.12)),
        slope=(float(slope[0]), float(slope[1]), float(slope[2])),
        most=float(rng.uniform(0.3, 0.95)),
    )


def blank_look(rng: np.random.Generator) -> DieLook:
    """A block or a marble without pips: something that is not a die."""
    look = random_look(rng, "coloured")
    colour = random_colour(rng, (0, 1), (0.05, 1))
    look.faces[:] = colour
    look.pips[:] = 0
    if rng.random() < 0.5:
        for face in look.faces:
            letter = str(rng.choice(list("ABCDEFGHKMNPRSTXYZ")))
            write(face, letter, (25, 120), 4.2, random_colour(rng, (0, 1), (0, 1)), 14)
    elif rng.random() < 0.6:
        look.ball = 0.5
        look.side_albedo = colour
    return look


def face_pips(
    rng: np.random.Generator,
    value: int,
    spacing: float,
    radius: float,
    relief: float,
    heading: float,
    jitter: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Coverage 0..1 and shading of the pips of one face."""
    fine = TEXELS
    axis = (np.arange(fine, dtype=np.float32) + 0.5) / fine - 0.5
    x, y = axis[None, :], axis[:, None]
    mask = np.zeros((fine, fine), np.float32)
    shade = np.ones((fine, fine), np.float32)
    for u, v in PLACES[value]:
        wobble = rng.normal(0, 0.004, 2) if jitter else (0, 0)
        dx, dy = x - u * spacing - wobble[0], y - v * spacing - wobble[1]
        distance = np.sqrt(dx * dx + dy * dy)
        inside = np.clip((radius - distance) * fine + 0.5, 0, 1)
        mask = np.maximum(mask, inside)
        # A drilled pip is a bowl: the wall that faces the light is brighter.
        slope = (dx * np.cos(heading) + dy * np.sin(heading)) / max(radius, 1e-3)
        shade = np.where(inside > 0, 1 + 0.7 * relief * slope, shade)
        if relief > 0.3:
            spot = np.hypot(
                dx - 0.5 * radius * np.cos(heading), dy - 0.5 * radius * np.sin(heading)
            )
            shade = shade + np.where(spot < 0.22 * radius, 2.5 * relief, 0) * (inside > 0)
    return mask, np.clip(shade, 0.1, 5)


def _print(
    rng: np.random.Generator,
    face: np.ndarray,
    body: np.ndarray,
    pip: np.ndarray,
    value: int,
    spacing: float,
) -> np.ndarray:
    """A house's name, serial or monogram between the pips."""
    ink = np.zeros((TEXELS, TEXELS), np.uint8)
    letters = "".join(rng.choice(list("ABCDEGHKLMNORSTUVY0123456789"), int(rng.integers(2, 7))))
    middle = TEXELS // 2
    if value in (1, 3, 5) and rng.random() < 0.7:
        ring = int(TEXELS * rng.uniform(0.18, 0.3))
        count = int(rng.integers(8, 16))
        for i in range(count):
            angle = 2 * np.pi * i / count
            at = (int(middle + ring * np.cos(angle)) - 5, int(middle + ring * np.sin(angle)) + 5)
            cv2.putText(
                ink, str(rng.choice(list(letters))), at, cv2.FONT_HERSHEY_SIMPLEX, 0.45, 255, 2,
                cv2.LINE_AA,
            )  # fmt: skip
    else:
        scale = rng.uniform(0.5, 1.2)
        cv2.putText(
            ink, letters[:4], (int(middle - 11 * scale * 2), middle + 6),
            cv2.FONT_HERSHEY_SIMPLEX, scale, 255, int(rng.integers(1, 4)), cv2.LINE_AA,
        )  # fmt: skip
        if rng.random() < 0.3:
            cv2.circle(ink, (middle, middle), int(TEXELS * 0.13), 255, 2, cv2.LINE_AA)
    target = pip if rng.random() < 0.6 else body * rng.uniform(0.2, 3)
    share = (ink.astype(np.float32) / 255 * rng.uniform(0.2, 0.9))[..., None]
    return np.asarray(face * (1 - share) + target * share, np.float32)


def _wear(rng: np.random.Generator, faces: np.ndarray, body: np.ndarray) -> np.ndarray:
    """Scratches, stains, dirty edges."""
    dirt = random_colour(rng, (0, 0.5), (0.1, 0.5))
    for face in faces:
        stain = np.clip(smooth_noise(rng, TEXELS, TEXELS, rng.uniform(3, 12)) - 0.6, 0, 1)
        stain *= rng.uniform(0, 0.5)
        face[:] = face * (1 - stain) + dirt * stain
        for _ in range(rng.integers(0, 6)):
            a, b = rng.integers(0, TEXELS, 2), rng.integers(0, TEXELS, 2)
            line = np.zeros((TEXELS, TEXELS), np.uint8)
            cv2.line(line, a.tolist(), b.tolist(), 255, 1, cv2.LINE_AA)
            share = line[..., None].astype(np.float32) / 255 * rng.uniform(0.1, 0.5)
            face[:] = face * (1 - share) + body * rng.uniform(0.3, 1.6) * share
    return faces
