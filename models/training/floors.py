"""What dice lie on: felt, wood, stone, print, clutter, and what surrounds it.

Owns: floor textures. Must not know: dice, cameras. Colours are linear BGR, 0..1.
"""

from __future__ import annotations

import cv2
import numpy as np

from models.training.looks import random_colour, smooth_noise, write

KINDS = (
    "plain", "felt", "wood", "planks", "stone", "carpet", "grid", "stripes", "photo", "print",
    "black",
)  # fmt: skip

BRUSHED = "brushed"
"""Streaks of any width and colour, as linen or brushed metal has: for compartments only."""

FLECKED, CREASED = "flecked", "creased"
"""What rubber, cork and cast floors have, and what leather has: for compartments only."""

HELD_OUT_KINDS = ("checks", "marble")
"""Never drawn for training."""


def random_floor(
    rng: np.random.Generator,
    size: int,
    texels_per_edge: float,
    kinds: tuple[str, ...] = KINDS,
    printed: float = 0.12,
) -> np.ndarray:
    """A square texture, (size, size, 3) float32; a share of all floors is printed upon."""
    kind = str(rng.choice(kinds))
    grey = rng.random() < 0.3
    saturation = (0.0, 0.12) if grey else (0.05, 0.9)
    base = random_colour(rng, saturation, (0.08, 1.0))
    second = base * rng.uniform(0.35, 1.8)
    if rng.random() < 0.3:
        second = random_colour(rng, saturation, (0.05, 1.0))
    edge = max(texels_per_edge, 4.0)
    axis = np.arange(size, dtype=np.float32)
    share: np.ndarray
    if kind == "black":
        base = random_colour(rng, (0, 0.4), (0.03, 0.16))
        share = np.zeros((size, size, 1), np.float32)
    elif kind == "felt":
        share = 0.12 * rng.standard_normal((size, size, 1)).astype(np.float32)
        share = cv2.GaussianBlur(share, (0, 0), rng.uniform(0.5, 1.2))[..., None] * 2
    elif kind in ("wood", "planks"):
        base = random_colour(rng, (0.15, 0.75), (0.2, 0.9))
        if not grey:
            base = base[np.argsort(base)]
        second = base * rng.uniform(0.3, 0.8)
        share = _wood(rng, size, edge)
        if kind == "planks":
            width = edge * rng.uniform(1.5, 5)
            share = share + 0.5 * np.sin(np.floor(axis / width) * 12.9)[None, :, None]
            share = share + (axis % width < max(1, 0.03 * edge))[None, :, None] * 0.9
    elif kind == BRUSHED:
        share = _brushed(rng, size, edge)
    elif kind in (FLECKED, CREASED):
        cells = size / (edge * float(rng.uniform(0.04, 0.4)))
        wave = smooth_noise(rng, size, size, cells)
        share = np.clip(wave - rng.uniform(0.5, 2.2), 0, 0.3) * rng.uniform(1, 3.3)
        if kind == CREASED:
            share = rng.uniform(0.1, 0.9) * np.exp(-rng.uniform(3, 12) * wave**2)
        share = share + rng.uniform(0, 0.2) * smooth_noise(rng, size, size, cells)
    elif kind == "stone":
        share = smooth_noise(rng, size, size, size / rng.uniform(2, 0.3 * edge + 3)) > 0.5
        share = share.astype(np.float32) * rng.uniform(0.3, 1)
        share = share + 0.2 * smooth_noise(rng, size, size, size / edge)
    elif kind == "carpet":
        share = smooth_noise(rng, size, size, size / rng.uniform(2, 5))
        share = 0.4 * share + 0.4 * np.sin(axis / (edge * rng.uniform(0.05, 0.4)))[:, None, None]
    elif kind == "grid":
        step = edge * rng.uniform(0.25, 1.5)
        line = max(1.0, 0.04 * edge)
        share = ((axis % step < line)[None, :] | (axis % step < line)[:, None])[..., None] * 0.8
    elif kind == "stripes":
        share = (axis % (edge * 1.2) < edge * rng.uniform(0.2, 0.9))[None, :, None] * 0.8
        share = np.broadcast_to(share, (size, size, 1))
    elif kind == "checks":
        step = edge * rng.uniform(0.4, 2.5)
        share = ((axis // step)[None, :] + (axis // step)[:, None])[..., None] % 2 * 0.9
    elif kind == "photo":
        share = sum(
            (smooth_noise(rng, size, size, cells) * cells**-0.45 for cells in (2, 5, 13, 35, 90)),
            np.zeros((size, size, 1), np.float32),
        )
    elif kind == "marble":
        wave = smooth_noise(rng, size, size, 4) + 0.5 * smooth_noise(rng, size, size, 14)
        share = 1 - np.clip(np.abs(wave) * rng.uniform(2, 6), 0, 1)
    else:
        share = 0.03 * rng.standard_normal((size, size, 1)).astype(np.float32)
    share = np.clip(np.asarray(share, np.float32), -1, 1)
    floor = base * (1 - share) + second * share
    floor = np.array(np.broadcast_to(floor, (size, size, 3)), np.float32, order="C")
    if kind == "photo":
        for _ in range(rng.integers(2, 10)):
            _shape(rng, floor, edge)
    if kind == "print" or rng.random() < printed:
        for _ in range(rng.integers(2, 8)):
            _printed(rng, floor, edge)
    if rng.random() < 0.5:
        floor = floor * (1 + 0.12 * smooth_noise(rng, size, size, rng.uniform(1, 4)))
    if rng.random() < 0.5:
        turn = cv2.getRotationMatrix2D((size / 2, size / 2), rng.uniform(0, 360), 1.45)
        floor = cv2.warpAffine(floor, turn, (size, size), borderMode=cv2.BORDER_REFLECT)
    return np.ascontiguousarray(np.clip(floor, 0.002, 1), np.float32)


def _brushed(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    """(size, size, 1) Noise drawn out along one axis, fine and coarse."""
    streaks = np.zeros((size, size), np.float32)
    for width in (rng.uniform(0.01, 0.04), rng.uniform(0.05, 0.3)):
        noise = rng.standard_normal((size, size)).astype(np.float32)
        across = max(0.6, width * edge)
        drawn = cv2.GaussianBlur(noise, (0, 0), across, sigmaY=across * rng.uniform(5, 30))
        streaks += np.asarray(drawn, np.float32) / max(float(drawn.std()), 1e-6)
    return np.asarray(rng.uniform(0.05, 0.25) * streaks[..., None], np.float32)


def clutter(rng: np.random.Generator, floor: np.ndarray, texels_per_edge: float) -> None:
    """Flat things that are not dice, drawn into the texture: coins, chips, cards, screws."""
    edge = max(texels_per_edge, 4.0)
    for _ in range(rng.integers(1, 6)):
        draw = (_coin, _chip, _card, _printed, _dots, _shape)[rng.integers(6)]
        draw(rng, floor, edge)


def surround(
    rng: np.random.Generator, floor: np.ndarray, texels_per_edge: float, reach: float
) -> None:
    """A round compartment or a rectangular tray around the dice, seen from above."""
    size = floor.shape[0]
    axis = (np.arange(size, dtype=np.float32) + 0.5 - size / 2) / texels_per_edge
    x, y = axis[None, :], axis[:, None]
    if rng.random() < 0.7:
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


def _wood(rng: np.random.Generator, size: int, edge: float) -> np.ndarray:
    along = smooth_noise(rng, size, size, 3)
    stretch = int(rng.integers(12, 60))
    fibres = rng.standard_normal((max(size // stretch, 2), size)).astype(np.float32)
    grain = cv2.resize(fibres, (size, size), interpolation=cv2.INTER_CUBIC)[..., None]
    axis = np.arange(size, dtype=np.float32)[None, :, None]
    rings = np.sin(axis / (edge * rng.uniform(0.05, 0.5)) + along * rng.uniform(0.5, 4))
    return np.asarray(0.3 * grain + 0.35 * rings * (rng.random() < 0.7) + 0.3, np.float32)


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


def _coin(rng: np.random.Generator, floor: np.ndarray, edge: float) -> None:
    at, radius = _place(rng, floor), int(edge * rng.uniform(0.4, 0.9))
    metal = random_colour(rng, (0, 0.6), (0.4, 0.9))
    cv2.circle(floor, (at[0] + 2, at[1] + 2), radius, (metal * 0.15).tolist(), -1, cv2.LINE_AA)
    cv2.circle(floor, at, radius, metal.tolist(), -1, cv2.LINE_AA)
    ring = int(radius * 0.88)
    cv2.circle(floor, at, ring, (metal * rng.uniform(0.5, 1.5)).tolist(), 2, cv2.LINE_AA)
    text = str(rng.integers(1, 60))
    scale = radius / 30
    spot = (int(at[0] - 10 * scale * len(text)), int(at[1] + 10 * scale))
    write(floor, text, spot, scale, metal * rng.uniform(0.3, 1.6), 2)


def _chip(rng: np.random.Generator, floor: np.ndarray, edge: float) -> None:
    at, radius = _place(rng, floor), int(edge * rng.uniform(0.7, 1.3))
    colour = random_colour(rng, (0.3, 1), (0.1, 0.9))
    cv2.circle(floor, at, radius, colour.tolist(), -1, cv2.LINE_AA)
    for start in range(0, 360, 60):
        cv2.ellipse(
            floor, at, (int(radius * 0.9),) * 2, 0, start, start + 25, (0.9, 0.9, 0.9),
            max(1, radius // 6), cv2.LINE_AA,
        )  # fmt: skip
    cv2.circle(floor, at, int(radius * 0.6), (0.85, 0.85, 0.85), 2, cv2.LINE_AA)
    if rng.random() < 0.5:
        cv2.circle(floor, at, int(radius * 0.25), (0.8, 0.8, 0.8), -1, cv2.LINE_AA)


def _card(rng: np.random.Generator, floor: np.ndarray, edge: float) -> None:
    """A plain rectangle, sometimes with a mark in its middle, as a card or a label has."""
    at = _place(rng, floor)
    sides = edge * rng.uniform(0.6, 4, 2)
    box = cv2.boxPoints((at, sides.tolist(), rng.uniform(0, 180))).astype(np.int32)
    colour = random_colour(rng, (0, 0.5), (0.3, 1))
    cv2.fillConvexPoly(floor, box, colour.tolist(), cv2.LINE_AA)
    if rng.random() < 0.5:
        ink = random_colour(rng, (0, 1), (0, 0.4))
        write(floor, str(rng.choice(list("QKJ@#&8"))), at, edge / 40, ink, 2)


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
