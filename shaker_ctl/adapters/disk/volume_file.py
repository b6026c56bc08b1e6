"""One volume of one copy of the journal in an SQLite file: found, append, sync, verify.

Owns the file's schema and its durability. The meaning of records is `journal.record`'s, the chain
of volumes `sqlite_journal`'s. Durability: write-ahead log with synchronous=FULL, so each commit is
one sync of the log; the tables themselves refuse changes and deletions by triggers.

A volume that nobody writes has no log beside it: whoever may read the file can read it, from a
read-only folder too. While a table runs, its log and shared memory lie beside the open volume.

A damaged file is never mended here. Opening one may make SQLite drop a torn end of its log, so
`stray_sqlite_files.preserve` keeps the bytes as they were found.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.sqlite_complaints import COMPLAINTS, REBUILD, translated
from shaker_ctl.adapters.disk.stray_sqlite_files import (
    BESIDE,
    IS_A_LINK,
    MOVE_AWAY,
    beside,
    clear,
    require_file,
)
from shaker_ctl.adapters.disk.volume_queries import CACHE_KB, MAX_INTEGER, as_bytes, read, reader
from shaker_ctl.errors import (
    JournalBusyError,
    JournalCorruptError,
    JournalError,
    JournalVersionError,
    JournalWriteError,
)
from shaker_ctl.journal.record import (
    Damage,
    Head,
    Record,
    chain_hash,
    genesis,
    is_seen_framed,
    misframed,
    names_round,
    newer,
    walk,
)
from shaker_ctl.journal.volume import Volume, as_accepted, broken_list, misfit
from shaker_ctl.whole_file import sync_folder

_REFUSE = "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"

_SCHEMA = (
    "CREATE TABLE identity (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL)",
    "CREATE TABLE record (sequence INTEGER PRIMARY KEY, round INTEGER, "
    "hash BLOB NOT NULL CHECK (length(hash) = 32), body BLOB NOT NULL)",
    "CREATE INDEX record_round ON record (round) WHERE round IS NOT NULL",
    "CREATE TABLE volume (number INTEGER PRIMARY KEY, day TEXT NOT NULL, first INTEGER NOT NULL, "
    "last INTEGER NOT NULL, hash BLOB NOT NULL CHECK (length(hash) = 32), "
    "first_round INTEGER, last_round INTEGER)",
    f"CREATE TRIGGER record_stays BEFORE UPDATE ON record {_REFUSE}",
    f"CREATE TRIGGER record_is_kept BEFORE DELETE ON record {_REFUSE}",
    f"CREATE TRIGGER identity_stays BEFORE UPDATE ON identity {_REFUSE}",
    f"CREATE TRIGGER volume_stays BEFORE UPDATE ON volume {_REFUSE}",
    f"CREATE TRIGGER volume_is_kept BEFORE DELETE ON volume {_REFUSE}",
)

APPLICATION_ID = 0x53424A31
"""Written into the file's header: `file` and this module know a journal by it ("SBJ1")."""

FORMAT = 2
"""Version of the file's tables, in the header's user version. A file of version 0 was founded
before there were volumes: it is the first volume and has no list."""


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=1.0)


MODE = 0o640
"""The service's group may read, whatever the umask; SQLite gives log and shared memory the mode of
their file."""

Alive = Callable[[], None]
"""Called now and then while something long is done."""

ALIVE_EVERY = 2_000_000
"""SQLite's instructions between two calls: some 20 ms."""


def found(
    path: Path, identity: str, closed: Sequence[Volume] = (), records: Sequence[Record] = ()
) -> None:
    """Make a new volume aside, with its first `records`, and move it into place whole.

    No crash leaves half a volume: until the rename there is none. Raises JournalWriteError.
    """
    try:
        _found(path, identity, closed, records)
    except (sqlite3.Error, OSError, MemoryError) as error:
        raise translated(error, path) from error


