"""The scenes that the fast renderer draws: six recipes, each a function of a generator.

Owns: which dice lie how on what, under which light and lens. `random_picture`: dice laid by rule.
`table_picture`: a tossed compartment. `snapshot_picture`: dice from a drawer on any surface, any
light, up to 50° off the vertical. `lean_picture`: a compartment from straight above in which every
second die leans by 2–16°, the angles at which flat and not flat look most alike.
`house_picture`: a casino's dice, and dice with faint pips. `surface_picture`: no die at all. Must
not know: files.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from models.training import arrange, floors, looks, tosses
from models.training.layout import Die, Pinhole, look_down
from models.training.looks import DieLook
from models.training.other_dice import faint_look, house_look, plastic_look
from models.training.raster import Lamp, Light, RasterScene, RenderedPicture, render, toward
from models.training.surfaces import random_surface

_LOOSE_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 14)
_LOOSE_COUNT_SHARES = (0.03, 0.07, 0.09, 0.25, 0.13, 0.12, 0.11, 0.09, 0.07, 0.04)
"""How many dice a scene has: three most often, none sometimes."""

_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 11)
_COUNT_SHARES = (0.1, 0.08, 0.12, 0.25, 0.14, 0.12, 0.09, 0.06, 0.04)


def random_picture(rng: np.random.Generator, size: int, held_out: bool = False) -> RenderedPicture:
    """One random scene: everything about it follows from the generator.

    `held_out` scenes use the floors, and half of them the dice, that training never shows.
    """
    count = int(rng.choice(_LOOSE_COUNTS, p=_LOOSE_COUNT_SHARES))
    px_per_edge = pixels_per_edge(rng, size, count, 34, min(190, size / 2.2))
    view = size / px_per_edge / 2
    oblique = rng.random()
    tilt = rng.uniform(0, 4) if oblique < 0.5 else rng.uniform(0, 25)
    if oblique > 0.82:
        tilt = rng.uniform(20, 52)
    camera = near_camera(rng, size, px_per_edge, tilt, bent=0.4)
    cocked = float(rng.choice([0.0, 0.35, 0.8], p=[0.45, 0.35, 0.2]))
    dice = arrange.arrange(rng, count, max(view * 0.95, 0.7), cocked, rng.random() < 0.25)
    one_style = rng.random() < 0.5
    unseen = looks.HELD_OUT_STYLES[0] if held_out and rng.random() < 0.5 else None
    style = looks.random_look(rng, unseen)
    styles = [style if one_style else looks.random_look(rng, unseen) for _ in dice]
    reach = float(view * (1.3 if tilt < 25 else 2.0) + 0.8)
    kinds = floors.HELD_OUT_KINDS if held_out else floors.KINDS
    floor = floors.random_floor(rng, 640, 640 / (2 * reach), kinds)
    if rng.random() < 0.4:
        floors.clutter(rng, floor, 640 / (2 * reach))
    if rng.random() < 0.35:
        floors.surround(rng, floor, 640 / (2 * reach), view * rng.uniform(0.9, 1.15))
    strangers = add_strangers(rng, dice, styles, view, chance=0.12, largest=1.6)
    picture = render(RasterScene(dice, styles, camera, random_light(rng), floor, reach, strangers))
    picture.notes["style"] = style.style if one_style else "mixed"
    picture.notes["tilt_deg"] = f"{tilt:.1f}"
    return picture


def table_picture(rng: np.random.Generator, size: int, held_out: bool = False) -> RenderedPicture:
    """A tossed compartment from straight above, as the table's camera sees it."""
    rest = tosses.rest_worth_drawing(rng)
    radius = rest.wall_radius
    view = max(2 * radius * float(rng.uniform(0.85, 1.3)), size / 120)
    camera = table_camera(rng, size, view, radius, nearest=12)
    unseen = looks.HELD_OUT_STYLES[0] if held_out and rng.random() < 0.5 else None
    style = looks.random_look(rng, unseen)
    is_set = rng.random() < 0.75
    styles = [style if is_set else looks.random_look(rng, unseen) for _ in rest.dice]
    reach = float(view * 0.75 + 1.0)
    texels = 640 / (2 * reach)
    kinds = floors.HELD_OUT_KINDS if held_out else floors.KINDS
    floor = floors.random_floor(rng, 640, texels, kinds)
    floors.surround(rng, floor, texels, radius)
    draw_ridges(rng, floor, rest.ridges, reach)
    picture = render(RasterScene(rest.dice, styles, camera, random_light(rng), floor, reach))
    picture.notes |= {"style": style.style if is_set else "mixed", "ridges": str(len(rest.ridges))}
    return picture


def snapshot_picture(rng: np.random.Generator, size: int) -> RenderedPicture:
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
    picture = render(RasterScene(dice, styles, camera, _light(rng), floor, reach, strangers))
    picture.notes |= {"style": "plastic", "tilt_deg": f"{tilt:.1f}"}
    return picture


