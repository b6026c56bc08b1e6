"""Print for machine.scad what the rig's plant tosses with and its camera sees with."""

import math
import sys
import tomllib
from pathlib import Path

from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.plant.geometry import PLATE_STROKE_MM, STANDARD
from hil_tests.rig.plant.motor import MotorDesign

RIGS = Path(__file__).parents[2] / "hil_tests" / "rigs"

x_mm, y_mm, ring_mm = LightRig().lamps_mm[0]
motor = MotorDesign()
stereo = tomllib.loads((RIGS / "stereo.toml").read_text("utf-8"))
for name, value in {
    "radius": STANDARD.radius_mm,
    "wall": STANDARD.wall_mm,
    "stroke": PLATE_STROKE_MM,
    "amplitude": 1000.0 * motor.cam_amplitude_m,
    "notch": math.degrees(motor.lever_notch_rad),
    "camera": Lens().height_mm,
    "lenses": stereo["camera"]["lens"]["second_mm"],
    "ring_radius": math.hypot(x_mm, y_mm),
    "ring_height": ring_mm,
}.items():
    sys.stdout.write(f"{name} = {value:g};\n")
