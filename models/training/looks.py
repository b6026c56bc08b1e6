"""What dice look like: bodies, pips, prints, wear, rounding.

Owns: face textures and material numbers, drawn from a seeded generator. Must not know: poses,
lights, which renderer uses them. Colours are linear, blue-green-red, 0..1.

Plastic dice, which come with board games, have round corners, coarse drilled pips and many kinds of
paint. A house's dice are clear and razor-edged. Their flush pips are so large that those of a six
nearly touch; the house's name, monogram and serial stand between them. A finder that learns without
such dice misses 51 of 279 photographs of them (`chase-crops`). Faint pips differ from the body in
hue, and hardly in lightness: red on dark blue. Most dice that the finder misses on `nell-byler`
have faint pips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from models.training.colours import (
    blend,
    contrast,
    from_srgb,
    plain,
    random_colour,
    smooth_noise,
    write,
)

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

PLASTIC, HOUSE, FAINT = "plastic", "house", "faint"
"""Of photographs: no table's dice are drawn so."""

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

_FAINT_GAP = (0.16, 0.67)
"""`contrast` of faint pips with the body: from the least that an eye reads at a glance."""
_BY_HUE = 0.12
"""Most that faint pips are lighter or darker than the body, in the same measure."""


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
    """(6, TEXELS, TEXELS) float32, 1 where a pip is; of a clear die, where anything is painted."""

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


@dataclass(slots=True)
class _Paint:
    """What the faces of a die are painted with, and what its body is."""

    body: np.ndarray
    pip: np.ndarray
    spacing: float
    radius: float
    """Of pips, in die edges, as their spacing."""
    relief: float = 0.0
    """How deep pips are drilled, 0..1."""
    pattern: str = "plain"
    """Where the body has its second tone: see `_pattern`."""
    second: np.ndarray | None = None
    ace: float = 1.0
    """How much larger the pip of a one is."""
    red: Sequence[int] = ()
    """Values whose pips are red."""
    rim: np.ndarray | None = None
    """Colour around each pip."""
    is_ringed: bool = False
    stretch: float = 1.0
    printed: Sequence[int] = ()
    """Values of the faces that a house printed on."""
    ink: np.ndarray = field(default_factory=lambda: np.zeros(3, np.float32))
    is_worn: bool = False
    translucency: float = 0.0
    tint: np.ndarray | None = None
    """Of the body where none is given."""
    edges: tuple[float, float, float] = (0.2, 0.4, 0.4)
    """Shares of dice with razor edges, soft ones, and with round corners."""


def random_look(rng: np.random.Generator, style: str | None = None) -> DieLook:
    """A die of the given style, or of a random one of `STYLES`."""
    style = style or str(rng.choice(STYLES, p=_SHARES))
    paint = {PLASTIC: _plastic, HOUSE: _house, FAINT: _faint}.get(style)
    return _painted(rng, _usual(rng, style) if paint is None else paint(rng), style)


def _usual(rng: np.random.Generator, style: str) -> _Paint:
    """Of `STYLES`, or marbled."""
    is_clear, is_asian = style == "translucent", style == "asian"
    body, pip = _told_apart(*_usual_colours(rng, style))
    spacing, radius = rng.uniform(0.2, 0.3), rng.uniform(0.055, 0.11)
    if is_clear:
        spacing, radius = rng.uniform(0.24, 0.31), rng.uniform(0.085, 0.125)
    elif is_asian:
        spacing, radius = rng.uniform(0.17, 0.25), rng.uniform(0.07, 0.1)
    paint = _Paint(body, pip, spacing, min(radius, 0.47 * spacing))
    if not is_clear and rng.random() < 0.8:
        paint.relief = rng.uniform(0, 1.0)
    if is_asian:
        paint.red, paint.ace = (1, 4), rng.uniform(0.12, 0.24) / paint.radius
    elif rng.random() < 0.06:
        paint.ace = rng.uniform(1, 1.6)
    if style == "marbled":
        paint.pattern, paint.second = style, _second_tone(rng, body, pip)
    if rng.random() < (0.6 if is_clear else 0.15):
        paint.printed = [value for value in range(1, 7) if value == 1 or rng.random() < 0.35]
        paint.ink = pip if rng.random() < 0.6 else body * rng.uniform(0.2, 3)
    paint.is_ringed = rng.random() < 0.06
    paint.is_worn = style == "worn" or rng.random() < 0.15
    if is_clear:
        paint.translucency, paint.edges = rng.uniform(0.5, 1.0), (0.8, 0.1, 0.1)
    return paint


