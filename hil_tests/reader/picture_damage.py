"""What can go wrong with a picture, done to a good one: things, cloths, light, tears, false faces.

Owns: seeded edits of pictures of the rig's camera; where a face lies is known from the rig's own
lens and poses. Must not know the reader.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import cv2
import numpy as np

from hil_tests.rig.plant.dice import FACE_NORMALS

if TYPE_CHECKING:
    from hil_tests.reader.tosses import RigCamera, Toss

_FACE = 128
_GAMMA = 2.2


def with_grain(picture: np.ndarray, random: np.random.Generator, strength: float) -> np.ndarray:
    """A picture as uint8 with fresh Gaussian grain, in grey levels."""
    grain = random.normal(0, strength, picture.shape)
    return np.clip(np.rint(np.asarray(picture, np.float32) + grain), 0, 255).astype(np.uint8)


def disc(
    picture: np.ndarray, at: np.ndarray, radius_px: float, grey: float, soft_px: float
) -> np.ndarray:
    """A spot of one grey on whatever lies at (x, y), its edge softened over so many pixels."""
    y, x = np.mgrid[0 : picture.shape[0], 0 : picture.shape[1]].astype(np.float32)
    away = np.hypot(x - at[0], y - at[1])
    cover = np.clip((radius_px - away) / soft_px + 0.5, 0.0, 1.0)[..., None]
    return np.clip(np.rint(picture * (1.0 - cover) + grey * cover), 0, 255).astype(np.uint8)


def over_expose(picture: np.ndarray, times: float) -> np.ndarray:
    """A picture with so many times the light, clipped."""
    light = (np.arange(256) / 255.0) ** _GAMMA * times
    table = np.rint(255 * np.clip(light, 0, 1) ** (1 / _GAMMA)).astype(np.uint8)
    return np.asarray(cv2.LUT(picture, table))


def smear(picture: np.ndarray, row: int, kind: str) -> np.ndarray:
    """What a decoder makes of a picture that ends at `row`: grey, the last row again, or black
    and white blocks."""
    torn = picture.copy()
    if kind == "grey":
        torn[row:] = 128
    elif kind == "smear":
        torn[row:] = torn[row - 1]
    else:
        torn[row:] = 0
        torn[row : row + 8] = 255
    return torn


def cloth(picture: np.ndarray, camera: RigCamera, seed: int) -> np.ndarray:
    """A cloth over two thirds of the compartment or more, out of focus."""
    random = np.random.default_rng(seed)
    height, width = picture.shape[:2]
    weave = random.standard_normal((height, width)).astype(np.float32)
    weave = np.asarray(cv2.GaussianBlur(weave, (0, 0), random.uniform(0.8, 2.0)))
    folds = random.standard_normal((height // 40, width // 40)).astype(np.float32)
    folds = np.asarray(cv2.resize(folds, (width, height), interpolation=cv2.INTER_CUBIC))
    colour = random.uniform(60, 190, 3)
    shade = 1.0 + 0.16 * folds + 0.05 * weave / float(weave.std())
    sheet = np.clip(colour * shade[..., None], 0, 255)
    turn = random.uniform(0, 2 * math.pi)
    radius = camera.calibration.compartment_radius_mm * camera.calibration.floor_px_per_mm
    edge = -random.uniform(0.3, 1.0) * radius
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    u, v = camera.to_px(np.zeros((1, 3)))[0]
    along = (x - u) * math.cos(turn) + (y - v) * math.sin(turn) + 9 * np.sin(y / 31 + x / 47)
    cover = np.clip((along - edge) / 6 + 0.5, 0, 1)[..., None]
    grain = np.random.default_rng().normal(0, 1.5, picture.shape)
    mixed = picture * (1 - cover) + (sheet + grain) * cover
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def lay_thing(
    picture: np.ndarray,
    camera: RigCamera,
    kind: str,
    place_mm: np.ndarray,
    radius_mm: float,
    seed: int,
) -> np.ndarray:
    """A thing on the floor at (x right, y up): a `coin`, another `thing`, or a `smear` on the dome
    above that place."""
    random = np.random.default_rng(seed)
    middle = camera.to_px(np.array([[*place_mm, 0.0 if kind != "smear" else camera.die_mm]]))[0]
    radius = radius_mm * camera.calibration.floor_px_per_mm
    reach = int(1.5 * radius) + 4
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float32)
    if kind == "coin":
        colour, cover = _coin(random, x, y, radius)
    elif kind == "thing":
        colour, cover = _thing(random, x, y, radius)
    else:
        colour, cover = _dirt(random, x, y, radius)
    # To a part of a pixel: two lenses see by it how high a thing lies.
    x_px, y_px = (round(float(at)) for at in middle)
    part = np.array([[1, 0, middle[0] - x_px], [0, 1, middle[1] - y_px]])
    colour, cover = (cv2.warpAffine(of, part, x.shape[::-1]) for of in (colour, cover))
    cover = cover[..., None]
    grain = np.random.default_rng().normal(0, 1.5, colour.shape)
    left, top = x_px - reach, y_px - reach
    rows = slice(max(top, 0), min(top + 2 * reach + 1, picture.shape[0]))
    columns = slice(max(left, 0), min(left + 2 * reach + 1, picture.shape[1]))
    inner = (
        slice(rows.start - top, rows.stop - top),
        slice(columns.start - left, columns.stop - left),
    )
    laid = picture.copy()
    under = laid[rows, columns].astype(np.float32)
    mixed = under * (1 - cover[inner]) + (colour + grain)[inner] * cover[inner]
    laid[rows, columns] = np.clip(np.rint(mixed), 0, 255)
    return laid


def _coin(
    random: np.random.Generator, x: np.ndarray, y: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    r, turn = np.hypot(x, y) / radius, np.arctan2(y, x)
    metal = np.array(((92, 172, 206), (60, 110, 178), (188, 192, 196))[random.integers(3)])
    relief = 0.12 * np.sin(x * 0.5 + turn) * np.sin(y * 0.45) * (r < 0.75)
    brush = 0.75 + 0.2 * np.cos(2 * turn + random.uniform(0, 6)) + relief
    rim = 0.3 * np.exp(-(((r - 0.93) / 0.05) ** 2))
    return metal * (brush + rim)[..., None], np.clip((1 - r) * radius + 0.5, 0, 1)[..., None]


def _thing(
    random: np.random.Generator, x: np.ndarray, y: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """A chip with spots on its edge, a screw, or a paper label."""
    turn = random.uniform(0, 2 * math.pi)
    u, v = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
    kind = random.integers(3)
    if kind == 0:
        r, angle = np.hypot(u, v) / radius, np.arctan2(v, u)
        body, spots = random.uniform(20, 235, 3), random.uniform(20, 235, 3)
        is_spot = (r > 0.72) & (np.sin(6 * angle) > 0.2)
        colour = np.where(is_spot[..., None], spots, body)
        return colour, np.clip((1 - r) * radius + 0.5, 0, 1)[..., None]
    if kind == 1:
        head, shank = 0.42 * radius, 0.2 * radius
        far = np.maximum(np.abs(u) - radius, np.abs(v) - shank)
        far = np.minimum(far, np.hypot(u + 0.8 * radius, v) - head)
        thread = 0.75 + 0.25 * np.sin(u * 1.9)
        colour = np.array((168, 172, 178)) * (thread * (1 - 0.5 * np.abs(v) / head))[..., None]
        return colour, np.clip(0.5 - far, 0, 1)[..., None]
    wide, high = 0.9 * radius, random.uniform(0.6, 0.9) * radius
    far = np.maximum(np.abs(u) - wide, np.abs(v) - high)
    lines = (np.sin(v * 0.9) > 0.5) & (np.abs(u) < 0.8 * wide) & (np.sin(u * 1.3 + v) > -0.4)
    paper = random.uniform(150, 240, 3)
    return np.where(lines[..., None], paper * 0.3, paper), np.clip(0.5 - far, 0, 1)[..., None]


def _dirt(
    random: np.random.Generator, x: np.ndarray, y: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """A greasy smear: bright, soft, uneven."""
    noise = np.asarray(
        cv2.GaussianBlur(random.standard_normal(x.shape).astype(np.float32), (0, 0), 5.0)
    )
    r = np.hypot(x, y) / radius + 0.25 * noise / float(noise.std())
    cover = 0.96 * np.clip(2.2 - 1.8 * r, 0, 1)
    return np.full((*x.shape, 3), 168.0), np.asarray(cover)[..., None]


# ── Faces ───────────────────────────────────────────────────────────────────


def top_corners(camera: RigCamera, toss: Toss, die: int) -> np.ndarray:
    """(4, 2) pixels: corners of a die's top face."""
    return camera.to_px(top_mm(toss, die, camera.die_mm))


