"""The whole way from seeds to a registered model: `make model`, or

    python -m models.training.recipe [--photos FOLDER …] [--out models]

Owns: the order of the steps and the numbers of the shipped model. Every step skips what it
finds done and goes on where it was stopped, so the command may be given again at any time.
Rendering takes about two hours and training an hour and a half on two idle cores (estimated
from a busy machine: 11 s of processor time for 1,000 samples, a second for a path-traced picture).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from models.training import evaluate, export, guess_corners, train
from models.training.export import read_manifest, write_manifest
from models.training.samples import photo_source, scene_source
from models.training.scenes import SceneSet, make
from vision.classifier import DieFinder

TRAINING_SETS = (
    (SceneSet("raster", seed=1, count=4000, size=448), 0.27),
    (SceneSet("table", seed=2, count=1000, size=448), 0.09),
    (SceneSet("table", seed=3, count=4000, size=448), 0.29),
    (SceneSet("mitsuba", seed=1, count=150, size=320), 0.04),
    (SceneSet("mitsuba", seed=2, count=2000, size=320), 0.08),
)
"""What is learnt from, and how often each is drawn once photographs are mixed in."""

HELD_OUT_SETS = (
    SceneSet("raster", seed=1001, count=300, size=448, held_out=True),
    SceneSet("table", seed=1002, count=300, size=448, held_out=True),
)

PHOTO_SHARE = 0.23
"""Of all samples in the second stage, shared between the photograph sets."""


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Render, train, export and measure the model.")
    parser.add_argument("--photos", type=Path, nargs="*", default=[], help="at most two sources")
    parser.add_argument("--check", type=Path, nargs="*", default=[], help="photographs to report")
    parser.add_argument("--work", type=Path, default=Path("var"))
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    scene_root = given.work / "scenes"
    folders = [
        make(scenes, scene_root, given.threads, limit_s=7200.0)
        for scenes in (*(each for each, _ in TRAINING_SETS), *HELD_OUT_SETS)
    ]
    sources = [
        scene_source(folder, share)
        for folder, (_, share) in zip(folders, TRAINING_SETS, strict=False)
    ]
    first = train.train(
        sources, given.work / "first", images=100_000, size=256, seed=1, peak_rate=2e-3,
        begin=None, workers=1,
    )  # fmt: skip
    guesses = given.work / "guesses.json"
    if given.photos and not guesses.exists():
        draft = given.work / "draft"
        draft.mkdir(parents=True, exist_ok=True)
        export.register(export.export(first, draft, "dice"), draft, {})
        finder = DieFinder(draft)
        found = {k: v for f in given.photos for k, v in guess_corners.guess(finder, f).items()}
        guesses.write_text(json.dumps(found))
    sources += [
        photo_source(folder, guesses, PHOTO_SHARE / len(given.photos)) for folder in given.photos
    ]
    last = train.train(
        sources, given.work / "second", images=172_000, size=256, seed=6, peak_rate=1.5e-3,
        begin=first, workers=1,
    )  # fmt: skip
    training = {
        "seed": 1,
        "scene_sets": [folder.name for folder in folders[: len(TRAINING_SETS)]],
        "photographs": [folder.name for folder in given.photos],
    }
    export.register(export.export(last, given.out, "dice"), given.out, training)
    _measure(given.out, folders[len(TRAINING_SETS) :], [*given.photos, *given.check])


def _measure(out: Path, held_out: list[Path], photos: list[Path]) -> None:
    manifest = read_manifest(out)
    finder = DieFinder(out)
    tallies = evaluate.measure_scenes(finder, held_out, manifest["thresholds"]["score"])
    manifest["thresholds"] = evaluate.choose_thresholds(list(tallies.values()))
    score = manifest["thresholds"]["score"]
    tallies = evaluate.measure_scenes(finder, held_out, score)
    tallies |= {f.name: evaluate.measure(finder, evaluate.photo_pictures(f), score) for f in photos}
    manifest["figures"] = {name: tally.figures() for name, tally in tallies.items()}
    evaluate.draw_curves(tallies, manifest["thresholds"], out / "figures")
    write_manifest(out, manifest)


if __name__ == "__main__":
    main()