def _usual_colours(rng: np.random.Generator, style: str) -> tuple[np.ndarray, np.ndarray]:
    """Of body and pips."""
    white, black = from_srgb(235, 235, 235), from_srgb(18, 18, 18)
    if style in ("white", "asian", "worn"):
        body = from_srgb(*(rng.uniform(215, 250) + rng.uniform(-8, 4, 3)).clip(0, 255))
        is_odd = rng.random() < 0.12
        pip = random_colour(rng, (0.6, 1.0), (0.2, 0.7)) if is_odd else black * rng.uniform(0.3, 3)
    elif style == "ivory":
        body = from_srgb(*np.array([165, 215, 232]) + rng.uniform(-25, 15, 3))
        pip = black if rng.random() < 0.5 else from_srgb(20, 35, 60)
    elif style == "dark":
        body = random_colour(rng, (0.0, 0.9), (0.04, 0.35))
        is_odd = rng.random() < 0.2
        pip = random_colour(rng, (0.3, 1), (0.7, 1)) if is_odd else white * rng.uniform(0.6, 1)
    elif style == "translucent":
        body, pip = random_colour(rng, (0.7, 1.0), (0.15, 0.75)), white
    else:
        body = random_colour(rng, (0.25, 1.0), (0.3, 1.0))
        is_light = float(body @ np.array([0.1, 0.6, 0.3])) > 0.25
        pip = black if is_light and rng.random() < 0.75 else white * rng.uniform(0.7, 1.0)
        if rng.random() < 0.1:
            pip = random_colour(rng, (0.5, 1.0), (0.8, 1.0))
    return body, pip


