"""Tosses of the rig's dice with their truth, and pictures of them by the rig's camera.

Owns where rig and reader meet without a service between them. Must not know what is counted.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import cv2
import numpy as np

from hil_tests.reader.by_card import calibration_of
from hil_tests.rig.camera.faults import CameraFaults
from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.camera.scene import scene_of
from hil_tests.rig.camera.stream import FPS
from hil_tests.rig.faults import CameraPart, parse
from hil_tests.rig.plant.dice import CORNERS, STEP_S, Dice, DieAtRest, Lie, top_face
from hil_tests.rig.plant.geometry import PLATE_STROKE_MM, Geometry
from hil_tests.rig.plant.looks import STYLES, DiceStyle
from hil_tests.rig.plant.snapshot import SAMPLE, SceneryView
from vision.calibration import Calibration

SHAKE_HZ = 12.0
STROKE_M = PLATE_STROKE_MM / 1000
JPEG_QUALITY = 88
SETTLES_S = 5.0
"""After so long an exposure that follows what is seen has followed it."""
FLAT_DEG, NOT_FLAT_DEG = 1.5, 6.0
"""Truth: up to the first a die is flat, from the second on it is not; between only counted."""


@dataclass(frozen=True, slots=True)
class Toss:
    """How three dice came to rest."""

    position_mm: Any
    rotation: Any
    dice: tuple[DieAtRest, ...]

    @property
    def truth(self) -> str:
        """`flat`, `not flat` or `between`."""
        if any(d.lie is Lie.STACKED or d.tilt_deg >= NOT_FLAT_DEG for d in self.dice):
            return "not flat"
        if all(d.is_flat and d.tilt_deg <= FLAT_DEG for d in self.dice):
            return "flat"
        return "between"

    @property
    def values(self) -> tuple[int, ...]:
        """In growing order: two dice at the same x have no left and right."""
        return tuple(sorted(die.value for die in self.dice))

    def only(self, which: Sequence[int]) -> Toss:
        """The toss with these dice only."""
        index = list(which)
        return Toss(
            self.position_mm[index], self.rotation[index], tuple(self.dice[i] for i in index)
        )

    def plus(self, other: Toss) -> Toss:
        """The dice of both."""
        return Toss(
            np.concatenate([self.position_mm, other.position_mm]),
            np.concatenate([self.rotation, other.rotation]),
            self.dice + other.dice,
        )

    def tilted(self, degrees: float, random: np.random.Generator, die_mm: float) -> Toss:
        """One die tipped about one of its edges, its lowest corner on the floor."""
        die = int(random.integers(3))
        level = level_axes(self.rotation[die])
        turn, _ = cv2.Rodrigues(level[int(random.integers(2))] * np.radians(degrees))
        rotation, position = self.rotation.copy(), self.position_mm.copy()
        rotation[die] = np.asarray(turn) @ rotation[die]
        position[die, 2] = -float((CORNERS * die_mm / 2 @ rotation[die].T)[:, 2].min())
        dice = list(self.dice)
        value, tilt_deg = top_face(rotation[die])
        lie = Lie.FLAT if tilt_deg <= FLAT_DEG else Lie.TILTED
        dice[die] = DieAtRest(value, tilt_deg, lie)
        return Toss(position, rotation, tuple(dice))

    def moved(self, die: int, by_mm: np.ndarray) -> Toss:
        """One die elsewhere; `by_mm` (2,): x right, y up."""
        position = self.position_mm.copy()
        position[die, :2] += by_mm
        return Toss(position, self.rotation, self.dice)


def level_axes(rotation: np.ndarray) -> list[np.ndarray]:
    """The axes of a die, columns of its rotation, that lie level or nearly so."""
    return [axis for axis in rotation.T if abs(axis[2]) < 0.5]


def tosses(geometry: Geometry, seed: int) -> Iterator[Toss]:
    """Toss for ever, as the plate of the rig does."""
    random = np.random.default_rng(seed)
    dice = Dice(geometry, seed=seed)
    while True:
        turns = round(float(random.uniform(0.7, 1.1)) * SHAKE_HZ)
        for step in range(int(turns / SHAKE_HZ / STEP_S)):
            phase = math.tau * SHAKE_HZ * step * STEP_S
            dice.step(
                STROKE_M / 2 * (1.0 - math.cos(phase)),
                STROKE_M / 2 * math.tau * SHAKE_HZ * math.sin(phase),
            )
        for _ in range(3000):
            dice.step(0.0, 0.0)
            if dice.at_rest:
                break
        poses = dice.poses()
        yield Toss(poses.position_mm.copy(), poses.rotation.copy(), tuple(dice.lies()))


def flat_tosses(geometry: Geometry, seed: int, count: int) -> list[Toss]:
    """Tosses whose three dice lie flat."""
    flat = (toss for toss in tosses(geometry, seed) if toss.truth == "flat")
    return list(itertools.islice(flat, count))


class RigCamera:
    """The rig's camera over one compartment, without the rig's clock."""

    def __init__(
        self,
        geometry: Geometry,
        style: str,
        seed: int = 0,
        lens: Lens | None = None,
        *,
        lights: LightRig | None = None,
        styles: Mapping[str, DiceStyle] = STYLES,
        faults: Sequence[str] = (),
    ) -> None:
        """Paint the compartment, and measure the camera by a printed card. `faults` of the camera,
        as a rig file has them, are in force from then on."""
        self.geometry, self._styles = geometry, styles
        self._scene = scene_of(geometry, seed=seed, lens=lens, lights=lights, styles=styles)
        self._lens = self._scene.lens
        self._view = SceneryView(1.0, 0.0, False, False, style)
        self.calibration = calibration_of(self._scene, geometry)
        self._faults = _in_force(faults, self._scene.lens) if faults else None
        self._at_s = 0.0
        self._shown: Toss | None = None

    @property
    def style(self) -> str:
        return self._view.style

    @property
    def look(self) -> DiceStyle:
        """Of its dice."""
        return self._styles[self.style]

    @property
    def die_mm(self) -> float:
        return self.calibration.die_mm

    def with_dice(self, style: str) -> Self:
        """This camera over other dice. It shares the painted compartment, which takes a second."""
        other = copy.copy(self)
        other._view = replace(self._view, style=style)
        return other

    def left(self) -> Self:
        """The left lens of a stereo camera alone."""
        return self._through(self._lens, replace(self.calibration, right=None))

    @property
    def eyes(self) -> list[Self]:
        """Each lens of this camera alone, from left to right."""
        right, second = self.calibration.right, self._lens.second
        if right is None or second is None:
            return [self]
        return [self.left(), self._through(second, right)]

    def _through(self, lens: Lens, calibration: Calibration) -> Self:
        other = copy.copy(self)
        other._lens, other.calibration = lens, calibration
        return other

    def edited(
        self, picture: np.ndarray, edit: Callable[[np.ndarray, Self], np.ndarray]
    ) -> np.ndarray:
        """The picture with each lens's part edited as that lens, alone, sees the change."""
        parts = np.split(picture, len(self.eyes), axis=1)
        return np.hstack([edit(part, eye) for part, eye in zip(parts, self.eyes, strict=True)])

    def to_px(self, points_mm: np.ndarray) -> np.ndarray:
        """Points (..., 3) in the rig's millimetres to pixels (..., 2), by the left lens."""
        return np.asarray(self._lens.project(points_mm))

    def picture(self, toss: Toss, light: float = 1.0, **changes: Any) -> np.ndarray:
        """(H, W, 3) uint8, through the stream's JPEG. Any number of dice; `changes` to the
        rig's `SceneryView` (coin, hand)."""
        count = len(toss.position_mm)
        samples = np.zeros(1, SAMPLE if count == 3 else _sample_of(count))
        samples["light"] = light
        samples["position_mm"][0] = toss.position_mm
        samples["rotation"][0] = toss.rotation
        image = self._scene.render(0.0, samples, replace(self._view, **changes))
        image = image[:, : self.calibration.frame_size[0]]
        if self._faults is not None:
            image = self._weathered(image, toss, self._faults)
        coded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1]
        return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR))

    def _weathered(self, image: np.ndarray, toss: Toss, faults: CameraFaults) -> np.ndarray:
        """The next frame of a camera that has looked at this toss for some time."""
        if toss is not self._shown:
            self._shown = toss
            for _ in range(2):
                self._at_s += SETTLES_S
                faults.on_picture(image, self._at_s)
        self._at_s += 1.0 / FPS
        return faults.on_picture(image, self._at_s)


def _in_force(sentences: Sequence[str], lens: Lens) -> CameraFaults:
    faults = CameraFaults(FPS, lens)
    for order in map(parse, sentences):
        faults.obey(replace(order, name=order.name.removeprefix(CameraPart.PREFIX)))
    return faults


def _sample_of(dice: int) -> np.dtype[np.void]:
    """The rig's sample of the plant, with another number of dice."""
    fields = {name: SAMPLE[name] for name in ("at_s", "light", "plate_mm")}
    return np.dtype(
        [
            *fields.items(),
            ("position_mm", "f8", (dice, 3)),
            ("rotation", "f8", (dice, 3, 3)),
        ]
    )
