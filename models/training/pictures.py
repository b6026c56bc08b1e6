"""The scenes of loose dice that the fast renderer draws, each from a generator.

Owns: which dice lie how on what, under which light and lens. `loose`: dice of any kind in any
number. `snapshot`: dice from a drawer on any surface, under hard light, up to 50° off the vertical.
`house`: a few dice near to the lens, a casino's on its layout or faint ones. `surface`: no die at
all. Must not know: files. Compartments of tables are in `table_shots.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from models.training import arrange, floors, looks
from models.training.colours import random_colour
from models.training.layout import Die, RenderedPicture, encoded, labels, look_down
from models.training.looks import DieLook
from models.training.raster import Lamp, Light, RasterScene, render, toward

FLOOR_TEXELS = 640


@dataclass(frozen=True, slots=True)
class Scenery:
    """What scenes of one kind have; mappings say with which probability."""

    counts: Mapping[int, float]
    """Of dice."""
    edge_px: tuple[float, float]
    """Smallest and largest edge of a die."""
    tilts_deg: Mapping[tuple[float, float], float]
    """Of the camera, off the vertical."""
    bent: float
    """Share of lenses that are not straight."""
    cocked: Mapping[float, float]
    """Share of dice that do not lie flat."""
    mixed_sizes: float
    styles: Mapping[str | None, float]
    """Of dice; None: of any that tables have."""
    one_style: float
    """Share of scenes whose dice are all alike."""
    floors: Sequence[str]
    cluttered: float = 0.0
    surrounded: float = 0.0
    strangers: float = 0.0
    """Share of scenes with blocks that are no dice."""
    hard_light: float = 0.0


_LOOSE = Scenery(
    counts={
        0: 0.03, 1: 0.07, 2: 0.09, 3: 0.25, 4: 0.13, 5: 0.12, 6: 0.11, 8: 0.09, 10: 0.07, 14: 0.04,
    },
    edge_px=(34, 190), tilts_deg={(0, 4): 0.5, (0, 25): 0.32, (20, 52): 0.18}, bent=0.4,
    cocked={0.0: 0.45, 0.35: 0.35, 0.8: 0.2}, mixed_sizes=0.25, styles={None: 1.0}, one_style=0.5,
    floors=floors.KINDS, cluttered=0.4, surrounded=0.35, strangers=0.12,
)  # fmt: skip
_SNAPSHOT = Scenery(
    counts={0: 0.1, 1: 0.08, 2: 0.12, 3: 0.25, 4: 0.14, 5: 0.12, 6: 0.09, 8: 0.06, 11: 0.04},
    edge_px=(30, 150), tilts_deg={(0, 12): 0.45, (8, 50): 0.55}, bent=0.3,
    cocked={0.0: 0.75, 0.25: 0.25}, mixed_sizes=0.35, styles={looks.PLASTIC: 0.7, None: 0.3},
    one_style=0.5, floors=floors.SURFACES, cluttered=0.3, surrounded=0.15, strangers=0.2,
    hard_light=0.55,
)  # fmt: skip
_HOUSE = Scenery(
    counts={1: 0.35, 2: 0.25, 3: 0.25, 5: 0.15},
    edge_px=(45, 190), tilts_deg={(0, 15): 0.4, (10, 50): 0.6}, bent=0.0, cocked={0.08: 1.0},
    mixed_sizes=0.0, styles={looks.HOUSE: 0.6, looks.FAINT: 0.4}, one_style=0.6,
    floors=(*floors.SURFACES, *[floors.LAYOUT] * 12), hard_light=0.55,
)  # fmt: skip


def scene_picture(
    rng: np.random.Generator, size: int, scenery: Scenery, held_out: bool = False
) -> RenderedPicture:
    """One random scene: everything about it follows from the generator.

    `held_out` scenes use the floors, and half of them the dice, that training never shows.
    """
    count = _one_of(rng, scenery.counts)
    px_per_edge = pixels_per_edge(rng, size, count, *scenery.edge_px)
    view, tilt = size / px_per_edge / 2, float(rng.uniform(*_one_of(rng, scenery.tilts_deg)))
    distance = max(size / px_per_edge * float(rng.uniform(0.9, 3.0)), 4.0)
    k = float(rng.uniform(-0.05, 0.25)) if rng.random() < scenery.bent else 0.0
    camera = look_down(size, px_per_edge, distance, tilt, float(rng.uniform(0, 360)), k)
    is_mixed = rng.random() < scenery.mixed_sizes
    cocked = _one_of(rng, scenery.cocked)
    dice = arrange.arrange(rng, count, max(view * 0.9, 0.7), cocked, is_mixed)
    styles = _styles(rng, scenery, len(dice), held_out)
    strangers = _add_strangers(rng, dice, styles, view) if rng.random() < scenery.strangers else 0
    reach = float(view * (1.3 if tilt < 20 else 2.0) + 0.8)
    texels = FLOOR_TEXELS / (2 * reach)
    kinds = floors.HELD_OUT_KINDS if held_out else tuple(scenery.floors)
    floor = floors.random_floor(rng, FLOOR_TEXELS, texels, kinds)
    if rng.random() < scenery.cluttered:
        floors.clutter(rng, floor, texels)
    if rng.random() < scenery.surrounded:
        floors.surround(rng, floor, texels, view * rng.uniform(0.8, 1.15))
    light = hard_light(rng) if rng.random() < scenery.hard_light else random_light(rng)
    linear = render(RasterScene(dice, styles, camera, light, floor, reach))
    notes = {"style": styles[0].style if styles else "none", "tilt_deg": f"{tilt:.1f}"}
    return RenderedPicture(encoded(linear), labels(dice, camera, strangers), camera, notes)


def surface_picture(rng: np.random.Generator, size: int) -> RenderedPicture:
    """A surface without dice: what is not one, and where cut-out dice are put (`samples.py`)."""
    texels = float(np.exp(rng.uniform(np.log(25), np.log(140))))
    floor = floors.random_floor(rng, size, texels, floors.SURFACES)
    if rng.random() < 0.5:
        floors.clutter(rng, floor, texels)
    camera = look_down(size, texels, 2 * size / texels, 0.0, 0.0)
    return RenderedPicture(encoded(floor * rng.uniform(0.5, 1.6)), [], camera, {"style": "none"})


SCENES: dict[str, Callable[..., RenderedPicture]] = {
    "loose": partial(scene_picture, scenery=_LOOSE),
    "snapshot": partial(scene_picture, scenery=_SNAPSHOT),
    "house": partial(scene_picture, scenery=_HOUSE),
    "surface": surface_picture,
}


def _one_of(rng: np.random.Generator, shares: Mapping[Any, float]) -> Any:
    """One of the keys."""
    return list(shares)[int(rng.choice(len(shares), p=list(shares.values())))]


def _styles(
    rng: np.random.Generator, scenery: Scenery, count: int, held_out: bool
) -> list[DieLook]:
    style = _one_of(rng, scenery.styles)
    if held_out and rng.random() < 0.5:
        style = looks.HELD_OUT_STYLES[0]
    shared, is_set = looks.random_look(rng, style), rng.random() < scenery.one_style
    return [shared if is_set else looks.random_look(rng, style) for _ in range(count)]


def _add_strangers(
    rng: np.random.Generator, dice: list[Die], styles: list[DieLook], view: float
) -> int:
    """Lay one or two blank blocks beside the dice, things that are no dice; returns how many found
    a free place."""
    strangers = 0
    for _ in range(rng.integers(1, 3)):
        block = arrange.flat_die(rng, float(rng.uniform(0.4, 1.6)), (1, 6, 2, 5, 3, 4))
        block.centre[:2] = rng.uniform(-view, view, 2)
        if not any(arrange.overlap(block, die) for die in dice):
            dice.append(block)
            styles.append(looks.blank_look(rng))
            strangers += 1
    return strangers


def pixels_per_edge(
    rng: np.random.Generator, size: int, count: int, smallest: float, largest: float
) -> float:
    """Of dice of any size between two, but so that as many as `count` have room in the picture."""
    most = min(largest, size / 2.2)
    px_per_edge = float(np.exp(rng.uniform(np.log(min(smallest, most)), np.log(most))))
    return float(min(px_per_edge, size / (0.6 + 0.9 * np.sqrt(max(count, 1)))))


def random_light(rng: np.random.Generator) -> Light:
    """Between a cloudy sky and a single hard lamp."""
    lamps = []
    for _ in range(rng.integers(1, 4)):
        colour = random_colour(rng, (0, 0.25), (0.6, 1.0)) * rng.uniform(0.2, 0.9)
        lamps.append(Lamp(_way(rng, 0.35, 1.0), colour, float(rng.uniform(0.03, 0.45))))
    ambient = random_colour(rng, (0, 0.15), (0.6, 1.0)) * rng.uniform(0.2, 0.9)
    return Light(ambient, lamps, float(rng.uniform(0.3, 0.85)))


def hard_light(rng: np.random.Generator) -> Light:
    """As indoors: one lamp, low and hard, and little else."""
    warm = random_colour(rng, (0, 0.35), (0.8, 1.0)) * rng.uniform(0.7, 1.5)
    spread = float(np.exp(rng.uniform(np.log(0.015), np.log(0.25))))
    ambient = random_colour(rng, (0, 0.2), (0.6, 1.0)) * rng.uniform(0.12, 0.6)
    lamp = Lamp(_way(rng, 0.3, 0.8), warm, spread)
    return Light(ambient, [lamp], float(rng.uniform(0.3, 0.85)))


def table_light(rng: np.random.Generator) -> Light:
    """A ring light from all sides, and a room that adds one lamp at most."""
    tone = random_colour(rng, (0, 0.15), (0.9, 1.0))
    around = rng.uniform(0, 2 * np.pi)
    lamps = []
    for i in range(3):
        way = toward(around + 2 * np.pi * i / 3, rng.uniform(0.75, 0.9))
        lamps.append(Lamp(way, tone * float(rng.uniform(0.15, 0.3)), 0.3))
    if rng.random() < 0.5:
        colour = random_colour(rng, (0, 0.25), (0.8, 1.0)) * rng.uniform(0.1, 0.35)
        lamps.append(Lamp(_way(rng, 0.4, 0.9), colour, 0.1))
    return Light(tone * float(rng.uniform(0.3, 0.7)), lamps, float(rng.uniform(0.3, 0.7)))


def _way(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    """Toward a lamp in any direction whose height is between two."""
    return toward(rng.uniform(0, 2 * np.pi), rng.uniform(low, high))
