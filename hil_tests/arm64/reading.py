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

CASES = {
    "first flat frame": ("flat", 0),
    "confirming frame": ("flat", 1),
    "not-flat frame": ("leaning", 0),
    "frame by pips": ("by-pips", 0),
}
"""What is counted: a scene, and which of its frames. A table reads them in this order. A frame that
follows another of its scene is read as one that may confirm it."""

STEPS = {
    "quality": "vision.table.quality:QualityGate.judge",
    "crop and size": "vision.table.model_view:ModelView.show",
    "finder": "vision.networks.classifier:DieFinder.maps",
    "edges": "vision.table.reader:refine",
    "near windows": "vision.networks.near_look:NearReader.look",
    "near network": "vision.networks.near_look:NearReader._told",
    "comparison": "vision.cube_outlines.reader:shows_the_same",
    "second reader": "vision.cube_outlines.reader:SecondReader.read",
    "second reader again": "vision.cube_outlines.reader:SecondReader.read_again",
    "evidence": "vision.table.reader:gather",
    "witnesses": "vision.table.reader:combine",
    "judgement": "vision.table.reader:judge",
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
    readers = {
        scene: TableReader(DieFinder(), _calibration(folder / scene))
        for scene in ("warm", *dict.fromkeys(scene for scene, _ in CASES.values()))
    }
    scenes = {name: StillScene(reader) for name, reader in readers.items()}
    for number in range(2):
        scenes["warm"].look(Frame(_picture(folder / "warm" / f"{number}.png"), 0.0, 0))
    for sequence, (case, (scene, number)) in enumerate(CASES.items(), 1):
        frame = Frame(_picture(folder / scene / f"{number}.png"), sequence / 30, sequence)
        steps.begin(case)
        scenes[scene].look(frame)
        steps.end()
    (folder / "names.json").write_text(json.dumps(steps.names), "utf-8")


def _calibration(scene: Path) -> Calibration:
    return Calibration.from_table(json.loads((scene / "calibration.json").read_text("utf-8")))


def _picture(path: Path) -> cv2.typing.MatLike:
    picture = cv2.imread(str(path))
    assert picture is not None, path
    return picture


if __name__ == "__main__":
    main(Path(sys.argv[1]))