def _told_apart(body: np.ndarray, pip: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both, the pips black or white where the eye could not tell them from the body: they would
    have no readable value."""
    if contrast(pip, body) < 0.25:
        is_light = float(np.sqrt(body).mean()) > 0.5
        pip = from_srgb(18, 18, 18) if is_light else from_srgb(235, 235, 235)
    return body, pip


def _plastic(rng: np.random.Generator) -> _Paint:
    name = str(rng.choice(list(_BODIES), p=_BODY_SHARES / _BODY_SHARES.sum()))
    body = _near(rng, _BODIES[name], 18)
    is_light = float(np.sqrt(body) @ np.array([0.1, 0.6, 0.3])) > 0.55
    pip = _near(rng, _PAINTS["black" if is_light else "white"], 12)
    other = _near(rng, _PAINTS[str(rng.choice(list(_PAINTS)))], 15)
    if rng.random() < 0.22 and contrast(other, body) > 0.28:
        pip = other
    spacing = rng.uniform(0.19, 0.285)
    paint = _Paint(body, pip, spacing, min(rng.uniform(0.062, 0.125), 0.46 * spacing))
    paint.relief = rng.uniform(0.2, 1.0) if rng.random() < 0.75 else 0.0
    paint.stretch = rng.uniform(0.85, 1.15) if rng.random() < 0.25 else 1.0
    paint.rim = random_colour(rng, (0, 0.6), (0, 1)) if rng.random() < 0.15 else None
    paint.ace = rng.uniform(1.2, 2.1) if rng.random() < 0.18 else 1.0
    paint.red = (1,) if rng.random() < 0.08 else ()
    kinds = ("plain", "swirl", "disc", "square", "specks")
    paint.pattern = str(rng.choice(kinds, p=(0.66, 0.14, 0.06, 0.03, 0.11)))
    paint.second = _second_tone(rng, body, pip)
    paint.is_worn = rng.random() < 0.2
    paint.translucency = rng.uniform(0.25, 0.8) if rng.random() < 0.12 else 0.0
    paint.edges = (0.0, 0.4, 0.6)
    return paint


def _near(rng: np.random.Generator, bgr: tuple[int, int, int], spread: float) -> np.ndarray:
    return from_srgb(*np.clip(np.array(bgr) + rng.normal(0, spread, 3), 6, 252))


def _second_tone(rng: np.random.Generator, body: np.ndarray, pip: np.ndarray) -> np.ndarray:
    """A colour that the pips are still told from."""
    for _ in range(8):
        tone = random_colour(rng, (0, 1), (0.1, 1))
        if rng.random() < 0.5:
            tone = np.asarray(body * rng.uniform(0.3, 2.0), np.float32).clip(0, 1)
        if contrast(tone, pip) > 0.25:
            return tone
    return body


def _house(rng: np.random.Generator) -> _Paint:
    """A casino's die: clear or nearly, with a razor edge and a house's prints."""
    name = str(rng.choice(list(_TINTS), p=_TINT_SHARES))
    tint = _near(rng, _TINTS[name], 14) * np.float32(np.exp(rng.normal(0, 0.35)))
    tint = tint.clip(0.002, 1)
    body, translucency = tint * np.float32(rng.uniform(0.3, 1.0)), rng.uniform(0.55, 1.0)
    if rng.random() < _WASHED:
        pale = rng.uniform(0.25, 0.6)
        body = np.asarray(body * (1 - pale) + pale * rng.uniform(0.6, 1.0), np.float32)
        translucency = rng.uniform(0.1, 0.45)
    white = from_srgb(240, 242, 242) * np.float32(rng.uniform(0.7, 1.0))
    radius = rng.uniform(0.095, 0.135)
    paint = _Paint(body, white, rng.uniform(max(0.25, 2.05 * radius), 0.47 - radius), radius)
    share = rng.choice([0.0, 0.4, 1.0], p=[0.25, 0.4, 0.35])
    paint.printed = [value for value in range(1, 7) if rng.random() < share]
    paint.ink = white if rng.random() < 0.65 else tint * np.float32(rng.uniform(0.1, 2.5))
    paint.translucency, paint.tint, paint.edges = translucency, tint, (1.0, 0.0, 0.0)
    return paint


def _faint(rng: np.random.Generator) -> _Paint:
    """A die whose pips differ from its body by hue more than by lightness."""
    body, pip = _faint_pair(rng)
    second = np.asarray(body * rng.uniform(0.3, 1.9, 3), np.float32).clip(0.003, 1)
    radius = rng.uniform(0.065, 0.115)
    paint = _Paint(body, pip, rng.uniform(max(0.19, 2.1 * radius), 0.28), radius)
    paint.second = second if contrast(second, pip) >= _FAINT_GAP[0] else body
    paint.relief = rng.uniform(0, 0.5)
    paint.pattern = "mottled" if rng.random() < 0.6 else "plain"
    paint.edges = (0.0, 0.25, 0.75)
    return paint


def _faint_pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Colours of body and pips: they differ, but hardly in lightness."""
    weights = np.array([0.11, 0.59, 0.3])
    while True:
        body = random_colour(rng, (0.0, 1.0), (0.06, 0.75))
        pip = random_colour(rng, (0.5, 1.0), (0.2, 1.0))
        is_near = abs((np.sqrt(pip) - np.sqrt(body)) @ weights) < _BY_HUE
        if is_near and _FAINT_GAP[0] < contrast(pip, body) < _FAINT_GAP[1]:
            return body, pip


def _painted(rng: np.random.Generator, paint: _Paint, style: str) -> DieLook:
    """The die with that paint."""
    faces, pips = _faces(rng, paint)
    rounding, ball = _edges(rng, paint.edges)
    side = paint.body.copy()
    if ball < 0.8 and rng.random() < 0.12:
        side = random_colour(rng, (0, 1), (0.1, 1))
    tint = paint.body if paint.tint is None else paint.tint
    is_polished = style in (HOUSE, FAINT) or rng.random() < 0.5
    return DieLook(
        faces=faces,
        pips=pips,
        rounding=rounding,
        ball=ball,
        side_albedo=side,
        gloss=float(rng.uniform(0.02, 0.09)),
        blur=float(rng.uniform(0.02, 0.12) if is_polished else rng.uniform(0.1, 0.5)),
        translucency=float(paint.translucency),
        tint=np.asarray(tint / max(float(tint.max()), 0.02), np.float32),
        style=style,
    )


def _edges(rng: np.random.Generator, shares: tuple[float, float, float]) -> tuple[float, float]:
    """Rounding and ball of a die."""
    kind = int(rng.choice(3, p=shares))
    if kind == 0:
        return float(rng.uniform(0.004, 0.025)), 0.9
    if kind == 1:
        return float(rng.uniform(0.02, 0.2)), 0.9
    return float(rng.uniform(0.06, 0.22)), float(rng.uniform(0.655, 0.78))


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


def _faces(rng: np.random.Generator, paint: _Paint) -> tuple[np.ndarray, np.ndarray]:
    """Six painted faces, and where each is painted."""
    faces = np.empty((6, TEXELS, TEXELS, 3), np.float32)
    pips = np.empty((6, TEXELS, TEXELS), np.float32)
    heading = rng.uniform(0, 2 * np.pi)
    words, font = "".join(rng.choice(_LETTERS, 14)), int(rng.choice(_FONTS))
    red = from_srgb(*np.array([30, 25, 200]) + rng.uniform(-25, 35, 3))
    for value, share in enumerate(_pattern(rng, paint.pattern), 1):
        second = paint.body if paint.second is None else paint.second
        face = blend(plain(paint.body, TEXELS), second, share)
        drawn = np.zeros((TEXELS, TEXELS), np.float32)
        if value in paint.printed:
            drawn = _print(rng, value, words, font, paint) * np.float32(rng.uniform(0.35, 1.0))
            face = blend(face, paint.ink, drawn)
        radius = paint.radius * (paint.ace if value == 1 else 1.0)
        mask, shade = face_pips(rng, value, paint, radius, heading)
        if paint.rim is not None:
            wide = 2 * int(0.22 * radius * TEXELS) + 3
            kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (wide, wide))
            face = blend(face, paint.rim, cv2.dilate(mask, kernel))
        ink = red if value in paint.red else paint.pip
        face = blend(face, ink * shade[..., None], mask)
        quarter = int(rng.integers(4))
        faces[value - 1] = np.rot90(face, quarter)
        pips[value - 1] = np.rot90(np.maximum(mask, drawn), quarter)
    if paint.is_worn:
        _wear(rng, faces, paint.body)
    faces *= 1 + 0.02 * smooth_noise(rng, TEXELS, TEXELS, 40)[None]
    return np.ascontiguousarray(np.clip(faces, 0, 1), np.float32), pips


