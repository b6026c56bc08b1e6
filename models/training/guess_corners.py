"""Corners for photographs that come with boxes only: what an earlier model sees, where it agrees.

Owns: matching found dice to labelled boxes. The model looks as it does at any photograph, in
several sizes and again at each die: some sets' dice are too small for one look. A guess is kept
only where the model's die lies in the middle of the box and shows the labelled value; the label
decides, the model only refines.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.progress import track

from vision.networks.classifier import DieFinder, FoundDie
from vision.photo.finder import PhotoFinder
from vision.photo.labels import Label, read_labels
from vision.pictures import load

_MIN_WORTH = 0.15
"""Faint findings count too: the label says that a die is there, and which."""

_MAX_OFF = 0.3
"""Farthest that the face's centre may lie from the box's, in box sides."""


def guess_all(model: Path, folders: Sequence[Path]) -> dict[str, list[dict | None]]:
    """The guesses of several folders; prints how many dice of each have corners now."""
    finder = DieFinder(model)
    guesses: dict[str, list[dict | None]] = {}
    for folder in folders:
        here = guess(finder, folder)
        kept = sum(one is not None for row in here.values() for one in row)
        print(f"{folder.name}: corners for {kept} of {sum(map(len, here.values()))} dice")
        guesses |= here
    return guesses


def guess(finder: DieFinder, folder: Path) -> dict[str, list[dict | None]]:
    """Per picture, in the order of its labels: corners and down vector, or None."""
    guesses: dict[str, list[dict | None]] = {}
    photo_finder = PhotoFinder(finder)
    for path, labels in track(list(read_labels(folder)), folder.name):
        found, _ = photo_finder.find(load(path), _MIN_WORTH)
        name = f"{folder.name}/{path.relative_to(folder)}"
        guesses[name] = [_match(label, found) for label in labels]
    return guesses


def _match(label: Label, found: list[FoundDie]) -> dict | None:
    if label.centre is None or label.value is None:
        return None
    middle, side = np.array(label.centre), label.size
    fitting = [
        one
        for one in found
        if np.abs(one.centre - middle).max() < _MAX_OFF * side
        and one.value == label.value
        and 0.4 * side < one.edge_px < 1.2 * side
    ]
    if not fitting:
        return None
    best = max(fitting, key=lambda one: one.score)
    return {
        "corners": np.round(best.corners, 2).tolist(),
        "down": np.round(best.down, 2).tolist(),
    }
