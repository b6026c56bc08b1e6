"""The whole way from seeds to registered networks: `make model`.

Owns: the order of the steps, and the record of what was done. The numbers are in `recipe.toml`.
Every step skips what it finds done and goes on where it was stopped, so the command may be given
again at any time. `--rehearse` walks the whole way in small steps and ships nothing worth having.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit

from models.training import evaluate, export, finder, near_look, photo_look
from models.training.manifest import register
from models.training.optimiser import Run, averaged
from models.training.samples import SampleSource, guess_corners, photo_source, scene_source
from models.training.scenes import CHUNK, SceneSet, draw_missing
from models.training.small_net import BATCH
from vision.networks.model_card import digest_of

NUMBERS = Path(__file__).with_name("recipe.toml")


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """One run of the optimiser. A stage of the finder begins with the weights of the stage before,
    the photo look with layers of the near look."""

    name: str
    samples: int
    seed: int
    shares: Mapping[str, float]
    """Which sets are drawn, and how often; the near look draws each die as often as any other."""
    photos: float = 0.0
    """Share of the samples, shared between the photograph sets."""
    rate: float = 2e-3
    """The highest learning rate."""

    def shortened(self, sets: Mapping[str, SceneSet], batch: int) -> TrainingStage:
        """The stage with those of its sets that there are, and two batches."""
        shares = {name: share for name, share in self.shares.items() if name in sets}
        return replace(self, shares=shares, samples=2 * batch)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The numbers of the three networks."""

    sets: Mapping[str, SceneSet]
    finder: Sequence[TrainingStage]
    """One after the other."""
    near: TrainingStage
    photo: TrainingStage
    held_out: Sequence[str]
    """Sets that the threshold is chosen on."""
    size: int
    """Pixels of a side of the finder's samples."""

    @classmethod
    def read(cls, file: Path = NUMBERS) -> TrainingPlan:
        """The plan that a file holds."""
        table = tomllib.loads(file.read_text("utf-8"))
        sets = {name: SceneSet(**one) for name, one in table["sets"].items()}
        *stages, near, photo = (TrainingStage(name, **one) for name, one in table["stages"].items())
        return cls(sets, stages, near, photo, table["held_out"], table["size"])

    def rehearsal(self) -> TrainingPlan:
        """Return this plan with one chunk of small pictures a set, two batches a stage, and no path
        tracing, whose library not every machine has."""
        small = {
            name: replace(one, count=CHUNK, size=max(96, one.min_size))
            for name, one in self.sets.items()
            if not one.is_traced
        }
        return replace(self, size=96).with_sets(small)

    def with_sets(self, sets: Mapping[str, SceneSet]) -> TrainingPlan:
        """Return this plan with these sets alone and two batches a stage."""
        return replace(
            self, sets=sets,
            finder=[stage.shortened(sets, finder.BATCH) for stage in self.finder],
            near=self.near.shortened(sets, BATCH), photo=self.photo.shortened(sets, BATCH),
            held_out=[name for name in self.held_out if name in sets],
        )  # fmt: skip


