"""The day sheet: eighty columns of plain text, to be printed and signed.

Owns which records are of the day, and how the sheet looks; `journal.day_sheet` counts.
"""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.disk.record_tables import TablesReader, place
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import AsJson, CheckedJournal, Config, Journal, opened
from shaker_ctl.console.json_voice import plain
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.day_sheet import CLOSING_INSPECTION, DaySheet, SheetLine
from shaker_ctl.journal.dice_ledger import Ledger
from shaker_ctl.journal.volume import day_of
from shaker_ctl.quoting import visible
from shaker_ctl.rules.vocabulary import words

WIDTH = 80

INDENT = " " * len("  12:00:00  ")

LINE = "_" * 28


def day(
    wanted: Annotated[
        str | None, typer.Argument(metavar="[DAY]", help="As 2026-11-23. Default: the last one.")
    ] = None,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Print the day sheet: rounds, exceptions, who signed what, counters, closing inspection.

    Eighty columns of plain text: print it, have it signed, keep it. It carries the head of the
    chain, so that a journal which was rewritten later does not fit it. The day begins at
    `journal.day_begins`, local time.
    """
    with opened(config, journal) as book:
        of = day_named(wanted) if wanted else _last_day(book)
        found = book.sheet(of)
        dice = _dice(book, found) if journal is None and not as_json else []
        if (trouble := book.trouble()) is not None:
            found.notes.insert(0, f"DO NOT SIGN: {trouble}")
        if as_json:
            typer.echo(json.dumps({"day": of or None, **plain(found)}, indent=2))
        else:
            typer.echo(sheet(of or "-", _table(config, journal), found, dice), nl=False)


def day_named(words: str, remedy: str = "Give it as 2026-11-23, or leave it out") -> str:
    try:
        return date.fromisoformat(words).isoformat()
    except ValueError as error:
        raise RefusedError(f"{words!r} is no day", remedy=remedy) from error


def _last_day(book: CheckedJournal) -> str:
    last = list(book.store.read(book.store.head().sequence))
    return day_of(last[0].plain["wall"], book.parameters.day_begins) if last else ""


def _table(config: Path, journal: Path | None) -> str:
    """Name the table on the sheet, or the journal that was named instead."""
    if journal is not None:
        return str(journal)
    return settings_file.load(config).service.table_name


NOT_COUNTED = "not counted: the service has not brought its tables up to date"


def ledger_until(book: CheckedJournal, record: int) -> Ledger | None:
    """Return the ledger of dice up to a record. The tables of a running service follow its journal
    by a second, and are given three."""
    path = place(book.store.path)
    for wait_s in (0.5,) * 6 * path.exists():
        if (told := TablesReader(path).ledger(record)) is not None:
            return told
        time.sleep(wait_s)
    return None


def _dice(book: CheckedJournal, found: DaySheet) -> list[str]:
    """Reconcile the dice of the day; nothing where none was moved and no ledger is kept."""
    if not found.last:
        return []
    told = ledger_until(book, found.last)
    if told is None:
        return [NOT_COUNTED]
    return list(told.reconciled(found.first, found.ended))


def sheet(
    day: str,
    table: str,
    found: DaySheet,
    dice: Sequence[str] = (),
) -> str:
    """Return the sheet, its times in the machine's own zone. `dice`: lines of the ledger."""
    parts = [
        f"DAY SHEET  {table}",
        f"day {day}, printed for signature",
        *(f"** {mark} **" for mark in [*sorted(found.marks), *found.notes]),
        "",
        *_head(found),
        "",
        *_rounds(found),
        *_list("Rounds without a result, settled by hand, decided or corrected", found.exceptions),
        *_list("Compartment opened (sign beside it where nobody is named)", found.openings),
        *_list("Who did what", found.acts),
        *_counted("Counters", {**found.meters}),
        *_counted("Faults raised", {**found.faults}),
        *(["Dice", *(f"  {line}" for line in dice), ""] if dice else []),
        "Closing inspection",
        *(f"  [ ] {each}" for each in CLOSING_INSPECTION),
        "",
        f"  dealer       {LINE}   time {'_' * 10}",
        f"  floorperson  {LINE}   time {'_' * 10}",
    ]
    return "\n".join(part for line in parts for part in _fitted(line.rstrip())) + "\n"


def _fitted(line: str) -> list[str]:
    """The line, or the lines that it takes: what is too long goes on below its words."""
    return textwrap.wrap(
        visible(line), WIDTH, subsequent_indent=INDENT, break_on_hyphens=False
    ) or [""]


def _head(found: DaySheet) -> Iterator[str]:
    if not found.last:
        yield "No record of this day."
        return
    yield from (f"rules {under}" for under in found.under or ["not named by these records"])
    yield f"records {found.first} to {found.last}"
    yield f"from {_time(found.began)} to {_time(found.ended)}"
    yield f"head  {found.head}"


def _rounds(found: DaySheet) -> Iterator[str]:
    numbers = f", numbers {found.rounds[0]} to {found.rounds[-1]}" if found.rounds else ""
    yield f"Rounds {len(found.rounds)}{numbers}"
    for ending, count in sorted(found.endings.items()):
        yield f"  {ending.replace('_', ' '):34} {count:6}"
    for source, count in sorted(found.sources.items()):
        yield f"  {f'values {source}':34} {count:6}"
    yield ""


def _counted(title: str, counts: dict[str, int]) -> Iterator[str]:
    yield title
    for name, count in sorted(counts.items()):
        yield f"  {name:34} {count:6}"
    if not counts:
        yield "  none"
    yield ""


def _list(title: str, lines: Iterable[SheetLine]) -> Iterator[str]:
    yield title
    empty = True
    for line in lines:
        empty = False
        who = ", ".join(line.persons) or (LINE if line.what == "CompartmentOpened" else "")
        said = "  ".join(part for part in (words(line.what), who, line.detail) if part)
        yield f"  {_time(line.wall)[11:19]}  {said}"
    if empty:
        yield "  none"
    yield ""


def _time(wall: str) -> str:
    return datetime.fromisoformat(wall).astimezone().isoformat(" ", "seconds")
