"""Journals of the former form, SQLite files, written as files of lines. Nothing else reads them.

Owns the way from one to the other. Bodies and hashes stay as they are, to the byte. Each volume is
written aside, read back and verified before it has its name; the former files are moved aside when
all are there, the open one last. So a conversion that was cut short is begun again and goes on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import FORMER_SUFFIX, former_files
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.volume_file import VolumeFile, found
from shaker_ctl.errors import JournalCorruptError, JournalWriteError, RefusedError, reraise_as
from shaker_ctl.journal.record import Damage, Head, Record, genesis, walk
from shaker_ctl.journal.volume import Volume, as_accepted
from shaker_ctl.whole_file import sync_folder

FORMATS = (0, 2)
"""Of the former form, as its header has it. 0: from before there were volumes."""

_IS_BAD = (
    "Convert the other copy: shaker-ctl journal convert --journal PATH; then move this file away "
    "and write it anew: shaker-ctl journal rebuild; or, if closed, shaker-ctl journal fetch"
)


def convert(path: Path) -> Iterator[tuple[Path, Head]]:
    """Write the former volumes of the copy at `path` as files of lines; yield each file, and where
    its chain ends, which is where the former one ended.

    The table must be stopped. Raises RefusedError while a service runs, or where the settings still
    have the former name, JournalCorruptError where a former volume does not verify,
    JournalWriteError where there is no room.
    """
    files = former_files(path)
    if files and path.suffix == FORMER_SUFFIX:
        remedy = f"Set it to {path.with_suffix('.jsonl')} there, then: shaker-ctl journal convert"
        raise RefusedError(f"the settings name {path}, which is the former name", remedy=remedy)
    with closing(JournalLock(path)), closing(JournalLock(path.with_suffix(FORMER_SUFFIX))):
        for file in files:
            yield _written(file, file.with_suffix(path.suffix))
        for file in files:
            with reraise_as(JournalWriteError, f"{file} cannot be moved aside", remedy="Try again"):
                os.replace(file, f"{file}.converted")
                sync_folder(file.parent)


def _written(file: Path, target: Path) -> tuple[Path, Head]:
    """Write one volume, or hold the one that is there against it."""
    try:
        with closing(sqlite3.connect(file, timeout=1.0)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] not in FORMATS:
                raise JournalCorruptError(f"{file} is of an unknown form", remedy=_IS_BAD)
            identity, closed = _described(db)
            start = closed[-1].head if closed else genesis(identity)
            if not os.path.lexists(target):
                found(target, identity, closed, _proved(db, start, file))
            head = start
            for record in _proved(db, start, file):
                head = Head(record.sequence, record.hash)
    except (sqlite3.Error, TypeError, UnicodeError) as error:
        raise JournalCorruptError(f"{file} is damaged: {error}", remedy=_IS_BAD) from error
    with closing(VolumeFile(target, read_only=True)) as written:
        if (written.identity, written.closed, written.head()) != (identity, closed, head):
            raise JournalCorruptError(
                f"{target} is there, and is not what {file} holds",
                remedy="Find out which of the two is the table's, and move the other away",
            )
    return target, head


def _described(db: sqlite3.Connection) -> tuple[str, tuple[Volume, ...]]:
    (identity,) = db.execute("SELECT name FROM identity").fetchone()
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'volume'").fetchone() is None:
        return identity, ()
    rows = db.execute(
        "SELECT number, day, first, last, hash, first_round, last_round FROM volume ORDER BY number"
    )
    return identity, tuple(Volume(*row) for row in rows)


def _proved(db: sqlite3.Connection, start: Head, file: Path) -> Iterator[Record]:
    """Yield the records of a former volume. Raises JournalCorruptError at the first bad one."""
    rows = db.execute("SELECT sequence, hash, body FROM record ORDER BY sequence")
    records = (as_accepted(Record(*row), frozenset({row[0]})) for row in rows)
    for step in walk(start, records, str(file)):
        if isinstance(step, Damage):
            raise JournalCorruptError(step.line(), remedy=_IS_BAD)
        yield step
