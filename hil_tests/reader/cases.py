"""Tosses as a table's camera shows them, with their truth: of the rig, and of folders of rendered
shots.

Must not know how the reader works, or what is counted. All dice at most 1.5° off level is flat; one
die at 6° or more, or one that another die carries, is not flat; anything between is only counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hil_tests.reader.picture_damage import top_mm
from hil_tests.reader.tosses import RigCamera, Toss
from vision.calibration import Calibration
from vision.errors import VisionError
from vision.pictures import load

VISIBLE = 0.97
"""Share of a top face in sight from which a die is fully visible: masks have whole pixels."""
_UP = (1.0, -1.0)
"""The rig's y points up, the picture's down."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One toss with its truth."""

    shoot: Callable[[], np.ndarray]
    """A frame of it, each with fresh grain."""
    values: tuple[int, ...]
    """In growing order."""
    truth: str
    """`flat`, `not flat` or `between`."""
    tops_mm: np.ndarray
    """(3, 4, 2) corners of the top faces, in the calibration's axes, y down."""
    faces: tuple[int, ...]
    """The value of each."""
    toss: Toss | None = None
    """Of the rig."""


def of_rig(camera: RigCamera, toss: Toss) -> Case:
    """A toss before a camera of the rig."""
    tops = np.array([top_mm(toss, die, camera.die_mm)[:, :2] * _UP for die in range(3)])
    faces = tuple(die.value for die in toss.dice)
    return Case(partial(camera.picture, toss), toss.values, toss.truth, tops, faces, toss)


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


def of_shots(folder: Path) -> Iterator[tuple[Calibration, str, Case]]:
    """The tosses of a set of calibrated shots, each with its camera and the look of its table. A
    flat one that is not wholly in sight counts as between. Raises VisionError where a picture is
    missing, or the set has no calibration."""
    for number, (path, row) in enumerate(rows(folder)):
        if "calibration" not in row:
            raise VisionError(f"{folder} is no set of calibrated shots: draw one, `make scenes`")
        calibration, notes, dice = (
            Calibration.from_table(row["calibration"]), row["notes"], row["dice"]
        )  # fmt: skip
        # A pixel of a rendered label has its middle at halves, one of a calibration at wholes.
        corners = np.array([die["corners"] for die in dice], float) - 0.5
        faces = tuple(die["value"] for die in dice)
        is_hidden = notes["truth"] == "flat" and min(die["visible"] for die in dice) < VISIBLE
        case = Case(
            _with_grain(load(path), float(notes["grain"]), number),
            tuple(sorted(faces)),
            "between" if is_hidden else notes["truth"],
            calibration.to_mm(corners.reshape(-1, 2), calibration.die_mm).reshape(-1, 4, 2),
            faces,
        )
        yield calibration, f"{notes['floor']} {notes['style']}", case


def _with_grain(image: np.ndarray, grain: float, seed: int) -> Callable[[], np.ndarray]:
    random = np.random.default_rng(seed)

    def shoot() -> np.ndarray:
        noisy = image + random.normal(0, grain, image.shape).astype(np.float32)
        return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)

    return shoot
