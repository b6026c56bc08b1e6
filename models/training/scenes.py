"""Sets of rendered scenes on disk: made once, found again by digest, resumed after a stop.

    python -m models.training.scenes raster --seed 1 --count 3700

Owns: the folder layout and its resumption. Must not know: what is in a picture. A set is
`<folder>/<renderer>-<seed>-<digest>/`, where the digest covers the renderer's recipe and every
parameter. Chunks of pictures are finished by their `NNNNN.jsonl`; a chunk without it is drawn
again, and comes out the same, because each picture has its own generator.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from models.training.raster import Picture, random_picture, table_picture
from models.training.snapshots import (
    house_picture,
    lean_picture,
    snapshot_picture,
    surface_picture,
)
from models.training.table_shots import RasterShots, TracedShots

Painter = Callable[[np.random.Generator], Picture]
Kind = Callable[[int, bool], Painter]
"""From a size in pixels, and whether to draw what is kept for tests, to what draws a picture."""

CHUNK = 50
"""Pictures that are finished together; counts are rounded up to it."""

LEAST_SIZE, LEAST_SHOT = 80, 230
"""Pixels of a side that any picture needs, and one with a compartment whose dice have 41."""


class ScenesUnfinishedError(Exception):
    """The time was over before the set was whole. What is finished stays as it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class SceneSet:
    """Which pictures: the same values always mean the same pictures."""

    renderer: str
    seed: int
    count: int
    size: int
    held_out: bool = False

    def folder(self, root: Path) -> Path:
        """Where the set lies under `root`; the count does not matter, sets may grow."""
        identity = f"{_KINDS[self.renderer][0]} {self.seed} {self.size} {self.held_out} {CHUNK}"
        digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
        kind = "-heldout" if self.held_out else ""
        return root / f"{self.renderer}{kind}-{self.seed}-{digest}"


def _mitsuba(size: int, held_out: bool) -> Painter:
    # Mitsuba takes seconds to import and needs a library that only rendering machines have.
    from models.training.pathtrace import Studio

    return Studio(size, held_out).random_picture


def _by_size(draw: Callable[[np.random.Generator, int], Picture]) -> Kind:
    """A kind that has no styles kept for tests."""
    return lambda size, held_out: lambda rng: draw(rng, size)


_KINDS: dict[str, tuple[str, Kind]] = {
    "raster": ("raster-1", lambda size, held_out: lambda rng: random_picture(rng, size, held_out)),
    "table": ("table-1", lambda size, held_out: lambda rng: table_picture(rng, size, held_out)),
    "mitsuba": ("mitsuba-2", _mitsuba),
    "snapshot": ("snapshot-1", _by_size(snapshot_picture)),
    "lean": ("lean-1", _by_size(lean_picture)),
    "house": ("house-1", _by_size(house_picture)),
    "surface": ("surface-1", _by_size(surface_picture)),
    "shots": ("shots-2", lambda size, _: RasterShots(size).picture),
    "traced-shots": ("traced-shots-4", lambda size, _: TracedShots(size).picture),
    "taught-shots": (
        "taught-shots-2",
        lambda size, _: TracedShots(size, is_taught=True).picture,
    ),
    "lean-shots": (
        "lean-shots-2",
        lambda size, _: TracedShots(size, is_taught=True, is_leaning=True).picture,
    ),
    "quick-lean-shots": (
        "quick-lean-shots-1",
        lambda size, _: RasterShots(size, is_taught=True).picture,
    ),
    "clear-lean-shots": (
        "clear-lean-shots-1",
        lambda size, _: RasterShots(size, is_taught=True, is_clear=True).picture,
    ),
    "patterned-shots": (
        "patterned-shots-1",
        lambda size, _: TracedShots(size, is_taught=True, is_patterned=True).picture,
    ),
    "clear-patterned-shots": (
        "clear-patterned-shots-1",
        lambda size, _: RasterShots(size, is_taught=True, is_clear=True, is_patterned=True).picture,
    ),
}
"""What each renderer draws now, and what draws it. Raise the number when it draws something else:
old sets are then drawn anew."""

