"""The rig's camera measured without its clock: a card laid into a scene, and the product's fit.

Owns the pictures of the card and what a technician knows beforehand. Must not know the lens but for
what a ruler says of it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import cv2
import numpy as np

from hil_tests.rig.camera.card import Card
from hil_tests.rig.camera.scene import Scene
from hil_tests.rig.plant.geometry import Geometry
from hil_tests.rig.plant.snapshot import SAMPLE, SceneryView
from vision.calibrating.calibrate import Fit, View, calibrate
from vision.calibrating.target import Target
from vision.calibration import Calibration

RAISED_MM = 40.0
_SEEN = SceneryView(cover_open=1.0, hand=0.0, coin=False, lid_open=True, style="white")


def measured(scene: Scene, geometry: Geometry, *, views: int = 1, card_mm: float = 0.0) -> Fit:
    """Do what `shaker-ctl calibrate camera` does: the card on the floor, and then raised.

    One picture, and a second of the card `RAISED_MM` higher where `views` is 2. Raises
    `CalibrationError`.
    """
    target, lens = Target(geometry.radius_mm), scene.lens
    lit = np.zeros(1, SAMPLE)
    lit["light"] = 1.0
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "card.png"
        cv2.imwrite(str(file), target.picture(12.0))
        for raised_mm in (0.0, RAISED_MM)[:views]:
            scene.lay_card(Card.load(file, geometry.radius_mm, raised_mm + card_mm))
            taken.append(View(scene.render(0.0, lit, _SEEN), raised_mm + card_mm))
    scene.lay_card(None)
    size = (lens.width, lens.height)
    middle = (lens.width / 2.0, lens.height / 2.0)
    radius_mm, die_mm = geometry.radius_mm, geometry.die_mm
    start = Calibration(size, 4.0, lens.ruler_mm, middle, radius_mm, die_mm)
    return calibrate(taken, target, start)