def top_mm(toss: Toss, die: int, die_mm: float) -> np.ndarray:
    """(4, 3) mm: corners of a die's top face."""
    rotation = toss.rotation[die]
    normal = np.array(max(FACE_NORMALS.values(), key=lambda n: float(rotation[2] @ n)), float)
    right = np.roll(normal, 1)
    up = np.cross(normal, right)
    ring = np.array([normal - right + up, normal + right + up, normal + right - up,
                     normal - right - up])  # fmt: skip
    return np.asarray(ring * die_mm / 2 @ rotation.T + toss.position_mm[die])


def _repaint(
    picture: np.ndarray, corners: np.ndarray, face: np.ndarray, cover: np.ndarray
) -> np.ndarray:
    """Lay a (_FACE, _FACE, 3) face with its (_FACE, _FACE) cover over a quadrilateral."""
    size = _FACE
    square = np.array([(0, 0), (size, 0), (size, size), (0, size)], np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(square, corners.astype(np.float32))
    shape = (picture.shape[1], picture.shape[0])
    colour = cv2.warpPerspective(face, matrix, shape, flags=cv2.INTER_AREA)
    share = cv2.warpPerspective(cover, matrix, shape, flags=cv2.INTER_AREA)[..., None]
    grain = np.random.default_rng().normal(0, 1.5, picture.shape)
    mixed = picture * (1 - share) + (colour + grain) * share
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def _levels(picture: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(3,) the face's own colour in the picture."""
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners).astype(np.int32), 1)
    return np.asarray(np.median(picture[mask > 0], axis=0), np.float32)


