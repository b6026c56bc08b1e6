"""Tables beside the chain: what screens ask for again and again, kept up to date by one reader.

Owns `journal.tables.sqlite`: settled tosses, changes of dice, meters, and the tally of all
outcomes, with the cursor up to which they hold. The records process writes them; console, page and
link read them. They prove nothing and can be lost: the writer makes them anew from the chain where
they are missing, damaged, of another journal or of another version. Where volumes were removed, it
can do so when these have been fetched back.

Damage is noticed by whoever meets it: each toss has a mark (CRC-32), and the cursor has one over
itself, the number of tosses and the small tables. A reader that meets a wrong mark answers nothing;
the writer looks at all of them (`damage`).

No log lies beside them, so that a group which may only read can read them; a reader waits for the
short commits of the writer.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk import (
    sqlite_complaints,
    stray_sqlite_files,
    volume_file,
    volume_queries,
)
from shaker_ctl.errors import JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal import tally as tallies
from shaker_ctl.journal.meters import NAMES, WORDS, Meters, clears, moved
from shaker_ctl.journal.record import Head, Record, are_other_dice
from shaker_ctl.journal.tally import Reading, Tally
from shaker_ctl.journal.worn import PartUsage

VERSION = 4
"""Version of the tables. Tables of another version are made anew."""

_SCHEMA = (
    "CREATE TABLE kept (one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL, "
    "sequence INTEGER NOT NULL, hash TEXT NOT NULL, tally TEXT NOT NULL, waiting TEXT NOT NULL, "
    "tosses INTEGER NOT NULL, small INTEGER NOT NULL, mark INTEGER NOT NULL)",
    # Sums from the first toss on, so that a stretch of tosses is the difference of two rows.
    "CREATE TABLE toss (sequence INTEGER PRIMARY KEY, tosses INTEGER NOT NULL, "
    "turns REAL NOT NULL, in_band_s REAL NOT NULL, mark INTEGER NOT NULL)",
    "CREATE TABLE dice (sequence INTEGER PRIMARY KEY)",
    "CREATE TABLE meter (name TEXT PRIMARY KEY, count INTEGER NOT NULL)",
    "CREATE TABLE cleared (one INTEGER PRIMARY KEY CHECK (one = 1), wall TEXT NOT NULL, "
    "by TEXT NOT NULL)",
    f"PRAGMA user_version={VERSION}",
)

_KEPT = "identity, sequence, hash, tally, waiting, tosses, small"
_TOSS = "sequence, tosses, turns, in_band_s"
_SMALL = (
    "SELECT sequence FROM dice ORDER BY sequence",
    "SELECT name, count FROM meter ORDER BY name",
    "SELECT wall, by FROM cleared",
)
"""Tables that are read whole; one mark is over them all."""

_KINDS_READ = (*WORDS, *tallies.WORDS, b'"TossSettled"', b'"DiceChanged"')
"""Words of records that change a table; all others are passed over undecoded."""


def place(journal: Path) -> Path:
    """Return where the tables of a journal are kept."""
    return journal.with_name(f"{journal.stem}.tables.sqlite")


def _mark(*row: Any) -> int:
    """Over one row, whatever stands in it."""
    return zlib.crc32(repr(row).encode(errors="surrogatepass"))


def _marked(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row without its mark, the last column. Raises ValueError where it is wrong."""
    *columns, mark = row
    if mark != _mark(*columns):
        raise ValueError("a row is not as it was written")
    return tuple(columns)


@frozen
class _Kept:
    """The row of the cursor."""

    identity: str
    sequence: int
    hash: str
    tally: str
    waiting: str
    tosses: int
    small: int


def _kept(db: sqlite3.Connection) -> _Kept | None:
    """Return the cursor and its counts; None in new tables. Raises ValueError where it is wrong."""
    row = db.execute(f"SELECT {_KEPT}, mark FROM kept").fetchone()
    return None if row is None else _Kept(*_marked(row))


def _small(db: sqlite3.Connection) -> list[list[Any]]:
    """Return the small tables as they stand."""
    return [db.execute(query).fetchall() for query in _SMALL]


def _small_as_kept(db: sqlite3.Connection, kept: _Kept) -> list[list[Any]]:
    """Return the small tables. Raises ValueError where they are not as they were written."""
    found = _small(db)
    if _mark(*found) != kept.small:
        raise ValueError("the counters are not as they were written")
    return found