def surface_picture(rng: np.random.Generator, size: int) -> RenderedPicture:
    """A surface without dice: what is not one, and where cut-out dice are put (`samples.py`)."""
    texels = float(np.exp(rng.uniform(np.log(25), np.log(140))))
    floor = random_surface(rng, size, texels)
    if rng.random() < 0.5:
        floors.clutter(rng, floor, texels)
    tone = np.clip(floor * rng.uniform(0.5, 1.6), 0, 1) ** np.float32(1 / 2.2)
    camera = look_down(size, texels, 2 * size / texels, 0.0, 0.0)
    return RenderedPicture((tone * 255 + 0.5).astype(np.uint8), [], camera, {"style": "none"})


def lean_picture(rng: np.random.Generator, size: int) -> RenderedPicture:
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
    picture = render(RasterScene(dice, styles, camera, _light(rng), floor, reach))
    picture.notes |= {"style": shared.style if is_set else "mixed"}
    return picture


def house_picture(rng: np.random.Generator, size: int) -> RenderedPicture:
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
    picture = render(RasterScene(dice, styles, camera, _light(rng), floor, reach))
    picture.notes |= {"style": shared.style, "tilt_deg": f"{tilt:.1f}"}
    return picture


SCENES: dict[str, Callable[..., RenderedPicture]] = {
    "loose": random_picture, "table": table_picture, "snapshot": snapshot_picture,
    "lean": lean_picture, "house": house_picture, "surface": surface_picture,
}  # fmt: skip


def random_light(rng: np.random.Generator) -> Light:
    """Between a cloudy sky and a single hard lamp."""
    lamps = []
    for _ in range(rng.integers(1, 4)):
        height = rng.uniform(0.35, 1.0)
        heading = rng.uniform(0, 2 * np.pi)
        colour = looks.random_colour(rng, (0, 0.25), (0.6, 1.0)) * rng.uniform(0.2, 0.9)
        lamps.append(Lamp(toward(heading, height), colour, float(rng.uniform(0.03, 0.45))))
    ambient = looks.random_colour(rng, (0, 0.15), (0.6, 1.0)) * rng.uniform(0.2, 0.9)
    return Light(ambient, lamps, float(rng.uniform(0.3, 0.85)))


def add_strangers(
    rng: np.random.Generator, dice: list[Die], styles: list[DieLook], view: float, chance: float,
    largest: float,
) -> int:  # fmt: skip
    """Lay one or two blank blocks beside the dice, with that chance: things that are no dice.

    Their edges are 0.4 to `largest` dice, their places within `view` (edges) of the middle. They
    are appended to `dice` and `styles`; returned is how many found a free place.
    """
    if rng.random() >= chance:
        return 0
    strangers = 0
    for _ in range(rng.integers(1, 3)):
        block = arrange.flat_die(rng, float(rng.uniform(0.4, largest)), (1, 6, 2, 5, 3, 4))
        block.centre[:2] = rng.uniform(-view, view, 2)
        if not any(arrange.overlap(block, die) for die in dice):
            dice.append(block)
            styles.append(looks.blank_look(rng))
            strangers += 1
    return strangers


def draw_ridges(
    rng: np.random.Generator, floor: np.ndarray, ridges: list[tosses.Ridge], reach: float
) -> None:
    """Draw bars in one colour upon a floor that covers [-reach, reach]², in place."""
    texels = floor.shape[0] / (2 * reach)
    colour = looks.random_colour(rng, (0, 0.7), (0.05, 0.9)).tolist()
    for ridge in ridges:
        start, end = (
            (int((x + reach) * texels), int((reach - y) * texels))
            for x, y in (ridge.start, ridge.end)
        )
        thick = max(int(2 * ridge.radius * texels), 1)
        cv2.line(floor, start, end, colour, thick, cv2.LINE_AA)


def pixels_per_edge(
    rng: np.random.Generator, size: int, count: int, smallest: float, largest: float
) -> float:
    """Of dice of any size between two, but so that as many as `count` have room in the picture.

    Where the room decides it is NumPy's float64, and the picture is computed in double precision:
    sets of scenes come out byte by byte as before only so.
    """
    px_per_edge = float(np.exp(rng.uniform(np.log(smallest), np.log(largest))))
    return min(px_per_edge, size / (0.6 + 0.9 * np.sqrt(max(count, 1))))


def near_camera(
    rng: np.random.Generator, size: int, px_per_edge: float, tilt: float, bent: float
) -> Pinhole:
    """A camera at a random distance; `bent`: the share of lenses that are not straight."""
    distance = max(size / px_per_edge * float(rng.uniform(0.9, 3.0)), 4.0)
    k = float(rng.uniform(-0.05, 0.25)) if bent and rng.random() < bent else 0.0
    return look_down(size, px_per_edge, distance, tilt, float(rng.uniform(0, 360)), k)


def table_camera(
    rng: np.random.Generator, size: int, view: float, radius: float, nearest: float
) -> Pinhole:
    """A camera over a compartment of that radius, `view` edges wide; not quite in the middle."""
    camera = look_down(
        size, size / view, float(rng.uniform(nearest, 26)), float(rng.uniform(0, 2.5)),
        float(rng.uniform(0, 360)), float(rng.uniform(-0.03, 0.2)) if rng.random() < 0.4 else 0.0,
    )  # fmt: skip
    camera.position[:2] += rng.uniform(-0.25, 0.25, 2) * radius
    return camera


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


def _look(rng: np.random.Generator) -> DieLook:
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
