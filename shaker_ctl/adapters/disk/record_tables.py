"""Tables beside the chain: what screens ask for again and again, kept up to date by one reader.

Owns `journal.tables.sqlite`: ended rounds, settled tosses, changes of dice, and the tally of all
outcomes, with the cursor up to which they hold. The records process writes them; console, page and
link read them. They prove nothing and can be lost: whoever finds them missing, damaged, of another
journal or of another version makes them anew from the chain.

No log lies beside them, so that a group which may only read can read them; a reader waits for the
short commits of the writer.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk import volume_file
from shaker_ctl.errors import JournalError
from shaker_ctl.journal import tally as tallies
from shaker_ctl.journal.day_sheet import METERS
from shaker_ctl.journal.meters import CLEARED, NAMES, Meters, clears, moved
from shaker_ctl.journal.record import Head, Record, are_other_dice
from shaker_ctl.journal.tally import Reading, Tally
from shaker_ctl.journal.worn import Worn

VERSION = 2
"""Of the tables; other ones are made anew."""

_SCHEMA = (
    "CREATE TABLE kept (one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL, "
    "sequence INTEGER NOT NULL, hash BLOB NOT NULL, tally TEXT NOT NULL, waiting TEXT NOT NULL)",
    "CREATE TABLE round (number INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, "
    "wall TEXT NOT NULL, ending TEXT NOT NULL, source TEXT, wagers TEXT, cause TEXT, "
    "first INTEGER, second INTEGER, third INTEGER)",
    "CREATE TABLE toss (sequence INTEGER PRIMARY KEY, turns REAL NOT NULL, "
    "in_band_s REAL NOT NULL)",
    "CREATE TABLE dice (sequence INTEGER PRIMARY KEY)",
    "CREATE TABLE meter (name TEXT PRIMARY KEY, count INTEGER NOT NULL)",
    "CREATE TABLE cleared (one INTEGER PRIMARY KEY CHECK (one = 1), wall TEXT NOT NULL, "
    "by TEXT NOT NULL)",
    f"PRAGMA user_version={VERSION}",
)

_TOLD = (
    *(b'"RecordRound"', b'"ReadingMade"', f'"{CLEARED}"'.encode()),
    *(f'"{event}"'.encode() for event in METERS),
)
"""Words of records that change a table; all others are passed over undecoded."""


def place(journal: Path) -> Path:
    """Return where the tables of a journal are kept."""
    return journal.with_name(f"{journal.stem}.tables.sqlite")


class RecordTables:
    """The writer. One process, one thread."""

    def __init__(self, path: Path, identity: str) -> None:
        """Open the tables of the journal `identity`; make them anew where they are not its.

        Raises JournalError where the medium refuses.
        """
        self.path = path
        self._identity = identity
        try:
            self._db = _connect(path)
            self._take_up()
        except (*volume_file.COMPLAINTS, ValueError, KeyError, TypeError):
            self.begin_anew()

    def _take_up(self) -> None:
        if self._db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise ValueError("other tables")
        row = self._db.execute(
            "SELECT identity, sequence, hash, tally, waiting FROM kept"
        ).fetchone()
        if row is None or row[0] != self._identity or not isinstance(row[2], bytes):
            raise ValueError("tables of another journal")
        _, sequence, chain, tally, waiting = row
        self.cursor: Head | None = Head(sequence, chain)
        self._tally = tallies.from_plain(json.loads(tally))
        self._reading = Reading({int(n): v for n, v in json.loads(waiting).items()})

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
        except volume_file.COMPLAINTS as error:
            raise volume_file.translated(error, self.path) from error
        self.cursor = None
        self._tally, self._reading = Tally(), Reading()

    def fold(self, records: Sequence[Record]) -> None:
        """Put what follows the cursor into the tables, all or nothing. Raises JournalError.

        A record that says something else than this program understands is left out, with a line.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for record in records:
                if any(word in record.body for word in _TOLD):
                    self._fold_or_leave(record)
            last = records[-1]
            waiting = json.dumps(self._reading.waiting)
            values = (
                *(self._identity, last.sequence, last.hash),
                *(json.dumps(self._tally.to_plain()), waiting),
            )
            self._db.execute("INSERT OR REPLACE INTO kept VALUES (1, ?, ?, ?, ?, ?)", values)
            self._db.execute("COMMIT")
        except volume_file.COMPLAINTS as error:
            raise volume_file.translated(error, self.path) from error
        finally:
            if self._db.in_transaction:
                with suppress(*volume_file.COMPLAINTS):
                    self._db.execute("ROLLBACK")
        self.cursor = Head(last.sequence, last.hash)

    def _fold_or_leave(self, record: Record) -> None:
        plain = record.plain
        try:
            self._fold(plain)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            sys.stderr.write(f"records: record {record.sequence} is left out: {error!r}\n")

    def _fold(self, plain: dict[str, Any]) -> None:
        sequence = plain["sequence"]
        for outcome in self._reading.of_plain(plain):
            self._tally.add(outcome)
        for command in plain.get("decision", ()):
            if command.get("type") == "RecordRound":
                values = command.get("values") or (None, None, None)
                row = (command["round"], sequence, plain["wall"], command["ending"])
                told = (command.get("source"), command.get("wagers"), command.get("cause"))
                self._db.execute(
                    "INSERT OR REPLACE INTO round VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*row, *told, *values),
                )
        self._count(plain)
        if plain["kind"] != "step":  # a refused event changed nothing
            return
        event = plain["event"]
        if event["type"] == "TossSettled":
            proof = event["proof"]
            self._db.execute(
                "INSERT OR REPLACE INTO toss VALUES (?, ?, ?)",
                (sequence, proof["turns"], proof["in_band_s"]),
            )
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
    db.execute(f"PRAGMA cache_size=-{volume_file.CACHE_KB}")
    # The chain is the record: what a power cut takes from the tables is made anew from it.
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=TRUNCATE")
    return db