def _painted(
    picture: np.ndarray, corners: np.ndarray, mark: np.ndarray, camera: RigCamera, soft_px: int
) -> np.ndarray:
    """A face of its own colour with a (_FACE, _FACE) mark in the ink of the dice's pips."""
    body = _levels(picture, corners)
    ink = np.array(camera.look.pip[::-1], np.float32)
    blurred = cv2.GaussianBlur(mark, (soft_px, soft_px), 0)
    share = np.asarray(blurred, np.float32)[..., None] / 255
    face = np.asarray(body * (1 - share) + ink * share, np.float32)
    cover = np.zeros((_FACE, _FACE), np.float32)
    cover[7:-7, 7:-7] = 1.0
    return _repaint(picture, corners, face, cover)


def paint_faces(picture: np.ndarray, camera: RigCamera, toss: Toss, seed: int) -> np.ndarray:
    """All top faces with digits, letters, crosses or stripes instead of pips."""
    random = np.random.default_rng(seed)
    kind = int(random.integers(4))
    for die in range(len(toss.position_mm)):
        mark: np.ndarray = np.zeros((_FACE, _FACE), np.uint8)
        value = int(random.integers(1, 7))
        if kind == 0:
            cv2.putText(mark, str(value), (32, 100), cv2.FONT_HERSHEY_SIMPLEX, 3.2, 255, 14)
        elif kind == 1:
            letter = "ABEHKMRXZ"[int(random.integers(9))]
            cv2.putText(mark, letter, (28, 100), cv2.FONT_HERSHEY_DUPLEX, 3.0, 255, 11)
        elif kind == 2:
            cv2.line(mark, (34, 34), (94, 94), 255, 15)
            cv2.line(mark, (94, 34), (34, 94), 255, 15)
        else:
            for line in range(value):
                y = 24 + 80 * (line + 1) // (value + 1)
                cv2.line(mark, (28, y), (100, y), 255, 8)
        picture = _painted(picture, top_corners(camera, toss, die), mark, camera, 5)
    return picture


_FALSE_FACES = (
    ((-1, -1), (1, -1), (-1, 1)),
    ((-1, -1), (0, 0), (1, 1), (1, -1)),
    ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1)),
    ((-1, 0), (0, 0), (1, 0)),
    ((-1, -1), (-1, 1)),
    ((0, 0), (1, 1)),
    ((-1, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (1, 1)),
    ((-1, -1), (0, -1), (1, -1), (0, 0), (0, 1)),
)
"""Patterns that no die has: a pip too many, one too few, one in the wrong place."""


def repaint_pips(picture: np.ndarray, camera: RigCamera, toss: Toss, seed: int) -> np.ndarray:
    """One top face with a pattern of pips that no die has."""
    random = np.random.default_rng(seed)
    die = int(random.integers(len(toss.position_mm)))
    pattern = _FALSE_FACES[int(random.integers(len(_FALSE_FACES)))]
    mark: np.ndarray = np.zeros((_FACE, _FACE), np.uint8)
    radius = round(camera.look.pip_mm / 16.0 * _FACE / 2)
    for across, down in pattern:
        centre = (round(_FACE * (0.5 + 0.265 * across)), round(_FACE * (0.5 + 0.265 * down)))
        cv2.circle(mark, centre, radius, 255, -1, cv2.LINE_AA)
    return _painted(picture, top_corners(camera, toss, die), mark, camera, 3)
