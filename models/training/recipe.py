"""The whole way from seeds to a registered model: `make model`.

Owns: the order of the steps and the numbers of the shipped model. Every step skips what it
finds done and goes on where it was stopped, so the command may be given again at any time.
Rendering takes about two hours and training about five on two idle cores, more than two of them
for the near look and most of one for the photo look (estimated from a busy machine: 10 ms of one
core for a sample's step and 5 ms of the other to make it, 5 and 1 ms for a near look's, 0.2 s of
one core for a rendered picture and 0.6 s for a path-traced one). `--rehearse` walks the whole way
in small steps and ships nothing worth having.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from models.training import evaluate, export, guess_corners, near_look, photo_look, train
from models.training.export import NEAR, PHOTO
from models.training.quantise import quantise
from models.training.samples import SampleSource, photo_source, scene_source
from models.training.scenes import CHUNK, SceneSet, make
from models.training.small_net import BATCH


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
                replace(each, count=CHUNK, size=each.min_size)
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
        shots = [render(scenes) for scenes in plan.near_sets]
        looker = near_look.train(shots, work / "near", plan.near_samples, 81, plan.workers)
        near_look.export(looker, shots, work / "near", near.parent)
    photo = work / "photo" / "int8" / PHOTO
    if not photo.exists():
        export.register(finder, finder.parent, {})
        sources = [scene_source(render(scenes), share) for scenes, share in plan.photo_sets]
        sources += _photo_sources(
            photos, work / "photo" / "guesses.json", finder.parent, plan.photo_look_share
        )
        # It begins with the layers of the near look in float32.
        looks = photo_look.train(
            sources, work / "photo", plan.photo_look_samples, 91, plan.workers, work / "near" / NEAR
        )
        photo_look.export(looks, sources, work / "photo", photo.parent)
    # What lies in `out` before may be the networks that came with the clone: it counts for nothing,
    # and stays whole until all three are there.
    out.mkdir(parents=True, exist_ok=True)
    for path in (finder, near, photo):
        shutil.copy2(path, out)
    export.register(out / finder.name, out, training)
    evaluate.measure_all(out, held_out, [*photos, *check], chooses=True)


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
    exact = export.export(taught, taught.parent)
    to = work / "int8"
    to.mkdir(parents=True, exist_ok=True)
    return quantise(exact, folders, to / exact.name)


def _photos(photos: Sequence[Path], taught: Path, share: float) -> list[SampleSource]:
    """The photographs with the corners that the checkpoint `taught` sees on them."""
    guesses = taught.parent / "guesses.json"
    draft = taught.parent / "draft"
    if not guesses.exists():
        draft.mkdir(parents=True, exist_ok=True)
        export.register(export.export(taught, draft), draft, {})
    return _photo_sources(photos, guesses, draft, share)


def _photo_sources(
    photos: Sequence[Path], guesses: Path, model: Path, share: float
) -> list[SampleSource]:
    """The photographs with the corners that a model sees on them, kept in the file `guesses`."""
    if photos and not guesses.exists():
        guesses.parent.mkdir(parents=True, exist_ok=True)
        guesses.write_text(json.dumps(guess_corners.guess_all(model, photos)))
    return [photo_source(folder, guesses, share / len(photos)) for folder in photos]