def _pattern(rng: np.random.Generator, kind: str) -> np.ndarray:
    """(6, TEXELS, TEXELS, 1): how much each face has of the body's second tone."""
    share: np.ndarray = np.zeros((TEXELS, TEXELS, 1), np.float32)
    if kind in ("marbled", "swirl"):
        cells, sharp = (rng.uniform(3, 9), 0.5) if kind == "marbled" else (rng.uniform(1.2, 3), 1.5)
        most = rng.uniform(0.2, 0.6) if kind == "marbled" else 1.0
        share = most * np.clip(0.5 + sharp * smooth_noise(rng, TEXELS, TEXELS, cells), 0, 1)
        return np.stack([np.roll(share, 31 * value, axis=0) for value in range(6)])
    if kind == "mottled":
        cells, most = rng.uniform(2, 26), rng.uniform(0, 0.9)
        noises = [smooth_noise(rng, TEXELS, TEXELS, cells) for _ in range(6)]
        return most * np.clip(np.stack(noises), 0, 1)
    if kind in ("disc", "square"):  # as on two-tone and on worn dice
        axis = (np.arange(TEXELS, dtype=np.float32) + 0.5) / TEXELS - 0.5
        x, y = np.abs(axis[None, :]), np.abs(axis[:, None])
        far = np.hypot(x, y) if kind == "disc" else np.maximum(x, y)
        share = np.clip((rng.uniform(0.36, 0.46) - far) * TEXELS / 2, 0, 1)[..., None]
    elif kind == "specks":
        specks = (rng.random((TEXELS, TEXELS)) < 0.03).astype(np.float32)
        share = 0.8 * cv2.GaussianBlur(specks, (0, 0), 0.8)[..., None]
    return np.stack([share] * 6)