class RecipeRecord:
    """What was done: of each step its numbers, its seconds over all runs, and what came of it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._steps = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}

    def spent(self, name: str, seconds: float) -> None:
        """Add to the time of a step."""
        row = self._steps.setdefault(name, {"seconds": 0.0})
        row["seconds"] = round(row["seconds"] + seconds, 1)
        self._file.write_text(tomlkit.dumps(self._steps), "utf-8")

    @contextmanager
    def step(self, name: str, **numbers: Any) -> Iterator[dict[str, Any]]:
        """Count the time of a step, also of one that is stopped; add what the caller puts in."""
        row = self._steps.setdefault(name, {"seconds": 0.0})
        row |= numbers
        began = time.monotonic()
        try:
            yield row
        finally:
            self.spent(name, time.monotonic() - began)


@dataclass(frozen=True, slots=True)
class _Course:
    """One way through a plan."""

    plan: TrainingPlan
    work: Path
    photos: Sequence[Path]
    processes: int
    record: RecipeRecord

    def folder(self, name: str) -> Path:
        """Where a set lies."""
        return self.plan.sets[name].folder(self.work / "scenes")

    def render(self) -> None:
        """Draw the sets, or what is missing of them."""
        sets = list(self.plan.sets.values())
        names = list(self.plan.sets)
        for number, seconds in draw_missing(sets, self.work / "scenes", self.processes):
            self.record.spent(names[number], seconds)
        for name, one in self.plan.sets.items():
            with self.record.step(name, seed=one.seed, pictures=one.count) as row:
                files = sorted(self.folder(name).iterdir())
                row["sha256"] = _sha256(each.read_bytes() for each in files)

    def run(self, stage: TrainingStage, batch: int, state: str) -> Run:
        saved = self.work / stage.name / state
        return Run(saved, stage.samples, batch, self.processes - 1, stage.rate)

    def shown(self, stage: TrainingStage, weights: Path | None) -> list[SampleSource]:
        """What a stage sees; photographs with the corners that a finder of these weights sees."""
        sources = [scene_source(self.folder(name), share) for name, share in stage.shares.items()]
        if not self.photos or not stage.photos or weights is None:
            return sources
        guesses, draft = self.work / stage.name / "guesses.json", self.work / stage.name / "draft"
        if not guesses.exists():
            net = finder.ExportedDieNet(finder.restored(weights))
            export.export_exact(net, finder.GRAPH, draft)
            register(draft)
            guesses.write_text(json.dumps(guess_corners(draft, self.photos, self.processes)))
        share = stage.photos / len(self.photos)
        return sources + [photo_source(folder, guesses, share) for folder in self.photos]

    def finder(self) -> Path:
        """Teach the finder, stage by stage; returns its checkpoint."""
        weights: Path | None = None
        for stage in self.plan.finder:
            with self.record.step(stage.name, seed=stage.seed, samples=stage.samples) as row:
                run = self.run(stage, finder.BATCH, "latest.pt")
                sources = self.shown(stage, weights)
                weights = finder.train(sources, self.plan.size, stage.seed, run, weights)
                row["sha256"] = _sha256(
                    part.numpy().tobytes() for part in averaged(weights).values()
                )
        assert weights is not None
        return weights

    def near(self) -> Path:
        """Teach and export the near look; returns its file."""
        stage = self.plan.near
        with self._look(stage) as path:
            if not path.exists():
                sets = [self.folder(name) for name in stage.shares]
                net = near_look.train(sets, stage.seed, self.run(stage, BATCH, "near.pt"))
                near_look.export(net, sets, self.work / stage.name, path.parent)
        return path

    def photo(self, weights: Path) -> Path:
        """Teach and export the photo look; returns its file. `weights`: the finder's."""
        stage = self.plan.photo
        with self._look(stage) as path:
            if not path.exists():
                sources = self.shown(stage, weights)
                near, run = self.work / "near" / "near.pt", self.run(stage, BATCH, "photo.pt")
                net = photo_look.train(sources, near, stage.seed, run)
                photo_look.export(net, sources, self.work / stage.name, path.parent)
        return path

    @contextmanager
    def _look(self, stage: TrainingStage) -> Iterator[Path]:
        path = self.work / stage.name / "int8" / f"{stage.name}.onnx"
        with self.record.step(stage.name, seed=stage.seed, samples=stage.samples) as row:
            yield path
            row["sha256"] = digest_of(path)


def follow(
    plan: TrainingPlan, work: Path, out: Path, photos: Sequence[Path], processes: int
) -> None:
    """Render, train, export and measure; `out` then holds networks, manifest and record."""
    work.mkdir(parents=True, exist_ok=True)
    course = _Course(plan, work, photos, processes, RecipeRecord(work / "record.toml"))
    course.render()
    weights = course.finder()
    used = {name for stage in plan.finder for name in stage.shares}
    sets = [course.folder(name) for name in plan.sets if name in used]
    net = finder.ExportedDieNet(finder.restored(weights))
    dice = export.export(net, finder.GRAPH, finder.examples(sets), weights.parent, work / "int8")
    made = (dice, course.near(), course.photo(weights), work / "record.toml")
    # What lies in `out` before may be the networks that came with the clone: it counts for nothing,
    # and stays whole until all are there.
    out.mkdir(parents=True, exist_ok=True)
    for path in made:
        shutil.copy2(path, out)
    training = {
        "seed": plan.finder[0].seed,
        "scene_sets": [folder.name for folder in sets],
        "photographs": [folder.name for folder in photos],
    }
    evaluate.measure_all(out, [course.folder(name) for name in plan.held_out], training)


def _sha256(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
