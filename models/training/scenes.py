"""Sets of rendered scenes on disk: made once, found again by digest, resumed after a stop.

    python -m models.training.scenes raster --seed 1 --count 9000

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
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
from rich.progress import track

from models.training.raster import Picture, random_picture, table_picture
from models.training.snapshots import (
    house_picture,
    lean_picture,
    snapshot_picture,
    surface_picture,
)
from models.training.table_shots import RasterShots, TracedShots

RECIPES = {
    "raster": "raster-1", "table": "table-1", "mitsuba": "mitsuba-2", "snapshot": "snapshot-1",
    "lean": "lean-1", "surface": "surface-1",
    "shots": "shots-2", "traced-shots": "traced-shots-4",
    "taught-shots": "taught-shots-2", "lean-shots": "lean-shots-2", "house": "house-1",
    "quick-lean-shots": "quick-lean-shots-1", "clear-lean-shots": "clear-lean-shots-1",
    "patterned-shots": "patterned-shots-1", "clear-patterned-shots": "clear-patterned-shots-1",
}  # fmt: skip
"""Raise a number when a renderer changes what it draws: old sets are then drawn anew."""

CHUNK = 50

LEAST_SIZE, LEAST_SHOT = 64, 230
"""Pixels of a side that any picture needs, and one with a compartment whose dice have 41."""


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
        identity = f"{RECIPES[self.renderer]} {self.seed} {self.size} {self.held_out} {CHUNK}"
        digest = hashlib.sha256(identity.encode()).hexdigest()[:10]
        kind = "-heldout" if self.held_out else ""
        return root / f"{self.renderer}{kind}-{self.seed}-{digest}"


def painter(scenes: SceneSet) -> Callable[[np.random.Generator], Picture]:
    """The function that draws one picture of the set."""
    if scenes.renderer == "raster":
        return lambda rng: random_picture(rng, scenes.size, scenes.held_out)
    if scenes.renderer == "table":
        return lambda rng: table_picture(rng, scenes.size, scenes.held_out)
    if scenes.renderer == "snapshot":
        return lambda rng: snapshot_picture(rng, scenes.size)
    if scenes.renderer == "lean":
        return lambda rng: lean_picture(rng, scenes.size)
    if scenes.renderer == "shots":
        return RasterShots(scenes.size).picture
    if scenes.renderer == "traced-shots":
        return TracedShots(scenes.size).picture
    if scenes.renderer == "taught-shots":
        return TracedShots(scenes.size, is_taught=True).picture
    if scenes.renderer == "lean-shots":
        return TracedShots(scenes.size, is_taught=True, is_leaning=True).picture
    if scenes.renderer == "quick-lean-shots":
        return RasterShots(scenes.size, is_taught=True).picture
    if scenes.renderer == "clear-lean-shots":
        return RasterShots(scenes.size, is_taught=True, is_clear=True).picture
    if scenes.renderer == "clear-patterned-shots":
        return RasterShots(scenes.size, is_taught=True, is_clear=True, is_patterned=True).picture
    if scenes.renderer == "patterned-shots":
        return TracedShots(scenes.size, is_taught=True, is_patterned=True).picture
    if scenes.renderer == "house":
        return lambda rng: house_picture(rng, scenes.size)
    if scenes.renderer == "surface":
        return lambda rng: surface_picture(rng, scenes.size)
    # Mitsuba takes seconds to import and needs a library that only rendering machines have.
    from models.training.pathtrace import Studio

    studio = Studio(scenes.size, scenes.held_out)
    return studio.random_picture


def make(scenes: SceneSet, root: Path, processes: int, limit_s: float) -> Path:
    """Draw what is missing of the set; returns its folder. Stops early, whole, at the limit."""
    folder = scenes.folder(root)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [
        chunk
        for chunk in range(-(-scenes.count // CHUNK))
        if not (folder / f"{chunk:05d}.jsonl").exists()
    ]
    end = time.monotonic() + limit_s
    work = [(scenes, folder, chunk, end) for chunk in missing]
    with multiprocessing.get_context("spawn").Pool(processes, _quiet) as pool:
        for _ in track(
            pool.imap_unordered(_draw_chunk, work), f"{folder.name}", total=len(missing)
        ):
            pass
    return folder


def rows(folder: Path) -> Iterator[tuple[Path, dict]]:
    """Picture path and label row of every finished picture, in order."""
    for part in sorted(folder.glob("*.jsonl")):
        for line in part.read_text().splitlines():
            row = json.loads(line)
            yield folder / row["image"], row


def _quiet() -> None:
    cv2.setNumThreads(1)


_painters: dict[SceneSet, Callable[[np.random.Generator], Picture]] = {}


def _draw_chunk(work: tuple[SceneSet, Path, int, float]) -> None:
    scenes, folder, chunk, end = work
    if time.monotonic() > end:
        return
    if scenes not in _painters:
        _painters[scenes] = painter(scenes)
    lines = []
    for index in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        picture = _painters[scenes](np.random.default_rng([scenes.seed, index]))
        name = f"{index:06d}.jpg"
        cv2.imwrite(str(folder / name), picture.image, [cv2.IMWRITE_JPEG_QUALITY, 96])
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


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Render a set of labelled scenes.")
    parser.add_argument("renderer", choices=sorted(RECIPES))
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
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
    print(make(scenes, given.out, given.processes, given.limit_s))


if __name__ == "__main__":
    main()
