"""Tables that are folded from a journal's records, with the cursor up to which they hold.

Owns one SQLite file and its one writer, which follows a journal: each batch of records goes into
the file all or nothing, and a record that is not understood is left out. The tables prove nothing
and can be lost: the writer makes them anew from the chain where they are missing, damaged, of
another journal or of another version; where volumes were removed, once these are fetched back.

Each row of `kept` has a mark (CRC-32), and the cursor's row counts them all. A reader that meets a
wrong mark answers nothing. What stands in the rows, and which other tables there are, a subclass
says.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk import volume_lines
from shaker_ctl.adapters.disk.follower import AT_ONCE, Follower
from shaker_ctl.errors import JournalCorruptError, JournalWriteError
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.whole_file import opened

Told = dict[str, Any]
"""What is kept beside the tables, as JSON has it."""

_KEPT = (
    "CREATE TABLE kept (kind TEXT, sequence INTEGER, told TEXT NOT NULL, mark INTEGER NOT NULL, "
    "PRIMARY KEY (kind, sequence)) WITHOUT ROWID"
)
_CURSOR = "cursor"

CACHE_KB = 256
"""Pages kept in memory: SQLite's own 2 MB a connection look like a leak."""

COMPLAINTS = (sqlite3.Error, OSError, MemoryError, UnicodeError, OverflowError)
"""What SQLite and its module raise on damaged files and full media. A flipped bit in the schema is
a UnicodeDecodeError from inside the module."""

DAMAGE = (*COMPLAINTS, ValueError, LookupError, TypeError)
"""What a look at damaged tables raises."""

_OF_A_VALUE = (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.IntegrityError)
"""What SQLite says of a value that it does not take."""


def _mark(*row: Any) -> int:
    """Over one row, whatever stands in it."""
    return zlib.crc32(repr(row).encode(errors="surrogatepass"))


def rows_in(db: sqlite3.Connection, kind: str, until: int) -> list[Any]:
    """Return what stands in each row of a kind, up to a record. Raises ValueError where one is not
    as it was written.
    """
    kept = "SELECT kind, sequence, told, mark FROM kept"
    where = "WHERE kind = ? AND sequence <= ? ORDER BY sequence"
    rows = db.execute(f"{kept} {where}", (kind, until))
    return [json.loads(_marked(row)) for row in rows]


def _marked(row: tuple[Any, ...]) -> Any:
    *columns, mark = row
    if mark != _mark(*columns):
        raise ValueError("a row is not as it was written")
    return columns[-1]


def kept_in(db: sqlite3.Connection) -> Told | None:
    """Return the cursor and what is kept with it; None in new tables. Raises ValueError."""
    return next(iter(rows_in(db, _CURSOR, 0)), None)


def check(db: sqlite3.Connection) -> None:
    """Look at all that stands there. Raises what `DAMAGE` names."""
    if (found := db.execute("PRAGMA integrity_check(1)").fetchone()) != ("ok",):
        raise ValueError(f"SQLite says: {found[0] if found else 'nothing'}")
    kept = kept_in(db)
    rows = sum(
        1 for row in db.execute("SELECT kind, sequence, told, mark FROM kept") if _marked(row)
    )
    if rows != (kept["rows"] + 1 if kept else 0):
        raise ValueError("rows are missing")


