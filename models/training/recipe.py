"""The whole way from seeds to a registered model: `make model`, or

    python -m models.training.recipe [--photos FOLDER …] [--out models] [--rehearse]

Owns: the order of the steps and the numbers of the shipped model. Every step skips what it
finds done and goes on where it was stopped, so the command may be given again at any time.
Rendering and training take about an hour and a half each on two idle cores (estimated from a busy
machine: 10 ms of one core for a sample's step and 5 ms of the other to make it, 0.2 s for a
rendered picture and 0.5 s for a path-traced one). `--rehearse` walks the whole way in small steps
and ships nothing worth having.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from models.training import evaluate, export, guess_corners, train
from models.training.export import read_manifest, write_manifest
from models.training.quantise import quantise
from models.training.samples import Source, photo_source, scene_source
from models.training.scenes import CHUNK, SceneSet, make
from vision.classifier import DieFinder


@dataclass(frozen=True, slots=True)
class Taught:
    """A rendered set and how often it is drawn: in the first two stages, and in the last."""

    scenes: SceneSet
    share: float
    last_share: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers of a model."""

    taught: tuple[Taught, ...] = (
        Taught(SceneSet("raster", seed=1, count=3700, size=448), 0.27, 0.0),
        Taught(SceneSet("table", seed=2, count=1000, size=448), 0.09, 0.0),
        Taught(SceneSet("table", seed=3, count=4000, size=448), 0.29, 0.0),
        Taught(SceneSet("mitsuba", seed=1, count=150, size=320), 0.04, 0.0),
        Taught(SceneSet("mitsuba", seed=2, count=500, size=320), 0.08, 0.0),
        Taught(SceneSet("raster", seed=11, count=2950, size=448), 0.0, 0.13),
        Taught(SceneSet("table", seed=13, count=2300, size=448), 0.0, 0.22),
        Taught(SceneSet("taught-shots", seed=17, count=1800, size=288), 0.0, 0.22),
        Taught(SceneSet("lean", seed=15, count=600, size=416), 0.0, 0.11),
        Taught(SceneSet("snapshot", seed=14, count=700, size=416), 0.0, 0.08),
        Taught(SceneSet("surface", seed=16, count=300, size=512), 0.0, 0.02),
        Taught(SceneSet("mitsuba", seed=12, count=200, size=320), 0.0, 0.03),
    )
    held_out: tuple[SceneSet, ...] = (
        SceneSet("raster", seed=1001, count=300, size=448, held_out=True),
        SceneSet("table", seed=1002, count=150, size=448, held_out=True),
    )
    photo_share: float = 0.23
    """Of the second stage's samples, shared between the photograph sets."""
    last_photo_share: float = 0.19
    first_images: int = 100_000
    second_images: int = 172_000
    last_images: int = 300_000
    size: int = 256
    workers: int = 1

    def rehearsal(self) -> Plan:
        """The same steps with one chunk of small pictures a set and two batches a stage; without
        path tracing, whose library not every machine has."""

        def small(scenes: SceneSet) -> SceneSet:
            return replace(scenes, count=CHUNK, size=96)

        return replace(
            self,
            taught=tuple(
                replace(each, scenes=small(each.scenes))
                for each in self.taught
                if each.scenes.renderer not in ("mitsuba", "taught-shots")
            ),
            held_out=tuple(small(each) for each in self.held_out),
            first_images=2 * train.BATCH,
            second_images=2 * train.BATCH,
            last_images=2 * train.BATCH,
            size=96,
            workers=0,
        )


def follow(
    plan: Plan, work: Path, out: Path, photos: Sequence[Path], check: Sequence[Path], processes: int
) -> None:
    """Render, train, export and measure; `out` then holds model, manifest and curves."""
    root = work / "scenes"
    folders = [make(each.scenes, root, processes, limit_s=7200.0) for each in plan.taught]
    held_out = [make(scenes, root, processes, limit_s=7200.0) for scenes in plan.held_out]

    def sources(name: str) -> list[Source]:
        return [
            scene_source(folder, getattr(each, name))
            for folder, each in zip(folders, plan.taught, strict=True)
            if getattr(each, name)
        ]

    first = train.train(
        sources("share"), work / "first", plan.first_images, plan.size, seed=1, peak_rate=2e-3,
        begin=None, workers=plan.workers,
    )  # fmt: skip
    second = train.train(
        sources("share") + _photos(photos, first, work / "first", plan.photo_share),
        work / "second", plan.second_images, plan.size, seed=6, peak_rate=1.5e-3, begin=first,
        workers=plan.workers,
    )  # fmt: skip
    final = train.train(
        sources("last_share") + _photos(photos, second, work / "second", plan.last_photo_share),
        work / "last", plan.last_images, plan.size, seed=61, peak_rate=1.5e-3, begin=second,
        workers=plan.workers,
    )  # fmt: skip
    training = {
        "seed": 1,
        "scene_sets": [folder.name for folder in folders],
        "photographs": [folder.name for folder in photos],
    }
    out.mkdir(parents=True, exist_ok=True)
    exact = export.export(final, work / "last", "dice")
    path = quantise(exact, folders, out / "dice.onnx")
    export.register(path, out, training)
    _measure(out, held_out, [*photos, *check])


def _photos(photos: Sequence[Path], taught: Path, work: Path, share: float) -> list[Source]:
    """The photographs with the corners that the checkpoint `taught` sees on them."""
    if not photos:
        return []
    guesses = work / "guesses.json"
    if not guesses.exists():
        draft = work / "draft"
        draft.mkdir(parents=True, exist_ok=True)
        export.register(export.export(taught, draft, "dice"), draft, {})
        finder = DieFinder(draft)
        found = {k: v for folder in photos for k, v in guess_corners.guess(finder, folder).items()}
        guesses.write_text(json.dumps(found))
    return [photo_source(folder, guesses, share / len(photos)) for folder in photos]


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


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Render, train, export and measure the model.")
    parser.add_argument("--photos", type=Path, nargs="*", default=[], help="at most two sources")
    parser.add_argument("--check", type=Path, nargs="*", default=[], help="photographs to report")
    parser.add_argument("--work", type=Path, default=Path("var"))
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--rehearse", action="store_true",
        help="a few pictures and samples only, into WORK/rehearsal: does every step still run?",
    )  # fmt: skip
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    plan, work, out = Plan(), given.work, given.out
    if given.rehearse:
        plan, work = plan.rehearsal(), work / "rehearsal"
        out = work / "models"
    follow(plan, work, out, given.photos, given.check, given.threads)


if __name__ == "__main__":
    main()
