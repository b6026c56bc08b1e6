"""Pictures of a compartment, by either renderer, with the calibration of the camera that took them.

Owns table settings (compartment, dice, light, a camera that stays where it is) and the tosses shown
in each. Shots without an option are for verification and never for training; `taught` ones are for
training and leave out the styles and floors that are kept for verification, but `varied` and `wild`
ones have any floor. Must not know the reader. What makes them table conditions: three dice of at
least 40 pixels in a round compartment that is wholly in sight, a floor of one material, an exposure
at which nothing clips. `wild` ones lack all that: other numbers of dice, any light, no calibration.
Grain is left to whoever reads the pictures, so that three frames of one toss differ as a camera's
do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import cv2
import numpy as np

from models.training import arrange, floors, looks, tosses
from models.training.colours import random_colour
from models.training.layout import (
    FLAT_DEG,
    NOT_FLAT_DEG,
    DieLabel,
    Pinhole,
    RenderedPicture,
    encoded,
    labels,
    look_down,
)
from models.training.looks import DieLook
from models.training.pictures import hard_light, random_light, table_light
from models.training.raster import RasterScene, render

TAUGHT, LEANING, CLEAR = "taught", "leaning", "clear"
PATTERNED, VARIED, WILD = "patterned", "varied", "wild"
OPTIONS = (WILD, TAUGHT, LEANING, CLEAR, PATTERNED, VARIED)
"""`wild`: any compartment under any light; `taught`: without what is kept for verification;
`leaning`: dice laid by rule, every second leaning; `clear`: clear dice; `patterned`: floors with a
pattern; `varied`: any floor, every second set of dice with sharp edges."""

SHOTS, _FEW_SHOTS = 10, 5
"""Tosses shown of one setting, and of a `patterned` or `varied` one, for more settings instead. A
chunk of a set holds a whole number of settings."""

FLOORS = ("plain", "felt", "wood", "carpet", "black")
"""What compartments are lined with. Every floor is drawn anew, none is one of training's."""

TAUGHT_FLOORS = ("plain", "felt", "stone", "black")
"""Of the shots that training may see (`taught`): no wood, no carpet."""

PATTERNED_FLOORS = ("grid", "stripes", "photo", "print", "stone")
"""Of `patterned` shots: lines and edges of a floor that run up to a die and mean nothing."""

CLEAR_FLOORS = (*PATTERNED_FLOORS, floors.BRUSHED, floors.BRUSHED, floors.BRUSHED, "felt", "black")
"""Of `clear patterned` shots: what shows through clear dice, most of all fine streaks."""

VARIED_FLOORS = (*floors.KINDS, floors.BRUSHED, floors.FLECKED, floors.CREASED)
"""Of `varied` shots: anything that a compartment may be lined with."""

STYLES = (*looks.STYLES, "marbled")
_STYLE_SHARES = (0.26, 0.14, 0.06, 0.12, 0.2, 0.12, 0.05, 0.05)
_TAUGHT_SHARES = (0.2, 0.15, 0.07, 0.14, 0.22, 0.15, 0.07, 0.0)

EDGES_MM = (16.0, 16.0, 18.0, 19.0)
_MIN_PX = 41.0
_BRIGHTEST_FACE = 0.9
"""Of what a sensor's pixel holds: 243 of 255 once it is encoded."""
_COCKED, _TAUGHT_COCKED = 0.35, 0.6
_TEXELS = 640
"""Of a floor's side."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One table with one set of dice."""

    radius: float
    ridges: list[tosses.Ridge]
    friction: float
    dice: list[DieLook]
    camera: Pinhole
    die_mm: float
    floor_kind: str

    def calibration(self) -> dict[str, Any]:
        """The table `[camera.calibration]` that describes this camera exactly."""
        camera, mm = self.camera, self.die_mm
        right, _, forward = camera.rotation
        away = np.array([right[1], -right[0], 0.0])
        return {
            "image_size": [camera.size, camera.size],
            "floor_px_per_mm": camera.focal_px / (float(camera.position[2]) * mm),
            "height_mm": float(camera.position[2]) * mm,
            # A pixel of a calibration has its middle at whole numbers, one of `Pinhole` at halves.
            "centre_px": [camera.size / 2 - 0.5, camera.size / 2 - 0.5],
            "k1": -camera.k,
            "compartment_radius_mm": self.radius * mm,
            "compartment_mm": [
                -float(camera.position @ right) * mm,
                -float(camera.position @ away) * mm,
            ],
            "tilt_deg": [0.0, float(np.degrees(np.arcsin(forward @ away)))],
            "die_mm": mm,
        }


