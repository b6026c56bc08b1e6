"""What people throw dice onto at home: tables, carpets, cloth, print, keyboards, hands.

Owns: floor textures for `pictures.py`, grown from noise at several scales. Must not know:
dice, cameras. The kinds that `floors.py` keeps for held-out sets are not drawn here either.
Colours are linear BGR, 0..1.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from models.training.impostors import keyboard
from models.training.looks import from_srgb, plain, random_colour, smooth_noise

_Kind = Callable[[np.random.Generator, int, float], np.ndarray]


def random_surface(rng: np.random.Generator, size: int, texels_per_edge: float) -> np.ndarray:
    """A square texture, (size, size, 3) float32."""
    kind = _KINDS[int(rng.integers(len(_KINDS)))]
    edge = max(texels_per_edge, 4.0)
    floor: np.ndarray = np.asarray(kind(rng, size, edge), np.float32)
    floor = floor * (1 + rng.uniform(0, 0.12) * smooth_noise(rng, size, size, rng.uniform(1, 6)))
    floor = floor * (1 + rng.uniform(0, 0.05) * rng.standard_normal((size, size, 1)))
    turn = cv2.getRotationMatrix2D((size / 2, size / 2), rng.uniform(0, 360), 1.45)
    floor = cv2.warpAffine(
        np.asarray(floor, np.float32), turn, (size, size), borderMode=cv2.BORDER_REFLECT
    )
    return np.ascontiguousarray(np.clip(floor, 0.003, 1), np.float32)


def _octaves(rng: np.random.Generator, size: int, first: float, fall: float) -> np.ndarray:
    """Noise at all scales, (size, size, 1), deviation about 1."""
    total = np.zeros((size, size, 1), np.float32)
    cells, weight, power = first, 1.0, 0.0
    while cells < size / 2:
        total += weight * smooth_noise(rng, size, size, cells)
        power += weight**2
        cells, weight = cells * 2.1, weight * fall
    return np.asarray(total / np.sqrt(power), np.float32)


def _blend(one: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    share = np.clip(share, 0, 1)
    return np.asarray(one * (1 - share) + other * share, np.float32)


def _wood(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    timber = from_srgb(*(np.array([95, 140, 185]) * rng.uniform(0.35, 1.3)).clip(10, 250))
    timber = timber * np.exp(rng.normal(0, 0.15, 3))
    light, dark = timber.clip(0.01, 0.95), (timber * rng.uniform(0.25, 0.75)).clip(0.003, 1)
    bend = smooth_noise(rng, size, size, 2.5)[..., 0] * rng.uniform(0, 1.2) * edge
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    across = columns + bend
    rings = np.sin(across / (edge * rng.uniform(0.04, 0.35)) + 3 * np.sin(across / (edge * 1.7)))
    fibres = np.zeros((size, size), np.float32)
    for stretch in (8, 30, 90):
        lines = rng.standard_normal((max(size // stretch, 2), size)).astype(np.float32)
        drawn = cv2.resize(lines, (size, size), interpolation=cv2.INTER_CUBIC)
        fibres += cv2.remap(drawn, across, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    pores = (fibres > rng.uniform(2.2, 3.4)) * rng.uniform(0, 0.6)
    share = 0.35 + 0.25 * rings * rng.random() + 0.12 * fibres + pores
    wood = _blend(light, dark, np.asarray(share, np.float32)[..., None])
    if rng.random() < 0.4:
        width = edge * rng.uniform(2, 7)
        board = np.floor(columns / width)
        wood = wood * (1 + 0.18 * np.sin(board * 12.9))[..., None]
        wood = wood * (1 - 0.8 * (columns % width < max(1.5, 0.04 * edge)))[..., None]
    return wood


def _carpet(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    one, other = random_colour(rng, (0, 0.6), (0.1, 0.8)), random_colour(rng, (0, 0.6), (0.05, 0.9))
    loop = max(2.0, edge * rng.uniform(0.05, 0.22))
    tufts = smooth_noise(rng, size, size, size / loop)
    deep = smooth_noise(rng, size, size, size / max(2.0, 0.4 * loop))
    rows = np.arange(size, dtype=np.float32)[:, None, None]
    ribs = np.sin(rows / (loop * 0.7) + smooth_noise(rng, size, size, 14)) * (rng.random() < 0.5)
    pile = _blend(one, other, 0.4 + 0.3 * ribs + 0.25 * tufts)
    return np.asarray(pile * np.clip(1 + 0.35 * tufts + 0.3 * deep, 0.1, 2), np.float32)


def _woven(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    thread = max(2.0, edge * rng.uniform(0.03, 0.15))
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    weave = np.sin(np.pi * rows / thread) * np.sin(np.pi * columns / thread)
    cloth = random_colour(rng, (0, 0.9), (0.1, 1)) * (1 + rng.uniform(0.05, 0.4) * weave)[..., None]
    if rng.random() < 0.5:
        for along in (rows, columns):
            width = edge * rng.uniform(0.3, 2.5)
            bar = (along % (width * rng.uniform(1.5, 3)) < width)[..., None]
            cloth = _blend(cloth, random_colour(rng, (0, 1), (0.05, 1)), 0.6 * bar)
    folds = _octaves(rng, size, rng.uniform(1, 3), 0.5)
    return np.asarray(cloth * np.clip(1 + rng.uniform(0, 0.3) * folds, 0.2, 2), np.float32)


def _granite(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    stone = plain(random_colour(rng, (0, 0.3), (0.1, 0.9)), size)
    for _ in range(rng.integers(2, 5)):
        grain = smooth_noise(rng, size, size, size / max(2.0, edge * rng.uniform(0.04, 0.3)))
        cut = rng.uniform(0.4, 1.6)
        stone = _blend(stone, random_colour(rng, (0, 0.5), (0.03, 1)), (grain - cut) * 4)
    return stone


def _cloudy(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Leather, plaster, card, sand, slate: one colour, mottled."""
    base = random_colour(rng, (0, 0.8), (0.06, 1))
    share = _octaves(rng, size, rng.uniform(1, 12), rng.uniform(0.5, 1.0))
    return np.asarray(base * np.clip(1 + rng.uniform(0.03, 0.35) * share, 0.1, 2.5), np.float32)


