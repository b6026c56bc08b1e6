"""Specks and highlights on dice and dome: `python -m hil_tests.reader specks`.

Owns: seeded discs of 0.3 to 2.0 mm radius, dark and bright, sharp and soft, on the pictures of flat
tosses, and the count of what was verified wrongly. The same tosses without a disc are counted
beside, so that what the check costs is seen. Each result is a line in `var/specks`; a stopped run
goes on where it was.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hil_tests.reader.kept import results
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import MAX_FRAMES, read_still, readers, said
from hil_tests.reader.picture_damage import disc, with_grain
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses
from hil_tests.rig.plant.looks import pip_places
from vision.networks.classifier import DieFinder
from vision.shares import bounds
from vision.table.reader import TableReader

RADII_MM = (0.3, 2.0)
PLACES = ("centre", "empty place", "pip", "random", "dome")
_POOL = 12
"""Tosses of each compartment that the cases show in turn."""


def place_mm(kind: str, toss: Toss, die_mm: float, random: np.random.Generator) -> np.ndarray:
    """(3,) mm: where a disc lies on the top face of one die, or anywhere over the floor."""
    die = int(random.integers(3))
    top = toss.position_mm[die] + (0.0, 0.0, die_mm / 2)
    if kind == "dome":
        reach, turn = 30.0 * np.sqrt(random.random()), random.uniform(0, 2 * np.pi)
        return np.array([reach * np.cos(turn), reach * np.sin(turn), die_mm])
    level = [axis for axis in toss.rotation[die].T if abs(axis[2]) < 0.5]
    if kind == "random":
        u, v = random.uniform(-0.5, 0.5, 2)
    elif kind == "centre":
        u, v = 0.0, 0.0
    else:
        places = pip_places(toss.dice[die].value, are_empty=kind == "empty place")
        u, v = places[int(random.integers(len(places)))]
    scatter = random.normal(0, 0.1, 2)
    at = np.asarray(top + level[0] * (u * die_mm + scatter[0]) + level[1] * (v * die_mm))
    return at + level[1] * scatter[1]


def main(
    count: Annotated[int, typer.Option(min=1, help="Cases.")] = 200,
    seed: Seed = 1,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/specks"),
) -> None:
    """Count what specks and highlights make wrong; status 1 if more than 0.2 % is."""
    reader_of = readers(DieFinder(model))
    names = list(RIG.compartments)
    tosses = cache(lambda name: flat_tosses(RIG.compartments[name], seed, _POOL))
    camera_of = cache(lambda name, lens: RIG.camera(name, lens, 0, seed))

    def case(number: int) -> dict[str, Any]:
        random = np.random.default_rng((seed, number))
        name = names[number % len(names)]
        toss = tosses(name)[int(random.integers(_POOL))]
        camera = camera_of(name, int(random.integers(len(RIG.lenses))))
        return _case(
            reader_of(camera.calibration), camera, toss, PLACES[number % len(PLACES)], random
        )

    raise typer.Exit(1 if _report(results(out / f"specks-{seed}.jsonl", count, case)) else 0)


def _case(
    reader: TableReader, camera: RigCamera, toss: Toss, kind: str, random: np.random.Generator
) -> dict[str, Any]:
    at = camera.to_px(place_mm(kind, toss, camera.die_mm, random)[None])[0]
    radius_mm = float(random.uniform(*RADII_MM))
    radius_px = radius_mm * camera.calibration.px_per_mm(camera.die_mm)
    is_dark = bool(random.random() < 0.5)
    grey = float(random.uniform(5, 70) if is_dark else random.uniform(190, 255))
    soft_px = float(random.choice([0.5, 1.0, 1.5, 3.0, 5.0]))
    style = list(RIG.styles)[int(random.integers(len(RIG.styles)))]
    clean = [camera.picture(toss, style=style) for _ in range(MAX_FRAMES)]
    specked = [with_grain(disc(p, at, radius_px, grey, soft_px), random, 1.0) for p in clean]
    return {
        "kind": f"{'dark' if is_dark else 'bright'}, {kind}",
        "style": style,
        "radius_mm": radius_mm,
        "soft_px": soft_px,
        "grey": grey,
        "clean": said(read_still(reader, clean)[1], toss.values),
        "specked": said(read_still(reader, specked)[1], toss.values),
    }


def _report(done: list[dict[str, Any]]) -> bool:
    wrong = 0
    for kind in sorted({str(row["kind"]) for row in done}):
        rows = [row for row in done if row["kind"] == kind]
        counts = Counter(str(row["specked"]) for row in rows)
        wrong += counts["WRONG"]
        rest = ", ".join(f"{n} {name}" for name, n in counts.most_common())
        sys.stdout.write(f"  {kind:<20} {len(rows):>5}  {rest}\n")
    clean = Counter(str(row["clean"]) for row in done)
    low, high = bounds(wrong, len(done))
    sys.stdout.write(
        f"verified wrong: {wrong} of {len(done)}, 95 %: {low:.2%}-{high:.2%}; without a disc: "
        + ", ".join(f"{n} {name}" for name, n in clean.most_common())
        + "\n"
    )
    return wrong > 0.002 * len(done)
