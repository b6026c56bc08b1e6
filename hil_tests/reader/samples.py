"""What the tosses of a bench are shown with: the sample that limits were chosen on, and the blind.

Owns: compartments, lenses, dice and light of each sample. Must not know the reader.

`STEREO` is what limits of the reader were chosen on or checked on; another seed of it is no blind
set. No weight and no limit may be chosen on `BLIND`, nor may a picture of it be looked at before a
change of the reader is complete: it is counted once, by
`python -m hil_tests.reader count --blind --seed SEED`, and the model card says when.
After a change that was chosen because of such a count, other materials, lights and lenses take its
place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hil_tests.reader.tosses import RigCamera
from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.plant.geometry import GEOMETRIES, Geometry
from hil_tests.rig.plant.looks import STYLES, DiceStyle
from hil_tests.rig.rigfile import fitted_lens, load


@dataclass(frozen=True, slots=True)
class Sample:
    """Compartments, lenses, dice and lights."""

    compartments: Mapping[str, Geometry]
    lenses: Sequence[Lens]
    styles: Mapping[str, DiceStyle]
    lights: Sequence[LightRig]
    faults: Sequence[str] = ()
    """Of the camera, as a rig file has them."""
    is_left_only: bool = False
    """Of a stereo camera only the left lens is shown."""

    def camera(self, compartment: str, lens: int, light: int, seed: int) -> RigCamera:
        """One camera over one compartment, with the first of the dice. Takes a second."""
        camera = RigCamera(
            self.compartments[compartment], next(iter(self.styles)), seed, self.lenses[lens],
            lights=self.lights[light], styles=self.styles, faults=self.faults,
        )  # fmt: skip
        return camera.left() if self.is_left_only else camera


STEREO = Sample(
    compartments={name: GEOMETRIES[name] for name in ("standard", "rough")},
    lenses=(
        Lens(width=800, height=600, centre_px=(401.5, 297.0), floor_px_per_mm=4.0,
             offset_mm=(-30.0, 0.0), second_mm=60.0),
        Lens(width=800, height=600, centre_px=(396.0, 301.0), floor_px_per_mm=4.2,
             height_mm=340.0, tilt_deg=(0.6, -0.4), offset_mm=(-27.5, 2.0), second_mm=55.0),
    ),
    styles={name: STYLES[name] for name in ("white", "red", "asian", "ivory", "blue", "green")},
    lights=(LightRig(),),
)  # fmt: skip
"""Stereo cameras with 55 and 60 mm between their lenses, as most such boards have. Not in the
narrow tube of 32 mm radius: from 30 mm beside its middle half of its rim is out of sight."""


def seen_by(file: Path) -> Sample:
    """Compartments and dice of the rig, seen as the stories of this rig file see them."""
    rig = load(file)
    lights = (LightRig(dead=rig.machine.dead_lamps),)
    return replace(STEREO, lenses=(fitted_lens(rig),), lights=lights, faults=rig.faults)


def _ring(count: int, radius_mm: float, height_mm: float, shares: float) -> np.ndarray:
    """(N, 3) mm: lamps on a part of a circle, `shares` of a full turn long."""
    turn = 0.7 + np.arange(count) * math.tau * shares / count
    level = np.full(count, height_mm)
    return np.stack([radius_mm * np.cos(turn), radius_mm * np.sin(turn), level], axis=1)


BLIND = Sample(
    compartments={
        "blind wood": Geometry("blind wood", radius_mm=46.0, floor="wood", die_mm=18.0),
        "blind felt": Geometry("blind felt", radius_mm=41.0, floor_friction=0.5,
                               wall_friction=0.4, die_friction=0.35, wall="rough"),
        "blind rubber": Geometry("blind rubber", radius_mm=36.0, floor="rubber", die_mm=14.0),
    },
    lenses=(
        Lens(width=720, height=540, centre_px=(352.0, 274.5), floor_px_per_mm=3.8, k1=-0.10,
             height_mm=310.0, offset_mm=(-25.0, 1.0), second_mm=50.0),
        Lens(width=800, height=640, centre_px=(405.5, 314.0), floor_px_per_mm=4.5,
             height_mm=420.0, k1=0.02, tilt_deg=(-1.2, 0.8), offset_mm=(-32.0, -2.0),
             second_mm=65.0),
    ),
    styles={
        style.name: style
        for style in (
            DiceStyle("teal", (6, 74, 78), (240, 240, 236), glow=(20, 180, 176), pip_mm=3.5),
            DiceStyle("rose", (150, 60, 84), (244, 240, 240), glow=(244, 120, 150), pip_mm=3.2),
            DiceStyle("navy", (24, 34, 78), (226, 196, 120), recess=0.2, pip_mm=3.1),
            DiceStyle("cream", (240, 230, 206), (130, 20, 24), recess=0.5, pip_mm=2.9),
            DiceStyle("red ace", (246, 244, 240), (24, 26, 30), red_values=(1, 4),
                      large_one_mm=6.0, recess=0.85, pip_mm=2.8, round_mm=0.8),
        )
    },
    lights=(
        LightRig(lamps_mm=_ring(7, 88.0, 118.0, 0.75), window=(0.2, 0.75, 0.6),
                 window_share=0.20, lamp_share=0.70),
        LightRig(lamps_mm=_ring(24, 120.0, 100.0, 1.0), window_share=0.03, room_share=0.22),
    ),
)  # fmt: skip
"""Set aside: a ring with a gap and one of many low lamps, lenses nearer and farther away, mounted
askew and beside the axis, dice of 14 and 18 mm, wood, five looks that no other bench has."""