def random_setting(
    rng: np.random.Generator, size: int, options: frozenset[str] = frozenset()
) -> Setting:
    """A table: its compartment, its dice and its camera."""
    if WILD in options:
        return _wild_setting(rng, size, LEANING in options)
    is_rough, is_taught = rng.random() < 0.5, TAUGHT in options
    radius = float(rng.uniform(1.9, min(size / _MIN_PX / 2.04 - 0.45, 3.3)))
    view = 2 * (radius + 0.45) * float(rng.uniform(1.0, 1.02))
    style = str(rng.choice(STYLES, p=_TAUGHT_SHARES if is_taught else _STYLE_SHARES))
    return Setting(
        radius=radius,
        ridges=_wall_ridges(rng, radius) if is_rough else [],
        friction=float(rng.uniform(0.7, 1.4) if is_rough else rng.uniform(0.3, 0.6)),
        dice=_set_of_dice(rng, "translucent" if CLEAR in options else style, 3, 0.85),
        camera=_camera(rng, size, view, (14, 24), 0.1),
        die_mm=float(rng.choice(EDGES_MM)),
        floor_kind=str(rng.choice(_floor_kinds(options))),
    )


def _floor_kinds(options: frozenset[str]) -> tuple[str, ...]:
    if VARIED in options:
        return VARIED_FLOORS
    if PATTERNED in options:
        return CLEAR_FLOORS if CLEAR in options else PATTERNED_FLOORS
    return TAUGHT_FLOORS if TAUGHT in options else FLOORS


def _wild_setting(rng: np.random.Generator, size: int, is_wide: bool) -> Setting:
    """A compartment that no table has: cramped or wide, with ridges anywhere."""
    count = int(rng.choice([2, 3, 4, 5], p=[0.15, 0.55, 0.15, 0.15]))
    is_cramped = not is_wide and rng.random() < 0.6
    radius = float(rng.uniform(1.25, 2.0) if is_cramped else rng.uniform(2.2, 4.0))
    radius *= math.sqrt(max(count, 3) / 3)
    ridges = []
    if rng.random() < (0.6 if is_cramped else 0.1):
        for _ in range(rng.integers(1, 4)):
            at, heading = rng.uniform(-0.7, 0.7, 2) * radius, rng.uniform(0, np.pi)
            half = rng.uniform(0.3, 1.5) * np.array([np.cos(heading), np.sin(heading)])
            ridges.append(tosses.Ridge(at - half, at + half, float(rng.uniform(0.06, 0.3))))
    view = max(2 * radius * float(rng.uniform(0.85, 1.3)), size / 120)
    style = looks.PLASTIC if rng.random() < 0.15 else None
    return Setting(
        radius=radius, ridges=ridges,
        friction=float(rng.uniform(0.7, 1.4) if is_cramped else rng.uniform(0.3, 0.8)),
        dice=_set_of_dice(rng, style, count, 0.75),
        camera=_camera(rng, size, view, (12, 26), 0.25 * radius),
        die_mm=16.0, floor_kind=str(rng.choice(floors.KINDS)),
    )  # fmt: skip


def _camera(
    rng: np.random.Generator, size: int, view: float, heights: tuple[float, float], off: float
) -> Pinhole:
    """A camera over a compartment, `view` edges wide; not quite in the middle, often bent."""
    camera = look_down(
        size, size / view, float(rng.uniform(*heights)), float(rng.uniform(0, 2.5)),
        float(rng.uniform(0, 360)), float(rng.uniform(0, 0.12)) if rng.random() < 0.5 else 0.0,
    )  # fmt: skip
    camera.position[:2] += rng.uniform(-off, off, 2)
    return camera


