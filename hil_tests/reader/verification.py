"""The whole reader on thousands of pictures: what it read, refused, and got wrong.

Owns the counts. Every result is a line in `var/verification`, so that a stopped run goes on where
it was; a file belongs to one model and one state of the sources. With one frame (the default) a
picture counts by what it alone would say; with three by three frames that agree, each with fresh
grain, out of at most six; what the first of them says alone is counted beside.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.reader.cases import Case, rig_cases, scene_cases
from hil_tests.reader.kept import contents_of, digest_of, opened
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import Outcome, examine, readers
from hil_tests.reader.samples import BLIND, RIG, STEREO, seen_by
from vision.errors import VisionError
from vision.networks.classifier import DieFinder
from vision.shares import bounds
from vision.table.consensus import FRAMES

_PRINT_EVERY = 50


def shares(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """The counts of a set: of each share its part, and of how many."""
    flat = [o for o in outcomes if o.truth == "flat"]
    visible = [o for o in flat if o.is_visible]
    other = [o for o in outcomes if o.truth == "not flat"]
    between = [o for o in outcomes if o.truth == "between"]

    def share(of: Sequence[Outcome], is_counted: Callable[[Outcome], bool]) -> tuple[int, int]:
        return sum(map(is_counted, of)), len(of)

    return {
        "flat and fully visible, read": share(visible, lambda o: o.said == "right"),
        "the same, in the first frame alone": share(visible, lambda o: o.first == "right"),
        "values that are not the true ones": share(outcomes, lambda o: o.said == "WRONG"),
        "not flat, accepted as values": share(other, lambda o: o.wrongly_accepted),
        "not flat, called no roll": share(other, lambda o: o.said == "no roll"),
        "not flat, no roll in the first frame alone": share(other, lambda o: o.first == "no roll"),
        "flat, called no roll": share(flat, lambda o: o.said == "no roll"),
        "between 1.5° and 6°, accepted": share(between, lambda o: o.said in ("right", "WRONG")),
        "flat: the model alone wrong": share(flat, lambda o: o.model == "wrong"),
        "flat: the second reader alone wrong": share(flat, lambda o: o.second == "wrong"),
        "flat: both, with the same values": share(flat, lambda o: o.same_error),
    }


def write(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print the figures of a set."""
    sys.stdout.write(f"{name}: {len(outcomes)} pictures\n")
    for what, (part, of) in shares(outcomes).items():
        low, high = bounds(part, of)
        rate = f"{part / of:8.2%}" if of else "       –"
        sys.stdout.write(f"  {what:<42} {part:>5} of {of:<5} {rate}   95 %: {low:.2%}-{high:.2%}\n")
    refused = Counter(o.said for o in outcomes if o.truth == "flat")
    reasons = (
        f"{n} {w}" for w, n in refused.most_common() if w not in ("right", "WRONG", "no roll")
    )
    sys.stdout.write(f"  flat, refused: {', '.join(reasons) or 'none'}\n")
    looks: dict[str, list[Outcome]] = {}
    for o in outcomes:
        if o.truth == "flat" and o.is_visible:
            looks.setdefault(o.look, []).append(o)
    rates = sorted((sum(o.said == "right" for o in of) / len(of), k, len(of))
                   for k, of in looks.items())  # fmt: skip
    worst = ", ".join(f"{k} {rate:.0%} of {n}" for rate, k, n in rates[:8])
    sys.stdout.write(f"  least read: {worst}\n")
    for o in outcomes:
        if o.wrongly_accepted:
            sys.stdout.write(f"  wrongly accepted: {asdict(o)}\n")
    sys.stdout.flush()


def run(
    name: str, cases: Callable[[set[int]], Iterator[Case]], finder: DieFinder, frames: int,
    out: Path, most: int, shown: str = "",
) -> list[Outcome]:  # fmt: skip
    """Examine what is not examined yet; every outcome of the set so far. `shown`: what decides its
    pictures, beside the sources."""
    path = out / f"{name}-{frames}-{digest_of(finder, shown)}.jsonl"
    kept = opened(path, Outcome)
    reader_of = readers(finder)
    missing = cases({outcome.number for _, outcome in kept.all})
    for case in itertools.islice(missing, max(0, most - len(kept.all))):
        outcome = examine(reader_of(case.calibration), case, frames)
        kept.keep(str(outcome.number), outcome)
        if len(kept.all) % _PRINT_EVERY == 0:
            sys.stderr.write(f"\r{name}: {len(kept.all)} pictures")
    sys.stderr.write("\n")
    if not kept.all:
        raise VisionError(f"{name}: no picture to count")
    return [outcome for _, outcome in kept.all[:most]]


def main(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Sets of calibrated shots.", show_default=False)
    ] = None,
    rig: Annotated[int, typer.Option(min=0, help="Pictures of the rig's tosses.")] = 0,
    camera: Annotated[
        Path | None,
        typer.Option(
            "--seen-by",
            exists=True,
            dir_okay=False,
            show_default=False,
            help="Of --rig: as a rig file's camera shows them, see hil_tests/rigs.",
        ),
    ] = None,
    stereo: Annotated[
        int, typer.Option(min=0, help="Of a stereo camera, and of its left lens alone.")
    ] = 0,
    blind: Annotated[int, typer.Option(min=0, help="Pictures of the set kept blind.")] = 0,
    seed: Seed = 31,
    frames: Annotated[int, typer.Option(min=1, max=FRAMES, help="Frames that must agree.")] = 1,
    most: Annotated[int, typer.Option(min=1, help="Pictures of each set.")] = 1_000_000,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/verification"),
) -> None:
    """Count what the whole reader reads; status 1 if anything was wrongly accepted."""
    finder = DieFinder(model)
    sets: list[tuple[str, Callable[[set[int]], Iterator[Case]], int, str]] = [
        (folder.name, partial(scene_cases, folder), most, contents_of(folder))
        for folder in folders or []
    ]
    by_camera = "" if camera is None else contents_of(camera)
    shown = (RIG, "rig") if camera is None else (seen_by(camera), camera.stem)
    left = replace(STEREO, is_left_only=True)
    for (sample, which), count, leaning in (
        (shown, rig, False),
        ((STEREO, "both-lenses"), stereo, False),
        ((left, "left-lens"), stereo, False),
        ((BLIND, "blind"), blind, True),
    ):
        if count:
            made = partial(rig_cases, count, seed, are_some_set_up=leaning, sample=sample)
            sets.append((f"{which}-{seed}", made, min(most, count), by_camera))
    if not sets:
        raise typer.BadParameter("name sets of shots, or give --rig, --stereo or --blind a number")
    wrong = 0
    for name, cases, of, content in sets:
        outcomes = run(name, cases, finder, frames, out, of, content)
        write(name, outcomes)
        wrong += sum(o.wrongly_accepted for o in outcomes)
    raise typer.Exit(1 if wrong else 0)
