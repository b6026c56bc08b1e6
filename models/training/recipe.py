"""The whole way from seeds to a registered model: `make model`, or

    python -m models.training.recipe [--photos FOLDER …] [--out models] [--rehearse]

Owns: the order of the steps and the numbers of the shipped model. Every step skips what it
finds done and goes on where it was stopped, so the command may be given again at any time.
Rendering takes about two hours and training about five on two idle cores, more than two of them
for the near look and most of one for the photo look (estimated from a busy machine: 10 ms of one
core for a sample's step and 5 ms of the other to make it, 5 and 1 ms for a near look's, 0.2 s of
one core for a rendered picture and 0.6 s for a path-traced one). `--rehearse` walks the whole way
in small steps and ships nothing worth having.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from models.training import evaluate, export, guess_corners, near_look, photo_look, train
from models.training.export import NEAR, PHOTO, read_manifest, write_manifest
from models.training.libraries import libraries
from models.training.quantise import quantise
from models.training.samples import SampleSource, photo_source, scene_source
from models.training.scenes import (
    CHUNK,
    MIN_SHOT,
    SceneSet,
    ScenesUnfinishedError,
    make,
)
from models.training.small_net import BATCH
from vision.errors import VisionError
from vision.networks.classifier import DieFinder
from vision.photo.labels import read_labels

_MAX_SOURCES = 2
"""Of photographs to train on: the others are for measuring."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One run of the optimiser, begun from the weights of the one before."""

    name: str
    images: int
    seed: int
    peak_rate: float
    photo_share: float
    """Of its samples, shared between the photograph sets."""


