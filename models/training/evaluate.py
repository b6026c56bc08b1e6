"""How well a finder reads rendered sets, in counts, and the threshold that follows from them.

Must not know the second reader, nor photographs: `hil_tests.reader.photographs` counts the whole
reading on those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from models.training.manifest import register
from models.training.scenes import rows
from vision.networks.classifier import DieFinder
from vision.pictures import load
from vision.quads import edge_of, match

_MIN_SCORE = 0.1
_CLEARLY_VISIBLE = 0.75
_LEVELS = np.linspace(0.15, 0.7, 56)


@dataclass(slots=True)
class SetTally:
    """What a finder found in one set."""

    images: int = 0
    dice: int = 0
    """That are clearly visible, so that they have to be found."""
    found: list[tuple[float, bool, bool]] = field(default_factory=list)
    """Score of each thing; whether it is such a die; whether its value is right. A die that is
    hardly visible counts for nothing."""

    def figures(self, score: float) -> dict[str, int]:
        """The counts with that threshold."""
        seen = [(is_die, is_right) for level, is_die, is_right in self.found if level >= score]
        dice = sum(is_die for is_die, _ in seen)
        return {
            "images": self.images, "dice": self.dice, "found": dice,
            "right": sum(is_right for _, is_right in seen), "spurious": len(seen) - dice,
        }  # fmt: skip


def measure(finder: DieFinder, folder: Path) -> SetTally:
    """Read every picture of a rendered set; findings and dice are matched by their centres."""
    tally = SetTally()
    for path, row in rows(folder):
        found, dice = finder.find(load(path), min_score=_MIN_SCORE), row["dice"]
        corners = [np.array(die["corners"]) for die in dice]
        centres = np.array([each.mean(axis=0) for each in corners]).reshape(-1, 2)
        others = np.array([one.centre for one in found]).reshape(-1, 2)
        near = match(centres, others, np.array([0.5 * edge_of(each) for each in corners]))
        die_of = {i: dice[j] for j, i in near.items()}
        tally.images += 1
        tally.dice += sum(die["visible"] > _CLEARLY_VISIBLE for die in dice)
        for i, one in enumerate(found):
            die = die_of.get(i)
            if die is None or die["visible"] > _CLEARLY_VISIBLE:
                is_right = die is not None and die["value"] == one.value
                tally.found.append((one.score, die is not None, is_right))
    return tally


def choose_score(tallies: Sequence[SetTally]) -> float:
    """The threshold with the best F1 of precision and recall."""
    things = [(score, is_die) for tally in tallies for score, is_die, _ in tally.found]
    found = np.array(things).reshape(-1, 2)
    dice = max(sum(tally.dice for tally in tallies), 1)
    above = found[:, :1] >= _LEVELS
    f1 = 2 * (above & (found[:, 1:] > 0)).sum(axis=0) / (dice + above.sum(axis=0))
    return round(float(_LEVELS[np.argmax(f1)]), 2)


def measure_all(out: Path, sets: Sequence[Path], training: dict[str, Any]) -> None:
    """Choose the threshold of the model in `out` on held-out sets; write it and its figures into
    the manifest, with what the model was trained on."""
    register(out)
    finder = DieFinder(out)
    tallies = {folder.name: measure(finder, folder) for folder in sets}
    score = choose_score(list(tallies.values()))
    figures = {name: tally.figures(score) for name, tally in tallies.items()}
    print(score, figures)
    register(out, {"thresholds": {"score": score}, "training": training, "figures": figures})
