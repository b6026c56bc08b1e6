"""The frames whose reading is counted: tosses of the virtual rig before the two lenses of a table
that was taught its dice.

Owns which toss shows what. Must not know the emulation.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2

from hil_tests.arm64.reading import CAMERA, FRAMES, TEACHING
from hil_tests.reader.samples import STEREO
from hil_tests.reader.tables import Table, rig_tables
from hil_tests.rig.plant.geometry import GEOMETRIES
from hil_tests.rig.plant.looks import STYLES
from vision.networks.classifier import DieFinder

SCENES = {"warm": ("flat", 1), "flat": ("flat", 0), "leaning": ("not flat", 0)}
"""The truth of each, and which of the table's tosses of that truth it is."""
_SEED = 6
_SAMPLE = replace(
    STEREO,
    compartments={"rough": GEOMETRIES["rough"]},
    lenses=STEREO.lenses[:1],
    styles={"white": STYLES["white"]},
)


def taught_table(folder: Path) -> Table:
    """The table; what it is taught is kept in `folder`."""
    return rig_tables(DieFinder(), _SEED, folder, _SAMPLE)(0)


def write_frames(folder: Path) -> None:
    """Write the table's calibration and teaching, and `FRAMES` pictures of each scene into a folder
    of its name."""
    table = taught_table(folder)
    (folder / CAMERA).write_text(json.dumps(camera_of(table)), "utf-8")
    (folder / TEACHING).write_bytes(table.teaching.to_bytes())
    for name, (truth, which) in SCENES.items():
        case = table.case(truth, which)
        (folder / name).mkdir(parents=True)
        for number in range(FRAMES):
            cv2.imwrite(str(folder / name / f"{number}.png"), case.shoot())


def camera_of(table: Table) -> dict[str, Any]:
    """The calibration as `vision.calibration` reads it, with the second lens."""
    right = table.calibration.right
    assert right is not None
    return table.calibration.to_table() | {"second": right.to_right_table()}