def _wall_ridges(rng: np.random.Generator, radius: float) -> list[tosses.Ridge]:
    ridges = []
    for _ in range(rng.integers(0, 3)):
        heading = rng.uniform(0, 2 * np.pi)
        way = np.array([np.cos(heading), np.sin(heading)])
        begin, height = way * (radius - rng.uniform(0.3, 0.5)), float(rng.uniform(0.08, 0.16))
        ridges.append(tosses.Ridge(begin, way * radius, height))
    return ridges


def _set_of_dice(
    rng: np.random.Generator, style: str | None, count: int, alike: float
) -> list[DieLook]:
    look, is_set = looks.random_look(rng, style), rng.random() < alike
    return [look if is_set else looks.random_look(rng, style) for _ in range(count)]


class Painter(Protocol):
    """What draws the tosses of a setting."""

    bends: ClassVar[bool]
    """True if it draws what a lens that is not straight shows."""

    def begin(
        self, rng: np.random.Generator, setting: Setting, rest: tosses.RestingDice
    ) -> dict[str, str]:
        """Build the setting; returns notes on it."""

    def draw(self, rng: np.random.Generator, rest: tosses.RestingDice) -> np.ndarray:
        """A toss in it: linear BGR."""


class TableShots:
    """Shots of one setting after the other, with some of `OPTIONS`."""

    def __init__(
        self, size: int, options: frozenset[str], painter: Painter, held_out: bool = False
    ) -> None:
        self._size, self._options, self._painter = size, options, painter
        self._held_out = held_out
        self._is_mixed = bool(options & {PATTERNED, VARIED})
        self._shots = 1 if WILD in options else _FEW_SHOTS if self._is_mixed else SHOTS
        self._drawn = 0

    def picture(self, rng: np.random.Generator) -> RenderedPicture:
        """The next shot; the first of each setting draws it from its generator."""
        if self._drawn % self._shots == 0:
            self._setting = self._new_setting(rng)
            rest = self._lay(rng)
            self._values = [die.values for die in rest.dice]
            self._notes = self._painter.begin(rng, self._setting, rest)
        else:
            rest = self._lay(rng)
            # The faces were painted when the setting was built: dice keep their numbering.
            for die, values in zip(rest.dice, self._values, strict=True):
                die.values = values
        self._drawn += 1
        linear, truth = self._painter.draw(rng, rest), labels(rest.dice, self._setting.camera)
        spares_dice = not self._options & {TAUGHT, WILD}
        linear = exposed(rng, linear, truth, spares_dice=spares_dice)
        notes = self._notes | _notes(self._setting, truth) | {"grain": f"{rng.uniform(1, 3):.2f}"}
        calibration = None if WILD in self._options else self._setting.calibration()
        return RenderedPicture(encoded(linear), truth, self._setting.camera, notes, calibration)

    def _new_setting(self, rng: np.random.Generator) -> Setting:
        setting = random_setting(rng, self._size, self._options)
        if not self._painter.bends:
            setting = replace(setting, camera=replace(setting.camera, k=0.0))
        # A die laid by rule would go through a ridge.
        if LEANING in self._options or self._is_mixed:
            setting = replace(setting, ridges=[])
        if VARIED in self._options and rng.random() < 0.5:
            setting = replace(setting, dice=[looks.sharpened(rng, die) for die in setting.dice])
        if CLEAR in self._options:
            clear = replace(setting.dice[0], glow=looks.random_glow(rng))
            setting = replace(setting, dice=[clear] * len(setting.dice))
        if self._held_out:
            setting = replace(setting, floor_kind=str(rng.choice(floors.HELD_OUT_KINDS)))
            if rng.random() < 0.5:
                dice = _set_of_dice(rng, looks.HELD_OUT_STYLES[0], len(setting.dice), 0.75)
                setting = replace(setting, dice=dice)
        return setting

    def _lay(self, rng: np.random.Generator) -> tosses.RestingDice:
        setting, count = self._setting, len(self._setting.dice)
        is_laid = LEANING in self._options or (self._is_mixed and rng.random() < 0.5)
        while is_laid:  # every second die leans by a few degrees: rare after tosses
            dice = arrange.leaning_dice(rng, count, setting.radius)
            if len(dice) == count:
                return tosses.RestingDice(dice, setting.radius, setting.ridges)
        cocked = _TAUGHT_COCKED if self._options & {TAUGHT, WILD} else _COCKED
        return tosses.toss(rng, count, setting.radius, setting.ridges, setting.friction, cocked)


