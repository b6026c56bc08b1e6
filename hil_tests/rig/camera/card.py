"""A printed card in the compartment, without dice.

Owns where the card lies and how its print looks. Must not know what is printed on it, or why.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from hil_tests.rig.camera.die_painter import Patch
from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Image, Lens

INK, PAPER = 0.035, 0.82
"""Share of light that a printer's black and its paper reflect."""


@dataclass(frozen=True, slots=True)
class Card:
    """A round card; its picture is a square that just holds it."""

    print_: Image
    """(side, side) uint8, grey."""
    px_per_mm: float
    radius_mm: float
    raised_mm: float = 0.0
    place_mm: tuple[float, float] = (0.3, -0.2)
    """Nobody lays a card exactly into the middle."""
    turn_deg: float = 3.0

    @classmethod
    def load(cls, file: Path, compartment_radius_mm: float, raised_mm: float) -> Card:
        """Cut a card out of a picture as wide as the compartment. Raises ValueError."""
        picture = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
        if picture is None or picture.shape[0] != picture.shape[1]:
            raise ValueError(
                f"{file} is no square picture. "
                "Lay the PNG that `shaker-ctl calibrate target` writes"
            )
        scale = picture.shape[0] / (2.0 * compartment_radius_mm)
        return cls(np.asarray(picture), scale, compartment_radius_mm - 0.5, raised_mm)

    def seen(self, lens: Lens, lights: LightRig, compartment_radius_mm: float) -> Patch:
        """The card as the camera sees it, in linear light."""
        x, y = (a.astype(np.float32) for a in lens.plane_at(self.raised_mm, lens.slopes(2)))
        light = lights.floor_light(x, y, self.raised_mm, compartment_radius_mm)
        x, y = x - self.place_mm[0], y - self.place_mm[1]
        c, s = np.cos(np.radians(self.turn_deg)), np.sin(np.radians(self.turn_deg))
        across, along = x * c + y * s, y * c - x * s
        middle = self.print_.shape[0] / 2.0 - 0.5
        grey = cv2.remap(
            self.print_,
            (across * self.px_per_mm + middle).astype(np.float32),
            (middle - along * self.px_per_mm).astype(np.float32),
            cv2.INTER_AREA,
            borderMode=cv2.BORDER_REPLICATE,
        )
        albedo = INK + (PAPER - INK) * np.asarray(grey, np.float32) / 255.0
        inside = (np.hypot(across, along) < self.radius_mm).astype(np.float32)
        size = (lens.width, lens.height)
        colour = cv2.resize(albedo * light * inside, size, interpolation=cv2.INTER_AREA)
        cover = cv2.resize(inside, size, interpolation=cv2.INTER_AREA)
        blurred = np.asarray(cv2.GaussianBlur(colour, (0, 0), 0.55))
        return Patch(
            left=0,
            top=0,
            colour=np.repeat(blurred[..., None], 3, axis=2),
            coverage=np.asarray(cv2.GaussianBlur(cover, (0, 0), 0.55))[..., None],
        )