@dataclass(frozen=True, slots=True)
class Taught:
    """A rendered set and how often it is drawn, for each stage."""

    scenes: SceneSet
    shares: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers of a model."""

    stages: tuple[Stage, ...] = (
        Stage("first", 100_000, seed=1, peak_rate=2e-3, photo_share=0.0),
        Stage("second", 172_000, seed=6, peak_rate=1.5e-3, photo_share=0.23),
        Stage("third", 300_000, seed=61, peak_rate=1.5e-3, photo_share=0.19),
        Stage("last", 150_000, seed=71, peak_rate=1.5e-3, photo_share=0.18),
    )
    taught: tuple[Taught, ...] = (
        Taught(SceneSet("quick loose", seed=1, count=3700, size=448), (0.27, 0.27, 0.0, 0.0)),
        Taught(SceneSet("quick table", seed=2, count=1000, size=448), (0.09, 0.09, 0.0, 0.0)),
        Taught(SceneSet("quick table", seed=3, count=4000, size=448), (0.29, 0.29, 0.0, 0.0)),
        Taught(SceneSet("traced loose", seed=1, count=150, size=320), (0.04, 0.04, 0.0, 0.0)),
        Taught(SceneSet("traced loose", seed=2, count=500, size=320), (0.08, 0.08, 0.0, 0.0)),
        Taught(SceneSet("quick loose", seed=11, count=2950, size=448), (0.0, 0.0, 0.13, 0.08)),
        Taught(SceneSet("quick table", seed=13, count=2300, size=448), (0.0, 0.0, 0.22, 0.13)),
        Taught(
            SceneSet("traced shots taught", seed=17, count=1800, size=288), (0.0, 0.0, 0.22, 0.10)
        ),
        Taught(
            SceneSet("traced shots taught", seed=18, count=1500, size=288), (0.0, 0.0, 0.0, 0.10)
        ),
        Taught(
            SceneSet("traced shots taught leaning", seed=19, count=1600, size=288),
            (0.0, 0.0, 0.0, 0.16),
        ),
        Taught(SceneSet("quick lean", seed=15, count=600, size=416), (0.0, 0.0, 0.11, 0.05)),
        Taught(SceneSet("quick snapshot", seed=14, count=700, size=416), (0.0, 0.0, 0.08, 0.07)),
        Taught(SceneSet("quick house", seed=20, count=1300, size=384), (0.0, 0.0, 0.0, 0.12)),
        Taught(SceneSet("quick surface", seed=16, count=300, size=512), (0.0, 0.0, 0.02, 0.02)),
        Taught(SceneSet("traced loose", seed=12, count=200, size=320), (0.0, 0.0, 0.03, 0.02)),
    )
    near_sets: tuple[SceneSet, ...] = (
        SceneSet("traced shots taught", seed=17, count=1800, size=288),
        SceneSet("traced shots taught", seed=18, count=1500, size=288),
        SceneSet("traced shots taught leaning", seed=19, count=1600, size=288),
        SceneSet("traced shots taught leaning", seed=23, count=2000, size=288),
        SceneSet("quick shots taught leaning", seed=21, count=2600, size=340),
        SceneSet("quick shots taught leaning", seed=24, count=1800, size=340),
        SceneSet("quick shots taught leaning clear", seed=26, count=1500, size=340),
        SceneSet("traced shots taught leaning", seed=25, count=900, size=288),
        SceneSet("traced shots taught leaning", seed=27, count=1600, size=288),
        SceneSet("traced shots taught patterned", seed=29, count=2400, size=288),
        SceneSet("quick shots taught leaning clear patterned", seed=31, count=1600, size=340),
    )
    """Calibrated sets, for the network that looks at one die at a time (`near_look`)."""
    near_samples: int = 1_780_000
    photo_sets: tuple[tuple[SceneSet, float], ...] = (
        (SceneSet("quick snapshot", seed=35, count=2400, size=416), 0.34),
        (SceneSet("quick house", seed=20, count=1300, size=384), 0.12),
        (SceneSet("quick loose", seed=11, count=2950, size=448), 0.14),
        (SceneSet("traced shots taught patterned", seed=29, count=2400, size=288), 0.05),
        (SceneSet("traced shots taught leaning", seed=27, count=1600, size=288), 0.03),
    )
    """Sets and shares for the network that looks at one thing of a photograph (`photo_look`)."""
    photo_look_samples: int = 450_000
    photo_look_share: float = 0.32
    """Of its samples, shared between the photograph sets."""
    held_out: tuple[SceneSet, ...] = (
        SceneSet("quick loose", seed=1001, count=300, size=448, held_out=True),
        SceneSet("quick table", seed=1002, count=150, size=448, held_out=True),
    )
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
                if not each.scenes.is_traced
            ),
            near_sets=tuple(
                replace(each, count=CHUNK, size=MIN_SHOT)
                for each in self.near_sets
                if not each.is_traced
            ),
            near_samples=2 * BATCH,
            photo_sets=tuple(
                (small(scenes), share) for scenes, share in self.photo_sets if not scenes.is_traced
            ),
            photo_look_samples=2 * BATCH,
            held_out=tuple(small(each) for each in self.held_out),
            stages=tuple(replace(stage, images=2 * train.BATCH) for stage in self.stages),
            size=96,
            workers=0,
        )


def follow(
    plan: Plan, work: Path, out: Path, photos: Sequence[Path], check: Sequence[Path], processes: int
) -> None:
    """Render, train, export and measure; `out` then holds model, manifest and curves."""

    def render(scenes: SceneSet) -> Path:
        return make(scenes, work / "scenes", processes, limit_s=7200.0)

    folders = [render(each.scenes) for each in plan.taught]
    held_out = [render(scenes) for scenes in plan.held_out]
    training = {
        "seed": 1,
        "scene_sets": [folder.name for folder in folders],
        "photographs": [folder.name for folder in photos],
    }
    finder = _teach_finder(plan, work, folders, photos)
    near = work / "near" / "int8" / NEAR
    if not near.exists():
        _teach_near_look(plan, work, near.parent, [render(scenes) for scenes in plan.near_sets])
    photo = work / "photo" / "int8" / PHOTO
    if not photo.exists():
        sources = [scene_source(render(scenes), share) for scenes, share in plan.photo_sets]
        _teach_photo_look(plan, work, finder, photo.parent, sources, photos)
    # What lies in `out` before may be the networks that came with the clone: it counts for nothing,
    # and stays whole until all three are there.
    out.mkdir(parents=True, exist_ok=True)
    for path in (finder, near, photo):
        shutil.copy2(path, out)
    export.register(out / finder.name, out, training)
    _measure(out, held_out, [*photos, *check])


def _teach_finder(plan: Plan, work: Path, folders: Sequence[Path], photos: Sequence[Path]) -> Path:
    """The network in int8, from the last stage's checkpoint, each begun from the one before."""
    taught: Path | None = None
    for number, stage in enumerate(plan.stages):
        sources = [
            scene_source(folder, each.shares[number])
            for folder, each in zip(folders, plan.taught, strict=True)
            if each.shares[number]
        ]
        if taught is not None and photos:
            sources += _photos(photos, taught, stage.photo_share)
        taught = train.train(
            sources, work / stage.name, stage.images, plan.size, stage.seed, stage.peak_rate,
            begin=taught, workers=plan.workers,
        )  # fmt: skip
    assert taught is not None
    exact = export.export(taught, taught.parent, "dice")
    to = work / "int8"
    to.mkdir(parents=True, exist_ok=True)
    return quantise(exact, folders, to / exact.name)


