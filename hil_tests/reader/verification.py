"""The whole reader on thousands of pictures: what it read, refused, and got wrong.

Owns the counts. Every result is a line in `var/verification`, so that a stopped run goes on where
it was; a file belongs to one model and one state of the sources. With one frame (the default) a
picture counts by what it alone would say; with three by three frames that agree, each with fresh
grain, out of at most six; what the first of them says alone is counted beside.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

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


def summary(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The counts of a set, ready for JSON."""
    flat = [o for o in outcomes if o.truth == "flat"]
    visible = [o for o in flat if o.is_visible]
    other = [o for o in outcomes if o.truth == "not flat"]
    between = [o for o in outcomes if o.truth == "between"]
    return {
        "set": name,
        "pictures": len(outcomes),
        "flat_visible": len(visible),
        "covered": sum(o.said == "right" for o in visible),
        "covered_first": sum(o.first == "right" for o in visible),
        "flat": len(flat),
        "false_no_roll": sum(o.said == "no roll" for o in flat),
        "wrong_values": sum(o.said == "WRONG" for o in outcomes),
        "not_flat": len(other),
        "not_flat_accepted": sum(o.wrongly_accepted for o in other),
        "not_flat_no_roll": sum(o.said == "no roll" for o in other),
        "not_flat_no_roll_first": sum(o.first == "no roll" for o in other),
        "between": len(between),
        "between_accepted": sum(o.said in ("right", "WRONG") for o in between),
        "refused": dict(
            Counter(o.said for o in flat if o.said not in ("right", "WRONG", "no roll"))
        ),
        "model_wrong": sum(o.model == "wrong" for o in flat),
        "second_wrong": sum(o.second == "wrong" for o in flat),
        "same_error": sum(o.same_error for o in flat),
    }


def write(figures: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
    """Print the figures for people."""

    def share(what: str, part: int, of: int) -> None:
        low, high = bounds(part, of)
        rate = f"{part / of:8.2%}" if of else "       –"
        sys.stdout.write(f"  {what:<42} {part:>5} of {of:<5} {rate}   95 %: {low:.2%}-{high:.2%}\n")

    f = figures
    sys.stdout.write(f"{f['set']}: {f['pictures']} pictures\n")
    share("flat and fully visible, read", f["covered"], f["flat_visible"])
    share("the same, in the first frame alone", f["covered_first"], f["flat_visible"])
    share("values that are not the true ones", f["wrong_values"], f["pictures"])
    share("not flat, accepted as values", f["not_flat_accepted"], f["not_flat"])
    share("not flat, called no roll", f["not_flat_no_roll"], f["not_flat"])
    share("the same, in the first frame alone", f["not_flat_no_roll_first"], f["not_flat"])
    share("flat, called no roll", f["false_no_roll"], f["flat"])
    share("between 1.5° and 6°, accepted", f["between_accepted"], f["between"])
    share("flat: the model alone wrong", f["model_wrong"], f["flat"])
    share("flat: the second reader alone wrong", f["second_wrong"], f["flat"])
    share("flat: both, with the same values", f["same_error"], f["flat"])
    reasons = ", ".join(f"{n} {reason}" for reason, n in Counter(f["refused"]).most_common())
    sys.stdout.write(f"  flat, refused: {reasons or 'none'}\n")
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
    table = []
    for name, cases, of, content in sets:
        outcomes = run(name, cases, finder, frames, out, of, content)
        figures = summary(name, outcomes) | {"frames": frames}
        table.append(figures)
        write(figures, outcomes)
        wrong += sum(o.wrongly_accepted for o in outcomes)
    report = out / f"summary-{frames}.json"
    report.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    raise typer.Exit(1 if wrong else 0)