def _found(path: Path, identity: str, closed: Sequence[Volume], records: Sequence[Record]) -> None:
    if not path.parent.is_dir():
        raise JournalWriteError(
            f"the folder of the journal does not exist: {path.parent}",
            remedy="Create it or mount its medium; a new journal is founded there",
        )
    for there in (path, *beside(path)):
        if os.path.lexists(there):
            raise JournalWriteError(
                f"a new volume of the journal cannot be begun: {there} is there already",
                remedy="Find out what put it there, move it away, then start again",
            )
    aside = path.with_name(path.name + ".founding")
    for suffix in ("", *BESIDE):
        clear(aside.with_name(aside.name + suffix))
    with closing(_connect(aside)) as db:
        db.execute("PRAGMA synchronous=FULL")
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            db.execute(statement)
        db.execute("INSERT INTO identity VALUES (1, ?)", (identity,))
        rows = [
            (v.number, v.day, v.first, v.last, v.hash, v.first_round, v.last_round) for v in closed
        ]
        db.executemany("INSERT INTO volume VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", _rows_of(records))
        db.execute("COMMIT")
    aside.chmod(MODE)
    aside.rename(path)
    sync_folder(path.parent)


def _rows_of(records: Sequence[Record]) -> list[tuple[int, Any, bytes, bytes]]:
    return [(r.sequence, r.plain.get("round"), r.hash, r.body) for r in records]


