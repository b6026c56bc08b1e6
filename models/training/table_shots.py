"""Pictures of a table together with the calibration of the camera that took them.

Owns table settings (compartment, dice, light, a camera that stays where it is) and the tosses shown
in each. Shots without an option are for verification and never for training; `taught` ones are for
training and leave out the styles and floors that are kept for verification, but `varied` ones have
any floor. Must not know the reader. What makes them table conditions: three dice of at least 40
pixels in a round compartment that is wholly in sight, a floor of one material, an exposure at which
nothing clips. Grain is left to whoever reads the pictures, so that three frames of one toss differ
as a camera's do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from models.training import arrange, floors, looks, tosses
from models.training.layout import FLAT_DEG, NOT_FLAT_DEG, Pinhole, look_down
from models.training.looks import DieLook
from models.training.pictures import draw_ridges
from models.training.raster import Lamp, Light, RasterScene, RenderedPicture, render, toward

SHOTS = 10
"""Tosses shown of one setting. A chunk of a set holds a whole number of settings."""

FLOORS = ("plain", "felt", "wood", "carpet", "black")
"""What compartments are lined with. Every floor is drawn anew, none is one of training's."""

STYLES = ("white", "ivory", "translucent", "asian", "coloured", "dark", "worn", "marbled")
_STYLE_SHARES = (0.26, 0.14, 0.2, 0.12, 0.12, 0.06, 0.05, 0.05)

TAUGHT_FLOORS = ("plain", "felt", "stone", "black")
"""Of the shots that training may see (`taught`): no wood, no carpet."""

PATTERNED_FLOORS = ("grid", "stripes", "photo", "print", "stone")
"""Of `patterned` shots: lines and edges of a floor that run up to a die and mean nothing."""

CLEAR_FLOORS = (*PATTERNED_FLOORS, floors.BRUSHED, floors.BRUSHED, floors.BRUSHED, "felt", "black")
"""Of `clear patterned` shots: what shows through clear dice, most of all fine streaks."""

VARIED_FLOORS = (*floors.KINDS, floors.BRUSHED, floors.FLECKED, floors.CREASED)
"""Of `varied` shots: anything that a compartment may be lined with."""

_FEW_SHOTS = 5
"""Of a `patterned` or `varied` setting: more settings instead."""
_PATTERNED_PRINT = 0.25

_TAUGHT_SHARES = (0.2, 0.15, 0.22, 0.15, 0.14, 0.07, 0.07, 0.0)

EDGES_MM = (16.0, 16.0, 18.0, 19.0)
_MIN_PX = 41.0
_SAMPLES = 3
"""Rays a pixel of a path-traced shot: the denoiser leaves nothing of their noise, and a picture
then costs a quarter of a second instead of one and a half."""
_DOMED, _VARIED_DOMED = 0.15, 0.4
_BRIGHTEST_FACE = 0.9
"""Of what a sensor's pixel holds: 243 of 255 once it is encoded."""
_COCKED = 0.35
_TAUGHT_COCKED = 0.6
_TRIES = 14


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
    rng: np.random.Generator,
    size: int,
    lens_k: float = 0.0,
    *,
    is_taught: bool = False,
    floor_kinds: tuple[str, ...] = (),
) -> Setting:
    """A table: its compartment, its dice and its camera. `is_taught`: nothing that is held out;
    `floor_kinds`: instead of the usual ones."""
    is_rough = rng.random() < 0.5
    fits = size / _MIN_PX / 2.04 - 0.45
    radius = float(rng.uniform(1.9, min(fits, 3.3)))
    ridges = []
    if is_rough:
        for _ in range(rng.integers(0, 3)):
            heading = rng.uniform(0, 2 * np.pi)
            way = np.array([np.cos(heading), np.sin(heading)])
            height = float(rng.uniform(0.08, 0.16))
            ridges.append(
                tosses.Ridge(way * (radius - rng.uniform(0.3, 0.5)), way * radius, height)
            )
    view = 2 * (radius + 0.45) * float(rng.uniform(1.0, 1.02))
    camera = look_down(
        size, size / view, float(rng.uniform(14, 24)), float(rng.uniform(0, 2.5)),
        float(rng.uniform(0, 360)), lens_k,
    )  # fmt: skip
    camera.position[:2] += rng.uniform(-0.1, 0.1, 2)
    style = str(rng.choice(STYLES, p=_TAUGHT_SHARES if is_taught else _STYLE_SHARES))
    look = looks.random_look(rng, style)
    is_set = rng.random() < 0.85
    dice = [look if is_set else looks.random_look(rng, style) for _ in range(3)]
    return Setting(
        radius=radius,
        ridges=ridges,
        friction=float(rng.uniform(0.7, 1.4) if is_rough else rng.uniform(0.3, 0.6)),
        dice=dice,
        camera=camera,
        die_mm=float(rng.choice(EDGES_MM)),
        floor_kind=str(rng.choice(floor_kinds or (TAUGHT_FLOORS if is_taught else FLOORS))),
    )


