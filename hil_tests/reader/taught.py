"""The taught reader beside the one for any dice: `python -m hil_tests.reader taught [FOLDER...]`.

Owns: tables of the rig before a stereo camera, each taught by tosses of its own, what both readers
make of the same pictures there, and how well the tables of sets of calibrated shots, which one lens
sees, read their own tosses. Each result of the rig is a line in `var/taught`; a run that was
stopped goes on.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hil_tests.reader.cases import scene_cases
from hil_tests.reader.kept import digest_of, results
from hil_tests.reader.leaning import SUPPORTS, lean
from hil_tests.reader.lost_pips import LEFT, WORN, lost_pip
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import MAX_FRAMES, read_still, said
from hil_tests.reader.picture_damage import disc, with_grain
from hil_tests.reader.samples import STEREO
from hil_tests.reader.specks import PLACES, SHADES, place_mm, some_disc
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses, tosses
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.shares import bounds
from vision.table.confirmed import confirmed_toss
from vision.table.reader import TableReader
from vision.taught import Missed, rate, teach
from vision.taught import Toss as TaughtToss

KINDS = ("flat", "not flat", "held up", "speck", "lost pip")
TAUGHT = 30
"""Confirmed tosses of a table."""
_POOL = 60
"""Flat tosses of a compartment: those that teach, and those that are shown."""
_DOME_MM = 60.0
_HELD_DEG, _STEEP_DEG = (6.0, 20.0), (20.0, 45.0)
_TRIES = 30
"""Tosses of a table among which some may not be flat; where they are too few, a die is tipped."""

Shots = Iterator[np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A taught table of the rig."""

    name: str
    camera: RigCamera
    flat: Sequence[Toss]
    fallen: Sequence[Toss]
    readers: dict[str, TableReader]


