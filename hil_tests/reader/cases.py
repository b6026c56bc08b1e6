"""Pictures with their truth: tosses of the rig, and folders of rendered shots.

Owns the sets and what is true of each picture. Must not know how the reader works, or what is
counted. All dice at most 1.5° off level is flat; one die at 6° or more, or one that another die
carries, is not flat; anything between is only counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hil_tests.reader.samples import RIG, Sample
from hil_tests.reader.tosses import FLAT_DEG, NOT_FLAT_DEG, RigCamera, Toss, tosses
from hil_tests.rig.plant.dice import Lie
from vision.calibration import Calibration
from vision.errors import VisionError
from vision.pictures import load

_VISIBLE = 0.97
"""Share of a top face in sight from which a die is fully visible: masks have whole pixels."""
_SET_UP_DEG = (6.0, 20.0)
"""Chance leaves few dice at such an angle, so that some are set up there."""


@dataclass(frozen=True, slots=True)
class TrueDie:
    """One die as it really lies; millimetres in the calibration's axes, y down."""

    x_mm: float
    y_mm: float
    tilt_deg: float
    is_stacked: bool
    visible: float
    """Share of the top face in sight, 0 to 1."""

    @property
    def is_flat(self) -> bool | None:
        """None: between flat and not flat, or half hidden."""
        if self.is_stacked or self.tilt_deg >= NOT_FLAT_DEG:
            return False
        return True if self.tilt_deg <= FLAT_DEG and self.visible >= _VISIBLE else None


@dataclass(frozen=True, slots=True)
class Case:
    """One picture with its truth."""

    number: int
    calibration: Calibration
    shoot: Callable[[], np.ndarray]
    """A frame of it, each with fresh grain."""
    values: tuple[int, ...]
    truth: str
    """`flat`, `not flat` or `between`."""
    dice: tuple[TrueDie, ...]
    is_visible: bool
    look: str

    @property
    def tilt_deg(self) -> float:
        return max(die.tilt_deg for die in self.dice)


def toss_case(
    number: int,
    camera: RigCamera,
    toss: Toss,
    shoot: Callable[[], np.ndarray],
    look: str = "",
) -> Case:
    """A case of the rig: `shoot` shows that toss by that camera."""
    dice = tuple(
        # The rig's y points up, the picture's down.
        TrueDie(float(x), -float(y), die.tilt_deg, die.lie is Lie.STACKED, 1.0)
        for (x, y, _), die in zip(toss.position_mm, toss.dice, strict=True)
    )
    # Seen from straight above, only a die that does not lie flat hides a flat one.
    is_visible = toss.truth == "flat"
    return Case(number, camera.calibration, shoot, toss.values, toss.truth, dice, is_visible, look)


def rig_cases(
    count: int, seed: int, skip: set[int], are_some_set_up: bool = False, sample: Sample = RIG
) -> Iterator[Case]:
    """Tosses of the rig, half of them in the second compartment, two pictures of each.

    With `are_some_set_up` every second picture of a flat toss shows one die tipped by 6° to 20°.
    """
    views: dict[tuple[str, int, int], RigCamera] = {}
    shapes, styles = sample.compartments, list(sample.styles)
    streams = {name: tosses(shape, seed + i) for i, (name, shape) in enumerate(shapes.items())}
    chance = np.random.default_rng(seed)
    for number in range(0, count, 2):
        name = list(shapes)[(0, 1, 2, 1)[number // 2 % 4] % len(shapes)]
        toss = next(streams[name])
        looks = [int(chance.integers(len(styles))) for _ in range(2)]
        lenses = [int(chance.integers(len(sample.lenses))) for _ in range(2)]
        lights = [1.0 if chance.random() < 0.6 else float(chance.uniform(0.55, 0.75)), 1.0]
        for k in range(2):
            if number + k in skip:
                continue
            key = (name, lenses[k], number // 2 % len(sample.lights))
            if key not in views:
                views[key] = sample.camera(*key, seed)
            view, style = views[key], styles[looks[k]]
            shown = toss
            if are_some_set_up and k and toss.truth == "flat":
                # Its own generator, so that a run that goes on tips the dice as one in one go.
                tips = np.random.default_rng((seed, number))
                shown = toss.tilted(float(tips.uniform(*_SET_UP_DEG)), tips, view.die_mm)
            shoot = partial(view.picture, shown, lights[k], style=style)
            yield toss_case(number + k, view, shown, shoot, f"{name} {style}")


def rows(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each picture of a rendered set, in order, and its row of labels. Raises VisionError where
    there is none, or where a row is none."""
    parts = sorted(folder.glob("*.jsonl"))
    if not parts:
        raise VisionError(f"{folder} is no set of rendered pictures: it has no *.jsonl")
    for part in parts:
        for number, line in enumerate(part.read_text("utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                picture = folder / row["image"]
            except (ValueError, TypeError, KeyError) as error:
                raise VisionError(f"{part}, line {number}: no row of a picture") from error
            yield picture, row


def scene_cases(folder: Path, skip: set[int]) -> Iterator[Case]:
    """The pictures of a set of calibrated shots; grain is added anew for each frame. Raises
    VisionError where a picture is missing, or the set has no calibration."""
    for number, (path, row) in enumerate(rows(folder)):
        if number in skip:
            continue
        if "calibration" not in row:
            raise VisionError(f"{folder} is no set of calibrated shots: draw one, `make scenes`")
        image = load(path)
        calibration = Calibration.from_table(row["calibration"])
        dice = []
        for die in row["dice"]:
            # A pixel of a rendered label has its middle at halves, one of a calibration at wholes.
            corners = np.array(die["corners"], float) - 0.5
            x, y = calibration.to_mm(corners, calibration.die_mm).mean(axis=0)
            tilt_deg, visible = float(die["tilt_deg"]), float(die["visible"])
            dice.append(TrueDie(float(x), float(y), tilt_deg, bool(die["stacked"]), visible))
        notes = row["notes"]
        yield Case(
            number=number,
            calibration=calibration,
            shoot=_with_grain(image, float(notes["grain"]), number),
            values=tuple(sorted(die["value"] for die in row["dice"])),
            truth=notes["truth"],
            dice=tuple(dice),
            is_visible=all(die.visible >= _VISIBLE for die in dice),
            look=f"{notes['floor']} {notes['style']}",
        )


def _with_grain(image: np.ndarray, grain: float, seed: int) -> Callable[[], np.ndarray]:
    random = np.random.default_rng(seed)

    def shoot() -> np.ndarray:
        noisy = image + random.normal(0, grain, image.shape).astype(np.float32)
        return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)

    return shoot