@dataclass(frozen=True, slots=True)
class EndedRound:
    """One row of the table of rounds."""

    number: int
    sequence: int
    """Of the record that ended it."""
    wall: str
    ending: str
    source: str | None
    wagers: str | None
    cause: str | None
    values: tuple[int, int, int] | None


class TablesReader:
    """Whoever looks the tables up. Every answer is None where they are not there, or damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with volume_file.guarded(self._path), closing(volume_file.reader(self._path)) as db:
            yield db

    def counted(self) -> tuple[Tally, int] | None:
        """The tally of all outcomes, and the record up to which it counts."""
        try:
            with self._opened() as db:
                row = db.execute("SELECT tally, sequence FROM kept").fetchone()
            return None if row is None else (tallies.from_plain(json.loads(row[0])), int(row[1]))
        except (JournalError, ValueError, KeyError, TypeError):
            return None

    def meters(self) -> Meters | None:
        """The counters since they were last cleared, and the record up to which they count."""
        try:
            with self._opened() as db:
                kept = db.execute("SELECT sequence FROM kept").fetchone()
                found = dict(db.execute("SELECT name, count FROM meter").fetchall())
                cleared = db.execute("SELECT wall, by FROM cleared").fetchone() or ("", "")
        except (JournalError, ValueError, TypeError):
            return None
        counts = {name: int(found.get(name, 0)) for name in NAMES}
        return None if kept is None else Meters(counts, int(kept[0]), *cleared)

    def worn(self, until: int) -> Worn | None:
        """The dice's wear up to the record `until`; None while the tables do not reach it."""
        try:
            with self._opened() as db:
                row = db.execute("SELECT sequence FROM kept").fetchone()
                if until > 0 and (row is None or row[0] < until):
                    return None
                tosses, turns, shaken_s = db.execute(
                    "SELECT count(*), total(turns), total(in_band_s) FROM toss WHERE sequence <= ? "
                    "AND sequence > (SELECT coalesce(max(sequence), 0) FROM dice "
                    "WHERE sequence <= ?)",
                    (until, until),
                ).fetchone()
            return Worn(int(tosses), float(turns), float(shaken_s))
        except (JournalError, ValueError, TypeError):
            return None

    def shaken(self, first: int) -> Worn | None:
        """All tosses from the record `first` on, whatever dice were in the compartment."""
        try:
            with self._opened() as db:
                tosses, turns, shaken_s = db.execute(
                    "SELECT count(*), total(turns), total(in_band_s) FROM toss WHERE sequence >= ?",
                    (first,),
                ).fetchone()
            return Worn(int(tosses), float(turns), float(shaken_s))
        except (JournalError, ValueError, TypeError):
            return None

    def rounds(self, count: int, before: int | None = None) -> list[EndedRound] | None:
        """The newest ended rounds, newest first, of numbers below `before` where it is given."""
        limit = volume_file.LARGEST if before is None else before
        try:
            with self._opened() as db:
                rows = db.execute(
                    "SELECT number, sequence, wall, ending, source, wagers, cause, first, second, "
                    "third FROM round WHERE number < ? ORDER BY number DESC LIMIT ?",
                    (limit, count),
                ).fetchall()
        except JournalError:
            return None
        return [_ended(row) for row in rows]


def _ended(row: tuple[Any, ...]) -> EndedRound:
    number, sequence, wall, ending, source, wagers, cause, *dice = row
    values = (dice[0], dice[1], dice[2]) if dice[0] is not None else None
    return EndedRound(number, sequence, wall, ending, source, wagers, cause, values)