def toss_for(
    rng: np.random.Generator, setting: Setting, cocked_share: float = _COCKED
) -> tosses.RestingDice:
    """Three dice at rest; cocked ones more often than they happen."""
    wants_cocked = rng.random() < cocked_share
    rest = None
    for attempt in range(1000):
        made = tosses.drop(rng, 3, setting.radius, setting.ridges, setting.friction)
        if made is None:
            continue
        rest = made
        is_cocked = any(d.stacked or d.tilt_deg() >= NOT_FLAT_DEG for d in made.dice)
        if is_cocked == wants_cocked or attempt >= _TRIES:
            break
    assert rest is not None
    return rest


def lean_rest(rng: np.random.Generator, setting: Setting) -> tosses.RestingDice:
    """Three dice laid by rule, every second leaning by a few degrees: rare after tosses."""
    while True:
        dice = arrange.leaning_dice(rng, 3, setting.radius)
        if len(dice) == 3:
            return tosses.RestingDice(dice, setting.radius, setting.ridges)


class _Shots:
    """Shots of one setting after the other. Options: `models.training.scenes`."""

    def __init__(self, size: int, options: frozenset[str] = frozenset()) -> None:
        self.size = size
        self._is_taught, self._is_leaning = "taught" in options, "leaning" in options
        self._is_patterned, self._is_varied = "patterned" in options, "varied" in options
        self._is_mixed = self._is_patterned or self._is_varied
        self._shots = _FEW_SHOTS if self._is_mixed else SHOTS
        self._drawn = 0

    def _is_new(self) -> bool:
        """True if the next shot is the first of a setting."""
        self._drawn += 1
        return (self._drawn - 1) % self._shots == 0


class RasterShots(_Shots):
    """Shots by the fast renderer."""

    def __init__(self, size: int, options: frozenset[str] = frozenset()) -> None:
        super().__init__(size, options)
        self._is_clear = "clear" in options
        self._floor_kinds = CLEAR_FLOORS if self._is_patterned else ()

    def picture(self, rng: np.random.Generator) -> RenderedPicture:
        """The next shot; the first of each setting draws it from its generator."""
        if self._is_new():
            k = float(rng.uniform(0.0, 0.12)) if rng.random() < 0.5 else 0.0
            self._setting = random_setting(
                rng, self.size, k, is_taught=self._is_taught, floor_kinds=self._floor_kinds
            )
            if self._is_leaning:
                self._setting = replace(self._setting, ridges=[])
            if self._is_clear:
                look = replace(looks.random_look(rng, "translucent"), glow=looks.random_glow(rng))
                self._setting = replace(self._setting, dice=[look] * 3)
            self._floor, self._reach = _lined_floor(rng, self._setting)
            self._light = _table_light(rng)
        setting = self._setting
        rest = lean_rest(rng, setting) if self._is_leaning else toss_for(rng, setting)
        picture = render(
            RasterScene(
                rest.dice, setting.dice, setting.camera, self._light, self._floor, self._reach
            )
        )
        linear = (picture.image.astype(np.float32) / 255) ** 2.2
        return _finish(rng, linear, setting, picture, spares_dice=not self._is_taught)


