"""Both readers of values on the same tables: `python -m hil_tests.reader taught FOLDER...`.

Owns: which shots are one table's, the tosses held back, and the counts per table. A table's flat
tosses teach in turn: each part of them is read by what the other parts teach. A toss is taught as a
table would: with the places where the network sees dice, if its values are the confirmed ones.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hil_tests.reader.cases import Case, scene_cases
from hil_tests.reader.options import Model
from vision.findings import Findings
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.shares import bounds
from vision.table.confirmed import confirmed_toss
from vision.table.reader import TableReader
from vision.taught.learning import Toss, teach
from vision.taught.own_rate import SURE
from vision.taught.reader import TaughtReader, TaughtReading

Values = tuple[int, ...] | None
"""What a reader says of a toss; None: it is not sure of all dice."""
COUNTS = ("network", "second", "taught", "network and second", "network and taught")


@dataclass(frozen=True, slots=True, eq=False)
class _Shot:
    case: Case
    image: np.ndarray
    found: Findings


def main(
    folders: Annotated[list[Path], typer.Argument(help="Sets of calibrated shots.")],
    parts: Annotated[int, typer.Option(min=2, help="Parts of a table's tosses.")] = 5,
    model: Model = None,
) -> None:
    """Count which values each second reader has right; status 1 if both readers of a toss err."""
    finder = DieFinder(model)
    total: Counter[str] = Counter()
    for folder in folders:
        tables = itertools.groupby(scene_cases(folder, set()), key=lambda case: case.calibration)
        for number, (calibration, cases) in enumerate(tables):
            reader = TableReader(finder, calibration)
            shots = [_shot(reader, case) for case in cases if case.truth == "flat"]
            counts = Counter(itertools.chain.from_iterable(_counted(shots, parts)))
            _write(f"{folder.name} {number} {shots[0].case.look if shots else ''}", counts)
            total += counts
    _write("all", total)
    raise typer.Exit(1 if total["taught wrong with the network"] else 0)


def _shot(reader: TableReader, case: Case) -> _Shot:
    image = case.shoot()
    return _Shot(case, image, reader.look(Frame(image, 0.0, 0)))


def _counted(shots: Sequence[_Shot], parts: int) -> Iterator[list[str]]:
    """What is true of each toss that the others can teach."""
    for part in range(parts):
        others = [_confirmed(shot) for i, shot in enumerate(shots) if i % parts != part]
        tosses = [toss for toss in others if toss is not None]
        held = shots[part::parts]
        if not held or not tosses:
            continue
        reader = TaughtReader(held[0].case.calibration, teach(held[0].case.calibration, tosses))
        for shot in held:
            yield _truths(shot, _stated(reader.read(shot.image)))


def _confirmed(shot: _Shot) -> Toss | None:
    frame, case = Frame(shot.image), shot.case
    return confirmed_toss(frame, shot.found, case.values, case.calibration)


def _stated(reading: TaughtReading) -> Values:
    is_sure = all(die.margin >= SURE for die in reading.dice)
    return tuple(sorted(die.value for die in reading.dice)) if is_sure else None


def _truths(shot: _Shot, taught: Values) -> list[str]:
    true, found = shot.case.values, shot.found
    network = tuple(sorted(die.value for die in found.model))
    faces = [die.face.value for die in found.second.dice] if found.second is not None else []
    second = tuple(sorted(value for value in faces if value is not None))
    by_second = second if len(second) == len(faces) else None
    right = {"network": network == true, "second": by_second == true, "taught": taught == true}
    names = ["flat", *(name for name, is_right in right.items() if is_right)]
    for name, values in (("second", by_second), ("taught", taught)):
        if right["network"] and right[name]:
            names.append(f"network and {name}")
        if values is not None and len(values) == len(true) and values != true:
            names.append(f"{name} wrong")
            names += [f"{name} wrong with the network"] if values == network else []
    return names


def _write(name: str, counts: Counter[str]) -> None:
    flat = counts["flat"]
    low = {what: f"{bounds(counts[what], flat)[0]:.0%}" for what in COUNTS}
    says = ", ".join(f"{what} {counts[what]} (at least {low[what]})" for what in COUNTS)
    wrong = ", ".join(f"{what} {n}" for what, n in sorted(counts.items()) if "wrong" in what)
    sys.stdout.write(f"{name}: {flat} flat: {says}; {wrong or 'none wrong'}\n")
    sys.stdout.flush()