def _check(db: sqlite3.Connection, kept: _Kept | None) -> None:
    """Look at all that stands there. Raises ValueError, and what SQLite complains of."""
    if (found := db.execute("PRAGMA integrity_check(1)").fetchone()) != ("ok",):
        raise ValueError(f"SQLite says: {found[0] if found else 'nothing'}")
    tosses = sum(1 for row in db.execute(f"SELECT {_TOSS}, mark FROM toss") if _marked(row))
    if tosses != (kept.tosses if kept else 0):
        raise ValueError("tosses are missing")
    if kept is not None:
        _small_as_kept(db, kept)


_DAMAGE = (*sqlite_complaints.COMPLAINTS, ValueError, KeyError, TypeError)
"""What a look at damaged tables raises."""


class RecordTables:
    """The writer. One process, one thread."""

    def __init__(self, path: Path, identity: str) -> None:
        """Open the tables of the journal `identity`; make them anew where they are not its.

        Raises JournalError where the medium refuses.
        """
        self.path = path
        self.cursor: Head | None = None
        self._identity = identity
        is_there = path.exists()
        try:
            stray_sqlite_files.require_file(path)
            self._db = _connect(path)
            self._take_up()
        except (JournalError, *_DAMAGE) as error:
            if is_there:
                _say_anew(error)
            self.begin_anew()

    def _take_up(self) -> None:
        if self._db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise ValueError("they are of another version")
        kept = _kept(self._db)
        if kept is None and not any(_small(self._db)):
            _check(self._db, None)
            self._set_out()
            return
        if kept is None or kept.identity != self._identity:
            raise ValueError("they are of another journal")
        _check(self._db, kept)
        self.cursor = Head(kept.sequence, bytes.fromhex(kept.hash))
        self._tally = tallies.from_plain(json.loads(kept.tally))
        self._reading = Reading({int(n): v for n, v in json.loads(kept.waiting).items()})
        self._shaken = _shaken_until(self._db, kept, kept.sequence)

    def damage(self) -> Exception | None:
        """Look at all rows; return what is wrong, None where all are as they were written."""
        try:
            _check(self._db, _kept(self._db))
        except _DAMAGE as error:
            return error
        return None

    def mend(self) -> bool:
        """Begin anew where something is damaged, with a line; return whether that was so.

        Raises JournalError.
        """
        if (error := self.damage()) is None:
            return False
        _say_anew(error)
        self.begin_anew()
        return True

    def begin_anew(self) -> None:
        """Throw the tables away and begin at the first record. Raises JournalError."""
        try:
            if hasattr(self, "_db"):
                self._db.close()
            for suffix in ("", "-journal", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._db = _connect(self.path)
            self.path.chmod(volume_file.MODE)
            for statement in _SCHEMA:
                self._db.execute(statement)
        except sqlite_complaints.COMPLAINTS as error:
            raise sqlite_complaints.translated(error, self.path) from error
        self._set_out()

    def _set_out(self) -> None:
        """Stand before the first record: nothing was put in yet."""
        self.cursor = None
        self._shaken = PartUsage()
        self._tally, self._reading = Tally(), Reading()

    def fold(self, records: Sequence[Record]) -> None:
        """Put what follows the cursor into the tables, all or nothing. Raises JournalError.

        A record that says something else than this program understands is left out, with a line.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for record in records:
                if any(word in record.body for word in _KINDS_READ):
                    self._fold_or_leave(record)
            last = records[-1]
            kept = (
                *(self._identity, last.sequence, last.hash.hex()),
                *(json.dumps(self._tally.to_plain()), json.dumps(self._reading.waiting)),
                *(self._shaken.tosses, _mark(*_small(self._db))),
            )
            self._db.execute(
                "INSERT OR REPLACE INTO kept VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*kept, _mark(*kept)),
            )
            self._db.execute("COMMIT")
        except sqlite_complaints.COMPLAINTS as error:
            raise sqlite_complaints.translated(error, self.path) from error
        finally:
            if self._db.in_transaction:
                with suppress(*sqlite_complaints.COMPLAINTS):
                    self._db.execute("ROLLBACK")
        self.cursor = Head(last.sequence, last.hash)

    def _fold_or_leave(self, record: Record) -> None:
        plain = record.plain
        try:
            self._fold(plain)
        except (sqlite3.Error, OSError, MemoryError):  # the medium's fault, not the record's
            raise
        except Exception as error:  # noqa: BLE001 - whatever a record holds, the next ones count
            sys.stderr.write(f"records: record {record.sequence} is left out: {error!r}\n")

    def _fold(self, plain: dict[str, Any]) -> None:
        sequence = plain["sequence"]
        for outcome in self._reading.of_plain(plain):
            self._tally.add(outcome)
        self._count(plain)
        if plain["kind"] != "step":  # a refused event changed nothing
            return
        event = plain["event"]
        if event["type"] == "TossSettled":
            proof = event["proof"]
            toss = PartUsage(1, float(proof["turns"]), float(proof["in_band_s"]))
            shaken = self._shaken.plus(toss)
            row = (sequence, shaken.tosses, shaken.turns, shaken.shaken_s)
            self._db.execute("INSERT INTO toss VALUES (?, ?, ?, ?, ?)", (*row, _mark(*row)))
            self._shaken = shaken
        elif are_other_dice(plain):
            self._db.execute("INSERT OR REPLACE INTO dice VALUES (?)", (sequence,))

    def _count(self, plain: dict[str, Any]) -> None:
        """Move the meters, or begin them anew."""
        if clears(plain):
            self._db.execute("DELETE FROM meter")
            by = " and ".join(plain["by"])
            self._db.execute("INSERT OR REPLACE INTO cleared VALUES (1, ?, ?)", (plain["wall"], by))
        for name in moved(plain):
            self._db.execute(
                "INSERT INTO meter VALUES (?, 1) "
                "ON CONFLICT (name) DO UPDATE SET count = count + 1",
                (name,),
            )

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    db.execute(f"PRAGMA cache_size=-{volume_queries.CACHE_KB}")
    # The chain is the record: what a power cut takes from the tables is made anew from it.
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=TRUNCATE")
    return db


def _say_anew(error: Exception) -> None:
    sys.stderr.write(f"records: the tables beside the journal are made anew: {error}\n")


def _shaken_until(db: sqlite3.Connection, kept: _Kept, sequence: int) -> PartUsage:
    """Return all tosses up to a record. Raises ValueError where this row or the next is damaged."""

    def toss(where: str) -> tuple[Any, ...] | None:
        query = f"SELECT {_TOSS}, mark FROM toss WHERE sequence {where} LIMIT 1"
        row = db.execute(query, (sequence,)).fetchone()
        return None if row is None else _marked(row)

    last, following = toss("<= ? ORDER BY sequence DESC"), toss("> ? ORDER BY sequence")
    found = PartUsage() if last is None else PartUsage(*last[1:])
    if found.tosses != (kept.tosses if following is None else following[1] - 1):
        raise ValueError("tosses are missing")
    return found


class TablesReader:
    """Whoever looks the tables up. Every answer is None where they are not there, or damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _opened(self) -> Iterator[tuple[sqlite3.Connection, _Kept]]:
        """The tables as they stand at one moment. Raises JournalError, and ValueError where there
        is no cursor."""
        with (
            sqlite_complaints.guarded(self._path),
            closing(volume_queries.reader(self._path)) as db,
        ):
            db.execute("BEGIN")
            if (kept := _kept(db)) is None:
                raise ValueError("the tables are new")
            yield db, kept

    def damage(self) -> str:
        """Look at all rows; return what is wrong; empty where nothing is, or none are there."""
        if not self._path.exists():
            return ""
        try:
            with self._opened() as (db, kept):
                _check(db, kept)
        except (JournalError, *_DAMAGE) as error:
            return str(error)
        return ""

    def counted(self) -> tuple[Tally, int] | None:
        """The tally of all outcomes, and the record up to which it counts."""
        try:
            with self._opened() as (_, kept):
                return tallies.from_plain(json.loads(kept.tally)), kept.sequence
        except (JournalError, ValueError, KeyError, TypeError):
            return None

    def meters(self) -> Meters | None:
        """The counters since they were last cleared, and the record up to which they count."""
        try:
            with self._opened() as (db, kept):
                _, meters, cleared = _small_as_kept(db, kept)
        except (JournalError, ValueError, TypeError):
            return None
        found = dict(meters)
        counts = {name: int(found.get(name, 0)) for name in NAMES}
        return Meters(counts, kept.sequence, *(cleared[0] if cleared else ("", "")))

    def worn(self, until: int) -> PartUsage | None:
        """The dice's wear up to the record `until`; None while the tables do not reach it."""
        try:
            with self._opened() as (db, kept):
                if kept.sequence < until:
                    return None
                changes, _, _ = _small_as_kept(db, kept)
                since = max((at for (at,) in changes if at <= until), default=0)
                return _shaken_until(db, kept, until).minus(_shaken_until(db, kept, since))
        except (JournalError, ValueError, TypeError):
            return None

    def shaken(self, first: int) -> PartUsage | None:
        """All tosses from the record `first` on, whatever dice were in the compartment."""
        try:
            with self._opened() as (db, kept):
                until = _shaken_until(db, kept, kept.sequence)
                return until.minus(_shaken_until(db, kept, first - 1))
        except (JournalError, ValueError, TypeError):
            return None
