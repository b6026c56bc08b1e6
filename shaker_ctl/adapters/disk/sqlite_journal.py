"""One copy of the journal in an SQLite file: append, sync, read, and say what is wrong with it.

Owns the file: its schema, its durability, and the translation of SQLite's complaints. The meaning
of records is `journal.record`'s. Durability: write-ahead log with synchronous=FULL, so each commit
is one sync of the log; the table itself refuses changes and deletions by triggers.

A damaged file is never mended here. Opening one may make SQLite drop a torn end of its log, so
`preserve` keeps the bytes as they were found.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from shaker_ctl.errors import JournalCorruptError, JournalError, JournalWriteError
from shaker_ctl.journal.record import Damage, Head, Record, genesis, walk

_REFUSE = "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"

_SCHEMA = (
    "CREATE TABLE identity (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL)",
    "CREATE TABLE record (sequence INTEGER PRIMARY KEY, round INTEGER, "
    "hash BLOB NOT NULL CHECK (length(hash) = 32), body BLOB NOT NULL)",
    "CREATE INDEX record_round ON record (round) WHERE round IS NOT NULL",
    f"CREATE TRIGGER record_stays BEFORE UPDATE ON record {_REFUSE}",
    f"CREATE TRIGGER record_is_kept BEFORE DELETE ON record {_REFUSE}",
    f"CREATE TRIGGER identity_stays BEFORE UPDATE ON identity {_REFUSE}",
)

CACHE_KB = 256
"""Pages kept in memory. Who only appends needs the last of them; SQLite's own 2 MB a connection
fill in an hour of play, and that looks like a leak."""

APPLICATION_ID = 0x53424A31
"""Written into the file's header: `file` and this module know a journal by it ("SBJ1")."""

_REFUSED_BY_MEDIUM = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""Primary result codes that speak of the medium. Any other one speaks of what is written there."""

_REBUILD = "Keep the file; where the other copy is whole, shaker-ctl journal rebuild writes it anew"
_NO_JOURNAL = f"Give the path of a journal. If this was one: {_REBUILD[0].lower()}{_REBUILD[1:]}"


LARGEST = (1 << 63) - 1
"""The largest number that SQLite holds; no round and no record is beyond it."""


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=1.0)


def _sync_folder(folder: Path) -> None:
    """Make a rename or a new name in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _as_bytes(value: object) -> bytes:
    """A damaged file can give another type here; no chain continues over nothing."""
    return value if isinstance(value, bytes) else b""