class FoldedTables(ABC):
    """The writer. One process, one thread. A subclass says what is in the tables."""

    SCHEMA: tuple[str, ...] = ()
    """Of the other tables."""
    VERSION: int
    """Tables of another version are made anew."""
    WHO: str
    """Who says on standard error what becomes of them."""
    LOG = "TRUNCATE"
    """What lies beside the file while it is written: `journal_mode` of SQLite."""
    cursor: Head | None
    """The last record that the tables hold."""
    left_out: list[int]
    """How many records are not in the tables, and the first of them; empty where all are."""

    def __init__(self, path: Path, journal: Path) -> None:
        """Open the tables of a journal; make them anew where they are not its.

        Raises JournalError where there is no journal, or a medium refuses.
        """
        self.path, self._journal = path, journal
        self._follower = Follower(journal)
        self._set_out()
        is_there = path.exists()
        try:
            if is_there:
                opened(path).close()  # SQLite would wait for a pipe without end
            self._db = self._connect()
            self._take_up()
            self._follow()
        except (JournalCorruptError, *DAMAGE) as error:
            if is_there:
                self._say(f"the tables are made anew: {error}")
            self._begin_anew()

    # ── What a subclass has ─────────────────────────────────────────────────

    @abstractmethod
    def begin(self) -> None:
        """Stand before the first record."""

    def resume(self, told: Told) -> None:  # noqa: B027 - whoever keeps nothing beside them has none
        """Go on from what `told` returned. Raises what `DAMAGE` names."""

    def told(self) -> Told:
        """Finish the tables of a batch, and return what is to be kept beside them."""
        return {}

    def reads(self, body: bytes) -> bool:
        """Whether a record may change anything; all others are passed over undecoded."""
        return bool(body)

    @abstractmethod
    def take(self, record: Record) -> None:
        """Put one record into the tables. Raises anything where it is not understood."""

    def keep(self, kind: str, sequence: int, what: Any) -> None:
        """Put one row beside the cursor."""
        row = (kind, sequence, json.dumps(what))
        self._db.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", (*row, _mark(*row)))
        self._rows += 1

    # ── The file ────────────────────────────────────────────────────────────

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, timeout=5.0)
        db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
        # The chain is the record: what a power cut takes from the tables is made anew from it.
        db.execute("PRAGMA synchronous=OFF")
        db.execute(f"PRAGMA journal_mode={self.LOG}")
        return db

    def _take_up(self) -> None:
        if self._db.execute("PRAGMA user_version").fetchone()[0] != self.VERSION:
            raise ValueError("they are of another version")
        check(self._db)
        kept = kept_in(self._db)
        if kept is None:
            return
        if kept["identity"] != self._follower.identity:
            raise ValueError("they are of another journal")
        self.resume(kept)
        self.left_out, self._rows = kept["left_out"], kept["rows"]
        self.cursor = Head(kept["sequence"], bytes.fromhex(kept["hash"]))

    def _follow(self) -> None:
        following = Follower(self._journal, self.cursor)
        self._follower.close()
        self._follower = following

    def _begin_anew(self) -> None:
        """Throw the tables away and begin at the first record."""
        try:
            if hasattr(self, "_db"):
                self._db.close()
            for suffix in ("", "-journal", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._db = self._connect()
            self.path.chmod(volume_lines.MODE)
            for statement in (_KEPT, *self.SCHEMA, f"PRAGMA user_version={self.VERSION}"):
                self._db.execute(statement)
        except COMPLAINTS as error:
            raise self._refused(error) from error
        self._set_out()
        self._follow()

    def _set_out(self) -> None:
        self.cursor, self.left_out, self._rows = None, [], 0
        self.begin()

    def keep_up(self) -> bool:
        """Put what follows the cursor into the tables, a batch at a time, all or nothing; return
        whether there may be more. Raises JournalError.
        """
        records = self._follower.take()
        if records:
            self._fold(records)
        return len(records) == AT_ONCE

    def _fold(self, records: list[Record]) -> None:
        last, identity = records[-1], self._follower.identity
        cursor = {"identity": identity, "sequence": last.sequence, "hash": last.hash.hex()}
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for record in records:
                if self.reads(record.body):
                    self._take_or_leave(record)
            told = {**self.told(), **cursor, "left_out": self.left_out, "rows": self._rows}
            self._db.execute("DELETE FROM kept WHERE kind = ?", (_CURSOR,))
            self.keep(_CURSOR, 0, told)
            self._rows -= 1
            self._db.execute("COMMIT")
        except COMPLAINTS as error:
            raise self._refused(error) from error
        finally:
            if self._db.in_transaction:
                with suppress(*COMPLAINTS):
                    self._db.execute("ROLLBACK")
        self.cursor = Head(last.sequence, last.hash)

    def _take_or_leave(self, record: Record) -> None:
        rows = self._rows
        self._db.execute("SAVEPOINT record")
        try:
            self.take(record)
        except Exception as error:
            if _is_of_medium(error):
                raise
            self._say(f"record {record.sequence} is left out: {error!r}")
            self._db.execute("ROLLBACK TO record")
            self._rows = rows
            count, first = self.left_out or (0, record.sequence)
            self.left_out = [count + 1, first]
        self._db.execute("RELEASE record")

    def _refused(self, error: BaseException) -> JournalWriteError:
        return JournalWriteError(
            f"{self.path} cannot be written: {error or type(error).__name__}",
            remedy="If it is damaged, it is made anew by itself; else free space there, or mount "
            "its medium writable (df, dmesg)",
        )

    def _say(self, what: str) -> None:
        sys.stderr.write(f"{self.WHO}: {what}\n")

    def close(self) -> None:
        """Let go of both files."""
        self._follower.close()
        self._db.close()


def _is_of_medium(error: Exception) -> bool:
    """Whether an error is the file's or the computer's; else it is the record's that is taken."""
    if isinstance(error, _OF_A_VALUE):
        return False
    return isinstance(error, sqlite3.Error | OSError | MemoryError)
