"""The rig's camera measured without its clock: a card laid into a scene, and the product's fit.

Owns the pictures of the card and what a technician knows beforehand. Must not know the lens but for
what a ruler says of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from hil_tests.rig.camera.card import Card
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.camera.scene import Scene, StereoScene
from hil_tests.rig.plant.geometry import Geometry
from hil_tests.rig.plant.snapshot import SAMPLE, SceneryView
from vision.calibrating.calibrate import Fit, View, calibrate
from vision.calibrating.second_lens import calibrate_both
from vision.calibrating.target import Target
from vision.calibration import Calibration

RAISED_MM = 40.0
_SEEN = SceneryView(cover_open=1.0, hand=0.0, coin=False, lid_open=True, style="white")


def calibration_of(scene: Scene | StereoScene, geometry: Geometry) -> Calibration:
    """The calibration of a camera with one lens, or with two. Raises `CalibrationError`."""
    if isinstance(scene, Scene):
        return measured(scene, geometry).calibration
    target, heights = Target(geometry.radius_mm), (0.0, geometry.die_mm)
    lenses = [shown_cards(each, geometry, heights) for each in scene.scenes]
    return calibrate_both(lenses, target, before(scene.lens, geometry))[0].calibration


def measured(scene: Scene, geometry: Geometry, *, views: int = 1, card_mm: float = 0.0) -> Fit:
    """Do what `shaker-ctl calibrate camera` does: the card on the floor, and then raised.

    One picture, and a second of the card `RAISED_MM` higher where `views` is 2. Raises
    `CalibrationError`.
    """
    heights = [card_mm + raised_mm for raised_mm in (0.0, RAISED_MM)[:views]]
    taken = shown_cards(scene, geometry, heights)
    return calibrate(taken, Target(geometry.radius_mm), before(scene.lens, geometry))


def before(lens: Lens, geometry: Geometry) -> Calibration:
    """What a technician knows beforehand."""
    middle = (lens.width / 2.0, lens.height / 2.0)
    size = (lens.width, lens.height)
    return Calibration(size, 4.0, lens.ruler_mm, middle, geometry.radius_mm, geometry.die_mm)


def shown_cards(scene: Scene, geometry: Geometry, heights: Sequence[float]) -> list[View]:
    """A picture of the card at each height, mm."""
    lit = np.zeros(1, SAMPLE)
    lit["light"] = 1.0
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "card.png"
        cv2.imwrite(str(file), Target(geometry.radius_mm).picture(12.0))
        for height_mm in heights:
            scene.lay_card(Card.load(file, geometry.radius_mm, height_mm))
            taken.append(View(scene.render(0.0, lit, _SEEN), height_mm))
    scene.lay_card(None)
    return taken
