"""What taught tables say of pictures whose truth is known: `python -m hil_tests.reader count`.

Owns: the kinds of cases, one runner, and one report per kind, cell and table, each with the number
of cases and the bound at 95 %. Each result is a line in `var/counts`; a run that was stopped goes
on where it was, and one with more cases or tables keeps those of before.
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import typer

from hil_tests.campaign import Campaign
from hil_tests.reader import changing, recordings, wrong_model
from hil_tests.reader.kept import contents_of, digest_of, opened
from hil_tests.reader.lying import held_up, not_flat, of_a_toss, tipped
from hil_tests.reader.options import Model, Seed, Shots
from hil_tests.reader.outcomes import (
    FALSE,
    MAX_FRAMES,
    RIGHT,
    TOGETHER,
    Said,
    at_rest,
    streamed,
)
from hil_tests.reader.refused import hidden_die, refused
from hil_tests.reader.samples import BLIND, STEREO
from hil_tests.reader.spoiled import spoiled
from hil_tests.reader.spots import lost_pip, smeared, speck
from hil_tests.reader.stage import Shown, Stage
from hil_tests.reader.tables import Table, rig_tables, shot_tables
from vision.networks.classifier import DieFinder
from vision.shares import bounds

Row = dict[str, str]
"""`kind`, `table`, `cell`, `truth`, what was `said`, and of dice at rest how both readers do
`alone`."""
OWN = "own tosses"
_VOID = (changing.UNREAD, wrong_model.NOTHING)
"""Words of a case that shows nothing."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of case."""

    make: Callable[[Stage], Shown]
    read: Callable[[Stage, Shown], Said] = at_rest
    share: float = 1.0
    """Of the cases that are asked for; one at least."""
    most: float = 0.0
    """Share of false words that the goal allows."""
    is_of_shots: bool = False
    """True if a set of shots shows it, too."""