class TracedShots(_Shots):
    """Shots by the path tracer: light from die to die, glass, domes. `patterned` and `varied` ones
    are tossed and laid by rule in turn; `taught` ones show more cocked dice."""

    def __init__(self, size: int, options: frozenset[str] = frozenset()) -> None:
        super().__init__(size, options)
        # Mitsuba takes seconds to import and needs a library that only rendering machines have.
        from models.training import pathtrace

        self._tracer = pathtrace
        self._studio = pathtrace.Studio(size)
        self._studio.printed = _PATTERNED_PRINT if self._is_patterned else 0.0
        self._studio.domed = _VARIED_DOMED if self._is_varied else _DOMED
        self._floor_kinds: tuple[str, ...] = PATTERNED_FLOORS if self._is_patterned else ()
        if self._is_varied:
            self._floor_kinds = VARIED_FLOORS
        self._cocked = _TAUGHT_COCKED if self._is_taught else _COCKED

    def picture(self, rng: np.random.Generator) -> RenderedPicture:
        """The next shot; the first of each setting draws it from its generator."""
        tracer = self._tracer
        if self._is_new():
            self._setting = random_setting(
                rng, self.size, is_taught=self._is_taught, floor_kinds=self._floor_kinds
            )
            # A die laid by rule would go through a ridge.
            if self._is_leaning or self._is_mixed:
                self._setting = replace(self._setting, ridges=[])
            if self._is_varied and rng.random() < 0.5:
                dice = [looks.sharpened(rng, die) for die in self._setting.dice]
                self._setting = replace(self._setting, dice=dice)
            rest = self._lay(rng)
            self._values = [die.values for die in rest.dice]
            self._studio.floor_kinds = (self._setting.floor_kind,)
            self._scene, self._notes = self._studio.build(
                rng, rest, self._setting.dice, self._setting.camera, 0.0
            )
        else:
            rest = self._lay(rng)
            # The faces were painted when the setting was built: dice keep their numbering.
            for die, values in zip(rest.dice, self._values, strict=True):
                die.values = values
            tracer.place_dice(self._scene, rest.dice, self._setting.dice)
        camera = self._setting.camera
        linear = tracer.trace(self._scene, _SAMPLES, int(rng.integers(2**30)))[..., ::-1]
        labels = tracer.labels(rest.dice, camera)
        picture = RenderedPicture(np.zeros((1, 1, 3), np.uint8), labels, camera, dict(self._notes))
        linear = np.ascontiguousarray(linear)
        return _finish(rng, linear, self._setting, picture, spares_dice=not self._is_taught)

    def _lay(self, rng: np.random.Generator) -> tosses.RestingDice:
        if self._is_leaning or (self._is_mixed and rng.random() < 0.5):
            return lean_rest(rng, self._setting)
        return toss_for(rng, self._setting, self._cocked)


def _lined_floor(rng: np.random.Generator, setting: Setting) -> tuple[np.ndarray, float]:
    """Floor and wall as one texture over [-reach, reach]², and reach."""
    reach = setting.radius + 1.6
    texels = 560 / (2 * reach)
    floor = floors.random_floor(rng, 560, texels, (setting.floor_kind,), 0.0)
    axis = (np.arange(560, dtype=np.float32) + 0.5 - 280) / texels
    outside = np.hypot(axis[None, :], axis[:, None]) - setting.radius
    wall = looks.random_colour(rng, (0, 0.5), (0.05, 0.9))
    beyond = looks.random_colour(rng, (0, 0.5), (0.02, 0.5))
    depth = np.clip(outside / 0.5, 0, 1)[..., None]
    floor = np.where(outside[..., None] > 0, wall * (0.35 + 0.65 * depth), floor)
    floor = np.where(outside[..., None] > 0.5, beyond, floor)
    shade = 1 - 0.4 * np.exp(-np.clip(-outside, 0, None) / 0.4)
    floor *= np.where(outside <= 0, shade, 1)[..., None]
    floor = np.ascontiguousarray(floor, np.float32)
    draw_ridges(rng, floor, setting.ridges, reach)
    return floor, reach


