"""The files of an export: written aside, moved into place whole, and verified elsewhere.

Owns `records.jsonl`, `chain.json`, `rounds.csv` and `dice.csv` in one folder. Each line of the
records is what was hashed, to the byte; `chain.json` says where their chain begins and ends. An
export that fails leaves the earlier one as it was; so does one that finds nothing, since nobody
would notice that the files are now empty.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from shaker_ctl import whole_file
from shaker_ctl.adapters.disk.volume_lines import record_in
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import Config, Journal, opened, screen
from shaker_ctl.errors import JournalCorruptError, RefusedError, reraise_as
from shaker_ctl.journal.day_sheet import named
from shaker_ctl.journal.history import (
    DICE_WORDS,
    DiceEntry,
    dice_entry,
    ends_round,
    understood,
)
from shaker_ctl.journal.record import NOT_UNDERSTOOD, Damage, Head, Record, walk
from shaker_ctl.quoting import cell

RECORDS = "records.jsonl"
CHAIN = "chain.json"
ROUNDS = "rounds.csv"
DICE = "dice.csv"

_MAX_CHAIN_B = 10_000
"""Largest `chain.json`; it has some 200 bytes."""

ROUND_COLUMNS = (
    *("round", "ended", "first", "second", "third"),
    *("source", "ending", "wagers", "cause", "marks"),
)

DICE_COLUMNS = ("time", "what", "serials", "by")


def write_export(folder: Path, before: Head, records: Iterable[Record]) -> tuple[int, int]:
    """Write records, which are one piece of the chain; return how many, and how many rounds.

    `before`: the head that the first of them follows.

    Raises RefusedError where the folder or its files cannot be written, or where nothing was found;
    whatever `records` raises passes through. The folder then holds what it held before.
    """
    targets = tuple(folder / name for name in (RECORDS, CHAIN, ROUNDS, DICE))
    remedy = "Give a folder that can be made and written, with space for the records"
    with reraise_as(RefusedError, f"the export cannot be written in {folder}", remedy=remedy):
        folder.mkdir(parents=True, exist_ok=True)
        for target in targets:
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{target.name} is a folder")
        with _aside(targets) as files:
            counts = _fill(files, before, records)
            if counts == (0, 0):
                raise RefusedError(
                    f"no record lies in that time; nothing is written, {folder} stays as it was",
                    remedy="Give another time with --from and --to, or another folder",
                )
    return counts


@contextlib.contextmanager
def _aside(targets: tuple[Path, ...]) -> Iterator[list[IO[str]]]:
    """Open one file beside each target; at a good end they take the targets' places."""
    written = [target.with_name(f".{target.name}.{os.getpid()}.new") for target in targets]
    try:
        with contextlib.ExitStack() as opened:
            files: list[IO[str]] = []
            for new in written:
                new.unlink(missing_ok=True)  # what a link in its place names is not written
                made = new.open("x", encoding="utf-8", newline="")
                files.append(opened.enter_context(made))
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for new, target in zip(written, targets, strict=True):
            os.replace(new, target)
        whole_file.sync_folder(targets[0].parent)
    finally:
        for new in written:
            new.unlink(missing_ok=True)


def _fill(files: list[IO[str]], before: Head, records: Iterable[Record]) -> tuple[int, int]:
    lines, chain, table, of_dice = files
    rows, dice = csv.writer(table), csv.writer(of_dice)
    rows.writerow(ROUND_COLUMNS)
    dice.writerow(DICE_COLUMNS)
    count = rounds = 0
    last = before.hash
    for record in records:
        last = record.hash
        lines.write(record.exported.decode())
        count += 1
        ended = understood(plain := record.plain)
        if ends_round(plain) and not ended:
            said = f"record {record.sequence} ends a round in a way that is not understood"
            typer.echo(f"{said}: it stands in {RECORDS} alone", err=True)
        for one in ended:
            told = [one.number, one.ended, *(one.values or ("", "", ""))]
            told += [one.source, one.ending, one.wagers, one.cause, ", ".join(one.marks)]
            rows.writerow([cell(value) for value in told])
            rounds += 1
        if (entry := _of_dice(record)) is not None:
            what = f"{entry.what}, named by one" if entry.is_first else entry.what
            told = [entry.wall, what, *(" ".join(entry.serials), ", ".join(map(named, entry.by)))]
            dice.writerow([cell(value) for value in told])
    ends = {"first": before.sequence + 1, "before": before.hash.hex(), "head": last.hex()}
    chain.write(json.dumps(ends) + "\n")
    return count, rounds


