"""How well a finder reads rendered sets, in counts.

Owns: matching, counting, and the threshold that follows from the counts. Must not know the second
reader, nor photographs: `hil_tests.reader.photographs` counts the whole reading on those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from models.training import scenes
from models.training.export import read_manifest, write_manifest
from models.training.libraries import libraries
from vision.networks.classifier import DieFinder, FoundDie
from vision.pictures import load
from vision.quads import edge_of, match

MIN_SCORE = 0.1
_CLEARLY_VISIBLE = 0.75


@dataclass(slots=True)
class LabelledDie:
    """One labelled die: enough to tell whether it was found and read."""

    corners: np.ndarray
    """(4, 2) of its top face, pixels."""
    value: int
    is_required: bool

    @property
    def side(self) -> float:
        return edge_of(self.corners)


@dataclass(slots=True)
class SetTally:
    """Everything counted on one set."""

    counts: Counter[str] = field(default_factory=Counter)
    """By the names of the manifest."""
    corner_gaps: list[float] = field(default_factory=list)
    """Mean corner distance of each found die, in edges."""

    hits: list[tuple[float, bool]] = field(default_factory=list)
    """Per found thing: score, and whether it is a die."""

    def figures(self) -> dict[str, int | float]:
        """The counts and two rates, for the manifest."""
        told = ["images", "exact", "dice", "found", "valued", "right", "spurious"]
        if self.counts["of_three"]:
            told += ["of_three", "exact_of_three"]
        figures: dict[str, int | float] = {name: self.counts[name] for name in told}
        figures["recall"] = round(self.counts["found"] / max(self.counts["dice"], 1), 4)
        figures["value_accuracy"] = round(self.counts["right"] / max(self.counts["valued"], 1), 4)
        if self.corner_gaps:
            figures["corner_error_median_edges"] = round(float(np.median(self.corner_gaps)), 4)
        return figures


def scene_pictures(folder: Path, most: int) -> Iterator[tuple[np.ndarray, list[LabelledDie]]]:
    """Pictures of a rendered set with what is in them."""
    for path, row in islice(scenes.rows(folder), most):
        yield (
            load(path),
            [
                LabelledDie(
                    np.array(die["corners"]), die["value"], die["visible"] > _CLEARLY_VISIBLE
                )
                for die in row["dice"]
            ],
        )


def count(tally: SetTally, found: list[FoundDie], wanted: list[LabelledDie], score: float) -> None:
    """Match by centre and count. Things under `score` count for the choice of
    thresholds alone."""
    centres = np.array([die.corners.mean(axis=0) for die in wanted]).reshape(-1, 2)
    others = np.array([one.centre for one in found]).reshape(-1, 2)
    near = match(centres, others, np.array([0.5 * die.side for die in wanted]))
    partner = {i: j for j, i in near.items()}
    tally.hits += [
        (one.score, i in partner)
        for i, one in enumerate(found)
        if i not in partner or wanted[partner[i]].is_required
    ]
    kept = {i for i, one in enumerate(found) if one.score >= score}
    seen = {j: found[i] for i, j in partner.items() if i in kept}
    spurious = len(kept - partner.keys())
    required = [j for j, die in enumerate(wanted) if die.is_required]
    both = [(seen[j], wanted[j]) for j in required if j in seen]
    rights = [one.value == die.value for one, die in both]
    tally.corner_gaps += [_corner_gap(one.corners, die.corners) / die.side for one, die in both]
    is_exact = not spurious and len(both) == len(required) and all(rights)
    is_of_three = len(required) == 3 == len(wanted)
    tally.counts.update(
        images=1, exact=int(is_exact), dice=len(required), found=len(both), valued=len(rights),
        right=sum(rights), spurious=spurious, of_three=int(is_of_three),
        exact_of_three=int(is_exact and is_of_three),
    )  # fmt: skip


def _corner_gap(found: np.ndarray, wanted: np.ndarray) -> float:
    return min(
        float(np.linalg.norm(np.roll(ring, k, axis=0) - found, axis=1).mean())
        for ring in (wanted, wanted[::-1])
        for k in range(4)
    )


def measure(finder: DieFinder, folder: Path, most: int, score: float) -> SetTally:
    """Read so many pictures of a rendered set."""
    tally = SetTally()
    for image, wanted in scene_pictures(folder, most):
        count(tally, finder.find(image, min_score=MIN_SCORE), wanted, score)
    return tally


def choose_thresholds(tallies: list[SetTally]) -> dict[str, float]:
    """From the rendered held-out sets: the score with the best F1 of precision and recall."""
    hits = [hit for tally in tallies for hit in tally.hits]
    scores, is_die = np.array([s for s, _ in hits]), np.array([d for _, d in hits])
    total = sum(tally.counts["dice"] for tally in tallies)
    levels = np.linspace(0.15, 0.7, 56)
    both = [2 * is_die[scores >= s].sum() / (total + (scores >= s).sum()) for s in levels]
    return {"score": round(float(levels[np.argmax(both)]), 2)}


def measure_all(out: Path, sets: Sequence[Path], most: int = 10_000, chooses: bool = False) -> None:
    """Measure the model in `out` and write its manifest. `most`: pictures of each set; `chooses`:
    also choose the thresholds anew, and forget figures under others."""
    finder, manifest = DieFinder(out), read_manifest(out)

    def tallies() -> dict[str, SetTally]:
        score = float(manifest["thresholds"]["score"])
        return {folder.name: measure(finder, folder, most, score) for folder in sets}

    counted = tallies()
    if chooses:
        manifest["thresholds"] = choose_thresholds(list(counted.values()))
        manifest["figures"] = {}
        counted = tallies()
    manifest["libraries"] = libraries()
    for name, tally in counted.items():
        manifest.setdefault("figures", {})[name] = tally.figures()
        print(name, tally.figures())
    write_manifest(out, manifest)