class VolumeFile:
    """One volume. `append` for one thread at a time; reading from any."""

    def __init__(self, path: Path, *, read_only: bool = False, alone: bool = False) -> None:
        """Open a file that is there. `read_only` leaves every byte as it is, the log too: for
        looking at what may be evidence. `alone`: see `reader`.

        Raises JournalWriteError where the medium refuses, JournalCorruptError where the file is no
        journal, JournalVersionError where a newer program made it.
        """
        self.path = path
        self._read_only = read_only
        self._alone = alone
        self._guard(self._open)

    def _open(self) -> None:
        if self.path.is_symlink():  # whoever planted it chose what is written
            raise JournalCorruptError(f"{self.path} {IS_A_LINK}", remedy=MOVE_AWAY)
        require_file(self.path)
        self._db = self._reader() if self._read_only else _connect(self.path)
        try:
            self._db.execute("PRAGMA trusted_schema=OFF")
            self._db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
            if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise JournalCorruptError(
                    f"{self.path} is not a journal of this table",
                    remedy="Give the right path under [journal], or move that file away",
                )
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > FORMAT:
                raise newer(str(self.path), version, FORMAT)
            row = self._db.execute("SELECT name FROM identity").fetchone()
            if row is None or not isinstance(row[0], str):
                raise JournalCorruptError(f"{self.path} has lost its identity", remedy=REBUILD)
            self.identity = row[0]
            self.closed = self._read_closed()
            if wrong := broken_list(self.closed):
                raise JournalCorruptError(f"{self.path}: {wrong}", remedy=REBUILD)
            self.number = len(self.closed) + 1
            self.start = self.closed[-1].head if self.closed else genesis(self.identity)
            self._head = self._read_head()
            self._db.execute("PRAGMA synchronous=FULL")
            self._is_written = False
            self._day = ""
            if self._read_only:
                # Each reading has a connection of its own. One that stays open would keep the
                # writer from folding the log in when it closes this volume.
                self._db.close()
        except BaseException:
            self._db.close()
            raise

    def _read_closed(self) -> tuple[Volume, ...]:
        known = self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'volume'").fetchone()
        if known is None:
            return ()
        rows = self._db.execute(
            "SELECT number, day, first, last, hash, first_round, last_round FROM volume "
            "ORDER BY number"
        ).fetchall()
        for number, day, first, last, chain, first_round, last_round in rows:
            whole = (number, first, last, first_round or 0, last_round or 0)
            if not all(isinstance(one, int) for one in whole) or not (
                isinstance(day, str) and isinstance(chain, bytes)
            ):
                raise JournalCorruptError(
                    f"{self.path}: the list of closed volumes cannot be read", remedy=REBUILD
                )
        return tuple(Volume(*row) for row in rows)

    def _read_head(self) -> Head:
        row = self._db.execute(
            "SELECT sequence, hash FROM record ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        return self.start if row is None else Head(row[0], as_bytes(row[1]))

    # ── Writing ─────────────────────────────────────────────────────────────

    def head(self) -> Head:
        """Return where the chain ends, as last written or found."""
        return self._head

    def append(self, records: Sequence[Record]) -> None:
        """Append and sync; all or none. Raises JournalWriteError, JournalCorruptError."""
        self._guard(self._append, records)
        self._head = Head(records[-1].sequence, records[-1].hash)

    def _append(self, records: Sequence[Record]) -> None:
        rows = _rows_of(records)
        self._begin_log()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def begin_log(self) -> None:
        """Begin the log before anybody else opens the file, or have the first append do it.

        No reader may be at the file in that moment, and one at idle priority may stay for long.
        Not done by opening: what is only looked at stays as it is. Raises JournalBusyError.
        """
        try:
            self._guard(self._begin_log)
        except JournalBusyError:
            raise
        except JournalError:
            pass  # The first append says so.

    def _begin_log(self) -> None:
        if not self._is_written:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._is_written = True

    def as_closed(self) -> Volume:
        """Return what the list of closed volumes will say of this one. It must hold records."""
        row = self._guard(
            lambda: self._db.execute("SELECT min(round), max(round) FROM record").fetchone()
        )
        head = self._head
        first = self.start.sequence + 1
        return Volume(self.number, self.day(), first, head.sequence, head.hash, *row)

    def day(self) -> str:
        """Gaming day on which it began, as its first record says; empty where it has none.

        A journal that was founded before the first record said a day has that record's date in UTC.

        Raises JournalCorruptError where the first record says neither.
        """
        if self._day or self._head == self.start:
            return self._day
        at = self.start.sequence + 1
        first = next(self.read(at, at), None)
        plain = {} if first is None else first.plain
        self._day = str(plain.get("day") or plain.get("wall", ""))[:10]
        if not self._day:
            damage = Damage(str(self.path), at, None, "says no day")
            raise JournalCorruptError(damage.line(), remedy=REBUILD)
        return self._day

    def close(self) -> None:
        """Fold the log into the file and close it. No log stays, but for a reader that is at it."""
        if self._is_written:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("PRAGMA busy_timeout=100")
                self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()

    def close_for_good(self) -> None:
        """Close a volume that will never grow again; programs that knew no volumes refuse it.

        Its tables stay as they are: only a file from before there were volumes gets a version.
        """
        self._is_written = True
        with contextlib.suppress(sqlite3.Error):
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._db.execute(f"PRAGMA user_version={FORMAT}")
        self.close()

    # ── Reading ─────────────────────────────────────────────────────────────

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        """Yield records from `first` to `last` as they stand, unverified. From any thread.

        Raises JournalCorruptError where the file cannot be read.
        """
        yield from read(self.path, first, MAX_INTEGER if last is None else last, alone=self._alone)

    def _reader(self) -> sqlite3.Connection:
        return reader(self.path, alone=self._alone)

    # ── Verifying ───────────────────────────────────────────────────────────

    def verify(
        self, alive: Alive | None = None, lost: frozenset[int] = frozenset()
    ) -> tuple[Head, Damage | None]:
        """Walk the whole volume; return its sound head and the first damage, if any.

        `lost`: records whose loss a person has accepted.

        A tail that was cut off is not seen here: compare the head with another medium. `alive` is
        called now and then. Raises JournalBusyError where another process keeps the file.
        """
        head, damage = self.start, self._first_misfit()
        if damage is not None:
            return head, damage
        try:
            with closing(self._reader()) as db:
                if alive is not None:
                    db.set_progress_handler(lambda: alive(), ALIVE_EVERY)
                db.execute("PRAGMA cell_size_check=ON")
                head, is_sound = self._guard(self._fits, db, lost)
                if is_sound:
                    problems = self._guard(
                        lambda: db.execute("PRAGMA integrity_check(1)").fetchall()
                    )
                    if problems != [("ok",)]:
                        return head, Damage(str(self.path), head.sequence, None, problems[0][0])
                    return head, None
        except (JournalBusyError, JournalVersionError):
            raise
        except JournalError:
            pass  # What is wrong, and where, is found step by step below.
        return self._walk_slowly(lost)

    def _first_misfit(self) -> Damage | None:
        """Whether the first record seals the list of closed volumes in."""
        if not self.closed:
            return None
        at = self.start.sequence + 1
        try:
            first = next(self.read(at, at), None)
            if first is not None and first.hash != chain_hash(self.start.hash, first.body):
                return None  # The walk says what is wrong with it; its words say nothing.
            wrong = "missing" if first is None else misfit(first.plain, self.closed)
        except JournalCorruptError as error:
            wrong = str(error)
        return Damage(str(self.path), at, None, wrong) if wrong else None

    def _fits(self, db: sqlite3.Connection, lost: frozenset[int]) -> tuple[Head, bool]:
        """The whole walk in one pass: chain, and that each record is filed under its round.

        Says only whether all is well. 100 ns a record count: ten million of them are read each
        week. Rows are taken one by one, so that each stays in the processor's cache; a body is
        decoded only where its round is not seen without. It is what was written, as its hash shows.
        """
        fresh = hashlib.sha256().copy  # cheaper than to look the algorithm up each time
        query = (
            "SELECT sequence, hash, body, round FROM record WHERE sequence > ? ORDER BY sequence"
        )
        sequence, before = self.start.sequence, self.start.hash
        for number, chain, body, filed in db.execute(query, (sequence,)):
            sequence += 1
            link = fresh()
            try:
                link.update(before)
                link.update(body)
            except TypeError:  # a damaged file can give another type
                return self.start, False
            if number != sequence or (
                chain != link.digest()
                and not as_accepted(Record(sequence, chain, body), lost).is_lost
            ):
                return self.start, False
            if not (names_round(body, filed) or _is_filed(db, sequence)):
                return self.start, False
            if not is_seen_framed(body, sequence) and misframed(Record(sequence, chain, body), ""):
                return self.start, False
            before = chain
        return Head(sequence, before), True

    def _walk_slowly(self, lost: frozenset[int]) -> tuple[Head, Damage | None]:
        """Name the first damage, where it is known that there is one."""
        head, walked_to = self.start, self.start.sequence
        try:
            records = (as_accepted(record, lost) for record in self.read())
            for step in walk(self.start, records, str(self.path)):
                if isinstance(step, Damage):
                    return head, step
                head, walked_to = Head(step.sequence, step.hash), step.sequence
            return head, self._structure_damage(head)
        except (JournalBusyError, JournalVersionError):
            raise
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
                    f"SELECT sequence, round FROM record WHERE NOT ({_IS_FILED}) LIMIT 1"
                ).fetchone()
            )
        if misfiled is None:
            return None
        sequence, number = misfiled
        return Damage(str(self.path), sequence, None, f"filed under round {number}, wrongly")

    # ── SQLite's complaints ─────────────────────────────────────────────────

    def _guard(self, act: Any, *values: Any) -> Any:
        try:
            return act(*values)
        except COMPLAINTS as error:
            raise translated(error, self.path, read_only=self._read_only) from error


_IS_FILED = "round IS json_extract(CAST(body AS TEXT), '$.round')"
"""True of a record whose column says what its body says; an error where the body is not JSON."""


def _is_filed(db: sqlite3.Connection, sequence: int) -> bool:
    """Decode one body for its round."""
    query = f"SELECT {_IS_FILED} FROM record WHERE sequence = ?"
    return db.execute(query, (sequence,)).fetchone() == (1,)