def _of_dice(record: Record) -> DiceEntry | None:
    """What a record says of dice; of one that makes no sense, nothing."""
    if not any(word.encode() in record.body for word in DICE_WORDS):
        return None
    try:
        return dice_entry(record.plain)
    except NOT_UNDERSTOOD:
        said = f"record {record.sequence} says of dice what is not understood"
        typer.echo(f"{said}: it stands in {RECORDS} alone", err=True)
        return None


def verify_export(folder: Path) -> Head:
    """Walk the records of an export and return their head.

    Raises RefusedError where this is no export. Raises JournalCorruptError, in the words of the
    page's program, at the first record that is not what the table wrote.
    """
    try:
        chain = json.loads(whole_file.read_bounded(folder / CHAIN, _MAX_CHAIN_B))
        if type(chain["first"]) is not int:
            raise TypeError(f"{CHAIN} says no number of the first record")
        head = Head(chain["first"] - 1, bytes.fromhex(chain["before"]))
        with whole_file.opened(folder / RECORDS) as file:
            lines = file.read().removesuffix(b"\n").split(b"\n")
        last = str(chain["head"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(
            f"{folder} is no export: {getattr(error, 'strerror', '') or error}",
            remedy="Give a folder that `shaker-ctl journal export` wrote",
        ) from error
    records = (record_in(line, number) for number, line in enumerate(lines, head.sequence + 1))
    for step in walk(head, records, ""):
        if isinstance(step, Damage):
            wrong = f"record {step.sequence} is not what the table wrote"
            break
        head = Head(step.sequence, step.hash)
    else:
        if head.hash.hex() == last:
            return head
        wrong = "records are missing at the end"
    raise JournalCorruptError(
        f"{folder / RECORDS}: {wrong}",
        remedy="Ask for the export anew; the table's own journal: shaker-ctl journal verify",
    )


def with_hash(record: Record) -> dict[str, Any]:
    """The record for other programs, with its link of the chain."""
    return {"hash": record.hash.hex(), "record": record.plain}


def _moment(words: str) -> datetime:
    """Understand a day, or a day and time, as a person gives it; without an offset it is UTC."""
    try:
        found = datetime.fromisoformat(words)
    except ValueError as error:
        raise typer.BadParameter(
            f"{words!r} is no time: write 2026-11-22, 2026-11-22T20:00 or 2026-11-22T20:00:00+05:00"
        ) from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def export(
    folder: Annotated[
        Path, typer.Argument(help="Folder for records.jsonl, chain.json, rounds.csv, dice.csv.")
    ],
    since: Annotated[
        datetime | None,
        typer.Option(
            "--from",
            metavar="TIME",
            parser=_moment,
            help="From this day or time: 2026-11-22, 2026-11-22T20:00:00+05:00. "
            "Without an offset it is UTC.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            "--to",
            metavar="TIME",
            parser=_moment,
            help="Before this day or time, written as for --from.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Write the records of a time as JSON lines with their hashes, and rounds and dice as CSV.

    `shaker-ctl journal verify FOLDER` proves it anywhere; shaker_ctl/journal/README.md shows how to
    do that without this program.

    They are one piece of the chain. If the clock was set meanwhile, records of other times lie
    between them and are written, too. What lies before a removed volume is left out,
    if records behind it are of that time.

    An earlier export in the folder is replaced when the new one is whole, and stays where the
    records do not verify or none is found.
    """
    if since is not None and until is not None and since >= until:
        raise RefusedError(
            f"--from {since.isoformat()} is not before --to {until.isoformat()}",
            remedy="Swap them; a time without an offset is UTC",
        )
    with opened(config, journal) as book:
        first, last = book.piece(since, until)
        records = book.all(is_proved=True, first=first, last=last)
        count, rounds = write_export(folder, book.store.head_before(first), records)
    screen.print(f"{count} records and {rounds} rounds in {folder}", soft_wrap=True)