class SqliteJournal:
    """`ports.JournalStore` on one file. `write` for one thread at a time; reading from any."""

    def __init__(self, path: Path, *, identity: str | None = None, read_only: bool = False) -> None:
        """Open, or found where no file is; `identity` then names the journal that it copies.

        `read_only` leaves every byte as it is, the log too: for looking at what may be evidence.
        Raises JournalWriteError where the medium refuses, JournalCorruptError where the file is no
        journal.
        """
        self.path = path
        self._read_only = read_only
        self._guard(self._open, identity, read_only)

    def _open(self, identity: str | None, read_only: bool) -> None:
        if not read_only and not self.path.exists():
            self._found(identity)
        self._db = self._reader() if read_only else _connect(self.path)
        try:
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA trusted_schema=OFF")
            self._db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
            if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise JournalCorruptError(
                    f"{self.path} is not a journal of this table",
                    remedy="Give the right path under [journal], or move that file away",
                )
            row = self._db.execute("SELECT name FROM identity").fetchone()
            if row is None or not isinstance(row[0], str):
                raise JournalCorruptError(
                    f"{self.path} has lost its identity",
                    remedy=_REBUILD,
                )
            self.identity = row[0]
            self._start = genesis(self.identity)
            self._head = self._read_head()
        except BaseException:
            self._db.close()
            raise

    def _found(self, identity: str | None) -> None:
        """Make the file aside and move it into place whole: no crash leaves half a journal."""
        if not self.path.parent.is_dir():
            raise JournalWriteError(
                f"the folder of the journal does not exist: {self.path.parent}",
                remedy="Create it or mount its medium; a new journal is founded there",
            )
        aside = self.path.with_name(self.path.name + ".founding")
        for suffix in ("", "-wal", "-shm"):
            aside.with_name(aside.name + suffix).unlink(missing_ok=True)
        founded = datetime.now(UTC).isoformat(timespec="seconds")
        with closing(_connect(aside)) as db:
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                db.execute(statement)
            name = identity or f"{uuid.uuid4()} founded {founded}"
            db.execute("INSERT INTO identity VALUES (1, ?)", (name,))
            db.execute("COMMIT")
        aside.rename(self.path)
        _sync_folder(self.path.parent)

    def _read_head(self) -> Head:
        row = self._db.execute(
            "SELECT sequence, hash FROM record ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        return self._start if row is None else Head(row[0], row[1])

    # ── Writing ─────────────────────────────────────────────────────────────

    def head(self) -> Head:
        """Return where the chain ends, as last written or found."""
        return self._head

    def write(self, records: Sequence[Record]) -> None:
        """Append and sync; all or none. Raises JournalWriteError, JournalCorruptError."""
        if not records:
            return
        if records[0].sequence != self._head.sequence + 1:
            raise JournalCorruptError(
                f"{self.path} ends at record {self._head.sequence}, "
                f"so {records[0].sequence} cannot follow",
                remedy="shaker-ctl journal verify",
            )
        self._guard(self._append, records)
        self._head = Head(records[-1].sequence, records[-1].hash)

    def _append(self, records: Sequence[Record]) -> None:
        rows = [(r.sequence, r.plain.get("round"), r.hash, r.body) for r in records]
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    # ── Reading ─────────────────────────────────────────────────────────────

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        """Yield records from `first` to `last` as they stand, unverified. From any thread.

        Raises JournalCorruptError where the file cannot be read.
        """
        limit = LARGEST if last is None else last
        yield from self._rows(
            "SELECT sequence, hash, body FROM record WHERE sequence BETWEEN ? AND ? "
            "ORDER BY sequence",
            (first, limit),
        )

    def head_before(self, sequence: int) -> Head:
        """Return what the record `sequence` must follow: the record before it, or the beginning.

        Where that one is missing, the newest that is there before it.
        """
        with closing(self._reader()) as db:
            row = self._guard(
                lambda: db.execute(
                    "SELECT sequence, hash FROM record WHERE sequence < ? "
                    "ORDER BY sequence DESC LIMIT 1",
                    (sequence,),
                ).fetchone()
            )
        return self._start if row is None else Head(row[0], _as_bytes(row[1]))

    def newest_first(self, newest: int | None = None) -> Iterator[Record]:
        """Yield records from `newest`, or the newest, back to the first, a page at a time."""
        last = self._head.sequence if newest is None else newest
        while last > 0:
            first = max(1, last - 255)
            yield from reversed(list(self.read(first, last)))
            last = first - 1

    def read_round(self, number: int) -> list[Record]:
        """Return everything recorded from the first to the last record of a round."""
        if abs(number) > LARGEST:
            return []
        with closing(self._reader()) as db:
            span = self._guard(
                lambda: db.execute(
                    "SELECT min(sequence), max(sequence) FROM record WHERE round = ?", (number,)
                ).fetchone()
            )
        return [] if span[0] is None else list(self.read(*span))

    def last_rounds(self, count: int) -> list[int]:
        """Return the numbers of the last rounds, newest last, an incomplete one included (O-7).

        Raises JournalCorruptError where what stands there is no number.
        """
        with closing(self._reader()) as db:
            rows = self._guard(
                lambda: db.execute(
                    "SELECT DISTINCT round FROM record WHERE round IS NOT NULL "
                    "ORDER BY round DESC LIMIT ?",
                    (min(count, LARGEST),),
                ).fetchall()
            )
        if not all(isinstance(number, int) for (number,) in rows):
            raise JournalCorruptError(
                f"the journal {self.path} is damaged: a round of it has no number", remedy=_REBUILD
            )
        return [number for (number,) in reversed(rows)]

    def _rows(self, query: str, values: tuple[Any, ...]) -> Iterator[Record]:
        with closing(self._reader()) as db:
            cursor = self._guard(lambda: db.execute(query, values))
            while rows := self._guard(lambda: cursor.fetchmany(256)):
                for sequence, chain, body in rows:
                    yield Record(sequence, _as_bytes(chain), _as_bytes(body))

    def _reader(self) -> sqlite3.Connection:
        where = f"file:{quote(os.fsencode(self.path.absolute()))}?mode=ro"
        return sqlite3.connect(where, uri=True, timeout=1.0, check_same_thread=False)

    # ── Verifying ───────────────────────────────────────────────────────────

    def verify(self) -> tuple[Head, Damage | None]:
        """Walk the whole chain; return its sound head and the first damage, if any.

        A tail that was cut off is not seen here: compare the head with another medium.
        """
        head, walked_to = self._start, 0
        try:
            for step in walk(self._start, self.read(), str(self.path)):
                if isinstance(step, Damage):
                    return head, step
                head, walked_to = Head(step.sequence, step.hash), step.sequence
            return head, self._structure_damage(head)
        except JournalError as error:
            return head, Damage(str(self.path), walked_to + 1, None, str(error))

    def _structure_damage(self, head: Head) -> Damage | None:
        """SQLite's own check of pages and indexes, and that the index says what bodies say."""
        with closing(self._reader()) as db:
            problems = self._guard(lambda: db.execute("PRAGMA integrity_check(1)").fetchall())
            if problems != [("ok",)]:
                return Damage(str(self.path), head.sequence, None, f"file: {problems[0][0]}")
            misfiled = self._guard(
                lambda: db.execute(
                    "SELECT sequence, round FROM record "
                    "WHERE round IS NOT json_extract(CAST(body AS TEXT), '$.round') LIMIT 1"
                ).fetchone()
            )
        if misfiled is None:
            return None
        sequence, number = misfiled
        return Damage(str(self.path), sequence, None, f"filed under round {number}, wrongly")

    def preserve(self, note: str) -> Path:
        """Copy the file and its log, as found, beside it; return the folder. For evidence (O-4).

        Call before `close`: closing folds the log into the file. The same finding is kept once, so
        that restarts in a row do not fill the medium.
        """
        for earlier in self.path.parent.glob(f"{self.path.name}.evidence-*"):
            why = earlier / "why.txt"
            if why.exists() and why.read_text(encoding="utf-8") == note + "\n":
                return earlier
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        folder = self.path.with_name(f"{self.path.name}.evidence-{stamp}")
        folder.mkdir(exist_ok=True)
        for suffix in ("", "-wal"):
            source = self.path.with_name(self.path.name + suffix)
            if source.exists():
                shutil.copy2(source, folder / source.name)
        (folder / "why.txt").write_text(note + "\n", encoding="utf-8")
        return folder

    def check_tail(self, count: int = 64) -> None:
        """Read the last records back and prove that they lead to the head (O-5).

        Raises JournalCorruptError naming the first that does not.
        """
        first = max(1, self._head.sequence - count)
        head = self.head_before(first)
        for step in walk(head, self.read(first, self._head.sequence), str(self.path)):
            if isinstance(step, Damage):
                raise JournalCorruptError(step.line(), remedy="shaker-ctl journal verify")
            head = Head(step.sequence, step.hash)
        if head != self._head:
            raise JournalCorruptError(
                f"{self.path} ends at record {head.sequence}, written was {self._head.sequence}",
                remedy="shaker-ctl journal verify",
            )

    def close(self) -> None:
        """Fold the log into the file and close it."""
        self._db.close()

    # ── SQLite's complaints ─────────────────────────────────────────────────

    def _guard(self, act: Any, *values: Any) -> Any:
        try:
            return act(*values)
        except (sqlite3.Error, OSError, MemoryError) as error:
            raise self._translated(error) from error

    def _translated(self, error: BaseException) -> JournalError:
        text = str(error)
        code = getattr(error, "sqlite_errorcode", None)
        is_short = code == sqlite3.SQLITE_IOERR_SHORT_READ
        by_medium = code is not None and code & 0xFF in _REFUSED_BY_MEDIUM and not is_short
        if isinstance(error, sqlite3.Error) and not by_medium:
            return JournalCorruptError(
                f"the journal {self.path} is damaged: {text}",
                remedy=_NO_JOURNAL if code == sqlite3.SQLITE_NOTADB else _REBUILD,
            )
        if self._read_only:
            return JournalError(
                f"the journal {self.path} cannot be read: {text or type(error).__name__}",
                remedy="Read it as the service's user: sudo -u shaker shaker-ctl journal ...",
            )
        return JournalWriteError(
            f"the journal {self.path} cannot be written: {text or type(error).__name__}",
            remedy="Free space or mount its medium writable (df, dmesg), then start again",
        )