class RasterPainter:
    """By the fast renderer."""

    bends: ClassVar[bool] = True

    def __init__(self, options: frozenset[str]) -> None:
        self._is_wild = WILD in options

    def begin(
        self, rng: np.random.Generator, setting: Setting, rest: tosses.RestingDice
    ) -> dict[str, str]:
        camera = setting.camera
        reach = 0.75 * float(camera.size * camera.position[2] / camera.focal_px) + 1.0
        texels, kinds = _TEXELS / (2 * reach), (setting.floor_kind,)
        floor = floors.random_floor(rng, _TEXELS, texels, kinds, 0.12 * self._is_wild)
        floors.surround(rng, floor, texels, setting.radius, 0.7 if self._is_wild else 1.0)
        _draw_ridges(rng, floor, setting.ridges, reach)
        light = table_light(rng)
        if self._is_wild:
            light = hard_light(rng) if rng.random() < 0.25 else random_light(rng)
        self._scene = RasterScene([], setting.dice, setting.camera, light, floor, reach)
        return {"ridges": str(len(setting.ridges))}

    def draw(self, rng: np.random.Generator, rest: tosses.RestingDice) -> np.ndarray:
        return render(replace(self._scene, dice=rest.dice))


def _draw_ridges(
    rng: np.random.Generator, floor: np.ndarray, ridges: list[tosses.Ridge], reach: float
) -> None:
    """Draw bars in one colour upon a floor that covers [-reach, reach]², in place."""
    texels = floor.shape[0] / (2 * reach)
    colour = random_colour(rng, (0, 0.7), (0.05, 0.9)).tolist()
    for ridge in ridges:
        start, end = (
            (int((x + reach) * texels), int((reach - y) * texels))
            for x, y in (ridge.start, ridge.end)
        )
        thick = max(int(2 * ridge.radius * texels), 1)
        cv2.line(floor, start, end, colour, thick, cv2.LINE_AA)


def exposed(
    rng: np.random.Generator, linear: np.ndarray, truth: list[DieLabel], *, spares_dice: bool
) -> np.ndarray:
    """Expose for the compartment, as an installer does, and add what a lens adds.

    `spares_dice`: not beyond what the dice's own faces bear, however dark the floor is.
    """
    size = linear.shape[0]
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    off = np.hypot(x - size / 2, y - size / 2)
    inside = linear[off < 0.42 * size].max(axis=1)
    # A lamp mirrored in the floor must not leave the rest in the dark.
    gain = max(
        rng.uniform(0.6, 0.9) / max(float(np.percentile(inside, 97.0)), 1e-3),
        0.025 / max(float(np.median(inside)), 1e-3),
    )
    if spares_dice:
        gain = min(gain, _BRIGHTEST_FACE / max(_brightest_face(linear, truth), 1e-3))
    linear = linear * np.float32(gain)
    linear *= (1 - rng.uniform(0, 0.25) * (off / off.max()) ** 2)[..., None].astype(np.float32)
    return np.asarray(cv2.GaussianBlur(linear, (0, 0), float(rng.uniform(0.25, 0.7))))


def _brightest_face(linear: np.ndarray, truth: list[DieLabel]) -> float:
    """What nine tenths of the brightest top face do not exceed; a glint is less than the rest."""
    levels = [0.0]
    for die in truth:
        face = np.zeros(linear.shape[:2], np.uint8)
        cv2.fillConvexPoly(face, np.round(die.corners).astype(np.int32), 1)
        if face.any():
            levels.append(float(np.percentile(linear[face > 0].max(axis=1), 90.0)))
    return max(levels)


def _notes(setting: Setting, truth: list[DieLabel]) -> dict[str, str]:
    is_cocked = any(die.stacked or die.tilt_deg >= NOT_FLAT_DEG for die in truth)
    is_flat = max(die.tilt_deg for die in truth) <= FLAT_DEG
    return {
        "style": setting.dice[0].style,
        "floor": setting.floor_kind,
        "truth": "not flat" if is_cocked else "flat" if is_flat else "between",
    }
