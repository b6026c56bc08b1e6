"""The two files of an export: written aside, and moved into place whole.

Owns `records.jsonl` and `rounds.csv` in one folder. An export that fails leaves the earlier one as
it was; so does one that finds nothing, since nobody would notice that the files are now empty.
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
from typing import IO, Any

from shaker_ctl.commands.plain_text import cell
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.record import Record

RECORDS = "records.jsonl"
ROUNDS = "rounds.csv"

ROUND_COLUMNS = (
    *("round", "ended", "first", "second", "third"),
    *("source", "ending", "wagers", "cause"),
)


def write_export(
    folder: Path, records: Iterable[Record], since: datetime | None, until: datetime | None
) -> tuple[int, int]:
    """Write the records from `since` on and before `until`; return how many, and how many rounds.

    Raises RefusedError where the folder or its files cannot be written, or where nothing was found
    and an earlier export would be lost; whatever `records` raises passes through. The folder then
    holds what it held before.
    """
    targets = (folder / RECORDS, folder / ROUNDS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target in targets:
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{target.name} is a folder")
        with _aside(targets) as (lines, table):
            counts = _fill(lines, table, records, since, until)
            if counts == (0, 0) and any(target.exists() for target in targets):
                raise RefusedError(
                    f"no record lies in that time; {folder} keeps its earlier export",
                    remedy="Give another time with --from and --to, or another folder",
                )
    except OSError as error:
        raise RefusedError(
            f"the export cannot be written in {folder}: {error.strerror or error}",
            remedy="Give a folder that can be made and written, with space for the records",
        ) from error
    return counts


@contextlib.contextmanager
def _aside(targets: tuple[Path, Path]) -> Iterator[tuple[IO[str], IO[str]]]:
    """Open one file beside each target; at a good end they take the targets' places."""
    written = [target.with_name(f".{target.name}.{os.getpid()}.new") for target in targets]
    try:
        with (
            written[0].open("w", encoding="utf-8", newline="") as first,
            written[1].open("w", encoding="utf-8", newline="") as second,
        ):
            yield first, second
            for file in (first, second):
                file.flush()
                os.fsync(file.fileno())
        for new, target in zip(written, targets, strict=True):
            os.replace(new, target)
    finally:
        for new in written:
            new.unlink(missing_ok=True)


def _fill(
    lines: IO[str],
    table: IO[str],
    records: Iterable[Record],
    since: datetime | None,
    until: datetime | None,
) -> tuple[int, int]:
    count = rounds = 0
    rows = csv.writer(table)
    rows.writerow(ROUND_COLUMNS)
    for record in records:
        plain = record.plain
        if not _is_within(plain["wall"], since, until):
            continue
        lines.write(json.dumps(with_hash(record), ensure_ascii=False) + "\n")
        count += 1
        for closed in closings(plain):
            values = closed["values"] or ["", "", ""]
            rest = [closed["source"], closed["ending"], closed["wagers"], closed["cause"]]
            told = [closed["round"], plain["wall"], *values, *rest]
            rows.writerow([cell(value) for value in told])
            rounds += 1
    return count, rounds


def _is_within(wall: str, since: datetime | None, until: datetime | None) -> bool:
    at = datetime.fromisoformat(wall)
    return (since is None or at >= since) and (until is None or at < until)


def moment(words: str) -> datetime:
    """Understand a day, or a day and time, as a person gives it; without an offset it is UTC.

    Raises ValueError.
    """
    found = datetime.fromisoformat(words)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def with_hash(record: Record) -> dict[str, Any]:
    """The record for other programs, with its link of the chain."""
    return {"hash": record.hash.hex(), "record": record.plain}


def closings(plain: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the ended rounds that a record tells of."""
    for command in plain.get("decision", ()):
        if command.get("type") == "RecordRound":
            yield command