def _teach_near_look(plan: Plan, work: Path, to: Path, shots: Sequence[Path]) -> None:
    net = near_look.train(shots, work / "near", plan.near_samples, seed=81, workers=plan.workers)
    near_look.export(net, shots, work / "near", to)


def _teach_photo_look(
    plan: Plan,
    work: Path,
    finder: Path,
    to: Path,
    sources: list[SampleSource],
    photos: Sequence[Path],
) -> None:
    """With the corners that `finder` sees on the photographs, begun with the near look's layers."""
    if photos:
        guesses = work / "photo" / "guesses.json"
        export.register(finder, finder.parent, {})
        sources = sources + _photo_sources(photos, guesses, finder.parent, plan.photo_look_share)
    looker = photo_look.train(
        sources, work / "photo", plan.photo_look_samples, seed=91, workers=plan.workers,
        near=work / "near" / NEAR,
    )  # fmt: skip
    photo_look.export(looker, sources, work / "photo", to)


def _photos(photos: Sequence[Path], taught: Path, share: float) -> list[SampleSource]:
    """The photographs with the corners that the checkpoint `taught` sees on them."""
    guesses = taught.parent / "guesses.json"
    draft = taught.parent / "draft"
    if not guesses.exists():
        draft.mkdir(parents=True, exist_ok=True)
        export.register(export.export(taught, draft, "dice"), draft, {})
    return _photo_sources(photos, guesses, draft, share)


def _photo_sources(
    photos: Sequence[Path], guesses: Path, model: Path, share: float
) -> list[SampleSource]:
    """The photographs with the corners that a model sees on them, kept in the file `guesses`."""
    if not guesses.exists():
        finder = DieFinder(model)
        found = {k: v for folder in photos for k, v in guess_corners.guess(finder, folder).items()}
        guesses.parent.mkdir(parents=True, exist_ok=True)
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
    manifest["libraries"] = libraries()
    manifest["figures"] = {name: tally.figures() for name, tally in tallies.items()}
    evaluate.draw_curves(tallies, float(score), out / "figures")
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
    if len(given.photos) > _MAX_SOURCES:
        parser.error(f"--photos: at most {_MAX_SOURCES} sources are trained on; others: --check")
    for folder in (*given.photos, *given.check):
        try:
            labels = list(read_labels(folder))
        except VisionError as error:
            parser.error(f"{folder}: {error}")
        if not labels:
            parser.error(f"{folder}: no photographs with labels")
    torch.set_num_threads(given.threads)
    plan, work, out = Plan(), given.work, given.out
    if given.rehearse:
        plan, work = plan.rehearsal(), work / "rehearsal"
        out = work / "models"
    try:
        follow(plan, work, out, given.photos, given.check, given.threads)
    except ScenesUnfinishedError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where this one was", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
