"""Scenes as people photograph them, and a table that is all doubtful dice; fast renderer.

Owns: three recipes. `snapshot_picture`: dice from a drawer on any surface, any light, up to 50° off
the vertical. `lean_picture`: a compartment from straight above in which every second die leans by
2–16°, the angles at which flat and not flat are hardest to tell apart. `surface_picture`: no die
at all. Must not know: files.
"""

from __future__ import annotations

import numpy as np

from models.training import arrange, floors, looks
from models.training.layout import Die, look_down
from models.training.plastic import plastic_look
from models.training.raster import Lamp, Light, Picture, add_strangers, random_light, render
from models.training.surfaces import random_surface

_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 11)
_COUNT_SHARES = (0.1, 0.08, 0.12, 0.25, 0.14, 0.12, 0.09, 0.06, 0.04)


def snapshot_picture(rng: np.random.Generator, size: int) -> Picture:
    """One scene of a phone, a webcam or a small computer's camera."""
    count = int(rng.choice(_COUNTS, p=_COUNT_SHARES))
    px_per_edge = float(np.exp(rng.uniform(np.log(30), np.log(150))))
    px_per_edge = min(px_per_edge, size / (0.6 + 0.9 * np.sqrt(max(count, 1))))
    view = size / px_per_edge / 2
    tilt = float(rng.uniform(0, 12) if rng.random() < 0.45 else rng.uniform(8, 50))
    distance = max(2 * view * float(rng.uniform(0.9, 3.0)), 4.0)
    bend = float(rng.uniform(-0.05, 0.25)) if rng.random() < 0.3 else 0.0
    camera = look_down(size, size, px_per_edge, distance, tilt, float(rng.uniform(0, 360)), bend)
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
    camera = look_down(size, size, texels, 2 * size / texels, 0.0, 0.0)
    return Picture((tone * 255 + 0.5).astype(np.uint8), [], camera, {"style": "none"})


def lean_picture(rng: np.random.Generator, size: int) -> Picture:
    """A compartment from straight above; half of the dice flat, half leaning a little."""
    count = int(rng.choice([2, 3, 4, 6], p=[0.15, 0.5, 0.2, 0.15]))
    radius = float(rng.uniform(1.6, 3.6)) * np.sqrt(max(count, 3) / 3)
    view = max(2 * radius * float(rng.uniform(0.8, 1.25)), size / 125)
    camera = look_down(
        size, size, size / view, float(rng.uniform(10, 26)), float(rng.uniform(0, 2.5)),
        float(rng.uniform(0, 360)), float(rng.uniform(-0.03, 0.2)) if rng.random() < 0.4 else 0.0,
    )  # fmt: skip
    camera.position[:2] += rng.uniform(-0.25, 0.25, 2) * radius
    values = arrange.numbering(rng)
    dice: list[Die] = []
    for _ in range(count):
        for _attempt in range(15):
            die = arrange.flat_die(rng, 1.0, values)
            if rng.random() < 0.5:
                die = _leaning(rng, die)
            if dice and rng.random() < 0.3:
                arrange.slide_against(rng, die, dice[rng.integers(len(dice))])
            else:
                far = (radius - 0.75) * np.sqrt(rng.random())
                heading = rng.uniform(0, 2 * np.pi)
                die.centre[:2] = far * np.cos(heading), far * np.sin(heading)
            is_free = not any(arrange.overlap(die, other, -1e-3) for other in dice)
            if is_free and np.hypot(*die.centre[:2]) < radius - 0.5:
                dice.append(die)
                break
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


def _leaning(rng: np.random.Generator, die: Die) -> Die:
    """A copy that stands on one edge or, sometimes, on a corner, 2–16° off level."""
    turn = np.arctan2(die.rotation[1, 0], die.rotation[0, 0])
    if abs(die.rotation[2, 0]) > 0.5:
        turn = np.arctan2(die.rotation[1, 1], die.rotation[0, 1])
    heading = turn + np.pi / 2 * rng.integers(4)
    if rng.random() < 0.25:
        heading = rng.uniform(0, 2 * np.pi)
    angle = np.radians(rng.uniform(2, 16))
    copy = Die(
        die.centre.copy(), arrange.tilt_about(heading, angle) @ die.rotation, die.edge, die.values
    )
    arrange.drop(copy)
    return copy


def _look(rng: np.random.Generator) -> looks.DieLook:
    return plastic_look(rng) if rng.random() < 0.7 else looks.random_look(rng)


def _light(rng: np.random.Generator) -> Light:
    """As indoors: often one lamp, low and hard, and little else."""
    if rng.random() < 0.45:
        return random_light(rng)
    height = float(rng.uniform(0.3, 0.8))
    heading, flat = rng.uniform(0, 2 * np.pi), np.sqrt(1 - height**2)
    warm = looks.random_colour(rng, (0, 0.35), (0.8, 1.0))
    lamp = Lamp(
        np.array([flat * np.cos(heading), flat * np.sin(heading), height]),
        warm * rng.uniform(0.7, 1.5),
        float(np.exp(rng.uniform(np.log(0.015), np.log(0.25)))),
    )
    ambient = looks.random_colour(rng, (0, 0.2), (0.6, 1.0)) * rng.uniform(0.12, 0.6)
    return Light(ambient, [lamp], float(rng.uniform(0.3, 0.85)))
