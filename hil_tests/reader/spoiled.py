"""Pictures that get worse step by step: contrast, blur, noise, and a window's reflection."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from hil_tests.reader.picture_damage import with_grain
from hil_tests.reader.stage import Shown, Stage
from hil_tests.reader.tosses import RigCamera

_GLARE_MM = (35.0, 26.0)

Edit = Callable[[np.ndarray, RigCamera], np.ndarray]
Spoil = Callable[[Stage, float], Edit]
"""What spoils a lens's picture so much, alike in each frame."""


def spoiled(stage: Stage) -> Shown:
    """A flat toss, spoilt so much in one way."""
    cells = [(name, level) for name, (_, levels) in SWEEPS.items() for level in levels]
    name, level = cells[stage.number % len(cells)]
    edit = SWEEPS[name][0](stage, level)
    pictures = (
        with_grain(stage.camera.edited(picture, edit), stage.random, 2.0)
        for picture in stage.shots()
    )
    return Shown(pictures, stage.toss.values, "flat", f"{name} {level:g}")


def _contrast(_stage: Stage, share: float) -> Edit:
    def edit(picture: np.ndarray, _eye: RigCamera) -> np.ndarray:
        mean = float(picture.mean())
        return (picture.astype(np.float32) - mean) * share + mean

    return edit


def _blur(_stage: Stage, sigma: float) -> Edit:
    return lambda picture, _eye: np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma))


def _noise(stage: Stage, sigma: float) -> Edit:
    return lambda picture, _eye: with_grain(picture, stage.random, sigma)


def _glare(stage: Stage, strength: float) -> Edit:
    """A window's reflection on the dome, over a quarter of the compartment."""
    place = np.array([*stage.random.uniform(-25, 25, 2), stage.die_mm])
    turn = float(stage.random.uniform(0, 90))

    def edit(picture: np.ndarray, eye: RigCamera) -> np.ndarray:
        layer: np.ndarray = np.zeros(picture.shape[:2], np.float32)
        x, y = (float(v) for v in eye.to_px(place[None])[0])
        size = np.array(_GLARE_MM) * eye.calibration.floor_px_per_mm
        box = cv2.boxPoints(((x, y), (float(size[0]), float(size[1])), turn))
        cv2.fillConvexPoly(layer, box.astype(np.int32), 1.0)
        layer = np.asarray(cv2.GaussianBlur(layer, (0, 0), 5.0))
        return np.asarray(picture + 255 * strength * layer[..., None])

    return edit


SWEEPS: dict[str, tuple[Spoil, tuple[float, ...]]] = {
    "contrast": (_contrast, (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.1)),
    "blur, sigma in pixels": (_blur, (1.0, 2.0, 3.0, 4.0, 5.0, 7.0)),
    "noise, sigma in grey levels": (_noise, (2.0, 6.0, 12.0, 20.0, 30.0, 45.0)),
    "glare, share of white": (_glare, (0.1, 0.2, 0.35, 0.5, 0.7)),
}
