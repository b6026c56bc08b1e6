"""Scenes as people photograph them, and a table that is all doubtful dice; fast renderer.

Owns: four recipes. `snapshot_picture`: dice from a drawer on any surface, any light, up to 50° off
the vertical. `lean_picture`: a compartment from straight above in which every second die leans by
2–16°, the angles at which flat and not flat are hardest to tell apart. `house_picture`: a casino's
dice, and dice with faint pips. `surface_picture`: no die at all. Must not know: files.
"""

from __future__ import annotations

import cv2
import numpy as np

from models.training import arrange, floors, looks
from models.training.house_dice import faint_look, house_look
from models.training.layout import look_down
from models.training.plastic import plastic_look
from models.training.raster import (
    Lamp,
    Light,
    Picture,
    add_strangers,
    near_camera,
    pixels_per_edge,
    random_light,
    render,
    table_camera,
    toward,
)
from models.training.surfaces import random_surface

_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 11)
_COUNT_SHARES = (0.1, 0.08, 0.12, 0.25, 0.14, 0.12, 0.09, 0.06, 0.04)


def snapshot_picture(rng: np.random.Generator, size: int) -> Picture:
    """One scene of a phone, a webcam or a small computer's camera."""
    count = int(rng.choice(_COUNTS, p=_COUNT_SHARES))
    px_per_edge = pixels_per_edge(rng, size, count, 30, 150)
    view = size / px_per_edge / 2
    tilt = float(rng.uniform(0, 12) if rng.random() < 0.45 else rng.uniform(8, 50))
    camera = near_camera(rng, size, px_per_edge, tilt, bent=0.3)
    cocked = float(rng.choice([0.0, 0.25], p=[0.75, 0.25]))
    dice = arrange.arrange(rng, count, max(view * 0.9, 0.7), cocked, rng.random() < 0.35)
    is_set = rng.random() < 0.5
    shared = _look(rng)
    styles = [shared if is_set else _look(rng) for _ in dice]
    reach = float(view * (1.3 if tilt < 20 else 2.0) + 0.8)
    texels = 640 / (2 * reach)
    floor = random_surface(rng, 640, texels)
    if rng.random() < 0.3:
        floors.clutter(rng, floor, texels)
    if rng.random() < 0.15:
        floors.surround(rng, floor, texels, view * rng.uniform(0.8, 1.15))
    strangers = add_strangers(rng, dice, styles, view, chance=0.2, largest=1.5)
    picture = render(rng, dice, styles, camera, _light(rng), floor, reach, strangers)
    picture.notes |= {"style": "plastic", "tilt_deg": f"{tilt:.1f}"}
    return picture


def surface_picture(rng: np.random.Generator, size: int) -> Picture:
    """A surface without dice: what is not one, and where cut-out dice are put (`samples.py`)."""
    texels = float(np.exp(rng.uniform(np.log(25), np.log(140))))
    floor = random_surface(rng, size, texels)
    if rng.random() < 0.5:
        floors.clutter(rng, floor, texels)
    tone = np.clip(floor * rng.uniform(0.5, 1.6), 0, 1) ** np.float32(1 / 2.2)
    camera = look_down(size, texels, 2 * size / texels, 0.0, 0.0)
    return Picture((tone * 255 + 0.5).astype(np.uint8), [], camera, {"style": "none"})


def lean_picture(rng: np.random.Generator, size: int) -> Picture:
    """A compartment from straight above; half of the dice flat, half leaning a little."""
    count = int(rng.choice([2, 3, 4, 6], p=[0.15, 0.5, 0.2, 0.15]))
    radius = float(rng.uniform(1.6, 3.6)) * np.sqrt(max(count, 3) / 3)
    view = max(2 * radius * float(rng.uniform(0.8, 1.25)), size / 125)
    camera = table_camera(rng, size, view, radius, nearest=10)
    dice = arrange.leaning_dice(rng, count, radius)
    shared = _look(rng)
    is_set = rng.random() < 0.8
    styles = [shared if is_set else _look(rng) for _ in dice]
    reach = float(view * 0.75 + 1.0)
    texels = 640 / (2 * reach)
    if rng.random() < 0.75:
        floor = floors.random_floor(rng, 640, texels)
    else:
        floor = random_surface(rng, 640, texels)
    floors.surround(rng, floor, texels, radius)
    picture = render(rng, dice, styles, camera, _light(rng), floor, reach)
    picture.notes |= {"style": shared.style if is_set else "mixed"}
    return picture


def house_picture(rng: np.random.Generator, size: int) -> Picture:
    """A few dice near to the lens: a casino's on its layout, or faint ones on anything."""
    count = int(rng.choice([1, 2, 3, 5], p=[0.35, 0.25, 0.25, 0.15]))
    px_per_edge = pixels_per_edge(rng, size, count, 45, 190)
    view = size / px_per_edge / 2
    tilt = float(rng.uniform(0, 15) if rng.random() < 0.4 else rng.uniform(10, 50))
    camera = near_camera(rng, size, px_per_edge, tilt, bent=0.0)
    dice = arrange.arrange(rng, count, max(view * 0.75, 0.7), 0.08, False)
    is_house = rng.random() < 0.6
    look = house_look if is_house else faint_look
    shared, is_set = look(rng), rng.random() < 0.6
    styles = [shared if is_set else look(rng) for _ in dice]
    reach = float(view * (1.3 if tilt < 20 else 2.0) + 0.8)
    texels = 640 / (2 * reach)
    if is_house and rng.random() < 0.75:
        floor = _layout(rng, 640, texels)
    else:
        floor = random_surface(rng, 640, texels)
    picture = render(rng, dice, styles, camera, _light(rng), floor, reach)
    picture.notes |= {"style": shared.style, "tilt_deg": f"{tilt:.1f}"}
    return picture


def _layout(rng: np.random.Generator, size: int, texels: float) -> np.ndarray:
    """Felt with the printed lines and letters of a table, wider than pips and as white."""
    floor = floors.random_floor(rng, size, texels, ("felt", "felt", "plain"), 0.3)
    for _ in range(rng.integers(0, 6)):
        ends = rng.uniform(-0.1, 1.1, (2, 2)) * size
        colour = looks.random_colour(rng, (0, 1), (0.6, 1))
        if rng.random() < 0.7:
            colour = looks.from_srgb(235, 240, 240)
        cv2.line(
            floor, ends[0].astype(int).tolist(), ends[1].astype(int).tolist(), colour.tolist(),
            max(1, int(texels * rng.uniform(0.05, 0.6))), cv2.LINE_AA,
        )  # fmt: skip
    return np.ascontiguousarray(floor, np.float32)


def _look(rng: np.random.Generator) -> looks.DieLook:
    return plastic_look(rng) if rng.random() < 0.7 else looks.random_look(rng)


def _light(rng: np.random.Generator) -> Light:
    """As indoors: often one lamp, low and hard, and little else."""
    if rng.random() < 0.45:
        return random_light(rng)
    height = float(rng.uniform(0.3, 0.8))
    heading = rng.uniform(0, 2 * np.pi)
    warm = looks.random_colour(rng, (0, 0.35), (0.8, 1.0))
    lamp = Lamp(
        toward(heading, height),
        warm * rng.uniform(0.7, 1.5),
        float(np.exp(rng.uniform(np.log(0.015), np.log(0.25)))),
    )
    ambient = looks.random_colour(rng, (0, 0.2), (0.6, 1.0)) * rng.uniform(0.12, 0.6)
    return Light(ambient, [lamp], float(rng.uniform(0.3, 0.85)))