def main(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Sets of calibrated shots, instead of the rig.", show_default=False),
    ] = None,
    tables: Annotated[int, typer.Option(min=1, help="Tables of the rig.")] = 8,
    count: Annotated[int, typer.Option(min=1, help="Cases of each kind at a table.")] = 10,
    seed: Seed = 1,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/taught"),
) -> None:
    """Count what both readers state; status 1 if the taught one states what is not so."""
    finder = DieFinder(model)
    if folders:
        raise typer.Exit(1 if _rates(finder, folders) else 0)
    order = [
        (compartment, lens, style)
        for compartment in STEREO.compartments
        for lens in range(len(STEREO.lenses))
        for style in STEREO.styles
    ]
    np.random.default_rng(seed).shuffle(order)
    table_of = lru_cache(maxsize=1)(partial(_table, finder, order, seed))
    each = len(KINDS) * count

    def case(number: int) -> dict[str, Any]:
        table, (kind, index) = table_of(number // each), divmod(number % each, count)
        return _case(table, KINDS[kind], index, np.random.default_rng((seed, number)))

    done = results(out / f"taught-{seed}-{count}-{digest_of(finder)}.jsonl", tables * each, case)
    raise typer.Exit(1 if _report(done) else 0)


def _table(
    finder: DieFinder, order: Sequence[tuple[str, int, str]], seed: int, number: int
) -> _Table:
    """A table of the rig, and both readers of it."""
    compartment, lens, style = order[number % len(order)]
    camera = _camera(compartment, int(lens), seed).with_dice(style)
    calibration, shape = camera.calibration, STEREO.compartments[compartment]
    flat = flat_tosses(shape, seed + number, _POOL)
    many = itertools.islice(tosses(shape, seed + number), _TRIES)
    fallen = [toss for toss in many if toss.truth == "not flat"]
    classical = TableReader(finder, calibration)
    frames = [Frame(camera.picture(toss)) for toss in flat[:TAUGHT]]
    confirmed = [
        confirmed_toss(frame, classical.look(frame), toss.values, calibration)
        for frame, toss in zip(frames, flat, strict=False)
    ]
    teaching = teach(calibration, [toss for toss in confirmed if toss is not None])
    return _Table(
        f"{compartment} {lens} {style}", camera, flat, fallen,
        {"classical": classical, "taught": TableReader(finder, calibration, teaching=teaching)},
    )  # fmt: skip


@cache
def _camera(compartment: str, lens: int, seed: int) -> RigCamera:
    return STEREO.camera(compartment, lens, 0, seed)


def _case(table: _Table, kind: str, index: int, random: np.random.Generator) -> dict[str, Any]:
    show, values, cell = _shown(table, kind, index, random)
    pictures = list(itertools.islice(show(), MAX_FRAMES))
    verdicts = {
        name: said(read_still(reader, pictures)[1], values)
        for name, reader in table.readers.items()
    }
    return {"table": table.name, "kind": kind, "cell": cell, **verdicts}


def _shown(
    table: _Table, kind: str, index: int, random: np.random.Generator
) -> tuple[Callable[[], Shots], tuple[int, ...], str]:
    """Pictures of one case, its true values, and what tells it from others of its kind."""
    camera = table.camera
    flat = table.flat[TAUGHT + int(random.integers(_POOL - TAUGHT))]
    if kind == "flat":
        flat = table.flat[TAUGHT + index % (_POOL - TAUGHT)]
        return _pictures(camera, flat), flat.values, ""
    if kind == "not flat":
        steep = flat.tilted(float(random.uniform(*_STEEP_DEG)), random, camera.die_mm)
        toss = table.fallen[index] if index < len(table.fallen) else steep
        return _pictures(camera, toss), toss.values, ""
    if kind == "held up":
        support = SUPPORTS[index % len(SUPPORTS)]
        held: Toss | None = None
        while held is None:
            held = lean(
                table.flat[int(random.integers(_POOL))], support, float(random.uniform(*_HELD_DEG)),
                camera.calibration.compartment_radius_mm, camera.die_mm, random,
            )  # fmt: skip
        return _pictures(camera, held, coin=support == "coin"), held.values, support
    if kind == "speck":
        return _specked(camera, flat, PLACES[index % len(PLACES)], random)
    worn = [toss for toss in table.flat if set(WORN) & set(toss.values)]
    toss = worn[int(random.integers(len(worn)))]
    die = int(random.choice([i for i in range(3) if toss.dice[i].value in WORN]))
    left = LEFT[index % len(LEFT)]
    lost = lost_pip(die, toss.dice[die].value, left)
    return _pictures(camera, toss, flaws=lost), toss.values, f"{left:.0%} left"


def _pictures(camera: RigCamera, toss: Toss, **changes: Any) -> Callable[[], Shots]:
    return lambda: (camera.picture(toss, **changes) for _ in itertools.count())


def _specked(
    camera: RigCamera, toss: Toss, place: str, random: np.random.Generator
) -> tuple[Callable[[], Shots], tuple[int, ...], str]:
    at, spot = place_mm(place, toss, camera.die_mm, random), some_disc(random)
    if place == "dome":
        at[2] = _DOME_MM
    calibration = camera.calibration
    radius_px = spot.radius_mm * calibration.px_per_mm(calibration.die_mm)

    def show() -> Shots:
        for picture in _pictures(camera, toss)():
            specked = picture
            for px in camera.seen_at(at):
                specked = disc(specked, px, radius_px, spot.grey, spot.soft_px)
            yield with_grain(specked, random, 1.0)

    return show, toss.values, f"{place}, {SHADES[not spot.is_dark]}"


def _report(done: Sequence[dict[str, Any]]) -> bool:
    """Print what both readers say of each kind and cell, and of the flat tosses of each table; True
    if the taught one states wrong values, values of dice that lie askew, or a false no roll."""
    is_wrong = False
    cells = sorted(
        {(row["kind"], row["cell"]) for row in done}, key=lambda c: (KINDS.index(c[0]), c)
    )
    for kind, cell in [*((kind, None) for kind in KINDS), *cells]:
        rows = [r for r in done if r["kind"] == kind and cell in (None, r["cell"])]
        if not rows or cell == "":
            continue
        for name in ("classical", "taught"):
            counts = Counter(row[name] for row in rows)
            bad = counts["WRONG"] + counts["right" if kind in KINDS[1:3] else "no roll"]
            is_wrong |= bad > 0 and name == "taught"
            words = ", ".join(f"{n} {word}" for word, n in counts.most_common())
            sys.stdout.write(
                f"{kind}{f', {cell}' if cell else ''}, {name}: {len(rows)}: {words}; "
                f"false {bad} (95 %: up to {bounds(bad, len(rows))[1]:.1%})\n"
            )
    for table in dict.fromkeys(row["table"] for row in done):
        rows = [row for row in done if row["table"] == table and row["kind"] == "flat"]
        read = {name: sum(r[name] == "right" for r in rows) for name in ("classical", "taught")}
        sys.stdout.write(f"table {table}: of {len(rows)} flat {read}\n")
    return is_wrong


def _rates(finder: DieFinder, folders: Sequence[Path]) -> bool:
    """Print how well the tables of these sets read their own flat tosses; True if any value is
    read wrongly."""
    is_wrong = False
    for folder in folders:
        tables = itertools.groupby(scene_cases(folder, set()), key=lambda case: case.calibration)
        for number, (calibration, cases) in enumerate(tables):
            reader, seen = TableReader(finder, calibration), list[TaughtToss]()
            look = ""
            for case in cases:
                frame = Frame(case.shoot())
                look = case.look
                if case.truth == "flat" and (
                    toss := confirmed_toss(frame, reader.look(frame), case.values, calibration)
                ):
                    seen.append(toss)
            own = rate(calibration, seen)
            is_wrong |= own.missed[Missed.WRONG] > 0
            sys.stdout.write(
                f"{folder.name} {number} {look}: {own.tosses} tosses, {own.read:.0%} read; "
                f"{own.advice()}\n"
            )
            sys.stdout.flush()
    return is_wrong
