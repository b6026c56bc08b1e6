"""What is asked of one volume's file without changing a byte of it; unverified.

Each question has a connection of its own. One that stays open would keep the writer from folding
the log in when it closes the volume.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from shaker_ctl.adapters.disk.sqlite_complaints import REBUILD, guarded
from shaker_ctl.adapters.disk.stray_sqlite_files import require_file
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import STEP_MARK, Head, Record

CACHE_KB = 256
"""Pages kept in memory. Who appends needs the last of them, and who walks needs each once; SQLite's
own 2 MB a connection fill in an hour of play, and that looks like a leak."""

MAX_INTEGER = (1 << 63) - 1
"""The largest number that SQLite holds; no round and no record is beyond it."""

_PAGE = 256
"""Records that are read together."""


def reader(path: Path, *, alone: bool = False) -> sqlite3.Connection:
    """Open a file so that nothing of it can change. Raises sqlite3.Error, JournalCorruptError.

    `alone`: whatever stands beside the file is not looked at. For a volume that nobody writes.
    """
    require_file(path)
    how = "mode=ro&immutable=1" if alone else "mode=ro"
    where = f"file:{quote(os.fsencode(path.absolute()))}?{how}"
    db = sqlite3.connect(where, uri=True, timeout=1.0, check_same_thread=False)
    try:
        db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
    except sqlite3.Error:
        db.close()
        raise
    return db


def read(path: Path, first: int, last: int, *, alone: bool = False) -> Iterator[Record]:
    """Yield records of one volume as they stand, unverified. Raises JournalCorruptError.

    No lock is held while the records of a page are used: whoever reads slowly stops no writer.
    """
    query = (
        "SELECT sequence, hash, body FROM record WHERE sequence BETWEEN ? AND ? "
        "ORDER BY sequence LIMIT ?"
    )
    with guarded(path):
        db = reader(path, alone=alone)
    with closing(db):
        while first <= last:
            with guarded(path):
                rows = db.execute(query, (first, last, _PAGE)).fetchall()
            for sequence, chain, body in rows:
                yield Record(sequence, as_bytes(chain), as_bytes(body))
            if len(rows) < _PAGE:
                return
            first = rows[-1][0] + 1


def _records(path: Path, condition: str, values: Sequence[object]) -> list[Record]:
    query = f"SELECT sequence, hash, body FROM record WHERE {condition}"
    with guarded(path), closing(reader(path)) as db:
        rows = db.execute(query, values).fetchall()
    return [Record(sequence, as_bytes(chain), as_bytes(body)) for sequence, chain, body in rows]


def marked(path: Path, first: int, mark: bytes) -> list[Record]:
    """Return the record `first` of a volume, and all whose bodies hold `mark`, unverified."""
    return _records(path, "sequence = ? OR instr(body, ?) ORDER BY sequence", (first, mark))


def among(path: Path, sequences: Sequence[int]) -> list[Record]:
    """Return those of some records that a volume has, unverified."""
    marks = ", ".join("?" * len(sequences))
    return _records(path, f"sequence IN ({marks}) ORDER BY sequence", sequences)


def milestones(path: Path) -> list[Record]:
    """Return the records of a volume that are no steps, newest first, unverified."""
    return _records(path, "NOT instr(body, ?) ORDER BY sequence DESC", (STEP_MARK,))


def newest_before(path: Path, sequence: int) -> Head | None:
    """Return the newest record of a volume before `sequence`; None where it has none."""
    with guarded(path), closing(reader(path)) as db:
        row = db.execute(
            "SELECT sequence, hash FROM record WHERE sequence < ? ORDER BY sequence DESC LIMIT 1",
            (min(sequence, MAX_INTEGER),),
        ).fetchone()
    return None if row is None else Head(row[0], as_bytes(row[1]))


def span_of(path: Path, number: int) -> tuple[int, int] | None:
    """First and last record of a round in one volume; None where it has none."""
    with guarded(path), closing(reader(path)) as db:
        low, high = db.execute(
            "SELECT min(sequence), max(sequence) FROM record WHERE round = ?", (number,)
        ).fetchone()
    return None if low is None else (low, high)


def rounds(path: Path, count: int) -> list[int]:
    """Return the numbers of a volume's last rounds, newest first.

    Raises JournalCorruptError where what stands there is no number.
    """
    with guarded(path), closing(reader(path)) as db:
        rows = db.execute(
            "SELECT DISTINCT round FROM record WHERE round IS NOT NULL ORDER BY round DESC LIMIT ?",
            (min(count, MAX_INTEGER),),
        ).fetchall()
    if not all(isinstance(number, int) for (number,) in rows):
        raise JournalCorruptError(
            f"the journal {path} is damaged: a round of it has no number", remedy=REBUILD
        )
    return [number for (number,) in rows]


def as_bytes(value: object) -> bytes:
    """A damaged file can give another type here; no chain continues over nothing."""
    return value if isinstance(value, bytes) else b""
