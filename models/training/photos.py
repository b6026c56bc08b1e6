"""Real photographs as training pictures, where the caller names their folders.

Owns: what a photograph's labels are worth: a box and a value, no corners, no tilt. Must not
know: the network. Boxes mean the whole die in one set and the top face in another, so a box
alone teaches only "a die is about here, and it shows this value". Where an earlier model found
the same die, its corners (`corners` in a `guesses.json`, made by `guess_corners.py`) refine that.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from models.training.targets import Mark


def photo_rows(folder: Path, guesses: Path | None) -> list[tuple[Path, list[Mark]]]:
    """Every photograph of a set with the marks to learn from it."""
    guessed: dict[str, list] = {}
    if guesses is not None and guesses.exists():
        guessed = json.loads(guesses.read_text())
    pictures = []
    for line in (folder / "labels.jsonl").read_text().splitlines():
        row = json.loads(line)
        path = folder / row["image"]
        known = guessed.get(f"{folder.name}/{row['image']}", [None] * len(row["dice"]))
        marks = [
            _mark(die, guess)
            for die, guess in zip(row["dice"], known, strict=True)
            if die["bbox"] is not None
        ]
        if len(marks) == len(row["dice"]):
            pictures.append((path, marks))
    return pictures


def _mark(die: dict, guess: dict | None) -> Mark:
    x0, y0, x1, y1 = die["bbox"]
    value = die["value"] or 0
    if guess is not None:
        return Mark(
            corners=np.array(guess["corners"], np.float64),
            value=value,
            flat=1.0,
            down=np.array(guess["down"], np.float64),
            visible=1.0,
            exact=True,
            has_down=False,
        )
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    half = 0.36 * (x1 - x0 + y1 - y0) / 2
    square = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    # A die without a legible value is often cut off or hidden: accept either answer.
    visible = 1.0 if value else 0.3
    return Mark(square, value, -1.0, np.zeros(2), visible, exact=False)
