"""What dice lie on: felt, wood, stone, print, keyboards, hands; clutter, and what surrounds it.

Owns: floor textures. Must not know: dice, cameras. Colours are linear BGR, 0..1.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from models.training import impostors
from models.training.colours import blend, from_srgb, plain, random_colour, smooth_noise, write

KINDS = (
    "plain", "felt", "wood", "planks", "stone", "carpet", "grid", "stripes", "photo", "print",
    "black",
)  # fmt: skip

SURFACES = (
    "plain", "white", "wood", "planks", "stone", "carpet", "woven", "cloudy", "page", "keyboard",
    "tiles", "spots", "skin", "patchwork", "patchwork",
)  # fmt: skip
"""What people throw dice onto at home."""

LAYOUT = "layout"
"""What casinos throw theirs onto."""

BRUSHED = "brushed"
"""Streaks of any width and colour, as linen or brushed metal has: for compartments only."""

FLECKED, CREASED = "flecked", "creased"
"""What rubber, cork and cast floors have, and what leather has: for compartments only."""

HELD_OUT_KINDS = ("checks", "marble")
"""Never drawn for training."""

_PATCHES = ("wood", "white", "plain", "cloudy", "woven", "page", "carpet")


def random_floor(
    rng: np.random.Generator,
    size: int,
    texels_per_edge: float,
    kinds: tuple[str, ...] = KINDS,
    printed: float = 0.12,
) -> np.ndarray:
    """A square texture, (size, size, 3) float32; a share of all floors is printed upon."""
    kind, edge = str(rng.choice(kinds)), float(max(texels_per_edge, 4.0))
    floor: np.ndarray = np.ascontiguousarray(_texture(rng, kind, size, edge), np.float32)
    if kind == "print" or rng.random() < printed:
        for _ in range(rng.integers(2, 8)):
            _printed(rng, floor, edge)
    if rng.random() < 0.6:
        floor = floor * (1 + 0.1 * smooth_noise(rng, size, size, rng.uniform(1, 5)))
    if rng.random() < 0.6:
        turn = cv2.getRotationMatrix2D((size / 2, size / 2), rng.uniform(0, 360), 1.45)
        floor = cv2.warpAffine(floor, turn, (size, size), borderMode=cv2.BORDER_REFLECT)
    return np.ascontiguousarray(np.clip(floor, 0.002, 1), np.float32)


def _texture(rng: np.random.Generator, kind: str, size: int, edge: float) -> np.ndarray:
    """The bare floor of a kind, (size, size, 3)."""
    if kind in _OF_TWO_TONES:
        base, second = _two_tones(rng)
        share = _OF_TWO_TONES[kind](rng, size, edge)
        share = np.clip(np.broadcast_to(share, (size, size, 1)), -1, 1)
        return np.asarray(base * (1 - share) + second * share, np.float32)
    return _WITH_COLOURS[kind](rng, size, edge)


def _two_tones(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    saturation = (0.0, 0.12) if rng.random() < 0.3 else (0.05, 0.9)
    base = random_colour(rng, saturation, (0.08, 1.0))
    if rng.random() < 0.3:
        return base, random_colour(rng, saturation, (0.05, 1.0))
    return base, base * rng.uniform(0.35, 1.8)


# How much of the second tone each place has, (size, size, 1) or broadcast to it.


def _fine(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    return 0.03 * rng.standard_normal((size, size, 1)).astype(np.float32)


def _felt(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    grain = 0.24 * rng.standard_normal((size, size)).astype(np.float32)
    return cv2.GaussianBlur(grain, (0, 0), rng.uniform(0.5, 1.2))[..., None]


def _brushed(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Noise drawn out along one axis, fine and coarse."""
    streaks = np.zeros((size, size), np.float32)
    for width in (rng.uniform(0.01, 0.04), rng.uniform(0.05, 0.3)):
        noise = rng.standard_normal((size, size)).astype(np.float32)
        across = max(0.6, width * edge)
        drawn = cv2.GaussianBlur(noise, (0, 0), across, sigmaY=across * rng.uniform(5, 30))
        streaks += np.asarray(drawn, np.float32) / max(float(drawn.std()), 1e-6)
    return np.asarray(rng.uniform(0.05, 0.25) * streaks[..., None], np.float32)