def face_pips(
    rng: np.random.Generator, value: int, paint: _Paint, radius: float, heading: float
) -> tuple[np.ndarray, np.ndarray]:
    """Coverage 0..1 and shading of the pips of one face; `heading`: of the light."""
    axis = (np.arange(TEXELS, dtype=np.float32) + 0.5) / TEXELS - 0.5
    x, y = axis[None, :], axis[:, None]
    mask = np.zeros((TEXELS, TEXELS), np.float32)
    shade = np.ones((TEXELS, TEXELS), np.float32)
    c, s = np.cos(heading), np.sin(heading)
    for u, v in PLACES[value]:
        wobble = rng.normal(0, 0.005, 2)
        dx = x - u * paint.spacing - wobble[0]
        dy = y - v * paint.spacing * paint.stretch - wobble[1]
        distance = np.hypot(dx, dy)
        inside = np.clip((radius - distance) * TEXELS + 0.5, 0, 1)
        # A drilled pip is a bowl: the wall that faces the light is brighter.
        shade = np.where(inside > 0, 1 + 0.7 * paint.relief * (dx * c + dy * s) / radius, shade)
        if paint.relief > 0.3:
            spot = np.hypot(dx - 0.5 * radius * c, dy - 0.5 * radius * s)
            shade = shade + np.where(spot < 0.22 * radius, 2.5 * paint.relief, 0) * (inside > 0)
        if paint.is_ringed:
            inside -= np.clip((0.45 * radius - distance) * TEXELS + 0.5, 0, 1)
        mask = np.maximum(mask, inside)
    return mask, np.clip(shade, 0.1, 5)


def _print(
    rng: np.random.Generator, value: int, words: str, font: int, paint: _Paint
) -> np.ndarray:
    """What a house prints between the pips of that face: a share 0..1, (TEXELS, TEXELS)."""
    ink: np.ndarray = np.zeros((TEXELS, TEXELS), np.uint8)
    middle = TEXELS // 2
    if value in (1, 3, 5):  # a pip is in the middle: letters in a ring about it
        ring = TEXELS * (paint.radius + rng.uniform(0.06, 0.13))
        count, size = int(rng.integers(8, 15)), float(rng.uniform(0.3, 0.5))
        for i in range(count):
            tile = np.zeros((32, 32), np.uint8)
            cv2.putText(tile, words[i % len(words)], (8, 22), font, size, 255, 1, cv2.LINE_AA)
            angle = 360.0 * i / count
            turn = np.asarray(cv2.getRotationMatrix2D((16, 16), -angle, 1), float)
            place = np.radians(angle - 90)
            turn[:, 2] += middle - 16 + ring * np.array([np.cos(place), np.sin(place)])
            ink = np.maximum(ink, cv2.warpAffine(tile, turn, (TEXELS, TEXELS)))
    elif value == 6:  # the serial, between the two rows
        size, thick = rng.uniform(0.35, 0.7), int(rng.integers(1, 3))
        _centred(ink, words[: rng.integers(2, 6)], font, size, thick)
        if rng.random() < 0.5:  # the pips' rows run down the face
            ink = cv2.rotate(ink, cv2.ROTATE_90_CLOCKWISE)
    else:  # a monogram in the middle, as large as a pip or two
        size, thick = rng.uniform(0.8, 1.9), int(rng.integers(1, 5))
        _centred(ink, words[: rng.integers(1, 3)], font, size, thick)
        if rng.random() < 0.4:
            ring = int(TEXELS * rng.uniform(0.1, 0.2))
            cv2.circle(ink, (middle, middle), ring, 255, int(rng.integers(1, 4)), cv2.LINE_AA)
        if rng.random() < 0.4:  # only its outline
            ink = cv2.morphologyEx(ink, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    return np.asarray(ink, np.float32) / 255


def _centred(ink: np.ndarray, text: str, font: int, size: float, thick: int) -> None:
    (wide, high), _ = cv2.getTextSize(text, font, size, thick)
    at = ((TEXELS - wide) // 2, (TEXELS + high) // 2)
    cv2.putText(ink, text, at, font, size, 255, thick, cv2.LINE_AA)


def _wear(rng: np.random.Generator, faces: np.ndarray, body: np.ndarray) -> None:
    """Scratches, stains, dirty edges; in place."""
    dirt = random_colour(rng, (0, 0.5), (0.1, 0.5))
    for face in faces:
        stain = np.clip(smooth_noise(rng, TEXELS, TEXELS, rng.uniform(3, 30)) - 0.6, 0, 1)
        face[:] = blend(face, dirt, stain * rng.uniform(0, 0.5))
        for _ in range(rng.integers(0, 6)):
            line = np.zeros((TEXELS, TEXELS), np.uint8)
            ends = rng.integers(0, TEXELS, (2, 2)).tolist()
            cv2.line(line, ends[0], ends[1], 255, 1, cv2.LINE_AA)
            share = line.astype(np.float32) / 255 * rng.uniform(0.1, 0.5)
            face[:] = blend(face, body * rng.uniform(0.3, 1.6), share)