RENDERERS = tuple(sorted(_KINDS))


def make(scenes: SceneSet, root: Path, processes: int, limit_s: float) -> Path:
    """Draw what is missing of the set; returns its folder.

    Raises ScenesUnfinishedError when the limit came first.
    """
    folder = scenes.folder(root)
    folder.mkdir(parents=True, exist_ok=True)
    chunks = range(-(-scenes.count // CHUNK))
    missing = [chunk for chunk in chunks if not _is_whole(folder, chunk)]
    end = time.monotonic() + limit_s
    work = [(scenes, folder, chunk, end) for chunk in missing]
    drawn = 0
    with (
        multiprocessing.get_context("spawn").Pool(processes, _quiet) as pool,
        Progress(*Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn()) as bar,
    ):
        task = bar.add_task(folder.name, total=len(chunks), completed=len(chunks) - len(missing))
        for is_drawn in pool.imap_unordered(_draw_chunk, work):
            drawn += is_drawn
            bar.advance(task, is_drawn)
    if drawn < len(missing):
        finished = (len(chunks) - len(missing) + drawn) * CHUNK
        raise ScenesUnfinishedError(
            f"{folder}: {finished} of {len(chunks) * CHUNK} pictures after {limit_s:g} s. "
            "The same command again goes on from there; --limit-s gives it longer."
        )
    return folder


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


_painters: dict[SceneSet, Painter] = {}


def _draw_chunk(work: tuple[SceneSet, Path, int, float]) -> bool:
    """False: the time was over before."""
    scenes, folder, chunk, end = work
    if time.monotonic() > end:
        return False
    if scenes not in _painters:
        draws = _KINDS[scenes.renderer][1]
        _painters[scenes] = draws(scenes.size, scenes.held_out)
    lines = []
    for index in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        picture = _painters[scenes](np.random.default_rng([scenes.seed, index]))
        name = f"{index:06d}.jpg"
        if not cv2.imwrite(str(folder / name), picture.image, [cv2.IMWRITE_JPEG_QUALITY, 96]):
            raise OSError(f"{folder / name} cannot be written. Is the disk full?")
        camera = picture.camera
        row = {
            "image": name,
            "width": camera.width,
            "height": camera.height,
            "dice": [dataclasses.asdict(die) for die in picture.labels],
            "notes": picture.notes,
        }
        if picture.calibration is not None:
            row["calibration"] = picture.calibration
        lines.append(json.dumps(row))
    part = folder / f"{chunk:05d}.part"
    part.write_text("\n".join(lines) + "\n")
    part.rename(part.with_suffix(".jsonl"))
    return True


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Render a set of labelled scenes.")
    parser.add_argument("renderer", choices=RENDERERS)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--count", type=int, required=True, help=f"pictures, rounded up to whole {CHUNK}s"
    )
    parser.add_argument("--size", type=int, default=448, help="picture width and height, pixels")
    parser.add_argument("--held-out", action="store_true", help="dice and floors kept for tests")
    parser.add_argument("--out", type=Path, default=Path("var/scenes"))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit-s", type=float, default=7200.0, help="stop after this time")
    given = parser.parse_args()
    least = LEAST_SHOT if given.renderer.endswith("shots") else LEAST_SIZE
    for name, number, at_least in (
        ("seed", given.seed, 0), ("count", given.count, 1), ("size", given.size, least),
        ("processes", given.processes, 1), ("limit-s", given.limit_s, 1),
    ):  # fmt: skip
        if not number >= at_least:
            parser.error(f"--{name} must be {at_least} or more, not {number:g}")
    scenes = SceneSet(given.renderer, given.seed, given.count, given.size, given.held_out)
    try:
        scenes.folder(given.out).mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # the second for links that lead in a circle
        parser.error(f"cannot make a folder in --out {given.out}: {error}")
    try:
        print(make(scenes, given.out, given.processes, given.limit_s))
    except (ScenesUnfinishedError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where this one was", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
