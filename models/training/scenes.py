"""Sets of rendered scenes on disk: made once, found again by digest, resumed after a stop.

    python -m models.training scenes traced shots taught leaning --seed 19 --count 1600 --size 288

Owns: the folder layout and its resumption. Must not know: what is in a picture. A kind of picture
is a renderer, a scene, and options of the scene. A set is `<folder>/<kind>-<seed>-<digest>/`, where
the digest covers the scene's recipe and every parameter. Chunks of pictures are finished by their
`NNNNN.jsonl`; one without it is drawn again, the same, since each picture has its own generator.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import cv2
import numpy as np
from rich.progress import track

from models.training import pictures
from models.training.layout import RenderedPicture
from models.training.table_shots import (
    CLEAR,
    OPTIONS,
    VARIED,
    WILD,
    Painter,
    RasterPainter,
    TableShots,
)

Draw = Callable[[np.random.Generator], RenderedPicture]

CHUNK = 50
"""Pictures that are finished together; counts are rounded up to it."""


@dataclasses.dataclass(frozen=True, slots=True)
class SceneSet:
    """Which pictures: the same values always mean the same pictures."""

    kind: str
    """Renderer, scene and options, such as `traced shots taught`; see `painter`."""
    seed: int
    count: int
    size: int
    held_out: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError as `require_kind`."""
        require_kind(self.kind, self.held_out)

    def folder(self, root: Path) -> Path:
        """Where the set lies under `root`; the count does not matter, sets may grow."""
        identity = f"{self.kind} {_RECIPE} {self.seed} {self.size} {self.held_out} {CHUNK}"
        digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
        held_out = "-heldout" if self.held_out else ""
        return root / f"{'-'.join(self.kind.split())}{held_out}-{self.seed}-{digest}"

    @property
    def is_traced(self) -> bool:
        return self.kind.startswith(TRACED)

    @property
    def min_size(self) -> int:
        """Pixels of a side that a picture needs: more for a compartment whose dice have 41."""
        words = self.kind.split()
        return 230 if SHOTS in words and WILD not in words else 80


QUICK, TRACED, SHOTS = "quick", "traced", "shots"

_RECIPE = 6
"""To raise when scenes are drawn otherwise: old sets are then drawn anew."""

_OPTIONS = {
    QUICK: tuple(option for option in OPTIONS if option != VARIED),
    TRACED: tuple(option for option in OPTIONS if option != CLEAR),
}
"""Of `shots`, in this order."""


def require_kind(kind: str, held_out: bool = False) -> None:
    """Raise ValueError, naming what there is, for a kind that cannot be drawn."""
    renderer, scene, *options = [*kind.split(), "", ""][: max(2, len(kind.split()))]
    scenes = {QUICK: (*pictures.SCENES, SHOTS), TRACED: (SHOTS,)}.get(renderer, ())
    if not scenes:
        raise ValueError(f"the renderer is {QUICK} or {TRACED}, not {renderer!r}")
    if scene not in scenes:
        raise ValueError(f"{renderer} draws {', '.join(scenes)}, not {scene!r}")
    known = _OPTIONS[renderer] if scene == SHOTS else ()
    if options != [option for option in known if option in options]:
        raise ValueError(
            f"{kind!r}: the options of {renderer} {scene} are, in this order: "
            f"{' '.join(known) or 'none'}"
        )
    if held_out and scene not in ("loose", SHOTS):
        raise ValueError(f"only loose and {SHOTS} can be held out")


def painter(scenes: SceneSet) -> Draw:
    """What draws a picture of the set from its generator."""
    renderer, scene, *words = scenes.kind.split()
    if scene != SHOTS:
        draw = partial(pictures.SCENES[scene], size=scenes.size)
        return partial(draw, held_out=True) if scenes.held_out else draw
    options = frozenset(words)
    if renderer == QUICK:
        table: Painter = RasterPainter(options)
    else:
        # Mitsuba takes seconds to import and needs a library that only rendering machines have.
        from models.training.pathtrace import Studio

        table = Studio(options)
    return TableShots(scenes.size, options, table, scenes.held_out).picture


def make(scenes: SceneSet, root: Path, processes: int) -> Path:
    """Draw what is missing of one set; returns its folder."""
    list(draw_missing([scenes], root, processes))
    return scenes.folder(root)


def draw_missing(
    sets: Sequence[SceneSet], root: Path, processes: int
) -> Iterator[tuple[int, float]]:
    """Draw what is missing, the first set first: of each finished chunk the number of its set, and
    its seconds of one process."""
    chunks = [
        (number, scenes, scenes.folder(root), chunk)
        for number, scenes in enumerate(sets)
        for chunk in range(-(-scenes.count // CHUNK))
    ]
    missing = [each for each in chunks if not _is_whole(*each[2:])]
    if not missing:
        return
    with multiprocessing.get_context("spawn").Pool(processes, _quiet) as pool:
        done = pool.imap(_draw_chunk, missing)
        made = track(done, "pictures", len(chunks), len(chunks) - len(missing))
        yield from ((number, seconds) for (number, *_), seconds in zip(missing, made, strict=True))


def _is_whole(folder: Path, chunk: int) -> bool:
    """True if a chunk has all its rows and pictures: a disk may have been full, a copy cut off."""
    try:
        lines = (folder / f"{chunk:05d}.jsonl").read_text("utf-8").splitlines()
        names = [json.loads(line)["image"] for line in lines]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return len(names) == CHUNK and all((folder / name).is_file() for name in names)


def rows(folder: Path) -> Iterator[tuple[Path, dict]]:
    """Picture path and label row of every finished picture, in order."""
    for part in sorted(folder.glob("*.jsonl")):
        for line in part.read_text().splitlines():
            row = json.loads(line)
            yield folder / row["image"], row


def _quiet() -> None:
    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer


_painter = cache(painter)


def _draw_chunk(task: tuple[int, SceneSet, Path, int]) -> float:
    """Its seconds."""
    began = time.monotonic()
    _, scenes, folder, chunk = task
    folder.mkdir(parents=True, exist_ok=True)
    draw = _painter(scenes)
    lines = []
    for index in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        picture = draw(np.random.default_rng([scenes.seed, index]))
        name = f"{index:06d}.jpg"
        if not cv2.imwrite(str(folder / name), picture.image, [cv2.IMWRITE_JPEG_QUALITY, 96]):
            raise OSError(f"{folder / name} cannot be written. Is the disk full?")
        row = {
            "image": name,
            "width": picture.camera.size,
            "height": picture.camera.size,
            "dice": [dataclasses.asdict(die) for die in picture.labels],
            "notes": picture.notes,
        }
        if picture.calibration is not None:
            row["calibration"] = picture.calibration
        lines.append(json.dumps(row))
    part = folder / f"{chunk:05d}.part"
    part.write_text("\n".join(lines) + "\n")
    part.rename(part.with_suffix(".jsonl"))
    return time.monotonic() - began