def _table_light(rng: np.random.Generator) -> Light:
    """A ring light from all sides, and a room that adds one lamp at most."""
    tone = looks.random_colour(rng, (0, 0.15), (0.9, 1.0))
    around = rng.uniform(0, 2 * np.pi)
    lamps = []
    for i in range(3):
        heading, high = around + 2 * np.pi * i / 3, rng.uniform(0.75, 0.9)
        lamps.append(Lamp(toward(heading, high), tone * float(rng.uniform(0.15, 0.3)), 0.3))
    if rng.random() < 0.5:
        heading, high = rng.uniform(0, 2 * np.pi), rng.uniform(0.4, 0.9)
        colour = looks.random_colour(rng, (0, 0.25), (0.8, 1.0))
        lamps.append(Lamp(toward(heading, high), colour * float(rng.uniform(0.1, 0.35)), 0.1))
    return Light(tone * float(rng.uniform(0.3, 0.7)), lamps, float(rng.uniform(0.3, 0.7)))


def _brightest_face(linear: np.ndarray, picture: RenderedPicture) -> float:
    """What nine tenths of the brightest top face do not exceed; a glint is less than the rest."""
    levels = [0.0]
    for die in picture.labels:
        face = np.zeros(linear.shape[:2], np.uint8)
        cv2.fillConvexPoly(face, np.round(die.corners).astype(np.int32), 1)
        if face.any():
            levels.append(float(np.percentile(linear[face > 0].max(axis=1), 90.0)))
    return max(levels)


def _finish(
    rng: np.random.Generator,
    linear: np.ndarray,
    setting: Setting,
    picture: RenderedPicture,
    *,
    spares_dice: bool,
) -> RenderedPicture:
    """Expose for the compartment, as an installer does, and add what a lens adds.

    `spares_dice`: not beyond what the dice's own faces bear, however dark the floor is.
    """
    camera = setting.camera
    y, x = np.mgrid[0 : camera.size, 0 : camera.size].astype(np.float32)
    off = np.hypot(x - camera.size / 2, y - camera.size / 2)
    inside = off < 0.42 * camera.size
    bright = float(np.percentile(linear[inside].max(axis=1), 97.0))
    middle = float(np.median(linear[inside].max(axis=1)))
    # A lamp mirrored in the floor must not leave the rest in the dark.
    gain = max(rng.uniform(0.6, 0.9) / max(bright, 1e-3), 0.025 / max(middle, 1e-3))
    if spares_dice:
        gain = min(gain, _BRIGHTEST_FACE / max(_brightest_face(linear, picture), 1e-3))
    linear = linear * np.float32(gain)
    linear *= (1 - rng.uniform(0, 0.25) * (off / off.max()) ** 2)[..., None].astype(np.float32)
    linear = np.asarray(cv2.GaussianBlur(linear, (0, 0), float(rng.uniform(0.25, 0.7))))
    tone = np.clip(linear, 0, 1) ** np.float32(1 / 2.2)
    tilts = [die.tilt_deg for die in picture.labels]
    is_cocked = any(d.stacked or d.tilt_deg >= NOT_FLAT_DEG for d in picture.labels)
    truth = "not flat" if is_cocked else "flat" if max(tilts) <= FLAT_DEG else "between"
    notes = picture.notes | {
        "style": setting.dice[0].style,
        "floor": setting.floor_kind,
        "truth": truth,
        "grain": f"{rng.uniform(1.0, 3.0):.2f}",
    }
    image = (tone * 255 + 0.5).astype(np.uint8)
    return replace(picture, image=image, notes=notes, calibration=setting.calibration())