KINDS: dict[str, Kind] = {
    OWN: Kind(
        lambda _: Shown((), (), OWN),
        lambda stage, _: {"said": stage.table.own_rate()},
        share=0.0,
        is_of_shots=True,
    ),
    "flat": Kind(partial(of_a_toss, "flat"), is_of_shots=True),
    "not flat": Kind(not_flat, share=2 / 3, is_of_shots=True),
    "held up": Kind(held_up, most=0.001),
    "tipped": Kind(tipped, share=0.25),
    "speck": Kind(speck, is_of_shots=True),
    "lost pip": Kind(lost_pip, share=0.4),
    "smeared pip": Kind(smeared, share=0.1),
    "refused": Kind(refused, streamed, share=0.4),
    "hidden die": Kind(hidden_die, share=0.1),
    "changing": Kind(changing.changing, changing.in_all_frames, share=0.4),
    "recording": Kind(recordings.recording, recordings.after_tosses, share=0.1),
    "wrong network": Kind(wrong_model.wrong_network, wrong_model.deceived, share=0.6, most=0.005),
    "spoilt": Kind(spoiled, share=0.25),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is counted."""

    kinds: Sequence[str]
    tables: int
    """Of the rig."""
    count: int
    seed: int
    shots: Path | None = None
    """A set of calibrated shots instead of the rig."""
    is_blind: bool = False
    is_left_only: bool = False


def main(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KIND]...", help=f"Of: {', '.join(KINDS)}.", show_default=False),
    ] = None,
    tables: Annotated[int, typer.Option(min=1, help="Tables of the rig.")] = 8,
    count: Annotated[int, typer.Option(min=1, help="Flat tosses of a table; others alike.")] = 10,
    seed: Seed = 1,
    shots: Shots = None,
    blind: Annotated[bool, typer.Option(help="The rig's materials that are kept blind.")] = False,
    left: Annotated[bool, typer.Option(help="The rig's left lens alone.")] = False,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/counts"),
) -> None:
    """Count what taught tables say, of the rig or of sets of shots; status 1 if more is false than
    the goals allow."""
    for name in kinds or ():
        if name not in KINDS:
            raise typer.BadParameter(f"no kind {name!r}; there are: {', '.join(KINDS)}")
    finder, rows = DieFinder(model), list[Row]()
    for folder in shots or (None,):
        wanted = Wanted(kinds or list(KINDS), tables, count, seed, folder, blind, left)
        rows += every_row(finder, wanted, out)
    is_missed, told = report(rows)
    networks = filter(None, (finder.card.finder, finder.card.near))
    sys.stdout.write(f"reader {digest_of(finder)}, networks")
    sys.stdout.writelines(f" {network.sha256[:12]}" for network in networks)
    sys.stdout.writelines(f"\n{line}" for line in [f"seed {seed}", *told, ""])
    raise typer.Exit(1 if is_missed else 0)


def every_row(finder: DieFinder, wanted: Wanted, out: Path) -> list[Row]:
    """What became of every case, as far as it is not kept yet counted now."""
    rows = list[Row]()
    if wanted.shots is not None:
        digest = digest_of(finder, contents_of(wanted.shots))
        kept = opened(out / f"{wanted.shots.name}-{digest}.jsonl", Row)
        for table in shot_tables(finder, wanted.shots):
            rows += _counted(kept, table.number, partial(_same, table), wanted, out)
        return rows
    sample = replace(BLIND if wanted.is_blind else STEREO, is_left_only=wanted.is_left_only)
    digest = digest_of(finder, wanted.is_blind, wanted.is_left_only)
    kept = opened(out / f"rig-{wanted.seed}-{digest}.jsonl", Row)
    table_of = lru_cache(maxsize=1)(rig_tables(finder, wanted.seed, out, sample))
    for number in range(wanted.tables):
        rows += _counted(kept, number, partial(table_of, number), wanted, out)
    return rows


def _same(table: Table) -> Table:
    return table


def _counted(
    kept: Campaign[Row], number: int, table_of: Callable[[], Table], wanted: Wanted, out: Path
) -> list[Row]:
    """The rows of one table."""

    def case(name: str) -> Row:
        _, kind, index = name.split("/")
        return _row(table_of(), kind, int(index), wanted.seed, out)

    cases = [
        f"{number}/{name}/{index}"
        for name in wanted.kinds
        for index in range(max(1, round(KINDS[name].share * wanted.count)))
    ]
    sys.stderr.write(f"table {number}: {len(cases)} cases\n")
    return [row for row in kept.run(cases, case) if row]


def _row(table: Table, name: str, index: int, seed: int, out: Path) -> Row:
    """What became of a case; nothing where a set of shots has no such case."""
    kind = KINDS[name]
    if table.camera is None and (not kind.is_of_shots or index >= table.known.get(name, index + 1)):
        return {}
    key = (seed, zlib.crc32(name.encode()), table.number, index)
    stage = Stage(table, index, np.random.default_rng(key))
    shown, last = kind.make(stage), deque[np.ndarray](maxlen=MAX_FRAMES)
    told = kind.read(stage, replace(shown, pictures=_watched(shown.pictures, last)))
    row = {"kind": name, "table": table.name, "cell": shown.cell, "truth": shown.truth, **told}
    if is_false(row):
        for frame, picture in enumerate(last):
            cv2.imwrite(str(out / f"false-{table.number}-{name}-{index}-{frame}.png"), picture)
    return row


def _watched(pictures: Iterable[np.ndarray], last: deque[np.ndarray]) -> Iterator[np.ndarray]:
    for picture in pictures:
        last.append(picture)
        yield picture


def is_false(row: Row) -> bool:
    """True if what was said must not be said of what is true."""
    return row["said"] in FALSE.get(row["truth"], ())


def report(rows: Sequence[Row]) -> tuple[bool, list[str]]:
    """Whether a goal is missed, and lines that tell what was said by kind, by cell and by table."""
    is_missed, lines = False, list[str]()
    shown = [row for row in rows if _counts(row)]
    for name in dict.fromkeys(row["kind"] for row in shown):
        of_kind = [row for row in shown if row["kind"] == name]
        lines.append(f"{name}: {_told(of_kind)}{_together(of_kind)}")
        for cell in sorted({row["cell"] for row in of_kind} - {""}):
            lines.append(f"  {cell}: {_told([row for row in of_kind if row['cell'] == cell])}")
        is_missed |= sum(map(is_false, of_kind)) > KINDS[name].most * len(of_kind)
    for table in dict.fromkeys(row["table"] for row in rows):
        lines += _of_table(table, [row for row in rows if row["table"] == table])
    return is_missed, lines


def _counts(row: Row) -> bool:
    return row["said"] not in _VOID and row["kind"] != OWN


def _of_table(name: str, rows: Sequence[Row]) -> Iterator[str]:
    own = [row["said"] for row in rows if row["kind"] == OWN]
    yield f"table {'; '.join([name, *own])}"
    counted = [row for row in rows if _counts(row)]
    flat = [row["said"] == RIGHT for row in counted if row["kind"] == "flat"]
    yield f"  flat, read: {_share(sum(flat), len(flat))}"
    false = Counter(row["kind"] for row in counted if is_false(row))
    for kind, of in Counter(row["kind"] for row in counted).items():
        yield f"  {kind}, false: {_share(false[kind], of)}"


def _told(rows: Sequence[Row]) -> str:
    words = Counter(row["said"] for row in rows).most_common()
    said = ", ".join(f"{n} {word}" for word, n in words)
    return f"{said}; false {_share(sum(map(is_false, rows)), len(rows))}"


def _together(rows: Sequence[Row]) -> str:
    both = [row["alone"] == TOGETHER for row in rows if "alone" in row]
    return f"; {TOGETHER} {_share(sum(both), len(both))}" if both else ""


def _share(part: int, of: int) -> str:
    low, high = bounds(part, of)
    return f"{part} of {of} (95 %: {low:.2%}-{high:.2%})"