def _smooth(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """A clean table, tray or sheet of paper; often white."""
    base = random_colour(rng, (0, 0.15), (0.75, 1)) if rng.random() < 0.5 else random_colour(
        rng, (0, 1), (0.03, 0.9)
    )  # fmt: skip
    return np.asarray(base * (1 + 0.03 * _octaves(rng, size, 2, 0.7)), np.float32)


def _page(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Paper with lines of text, ruled or squared."""
    paper, ink = random_colour(rng, (0, 0.2), (0.75, 1)), random_colour(rng, (0, 0.9), (0, 0.5))
    drawn = np.zeros((size, size), np.uint8)
    line = int(max(7, edge * rng.uniform(0.15, 0.9)))
    kind = rng.random()
    for y in range(line, size, line):
        if kind < 0.6:
            words = "".join(chr(int(c)) for c in rng.integers(44, 123, 4 * size // line))
            cv2.putText(
                drawn, words, (int(rng.integers(0, 2 * line)), y), int(rng.integers(0, 5)),
                line / 36, 255, max(1, line // 14), cv2.LINE_AA,
            )  # fmt: skip
        else:
            cv2.line(drawn, (0, y), (size, y), 255, 1, cv2.LINE_AA)
            if kind > 0.8:
                cv2.line(drawn, (y, 0), (y, size), 255, 1, cv2.LINE_AA)
    return _blend(paper, ink, drawn[..., None].astype(np.float32) / 255)


def _keyboard(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    key = max(9.0, edge * rng.uniform(0.6, 1.4))
    first = -1 - int(size / 2 / (0.79 * key))
    return np.asarray((keyboard(rng, size, key, (first, first)) / 255) ** 2.2, np.float32)


def _tiles(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Bricks, tiles, slats: joints between pieces of slightly different colour."""
    base = random_colour(rng, (0, 0.6), (0.15, 1))
    wide, high = (max(6.0, edge * v) for v in rng.uniform(0.6, 5, 2))
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    row = np.floor(rows / high)
    shifted = columns + (row % 2) * wide * rng.choice([0.0, 0.5])
    tone = np.sin(row * 37.1 + np.floor(shifted / wide) * 12.7)
    tiles = base * (1 + rng.uniform(0, 0.2) * tone)[..., None]
    joint = max(1.5, 0.05 * edge)
    is_joint = ((rows % high < joint) | (shifted % wide < joint))[..., None]
    return _blend(tiles, random_colour(rng, (0, 0.4), (0.05, 1)), 0.9 * is_joint)


def _spots(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Round spots of any size, in rows or loose: what pips must be told from."""
    floor = plain(random_colour(rng, (0, 0.9), (0.05, 1)), size)
    ink = random_colour(rng, (0, 1), (0.02, 1)).tolist()
    radius = max(1, int(edge * rng.uniform(0.04, 0.4)))
    if rng.random() < 0.5:
        step = max(4, int(radius * rng.uniform(2.5, 6)))
        for y in range(0, size, step):
            for x in range((y // step % 2) * step // 2, size, step):
                cv2.circle(floor, (x, y), radius, ink, -1, cv2.LINE_AA)
    else:
        for x, y in rng.integers(0, size, (int(rng.integers(5, 90)), 2)).tolist():
            cv2.circle(
                floor, (x, y), max(1, int(radius * rng.uniform(0.4, 1))), ink, -1, cv2.LINE_AA
            )
    return floor


def _skin(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """A palm: bends of tone, creases, fine lines."""
    tone = from_srgb(*(np.array([125, 155, 205]) * rng.uniform(0.35, 1.15)).clip(10, 250))
    palm = tone * np.clip(1 + 0.2 * _octaves(rng, size, 2, 0.5), 0.3, 1.8)
    palm = np.ascontiguousarray(palm, np.float32)
    for _ in range(rng.integers(2, 7)):
        at = rng.integers(0, size, 2)
        reach = edge * rng.uniform(1, 4)
        cv2.ellipse(
            palm, at.tolist(), (int(reach), int(reach * rng.uniform(0.3, 1))), rng.uniform(0, 360),
            0, rng.uniform(40, 150), (tone * 0.6).tolist(), max(1, int(0.04 * edge)), cv2.LINE_AA,
        )  # fmt: skip
    return palm


def _patchwork(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """Two surfaces with a straight border: the edge of a table, a mat, a sheet, a box."""
    kinds: list[_Kind] = [_wood, _smooth, _cloudy, _woven, _page, _carpet]
    one = kinds[int(rng.integers(len(kinds)))](rng, size, edge)
    other = kinds[int(rng.integers(len(kinds)))](rng, size, edge)
    border = (np.arange(size) > size * rng.uniform(0.25, 0.75))[None, :, None]
    return np.asarray(np.where(border, one, other), np.float32)


_KINDS: tuple[_Kind, ...] = (
    _wood, _wood, _carpet, _woven, _granite, _cloudy, _smooth, _smooth, _page, _keyboard, _tiles,
    _spots, _skin, _patchwork, _patchwork,
)  # fmt: skip
