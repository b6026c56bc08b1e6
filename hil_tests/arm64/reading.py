"""Inside the emulation: readings, step by step. `python -m hil_tests.arm64.reading FOLDER`.

Owns the names of the steps, and the function of each step. FOLDER holds what `frames` writes; this
module adds the names of the marks as `names.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cv2

from hil_tests.arm64.marks import Steps
from vision.calibration import Calibration
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene
from vision.taught import Teaching

FRAMES = 2
"""Pictures of each scene: the same dice, other grain."""
CAMERA, TEACHING = "camera.json", "teaching"
"""Files of the table: its calibration, and what it was taught."""

CASES = {
    "first flat frame": ("flat", 0),
    "confirming frame": ("flat", 1),
    "not-flat frame": ("leaning", 0),
}
"""What is counted: a scene, and which of its frames. A table reads them in this order. A frame that
follows another of its scene is read as one that may confirm it."""

STEPS = {
    "quality": "vision.table.quality:QualityGate.judge",
    "crop and size": "vision.table.model_view:ModelView.show",
    "finder": "vision.networks.classifier:DieFinder.maps",
    "near windows": "vision.networks.near_look:NearReader.look",
    "near network": "vision.networks.near_look:NearReader._told",
    "second reader": "vision.taught.reader:TaughtReader.read",
    "second reader again": "vision.taught.reader:TaughtReader.read_again",
    "search for dice": "vision.taught.reader:search",
    "heights and evidence": "vision.table.reader:gather",
}
"""Each without the steps inside it: the near network is not counted among the near windows."""

NETWORKS = ("finder", "near network")
"""Steps whose instructions are onnxruntime's."""


def main(folder: Path) -> None:
    """Read every case once, after a reading that fills the libraries' tables."""
    cv2.setNumThreads(1)
    steps = Steps()
    for name, place in STEPS.items():
        steps.count(name, place)
    reader = table_reader(folder)
    names = ("warm", *dict.fromkeys(scene for scene, _ in CASES.values()))
    scenes = {scene: StillScene(reader) for scene in names}
    for number in range(FRAMES):
        scenes["warm"].look(Frame(picture_of(folder / "warm" / f"{number}.png"), 0.0, 0))
    for sequence, (case, (scene, number)) in enumerate(CASES.items(), 1):
        frame = Frame(picture_of(folder / scene / f"{number}.png"), sequence / 30, sequence)
        steps.begin(case)
        scenes[scene].look(frame)
        steps.end()
    (folder / "names.json").write_text(json.dumps(steps.names), "utf-8")


def table_reader(folder: Path) -> TableReader:
    """The reader of the table that `frames` wrote into `folder`."""
    calibration = Calibration.from_table(json.loads((folder / CAMERA).read_text("utf-8")))
    teaching = Teaching.from_bytes((folder / TEACHING).read_bytes(), calibration)
    return TableReader(DieFinder(), calibration, teaching=teaching)


def picture_of(path: Path) -> cv2.typing.MatLike:
    """A picture that `frames` wrote."""
    picture = cv2.imread(str(path))
    assert picture is not None, path
    return picture


if __name__ == "__main__":
    main(Path(sys.argv[1]))
