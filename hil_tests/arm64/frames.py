"""The frames whose reading is counted: tosses of the virtual rig, each seen by its camera.

Owns which toss of which seed shows what. Must not know the emulation.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import cv2

from hil_tests.reader.tosses import RigCamera, Toss, tosses
from hil_tests.rig.plant.geometry import GEOMETRIES

FRAMES = 2
"""Of each scene: the same dice, other grain."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One toss of the rig."""

    compartment: str
    seed: int
    toss: int
    """Counted from 0."""


SCENES = {
    "warm": Scene("standard", 6, 2),
    "flat": Scene("standard", 6, 1),
    "leaning": Scene("rough", 11, 13),
    "by-pips": Scene("rough", 11, 20),
}
"""White dice. `by-pips`: a die whose outline leaves a question, so that pips are looked for."""


def toss_of(scene: Scene) -> Toss:
    """How the dice lie in a scene."""
    thrown = tosses(GEOMETRIES[scene.compartment], scene.seed)
    return next(itertools.islice(thrown, scene.toss, None))


def write_frames(folder: Path) -> None:
    """Write `FRAMES` pictures of each scene, and its calibration, into a folder of its name."""
    for name, scene in SCENES.items():
        camera = RigCamera(GEOMETRIES[scene.compartment], "white", scene.seed)
        toss = toss_of(scene)
        place = folder / name
        place.mkdir(parents=True)
        (place / "calibration.json").write_text(json.dumps(camera.calibration.to_table()), "utf-8")
        for number in range(FRAMES):
            cv2.imwrite(str(place / f"{number}.png"), camera.picture(toss))
