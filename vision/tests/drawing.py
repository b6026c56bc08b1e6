"""Draws dice for tests: cubes of any pose seen by a calibrated camera, flat-shaded.

Owns: a picture of known truth, quick and plain. It is no renderer of realistic scenes; those are
`models/training` and the rig, and the reader is measured on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from vision.calibration import Calibration

TABLE = Calibration(
    image_size=(640, 480),
    floor_px_per_mm=4.4,
    height_mm=300.0,
    centre_px=(320.0, 240.0),
    compartment_radius_mm=50.0,
    die_mm=16.0,
)

SPOTS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, -1), (-1, 1), (1, 1)],
    5: [(-1, -1), (1, -1), (-1, 1), (1, 1), (0, 0)],
    6: [(-1, -1), (1, -1), (-1, 1), (1, 1), (-1, 0), (1, 0)],
}
_TEXTURE_PX = 96


@dataclass(frozen=True)
class Look:
    """Colours (BGR) and proportions, as shares of the edge."""

    face: tuple[int, int, int] = (232, 236, 238)
    pip: tuple[int, int, int] = (28, 26, 26)
    pip_diameter: float = 0.2
    spacing: float = 0.26
    ace_diameter: float | None = None
    ace: tuple[int, int, int] | None = None
    four: tuple[int, int, int] | None = None


WHITE = Look()
RED = Look(face=(30, 25, 170), pip=(235, 235, 240), pip_diameter=0.19)
IVORY = Look(face=(150, 200, 220), pip=(30, 40, 60), pip_diameter=0.22)
BLUE = Look(face=(150, 60, 25), pip=(240, 240, 240))
ASIAN = Look(ace_diameter=0.36, ace=(40, 35, 190), four=(40, 35, 190), spacing=0.25)
LOOKS = {"white": WHITE, "red": RED, "asian": ASIAN, "ivory": IVORY, "blue": BLUE}


@dataclass(frozen=True)
class Die:
    """One cube: its centre in mm, its turn about the vertical and its tilt about an axis in the
    plane; `value` is the face that would be up with no tilt."""

    x: float
    y: float
    turn_deg: float
    value: int
    tilt_deg: float = 0.0
    tilt_axis_deg: float = 0.0
    z: float | None = None
    look: Look = WHITE


def draw(
    dice: Sequence[Die],
    calibration: Calibration = TABLE,
    *,
    floor: tuple[int, int, int] = (60, 105, 45),
    outside: tuple[int, int, int] = (35, 32, 30),
    light: float = 1.0,
    noise: float = 2.0,
    blur: float = 0.8,
    seed: int = 0,
    jpeg: int | None = 90,
) -> np.ndarray:
    """(H, W, 3) uint8 of the compartment with these dice, the later ones in front."""
    picture = _empty(calibration, floor, outside).copy()
    for die in dice:
        _draw_die(picture, die, calibration)
    picture *= (light * _falloff(*calibration.image_size))[..., None]
    if blur:
        picture = cv2.GaussianBlur(picture, (0, 0), blur)
    if noise:
        picture += noise * _grain(seed, picture.shape)
    image = np.clip(picture, 0, 255).astype(np.uint8)
    if jpeg is not None:
        coded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, jpeg])[1]
        image = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)
    return image


# What many pictures share is made once: a test draws hundreds.


@lru_cache(maxsize=8)
def _empty(
    calibration: Calibration, floor: tuple[int, int, int], outside: tuple[int, int, int]
) -> np.ndarray:
    """The compartment without dice."""
    width, height = calibration.image_size
    picture: np.ndarray = np.empty((height, width, 3), np.float32)
    picture[:] = outside
    turn = np.linspace(0, 2 * np.pi, 181)
    rim = np.c_[np.cos(turn), np.sin(turn), 0 * turn] * calibration.compartment_radius_mm
    cv2.fillPoly(picture, [_fixed(calibration.to_px(rim))], floor, cv2.LINE_AA, 4)
    return picture


@lru_cache(maxsize=4)
def _falloff(width: int, height: int) -> np.ndarray:
    """How the lens darkens a picture towards its corners."""
    y, x = np.mgrid[0:height, 0:width]
    away = np.hypot(x - width / 2, y - height / 2) / width
    return np.asarray(1.0 - 0.25 * away**2)


@lru_cache(maxsize=32)
def _grain(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def _fixed(points: np.ndarray) -> np.ndarray:
    return np.round(points * 16).astype(np.int32)


def rotation(die: Die) -> np.ndarray:
    """(3, 3) die frame to compartment frame (x right, y down, z up)."""
    a, b = np.radians(die.turn_deg), np.radians(die.tilt_axis_deg)
    turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])
    axis = np.array([np.cos(b), np.sin(b), 0.0])
    tilt, _ = cv2.Rodrigues(axis * np.radians(die.tilt_deg))
    return np.asarray(tilt @ turn)


def _draw_die(picture: np.ndarray, die: Die, calibration: Calibration) -> None:
    half = calibration.die_mm / 2
    matrix = rotation(die)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    lowest = float((corners @ matrix.T)[:, 2].min())
    centre = np.array([die.x, die.y, -lowest if die.z is None else die.z])
    eye = np.array([-calibration.compartment_mm[0], -calibration.compartment_mm[1], 0.0])
    eye[2] = calibration.height_mm
    faces = []
    for axis, sign, value in _cube(die.value):
        normal, u = sign * np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
        v = np.cross(normal, u)
        quad = np.array([normal - u - v, normal + u - v, normal + u + v, normal - u + v])
        points = (quad * half) @ matrix.T + centre
        sight = eye - points.mean(axis=0)
        outward = matrix @ normal
        if outward @ sight > 0:
            shade = 0.62 + 0.38 * max(0.0, float(outward[2]))
            faces.append((float(np.linalg.norm(sight)), value, points, shade))
    for _, value, points, shade in sorted(faces, key=lambda face: -face[0]):
        texture = texture_of(die.look, value) * shade
        target = calibration.to_px(points).astype(np.float32)
        low = np.maximum(np.floor(target.min(axis=0)).astype(int) - 2, 0)
        high = np.ceil(target.max(axis=0)).astype(int) + 3
        window = picture[low[1] : high[1], low[0] : high[0]]
        if window.size == 0:
            continue
        size = _TEXTURE_PX
        source = np.array([(0, 0), (size, 0), (size, size), (0, size)], np.float32) - 0.5
        matrix_px = cv2.getPerspectiveTransform(source, target - low.astype(np.float32))
        shape = (window.shape[1], window.shape[0])
        warped = cv2.warpPerspective(
            texture, matrix_px, shape, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE
        )
        mask = np.zeros(window.shape[:2], np.uint8)
        cv2.fillConvexPoly(mask, _fixed(target - low), 255, cv2.LINE_AA, 4)
        share = (mask.astype(np.float32) / 255)[..., None]
        blended = window * (1 - share) + warped * share
        window[:] = np.where(share > 0, blended, window)


def _cube(top: int) -> list[tuple[int, int, int]]:
    """Axis, sign and value of each face of a die with that value up; opposite faces sum to 7."""
    x, y = (value for value in (1, 2, 3) if value not in (top, 7 - top))
    return [(2, 1, top), (2, -1, 7 - top), (0, 1, x), (0, -1, 7 - x), (1, 1, y), (1, -1, 7 - y)]


@lru_cache(maxsize=64)
def texture_of(look: Look, value: int) -> np.ndarray:
    """(96, 96, 3) float32: one face, seen from straight above."""
    size = _TEXTURE_PX
    texture = np.empty((size, size, 3), np.float32)
    texture[:] = look.face
    colour, diameter = look.pip, look.pip_diameter
    if value == 1:
        colour, diameter = look.ace or look.pip, look.ace_diameter or look.pip_diameter
    elif value == 4:
        colour = look.four or look.pip
    for x, y in SPOTS[value]:
        centre = (
            np.array([(0.5 + x * look.spacing) * size - 0.5, (0.5 + y * look.spacing) * size - 0.5])
            * 16
        )
        cv2.circle(
            texture,
            (round(centre[0]), round(centre[1])),
            round(diameter / 2 * size * 16),
            colour,
            -1,
            cv2.LINE_AA,
            4,
        )
    return texture


def toss(
    rng: np.random.Generator, calibration: Calibration = TABLE, look: Look = WHITE
) -> list[Die]:
    """Three flat dice anywhere in the compartment, not overlapping, often touching."""
    half = calibration.die_mm / 2
    reach = calibration.compartment_radius_mm - half * 1.42
    dice: list[Die] = []
    while len(dice) < 3:
        if dice and rng.random() < 0.5:  # flush against another
            other = dice[rng.integers(len(dice))]
            turn = other.turn_deg + 90 * int(rng.integers(4))
            along = rng.uniform(-0.7, 0.7) * calibration.die_mm
            a = np.radians(turn)
            away = calibration.die_mm + rng.uniform(0.0, 0.5)
            x = other.x + away * np.cos(a) - along * np.sin(a)
            y = other.y + away * np.sin(a) + along * np.cos(a)
        else:
            r, a = reach * np.sqrt(rng.random()), rng.uniform(0, 2 * np.pi)
            x, y, turn = r * np.cos(a), r * np.sin(a), rng.uniform(0, 90)
        if np.hypot(x, y) > reach:
            continue
        die = Die(x, y, turn, int(rng.integers(1, 7)), look=look)
        if all(not _overlap(die, other, half) for other in dice):
            dice.append(die)
    return dice


def _overlap(a: Die, b: Die, half: float) -> bool:
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
    quads = [square @ rotation(d)[:2, :2].T + (d.x, d.y) for d in (a, b)]
    area, _ = cv2.intersectConvexConvex(quads[0].astype(np.float32), quads[1].astype(np.float32))
    return bool(area > 1e-3)
