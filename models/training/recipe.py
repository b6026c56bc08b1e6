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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomlkit

from models.training import evaluate, export, finder, near_look, photo_look
from models.training.optimiser import averaged
from models.training.quantise import DICE
from models.training.samples import SampleSource, guess_corners, photo_source, scene_source
from models.training.scenes import CHUNK, SceneSet, draw_missing
from models.training.small_net import BATCH
from vision.networks.model_card import MODELS, digest_of

SHIPPED = Path(__file__).with_name("recipe.toml")
_LOOKS = ("near", "photo")


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """One run of the optimiser."""

    name: str
    samples: int
    seed: int
    shares: Mapping[str, float]
    """Which sets are drawn, and how often; the near look draws each die as often as any other."""
    photos: float = 0.0
    """Share of the samples, shared between the photograph sets."""
    rate: float = 2e-3
    """The highest learning rate."""
    begin: str | None = None
    """A checkpoint to begin with, instead of the usual one: a stage of the finder begins with that
    of the stage before, the photo look with layers of the near look, the others with none."""

    def shortened(self, sets: Mapping[str, SceneSet], samples: int) -> TrainingStage:
        """The stage with those of its sets that there are, and other samples."""
        shares = {name: share for name, share in self.shares.items() if name in sets}
        return replace(self, shares=shares, samples=samples)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The numbers of the networks. A network without a stage is not made."""

    sets: Mapping[str, SceneSet]
    finder: Sequence[TrainingStage] = ()
    """One after the other."""
    looks: Mapping[str, TrainingStage] = field(default_factory=dict)
    """`near` and `photo`."""
    held_out: Sequence[str] = ()
    """Sets that thresholds are chosen on."""
    size: int = 256
    """Pixels of a side of the finder's samples."""

    @classmethod
    def read(cls, file: Path) -> TrainingPlan:
        """Raises ValueError for a set that is not known, TypeError or KeyError for other keys."""
        table = tomllib.loads(file.read_text("utf-8"))
        stages = table.pop("stages")
        sets = {name: SceneSet(**one) for name, one in table.pop("sets").items()}
        looks = {name: TrainingStage(name, **stages.pop(name)) for name in _LOOKS if name in stages}
        rest = [TrainingStage(name, **one) for name, one in stages.items()]
        named = {name for stage in (*rest, *looks.values()) for name in stage.shares}
        if unknown := named.union(table.get("held_out", ())) - set(sets):
            raise ValueError(f"no set {', '.join(sorted(unknown))}")
        if rest and rest[0].photos and not rest[0].begin:
            raise ValueError(f"{rest[0].name}: no network yet that guesses corners on photographs")
        return cls(sets, rest, looks, **table)

    def only(self, look: str) -> TrainingPlan:
        """This plan with one look and its sets. What it begins with is the shipped networks."""
        sets = {name: self.sets[name] for name in self.looks[look].shares}
        return replace(self, sets=sets, finder=(), looks={look: self.looks[look]}, held_out=())

    def rehearsal(self) -> TrainingPlan:
        """Return this plan with one chunk of small pictures a set, two batches a stage, and no path
        tracing, whose library not every machine has."""
        sets = {
            name: replace(one, count=CHUNK, size=max(96, one.min_size))
            for name, one in self.sets.items()
            if not one.is_traced
        }
        return replace(
            self, sets=sets, size=96,
            finder=[stage.shortened(sets, 2 * finder.BATCH) for stage in self.finder],
            looks={name: stage.shortened(sets, 2 * BATCH) for name, stage in self.looks.items()},
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


def follow(
    plan: TrainingPlan,
    work: Path,
    out: Path,
    photos: Sequence[Path],
    processes: int,
) -> None:
    """Render, train, export and measure; `out` then holds networks, manifest and record."""
    work.mkdir(parents=True, exist_ok=True)
    record = RecipeRecord(work / "record.toml")

    names, sets_of = list(plan.sets), list(plan.sets.values())
    limit_s = 7200.0 * len(names)
    for number, seconds in draw_missing(sets_of, work / "scenes", processes, limit_s):
        record.spent(names[number], seconds)
    folders = {name: one.folder(work / "scenes") for name, one in plan.sets.items()}
    for name, one in plan.sets.items():
        with record.step(name, seed=one.seed, pictures=one.count) as row:
            row["sha256"] = _sha256(each.read_bytes() for each in sorted(folders[name].iterdir()))

    def shown(
        stage: TrainingStage, folder: Path, weights: Path | None = None
    ) -> list[SampleSource]:
        """What a stage sees; photographs with the corners that these weights see on them, or the
        finder that was made."""
        sources = [scene_source(folders[name], share) for name, share in stage.shares.items()]
        if not photos or not stage.photos:
            return sources
        guesses, model = folder / "guesses.json", work / "int8" if plan.finder else MODELS
        if not guesses.exists():
            if weights is not None:
                model = folder / "draft"
                model.mkdir(parents=True, exist_ok=True)
                finder.export_exact(weights, model)
                export.register(model, {})
            folder.mkdir(parents=True, exist_ok=True)
            guesses.write_text(json.dumps(guess_corners(model, photos, processes)))
        share = stage.photos / len(photos)
        return sources + [photo_source(folder, guesses, share) for folder in photos]

    taught: Path | None = None
    for stage in plan.finder:
        folder = work / stage.name
        with record.step(stage.name, seed=stage.seed, samples=stage.samples) as row:
            begin = Path(stage.begin) if stage.begin else taught
            sources = shown(stage, folder, begin)
            taught = finder.train(
                sources, folder, stage.samples, plan.size, stage.seed, stage.rate, begin,
                processes - 1,
            )  # fmt: skip
            row["sha256"] = _sha256(part.numpy().tobytes() for part in averaged(taught).values())
    used = {name for stage in plan.finder for name in stage.shares}
    sets = [folders[name] for name in plan.sets if name in used]
    made = []
    if taught is not None:
        made.append(finder.export(taught, sets, taught.parent, work / "int8"))
        export.register(work / "int8", {})
    for name, stage in plan.looks.items():
        folder = work / name
        path = folder / "int8" / f"{name}.onnx"
        made.append(path)
        if path.exists():
            continue
        with record.step(name, seed=stage.seed, samples=stage.samples) as row:
            numbers = (folder, stage.samples, stage.seed, processes - 1)
            begin = Path(stage.begin) if stage.begin else None
            if name == "near":
                shots = [folders[each] for each in stage.shares]
                near = near_look.train(shots, *numbers, begin, stage.rate)
                near_look.export(near, shots, folder, path.parent)
            else:
                sources = shown(stage, folder)
                before = (work / "near" / "near.pt", SHIPPED.with_name("near.pt"))
                begin = begin or next(filter(Path.exists, before))
                photo = photo_look.train(sources, *numbers, begin, stage.rate)
                photo_look.export(photo, sources, folder, path.parent)
            row["sha256"] = digest_of(path)
    # What lies in `out` before may be the networks that came with the clone: it counts for nothing,
    # and stays whole until all are there.
    out.mkdir(parents=True, exist_ok=True)
    for path in (*made, work / "record.toml"):
        shutil.copy2(path, out)
    if taught is not None:
        training = {
            "seed": plan.finder[0].seed,
            "scene_sets": [folder.name for folder in sets],
            "photographs": [folder.name for folder in photos],
        }
        export.register(out, training)
        held_out = [folders[name] for name in plan.held_out]
        evaluate.measure_all(out, held_out, chooses=True)
    elif (out / DICE).exists():
        export.register(out, {})


def _sha256(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
