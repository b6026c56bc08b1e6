"""What the tosses of a bench are shown with: the sample that limits were chosen on, and the blind.

Owns: compartments, lenses, dice and light of each sample. Must not know the reader.

`RIG` is what every limit of the reader was chosen on or checked on; another seed of it is no blind
set. No weight and no limit may be chosen on `BLIND`, nor may a picture of it be looked at before a
change of the reader is complete: it is counted once, by
`python -m hil_tests.reader verification --blind COUNT --seed SEED`, and the model card says when.
After a change that was chosen because of such a count, other materials, lights and lenses take its
place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hil_tests.reader.tosses import RigCamera
from hil_tests.rig.geometry import GEOMETRIES, Geometry
from hil_tests.rig.lighting import LightRig
from hil_tests.rig.looks import STYLES, DiceStyle
from hil_tests.rig.optics import Lens


@dataclass(frozen=True, slots=True)
class Sample:
    """Compartments, lenses, dice and lights."""

    compartments: Mapping[str, Geometry]
    lenses: Sequence[Lens]
    styles: Mapping[str, DiceStyle]
    lights: Sequence[LightRig]

    def camera(self, compartment: str, lens: int, light: int, seed: int) -> RigCamera:
        """One camera over one compartment, with the first of the dice. Takes a second."""
        return RigCamera(
            self.compartments[compartment], next(iter(self.styles)), seed, self.lenses[lens],
            lights=self.lights[light], styles=self.styles,
        )  # fmt: skip


RIG = Sample(
    compartments={name: GEOMETRIES[name] for name in ("standard", "rough", "narrow")},
    lenses=(
        Lens(),
        Lens(width=480, height=480, centre_px=(240.5, 238.0), floor_px_per_mm=3.3),
        Lens(width=420, height=420, centre_px=(208.0, 211.5), floor_px_per_mm=2.9, k1=-0.03),
        Lens(height_mm=340.0, floor_px_per_mm=4.3, k1=-0.12),
    ),
    styles={name: STYLES[name] for name in ("white", "red", "asian", "ivory", "blue", "green")},
    lights=(LightRig(),),
)
"""The rig's own camera, two small ones (dice of 48 and 55 pixels), and one higher up."""


def _ring(count: int, radius_mm: float, height_mm: float, shares: float) -> np.ndarray:
    """(N, 3) mm: lamps on a part of a circle, `shares` of a full turn long."""
    turn = 0.7 + np.arange(count) * math.tau * shares / count
    level = np.full(count, height_mm)
    return np.stack([radius_mm * np.cos(turn), radius_mm * np.sin(turn), level], axis=1)


BLIND = Sample(
    compartments={
        "blind acrylic": Geometry("blind acrylic", radius_mm=44.0, floor="acrylic"),
        "blind felt": Geometry("blind felt", radius_mm=38.0, floor_friction=0.6,
                               wall_friction=0.5, die_friction=0.4, wall="rough"),
        "blind rubber": Geometry("blind rubber", radius_mm=48.0, floor="rubber", die_mm=19.0),
    },
    lenses=(
        Lens(width=800, height=600, centre_px=(396.0, 304.5), floor_px_per_mm=5.1, k1=0.03),
        Lens(width=560, height=480, centre_px=(283.5, 236.0), floor_px_per_mm=3.9,
             height_mm=390.0, k1=-0.18),
        Lens(floor_px_per_mm=4.0, height_mm=270.0, k1=-0.05, tilt_deg=(1.5, -1.0)),
    ),
    styles={
        style.name: style
        for style in (
            DiceStyle("slate", (70, 74, 82), (240, 238, 230), recess=0.6),
            DiceStyle("amber", (120, 52, 4), (240, 236, 226), glow=(244, 150, 30), pip_mm=3.6),
            DiceStyle("violet", (64, 10, 80), (236, 232, 240), glow=(150, 50, 210), pip_mm=3.0),
            DiceStyle("mint", (176, 226, 200), (16, 40, 60), recess=0.4, pip_mm=3.3),
            DiceStyle("red four", (240, 236, 226), (16, 16, 20), red_values=(1, 4),
                      large_one_mm=7.0, recess=0.7, pip_mm=2.7),
        )
    },
    lights=(
        LightRig(lamps_mm=_ring(5, 104.0, 112.0, 0.6), window_share=0.05),
        LightRig(lamps_mm=_ring(16, 78.0, 150.0, 1.0), window=(0.5, -0.6, 0.62),
                 window_share=0.24, lamp_share=0.66),
    ),
)  # fmt: skip
"""Set aside: an open ring of five lamps and a low window, lenses of other length and bend, one of
them mounted askew, frosted acrylic, 19 mm dice, five looks that no other bench has."""
