"""Corners for photographs that come with boxes only: what an earlier model sees, where it agrees.

    python -m models.training.guess_corners --model models PHOTOS... --out var/guesses.json

Owns: matching found dice to labelled boxes. The model looks as it does at any photograph, in
several sizes and again at each die: some sets' dice are too small for one look. A guess is kept
only where the model's die lies in the middle of the box and shows the labelled value; the label
decides, the model only refines.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
from rich.progress import track

from vision.networks.classifier import DieFinder, FoundDie
from vision.photo.finder import PhotoFinder

_MIN_WORTH = 0.15
"""Faint findings count too: the label says that a die is there, and which."""

_MAX_OFF = 0.3
"""Farthest that the face's centre may lie from the box's, in box sides."""


def guess(finder: DieFinder, folder: Path) -> dict[str, list[dict | None]]:
    """Per picture, in the order of its labels: corners and down vector, or None."""
    guesses: dict[str, list[dict | None]] = {}
    photo_finder = PhotoFinder(finder)
    for line in track((folder / "labels.jsonl").read_text().splitlines(), folder.name):
        row = json.loads(line)
        image = cv2.imread(str(folder / row["image"]), cv2.IMREAD_COLOR)
        if image is None:
            continue
        found, _ = photo_finder.find(image, _MIN_WORTH)
        guesses[f"{folder.name}/{row['image']}"] = [_match(die, found) for die in row["dice"]]
    return guesses


def _match(die: dict, found: list[FoundDie]) -> dict | None:
    if die["bbox"] is None or die["value"] is None:
        return None
    x0, y0, x1, y1 = die["bbox"]
    middle, side = np.array([(x0 + x1) / 2, (y0 + y1) / 2]), max(x1 - x0, y1 - y0)
    fitting = [
        one
        for one in found
        if np.abs(one.centre - middle).max() < _MAX_OFF * side
        and one.value == die["value"]
        and 0.4 * side < one.edge_px < 1.2 * side
    ]
    if not fitting:
        return None
    best = max(fitting, key=lambda one: one.score)
    return {
        "corners": np.round(best.corners, 2).tolist(),
        "down": np.round(best.down, 2).tolist(),
    }


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Guess corners for labelled photographs.")
    parser.add_argument("photos", type=Path, nargs="+")
    parser.add_argument("--model", type=Path, default=Path("models"))
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    finder = DieFinder(given.model)
    guesses: dict[str, list[dict | None]] = {}
    for folder in given.photos:
        here = guess(finder, folder)
        kept = sum(one is not None for row in here.values() for one in row)
        print(f"{folder.name}: corners for {kept} of {sum(map(len, here.values()))} dice")
        guesses |= here
    given.out.write_text(json.dumps(guesses))


if __name__ == "__main__":
    main()
