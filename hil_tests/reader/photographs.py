"""`python -m hil_tests.reader photographs FOLDER... [--json]`: how well are photographs read?

Owns: the comparison with labels (`vision.photo.labels`) and its counts. Must not know how reading
works.

Dice are compared by value and matched by centre, as sets draw their boxes differently; rows without
boxes are compared as multisets, and rows with an unknown value count for detection only. Labels can
be wrong, too: `--corrections FILE` applies a published list of corrected ones.

Two readings are measured: the plain one (the model alone: found, right, exact) and the verified one
(both readers, one frame, any number of dice: accepted, wrong accepted, refused and why). A verified
reading is wrong as well where a die is labelled not flat, or with a value that nobody can know.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import typer

from hil_tests.reader.options import Model
from vision.errors import VisionError
from vision.frame import Frame
from vision.networks.classifier import DieFinder, FoundDie
from vision.overlay import draw_reading
from vision.photo.labels import Label, read_corrections, read_labels, sets_under
from vision.photo.reader import PhotoReader
from vision.pictures import load, save, shown
from vision.quads import match
from vision.reading import Unreadable, Verdict, Verified
from vision.shares import bounds

_SHEETS = Path(tempfile.gettempdir()) / "dice-evaluation"
_WORST = 24
_TILE_PX = 320
_TELL_S = 15.0
_TOLD = (
    "images", "exact", "dice", "found", "valued", "right", "spurious", "accepted", "wrong_accepted",
)  # fmt: skip
"""The counts that `--json` prints, beside the refused ones."""


@dataclass(slots=True)
class Counts:
    """What is counted of one set."""

    images: int = 0
    exact: int = 0
    """Pictures whose dice are all found, all right, and nothing else found."""
    dice: int = 0
    found: int = 0
    valued: int = 0
    """Found dice whose label has a value."""
    right: int = 0
    spurious: int = 0
    accepted: int = 0
    wrong_accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    exact_of: int = 0
    """Pictures that could be exact: no unknown value among their labels."""
    accepted_exact: int = 0
    """Accepted pictures among the exact ones."""
    of_three: int = 0
    """Pictures of `exact_of` with exactly three dice."""
    exact_of_three: int = 0
    specks: int = 0
    """Verified pictures that were judged again with a painted speck that the model takes for a
    pip; `fit-photographs` alone paints some."""
    specks_accepted: int = 0
    read_ms: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Each picture that was verified wrongly, in words."""

    def add(self, other: Counts) -> None:
        """Count another's pictures as well."""
        for name in (f.name for f in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def to_json(self) -> dict[str, Any]:
        counts: dict[str, Any] = {name: getattr(self, name) for name in _TOLD}
        return counts | {"refused": dict(self.refused.most_common()), "wrong": self.wrong}


@dataclass(frozen=True, slots=True)
class _Error:
    weight: int
    title: str
    tile: np.ndarray


def pair(labels: Sequence[Label], found: Sequence[FoundDie]) -> dict[int, int]:
    """Which found die is which label, by centre: within 0.6 of the longer side of a label's box,
    and 6 pixels at least. All have boxes."""
    centres = np.array([label.centre for label in labels], float).reshape(-1, 2)
    others = np.array([die.centre for die in found]).reshape(-1, 2)
    return match(centres, others, np.array([max(0.6 * label.size, 6.0) for label in labels]))


def compare(
    counts: Counts, labels: Sequence[Label], found: Sequence[FoundDie], verdict: Verdict
) -> int:
    """Add one picture to the counts; return how bad it is (0: nothing wrong)."""
    values = [die.value for die in found]
    counts.images += 1
    counts.dice += len(labels)
    if any(label.centre is None for label in labels):
        wanted = Counter(label.value for label in labels)
        shown = Counter[int | None](values)
        matched = min(len(values), len(labels))
        right = (shown & wanted).total()
        valued = min(matched, len(labels) - wanted[None])
        is_exact = shown == wanted
    else:
        pairs = pair(labels, found)
        matched = len(pairs)
        known = [(labels[i].value, values[j]) for i, j in pairs.items() if labels[i].value]
        valued, right = len(known), sum(a == b for a, b in known)
        is_exact = matched == len(labels) == len(found) and right == valued == len(labels)
    counts.found += matched
    counts.valued += valued
    counts.right += right
    counts.spurious += len(values) - matched
    if isinstance(verdict, Verified):
        counts.accepted += 1
        if any(label.is_flat is False or label.value is None for label in labels):
            # What lies askew, or shows what nobody can know, has no value to state.
            counts.wrong_accepted += 1
            return 100
    else:
        reason = verdict.reason.value if isinstance(verdict, Unreadable) else "no-roll"
        counts.refused[reason] += 1
    if any(label.value is None for label in labels):
        return 0
    counts.exact_of += 1
    counts.exact += is_exact
    counts.of_three += len(labels) == 3
    counts.exact_of_three += is_exact and len(labels) == 3
    badness = 0 if is_exact else 1 + abs(len(values) - len(labels)) + (valued - right)
    if isinstance(verdict, Verified):
        counts.accepted_exact += is_exact
        # Verified values are the model's own, in its order: exact or not is the same question.
        if not is_exact:
            counts.wrong_accepted += 1
            badness += 100
    return badness


Task = tuple[Path, list[Label]]
Result = tuple[Counts, _Error | None]

_reader: PhotoReader | None = None
"""Of this process; a model is loaded once per process, not per picture."""


def _start(model: Path | None) -> None:
    global _reader
    cv2.setNumThreads(1)
    _reader = PhotoReader(DieFinder(model))


def _read(task: Task) -> Result:
    """The counts of one picture, and what to show of it if it was not read right."""
    assert _reader is not None
    path, labels = task
    counts, image = Counts(), load(path)
    _require_inside(path, labels, image)
    seen = _reader.look(Frame(image))
    counts.read_ms.append(sum(ms for _, ms in seen.observation.cost_ms))
    verdict = seen.observation.opinion
    badness = compare(counts, labels, seen.model, verdict)
    if not badness:
        return counts, None
    picture = draw_reading(image, seen.observation, verdict)
    truth = " ".join(str(label.value or "?") for label in labels)
    if counts.wrong_accepted and isinstance(verdict, Verified):
        read = " ".join(map(str, verdict.values))
        counts.wrong.append(f"{path.name}: label {truth}, read {read}")
    return counts, _Error(badness, f"label {truth}  {path.name}", tile(picture))


def _require_inside(path: Path, labels: Sequence[Label], image: np.ndarray) -> None:
    """Raise VisionError where the middle of a die's box lies outside its picture."""
    height, width = image.shape[:2]
    for index, label in enumerate(labels):
        x, y = label.centre or (0.0, 0.0)
        if not (0 <= x <= width and 0 <= y <= height):
            raise VisionError(
                f"the box of die {index} of {shown(path)} lies outside of the picture, which has "
                f"{width} x {height} pixels: correct its row of labels"
            )


@contextmanager
def _workers(model: Path | None, jobs: int) -> Iterator[Callable[[list[Task]], Iterator[Result]]]:
    """What reads a list of pictures, in order, in so many processes."""
    if jobs == 1:
        _start(model)
        yield lambda tasks: map(_read, tasks)
        return
    DieFinder(model)  # a missing model is told here, not by each process
    with multiprocessing.get_context("spawn").Pool(jobs, _start, (model,)) as pool:
        yield lambda tasks: pool.imap(_read, tasks, chunksize=2)


def evaluate(name: str, results: Iterator[Result], of: int) -> tuple[Counts, list[_Error]]:
    """Add up one set's pictures, with a line of progress on standard error."""
    counts, errors = Counts(), []
    is_terminal, told = sys.stderr.isatty(), time.monotonic()
    for number, (picture, error) in enumerate(results, 1):
        counts.add(picture)
        if error is not None:
            errors.append(error)
            errors.sort(key=lambda e: -e.weight)
            del errors[_WORST:]
        if number == of or time.monotonic() - told > (0.2 if is_terminal else _TELL_S):
            told = time.monotonic()
            end = "\r" if is_terminal and number < of else "\n"
            sys.stderr.write(f"{name}: {number} of {of} pictures, {counts.exact} exact{end}")
            sys.stderr.flush()
    return counts, errors


def report(name: str, counts: Counts) -> str:
    """One set in words, each figure as a count with its 95 % bound."""

    def line(what: str, part: int, of: int, is_error: bool = False) -> str:
        if not of:
            return f"  {what:<34} –"
        bad = part if is_error else of - part
        bound = bounds(bad, of)[1]
        side = f"≤ {bound:.2%}" if is_error else f"≥ {1 - bound:.2%}"
        return f"  {what:<34} {part:>5} of {of:<5} {part / of:>8.2%}   95 %: {side}"

    found_all = counts.found + counts.spurious
    lines = [
        f"{name}: {counts.images} pictures",
        line("dice found", counts.found, counts.dice),
        line("found that are dice", counts.found, found_all),
        line("values right", counts.right, counts.valued),
        line("pictures exact", counts.exact, counts.exact_of),
        line("  of those with three dice", counts.exact_of_three, counts.of_three),
        line("verified", counts.accepted, counts.images),
        line("verified, of the exact", counts.accepted_exact, counts.exact),
        line("wrong accepted", counts.wrong_accepted, counts.accepted, is_error=True),
    ]
    if counts.specks:
        lines.append(line("wrong by a painted speck", counts.specks_accepted, counts.specks, True))
    if counts.refused:
        refused = (f"{n} {reason}" for reason, n in counts.refused.most_common())
        lines.append("  refused: " + ", ".join(refused))
    if counts.read_ms:
        lines.append(f"  {np.median(counts.read_ms):.0f} ms a picture (median)")
    lines += [f"  wrong: {each}" for each in counts.wrong]
    return "\n".join(lines)


def tile(picture: np.ndarray) -> np.ndarray:
    """The picture as `contact_sheet` shows it."""
    scale = _TILE_PX / max(picture.shape[:2])
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    framed = np.full((_TILE_PX + 22, _TILE_PX, 3), 24, np.uint8)
    framed[: small.shape[0], : small.shape[1]] = small
    return framed


def contact_sheet(shown: Iterable[tuple[str, np.ndarray]]) -> np.ndarray:
    """Titles and tiles in rows of six."""
    tiles = []
    for title, picture in shown:
        titled = picture.copy()
        cv2.putText(
            titled, title[:52], (3, _TILE_PX + 15), cv2.FONT_HERSHEY_SIMPLEX, 0.36,
            (230, 230, 230), 1, cv2.LINE_AA,
        )  # fmt: skip
        tiles.append(titled)
    while len(tiles) % 6:
        tiles.append(np.full_like(tiles[0], 24))
    rows = [np.concatenate(tiles[i : i + 6], axis=1) for i in range(0, len(tiles), 6)]
    return np.concatenate(rows)


def _make_folder(folder: Path) -> None:
    """Raises VisionError where it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # the second for links that lead in a circle
        raise VisionError(f"cannot make the folder {folder} for --sheets: {error}") from error


def main(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and no words.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read only the first so many pictures of a set.")
    ] = None,
    model: Model = None,
    sheets: Annotated[
        Path, typer.Option(help="Where the contact sheets of the worst errors go.")
    ] = _SHEETS,
    corrections: Annotated[
        Path | None,
        typer.Option(
            help="List of wrong labels to correct first, such as models/label_corrections.jsonl."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes that read pictures, by default one a core.")
    ] = len(os.sched_getaffinity(0)),
) -> None:
    """How well are photographs read?"""
    try:
        corrected = read_corrections(corrections) if corrections else None
        sets = [
            (name, list(islice(read_labels(folder, corrected), limit)), folder)
            for name, folder in sets_under(folders)
        ]
        _make_folder(sheets)
        result: dict[str, Any] = {}
        with _workers(model, jobs) as read:
            for name, tasks, folder in sets:
                while name in result:
                    name = f"{folder.parent.name}/{name}"
                counts, errors = evaluate(name, read(tasks), len(tasks))
                result[name] = counts.to_json()
                if not as_json:
                    typer.echo(report(name, counts))
                if errors:
                    sheet = sheets / f"{name.replace('/', '-')}.jpg"
                    save(sheet, contact_sheet((error.title, error.tile) for error in errors))
                    if not as_json:
                        typer.echo(f"  worst pictures: {sheet}")
    except VisionError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps({"sets": result}))