def _flecked(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    cells = size / (edge * float(rng.uniform(0.04, 0.4)))
    wave = smooth_noise(rng, size, size, cells)
    flecks = np.clip(wave - rng.uniform(0.5, 2.2), 0, 0.3) * rng.uniform(1, 3.3)
    return flecks + rng.uniform(0, 0.2) * smooth_noise(rng, size, size, cells)


def _creased(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    cells = size / (edge * float(rng.uniform(0.04, 0.4)))
    creases = np.exp(-rng.uniform(3, 12) * smooth_noise(rng, size, size, cells) ** 2)
    return rng.uniform(0.1, 0.9) * creases + rng.uniform(0, 0.2) * smooth_noise(
        rng, size, size, cells
    )


def _stone(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    share = 0.2 * smooth_noise(rng, size, size, size / edge)
    for _ in range(rng.integers(1, 4)):
        grain = smooth_noise(rng, size, size, size / rng.uniform(2, 0.3 * edge + 3))
        share = share + np.clip(4 * (grain - rng.uniform(0.4, 1.6)), 0, 1) * rng.uniform(0.3, 1)
    return share


def _carpet(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    tufts = smooth_noise(rng, size, size, size / rng.uniform(2, max(5.0, 0.22 * edge)))
    rows = np.arange(size, dtype=np.float32)[:, None, None]
    ribs = np.sin(rows / (edge * rng.uniform(0.05, 0.4)) + smooth_noise(rng, size, size, 14))
    return 0.35 * tufts + 0.4 * ribs * (rng.random() < 0.7)


def _grid(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    step, line = edge * rng.uniform(0.25, 1.5), max(1.0, 0.04 * edge)
    is_line = np.arange(size, dtype=np.float32) % step < line
    return 0.8 * (is_line[None, :] | is_line[:, None])[..., None]


def _stripes(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    axis = np.arange(size, dtype=np.float32)
    return 0.8 * (axis % (edge * 1.2) < edge * rng.uniform(0.2, 0.9))[None, :, None]


def _checks(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    axis = np.arange(size, dtype=np.float32) // (edge * rng.uniform(0.4, 2.5))
    return 0.9 * ((axis[None, :] + axis[:, None]) % 2)[..., None]


def _marble(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    wave = smooth_noise(rng, size, size, 4) + 0.5 * smooth_noise(rng, size, size, 14)
    return 1 - np.clip(np.abs(wave) * rng.uniform(2, 6), 0, 1)


def _cloudy(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Leather, plaster, card, sand, slate: one colour, mottled."""
    return 0.5 * rng.uniform(0.1, 1) * _octaves(rng, size, rng.uniform(1, 12))


def _woven(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    thread = max(2.0, edge * rng.uniform(0.03, 0.15))
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    share = rng.uniform(0.1, 0.4) * np.sin(np.pi * rows / thread) * np.sin(np.pi * columns / thread)
    if rng.random() < 0.5:
        for along in (rows, columns):
            width = edge * rng.uniform(0.3, 2.5)
            share = share + 0.4 * (along % (width * rng.uniform(1.5, 3)) < width)
    return share[..., None] + rng.uniform(0, 0.2) * _octaves(rng, size, rng.uniform(1, 3))


def _tiles(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Bricks, tiles, slats: joints between pieces of slightly different colour."""
    wide, high = (max(6.0, edge * v) for v in rng.uniform(0.6, 5, 2))
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    row = np.floor(rows / high)
    shifted = columns + (row % 2) * wide * rng.choice([0.0, 0.5])
    tone = rng.uniform(0, 0.2) * np.sin(row * 37.1 + np.floor(shifted / wide) * 12.7)
    joint = max(1.5, 0.05 * edge)
    return np.where((rows % high < joint) | (shifted % wide < joint), 0.9, tone)[..., None]


def _octaves(rng: np.random.Generator, size: int, cells: float) -> np.ndarray:
    """Noise at all scales, (size, size, 1), deviation about 1."""
    total, weight, power = np.zeros((size, size, 1), np.float32), 1.0, 0.0
    while cells < size / 2:
        total += weight * smooth_noise(rng, size, size, cells)
        power += weight**2
        cells, weight = cells * 2.1, weight * 0.7
    return np.asarray(total / np.sqrt(power), np.float32)


# Textures with colours of their own, (size, size, 3).


def _black(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    return plain(random_colour(rng, (0, 0.4), (0.03, 0.16)), size)


def _white(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """A clean table, tray or sheet of paper."""
    return random_colour(rng, (0, 0.15), (0.75, 1)) * (1 + 0.03 * _octaves(rng, size, 2))


def _wood(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    timber = from_srgb(*(np.array([95, 140, 185]) * rng.uniform(0.35, 1.3)).clip(10, 250))
    if rng.random() < 0.3:
        timber = random_colour(rng, (0.0, 0.75), (0.2, 0.9))
    timber = timber * np.exp(rng.normal(0, 0.15, 3))
    bend = smooth_noise(rng, size, size, 2.5)[..., 0] * rng.uniform(0, 1.2) * edge
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    across = columns + bend
    rings = np.sin(across / (edge * rng.uniform(0.04, 0.5)) + 3 * np.sin(across / (edge * 1.7)))
    fibres = np.zeros((size, size), np.float32)
    for stretch in (8, 30, 90):
        lines = rng.standard_normal((max(size // stretch, 2), size)).astype(np.float32)
        drawn = cv2.resize(lines, (size, size), interpolation=cv2.INTER_CUBIC)
        fibres += cv2.remap(drawn, across, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    pores = (fibres > rng.uniform(2.2, 3.4)) * rng.uniform(0, 0.6)
    share = 0.35 + 0.3 * rings * rng.random() + 0.12 * fibres + pores
    return blend(timber.clip(0.01, 0.95), (timber * rng.uniform(0.25, 0.8)).clip(0.003, 1), share)


def _planks(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    columns, width = np.arange(size, dtype=np.float32), edge * rng.uniform(1.5, 7)
    tone = 1 + 0.18 * np.sin(np.floor(columns / width) * 12.9)
    tone = tone * (1 - 0.8 * (columns % width < max(1.5, 0.04 * edge)))
    return _wood(rng, size, edge) * tone[None, :, None]


def _photo(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Anything at all: clouds of two tones, and shapes upon them."""
    one, other = _two_tones(rng)
    floor = blend(one, other, 0.5 + 0.5 * _octaves(rng, size, 2))
    for _ in range(rng.integers(2, 10)):
        _shape(rng, floor, edge)
    return floor


def _page(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Paper with lines of text, ruled or squared."""
    paper, ink = random_colour(rng, (0, 0.2), (0.75, 1)), random_colour(rng, (0, 0.9), (0, 0.5))
    drawn = np.zeros((size, size), np.uint8)
    line = int(max(7, edge * rng.uniform(0.15, 0.9)))
    kind = rng.random()
    for y in range(line, size, line):
        if kind < 0.6:
            words = "".join(chr(int(c)) for c in rng.integers(44, 123, 4 * size // line))
            at, font = (int(rng.integers(0, 2 * line)), y), int(rng.integers(0, 5))
            cv2.putText(drawn, words, at, font, line / 36, 255, max(1, line // 14), cv2.LINE_AA)
        else:
            cv2.line(drawn, (0, y), (size, y), 255, 1, cv2.LINE_AA)
            if kind > 0.8:
                cv2.line(drawn, (y, 0), (y, size), 255, 1, cv2.LINE_AA)
    return blend(paper, ink, drawn.astype(np.float32) / 255)


def _keyboard(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    key = max(9.0, edge * rng.uniform(0.6, 1.4))
    first = -1 - int(size / 2 / (0.79 * key))
    return np.asarray((impostors.keyboard(rng, size, key, (first, first)) / 255) ** 2.2, np.float32)


def _spots(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Round spots of any size, in rows or loose: what pips must be told from."""
    floor = plain(random_colour(rng, (0, 0.9), (0.05, 1)), size)
    ink = random_colour(rng, (0, 1), (0.02, 1)).tolist()
    radius = max(1, int(edge * rng.uniform(0.04, 0.4)))
    step = max(4, int(radius * rng.uniform(2.5, 6)))
    at = [(x + y // step % 2 * step // 2, y)
          for y in range(0, size, step) for x in range(0, size, step)]  # fmt: skip
    if rng.random() < 0.5:
        at = rng.integers(0, size, (int(rng.integers(5, 90)), 2)).tolist()
    for place in at:
        cv2.circle(floor, tuple(place), radius, ink, -1, cv2.LINE_AA)
    return floor


def _skin(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """A palm: bends of tone, creases, fine lines."""
    tone = from_srgb(*(np.array([125, 155, 205]) * rng.uniform(0.35, 1.15)).clip(10, 250))
    palm = tone * np.clip(1 + 0.2 * _octaves(rng, size, 2), 0.3, 1.8)
    palm = np.ascontiguousarray(palm, np.float32)
    for _ in range(rng.integers(2, 7)):
        at, reach = rng.integers(0, size, 2).tolist(), edge * rng.uniform(1, 4)
        axes = (int(reach), int(reach * rng.uniform(0.3, 1)))
        turn, end = rng.uniform(0, 360), rng.uniform(40, 150)
        wide = max(1, int(0.04 * edge))
        cv2.ellipse(palm, at, axes, turn, 0, end, (tone * 0.6).tolist(), wide, cv2.LINE_AA)
    return palm


def _patchwork(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Two surfaces with a straight border: the edge of a table, a mat, a sheet, a box."""
    one, other = (_texture(rng, str(rng.choice(_PATCHES)), size, edge) for _ in range(2))
    border = (np.arange(size) > size * rng.uniform(0.25, 0.75))[None, :, None]
    return np.asarray(np.where(border, one, other), np.float32)


def _layout(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Felt with the printed lines of a table, wider than pips and as white."""
    floor = np.ascontiguousarray(_texture(rng, "felt", size, edge), np.float32)
    for _ in range(rng.integers(0, 6)):
        ends = (rng.uniform(-0.1, 1.1, (2, 2)) * size).astype(int).tolist()
        is_white = rng.random() < 0.7
        ink = from_srgb(235, 240, 240) if is_white else random_colour(rng, (0, 1), (0.6, 1))
        wide = max(1, int(edge * rng.uniform(0.05, 0.6)))
        cv2.line(floor, ends[0], ends[1], ink.tolist(), wide, cv2.LINE_AA)
    return floor


_Kind = Callable[[np.random.Generator, int, float], np.ndarray]
_OF_TWO_TONES: dict[str, _Kind] = {
    "plain": _fine, "print": _fine, "felt": _felt, BRUSHED: _brushed, FLECKED: _flecked,
    CREASED: _creased, "stone": _stone, "carpet": _carpet, "grid": _grid, "stripes": _stripes,
    "checks": _checks, "marble": _marble, "cloudy": _cloudy, "woven": _woven, "tiles": _tiles,
}  # fmt: skip
_WITH_COLOURS: dict[str, _Kind] = {
    "black": _black, "white": _white, "wood": _wood, "planks": _planks, "photo": _photo,
    "page": _page, "keyboard": _keyboard, "spots": _spots, "skin": _skin, "patchwork": _patchwork,
    LAYOUT: _layout,
}  # fmt: skip


def clutter(rng: np.random.Generator, floor: np.ndarray, texels_per_edge: float) -> None:
    """Lay flat things that are not dice upon a floor: buttons, chips, labels, keys, screws."""
    edge = max(texels_per_edge, 4.0)
    for _ in range(rng.integers(1, 6)):
        kind = rng.integers(6)
        if kind < 3:
            (_printed, _dots, _shape)[kind](rng, floor, edge)
        else:
            drawn, cover = impostors.thing(rng)
            linear = ((drawn / 255) ** 2.2).astype(np.float32)
            size = edge * float(rng.uniform(0.5, 2))
            at = np.array(_place(rng, floor), float)
            floor[:] = impostors.lay(rng, floor, linear, cover, at, size)


def surround(
    rng: np.random.Generator, floor: np.ndarray, texels_per_edge: float, reach: float,
    round_share: float = 0.7,
) -> None:  # fmt: skip
    """A round compartment or a rectangular tray around the dice, seen from above."""
    size = floor.shape[0]
    axis = (np.arange(size, dtype=np.float32) + 0.5 - size / 2) / texels_per_edge
    x, y = axis[None, :], axis[:, None]
    if rng.random() < round_share:
        outside = np.hypot(x, y) - reach
    else:
        outside = np.maximum(np.abs(x) - reach, np.abs(y) - reach * rng.uniform(0.7, 1.2))
    wall, rim = rng.uniform(0.1, 1.2), rng.uniform(0.1, 0.8)
    wall_colour = random_colour(rng, (0, 0.6), (0.03, 0.9))
    rim_colour = random_colour(rng, (0, 0.6), (0.03, 1.0))
    beyond = random_colour(rng, (0, 0.6), (0.01, 0.6))
    depth = np.clip(outside / wall, 0, 1)[..., None]
    lit = 0.35 + 0.65 * depth
    floor[:] = np.where(outside[..., None] > 0, wall_colour * lit, floor)
    floor[:] = np.where(outside[..., None] > wall, rim_colour, floor)
    floor[:] = np.where(outside[..., None] > wall + rim, beyond, floor)
    # Walls keep the light off the floor beside them.
    shade = 1 - 0.5 * np.exp(-np.clip(-outside, 0, None) / 0.4)
    floor *= np.where(outside <= 0, shade, 1)[..., None]


def _place(rng: np.random.Generator, floor: np.ndarray) -> tuple[int, int]:
    x, y = rng.uniform(0.1, 0.9, 2) * floor.shape[0]
    return int(x), int(y)


def _shape(rng: np.random.Generator, floor: np.ndarray, edge: float) -> None:
    at = np.array(_place(rng, floor))
    points = at + rng.normal(0, edge * rng.uniform(0.3, 2.5), (int(rng.integers(3, 7)), 2))
    colour = random_colour(rng, (0, 1), (0.02, 1)).tolist()
    hull = cv2.convexHull(points.astype(np.int32))
    if rng.random() < 0.5:
        cv2.fillConvexPoly(floor, hull, colour, cv2.LINE_AA)
    else:
        cv2.polylines(floor, [hull], False, colour, int(rng.integers(1, 8)), cv2.LINE_AA)


def _printed(rng: np.random.Generator, floor: np.ndarray, edge: float) -> None:
    words = "".join(rng.choice(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789"), 12))
    ink = random_colour(rng, (0, 1), (0, 1))
    scale = edge / 30 * rng.uniform(0.3, 1.6)
    write(floor, words, _place(rng, floor), scale, ink, int(rng.integers(1, 4)))


def _dots(rng: np.random.Generator, floor: np.ndarray, edge: float) -> None:
    """Loose round spots of pip size: screws, holes, crumbs."""
    ink = random_colour(rng, (0, 0.5), (0, 1)).tolist()
    at = np.array(_place(rng, floor))
    for _ in range(rng.integers(1, 9)):
        x, y = (at + rng.normal(0, edge * 1.2, 2)).astype(int).tolist()
        cv2.circle(floor, (x, y), max(1, int(edge * rng.uniform(0.03, 0.12))), ink, -1, cv2.LINE_AA)
