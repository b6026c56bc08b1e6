"""The page's own tables, made from the journal: rounds, decisions, tosses, faults, people.

Owns one SQLite file in the page's folder, with the cursor up to which it holds. One thread follows
the journal and writes; requests read. The tables prove nothing and can be lost: where they are
missing, damaged, of another journal or of another version, they are made anew from the chain.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import time
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.follower import AT_ONCE, Follower
from shaker_ctl.adapters.disk.volume_queries import CACHE_KB
from shaker_ctl.errors import JournalCorruptError, JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.journal.tally import values_of
from shaker_ctl.journal.volume import day_of
from shaker_ctl.page.journal import is_of_play

log = logging.getLogger(__name__)

VERSION = 7
"""Version of the tables. Tables of another version are made anew."""

PAUSE_S = 0.4
"""Between two looks at the journal."""

AGAIN_AFTER_S = 2.0
"""Between two tries where a file cannot be used."""

_SCHEMA = (
    "CREATE TABLE kept (one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL, "
    "sequence INTEGER NOT NULL, hash BLOB NOT NULL)",
    "CREATE TABLE round (number INTEGER PRIMARY KEY, first INTEGER NOT NULL, "
    "last INTEGER NOT NULL, began TEXT NOT NULL, ended TEXT, ending TEXT, source TEXT, "
    "wagers TEXT, cause TEXT, values_ TEXT, withdrawn TEXT, corrected_by TEXT, reading TEXT, "
    "reason TEXT, picture TEXT, rest_s REAL, read_ms REAL, lit_ms REAL, areas TEXT, "
    "marks TEXT NOT NULL DEFAULT '')",
    "CREATE INDEX round_began ON round (began)",
    "CREATE TABLE who (round INTEGER, name TEXT, role TEXT, PRIMARY KEY (round, name, role)) "
    "WITHOUT ROWID",
    "CREATE INDEX who_name ON who (name)",
    "CREATE TABLE picture (sha256 TEXT PRIMARY KEY, file TEXT NOT NULL, round INTEGER, "
    "sequence INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE toss (sequence INTEGER PRIMARY KEY, wall TEXT NOT NULL, purpose TEXT NOT NULL, "
    "number INTEGER NOT NULL, turns REAL, in_band_s REAL, lowest_rpm REAL, highest_rpm REAL)",
    "CREATE TABLE fault (sequence INTEGER PRIMARY KEY, wall TEXT NOT NULL, round INTEGER, "
    "kind TEXT NOT NULL, code TEXT NOT NULL)",
    "CREATE TABLE day (day TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE left_out (sequence INTEGER PRIMARY KEY, why TEXT NOT NULL)",
    f"PRAGMA user_version={VERSION}",
)

COMMANDS_OF_ONE = 16
"""A fault's `sequence` is its record's number times this, plus its place among the commands of the
record: one record can raise several faults."""

COMPLAINTS = (sqlite3.Error, OSError)


@frozen
class Round:
    """One round of play as the journal tells it."""

    number: int
    first: int
    last: int
    """Sequence numbers of its records."""
    began: str
    ended: str | None
    """Wall times, ISO 8601; None while it goes on."""
    ending: str | None
    source: str | None
    wagers: str | None
    cause: str | None
    values: tuple[int, ...] | None
    withdrawn: str | None
    """The result that a correction has replaced: `1 4 5`, or `no roll`."""
    corrected_by: str | None
    """Who named the correction, and who agreed."""
    reading: str | None
    """`Verified`, `NoRoll` or `Unreadable`."""
    reason: str | None
    picture: str | None
    """SHA-256 of the decision's picture with the readers' findings."""
    read_ms: float | None
    """From rest to the decision."""
    lit_ms: float | None
    """From rest to the lamps read back lit."""
    areas: tuple[str, ...]
    """Betting areas that were commanded lit last."""
    marks: tuple[str, ...]
    """Of its records: `DEMONSTRATION`, ..."""


_ROUND = (
    "number, first, last, began, ended, ending, source, wagers, cause, values_, withdrawn, "
    "corrected_by, reading, reason, picture, read_ms, lit_ms, areas, marks"
)


def marks_of(rounds: Iterable[Round]) -> tuple[str, ...]:
    """All marks of some rounds."""
    return tuple(dict.fromkeys(mark for one in rounds for mark in one.marks))


@frozen
class Wanted:
    """What a person looks for among the rounds; empty fields ask for nothing."""

    number: int | None = None
    since: str = ""
    until: str = ""
    """Wall times, ISO 8601, from the first on and before the second."""
    ending: str = ""
    cause: str = ""
    person: str = ""
    before: int | None = None
    """Only rounds with a lower number: the next page."""


class Book:
    """The tables. `start` and `stop` once; everything that asks, from any thread."""

    def __init__(
        self, path: Path, journal: Path, day_begins: time, heard: Callable[[], None]
    ) -> None:
        """`path`: of the tables. `day_begins`: local time at which a gaming day begins. `heard` is
        called from the thread when the tables have grown.
        """
        self._day_begins = day_begins
        self.path = path
        self._journal = journal
        self._heard = heard
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_up, name="journal", daemon=True)
        self.trouble = "the journal is being opened"
        """Why the journal is not followed now; empty while it is."""
        self.cursor: Head | None = None
        """The last record that the tables hold."""
        self.is_behind = True
        """Whether there may be records that are not in the tables yet."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    # ── Following ───────────────────────────────────────────────────────────

    def _keep_up(self) -> None:
        while not self._ended.is_set():
            try:
                with closing(self._opened_for_writing()) as db:
                    self._follow(db)
            except Exception as error:  # noqa: BLE001 - a page that goes blind must say so
                trouble = error.line() if isinstance(error, JournalError) else str(error)
                if trouble != self.trouble:
                    log.warning("the journal is not followed: %s", trouble)
                self.trouble = trouble
                self._heard()
                self._ended.wait(AGAIN_AFTER_S)

    def _follow(self, db: sqlite3.Connection) -> None:
        identity, after = _cursor(db)
        try:
            follower = Follower(self._journal, after, identity=identity)
        except JournalCorruptError:  # other records than those that the tables were made from
            _begin_anew(db)
            follower = Follower(self._journal)
        with closing(follower):
            self.cursor, self.trouble = follower.cursor, _left_out(db)
            self._heard()
            while not self._ended.is_set():
                records = follower.take()
                if records:
                    _fold(db, records, follower.identity, self._day_begins)
                    self.cursor, self.trouble = follower.cursor, _left_out(db)
                self.is_behind = len(records) == AT_ONCE
                if records and not self.is_behind:
                    self._heard()
                # Many records at once take the interpreter: requests get their turn in between.
                self._ended.wait(0.01 if self.is_behind else PAUSE_S)

    def _opened_for_writing(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, isolation_level=None, timeout=5.0)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
            # The chain is the record: what a power cut takes from the tables is made anew.
            db.execute("PRAGMA synchronous=OFF")
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                _begin_anew(db)
        except sqlite3.DatabaseError:
            db.close()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            raise
        return db

    # ── Asking ──────────────────────────────────────────────────────────────

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=1.0)) as db:
            db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
            db.row_factory = sqlite3.Row
            yield db

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Empty where the tables are not there yet, or damaged."""
        try:
            with self._reading() as db:
                return db.execute(sql, values).fetchall()
        except COMPLAINTS:
            return []

    def last(self, count: int) -> list[Round]:
        """The newest ended rounds, oldest first."""
        rows = self._rows(
            f"SELECT {_ROUND} FROM round WHERE ended IS NOT NULL ORDER BY number DESC LIMIT ?",
            (count,),
        )
        return [_round(row) for row in reversed(rows)]

    def round(self, number: int) -> Round | None:
        """One round; None where there is none."""
        rows = self._rows(f"SELECT {_ROUND} FROM round WHERE number = ?", (number,))
        return _round(rows[0]) if rows else None

    def find(self, wanted: Wanted, count: int) -> list[Round]:
        """The newest rounds that fit, newest first."""
        terms: list[str] = []
        values: list[Any] = []
        for term, value in (
            ("number = ?", wanted.number),
            ("began >= ?", wanted.since),
            ("began < ?", wanted.until),
            ("ending = ?", wanted.ending),
            ("cause = ?", wanted.cause),
            ("number IN (SELECT round FROM who WHERE name = ?)", wanted.person),
            ("number < ?", wanted.before),
        ):
            if value not in (None, ""):
                terms.append(term)
                values.append(value)
        where = f"WHERE {' AND '.join(terms)}" if terms else ""
        rows = self._rows(
            f"SELECT {_ROUND} FROM round {where} ORDER BY number DESC LIMIT ?", (*values, count)
        )
        return [_round(row) for row in rows]

    def between(self, first: int, last: int) -> Iterator[Round]:
        """Rounds of these numbers, one after the other: a day's, however many they are."""
        sql = f"SELECT {_ROUND} FROM round WHERE number BETWEEN ? AND ? ORDER BY number"
        with contextlib.suppress(*COMPLAINTS), self._reading() as db:
            for row in db.execute(sql, (first, last)):
                yield _round(row)

    def people_of(self, number: int) -> list[tuple[str, str]]:
        """Name and role of everybody who acted in a round."""
        rows = self._rows("SELECT name, role FROM who WHERE round = ? ORDER BY name", (number,))
        return [(row["name"], row["role"]) for row in rows]

    def names(self) -> list[str]:
        """Everybody who ever acted in a round."""
        return [row["name"] for row in self._rows("SELECT DISTINCT name FROM who ORDER BY name")]

    def causes(self) -> list[str]:
        """Every cause for which a round ended without a result."""
        sql = "SELECT DISTINCT cause FROM round WHERE cause IS NOT NULL ORDER BY cause"
        return [row["cause"] for row in self._rows(sql)]

    def marks(self) -> tuple[str, ...]:
        """All marks of all rounds."""
        rows = self._rows("SELECT DISTINCT marks FROM round ORDER BY marks")
        return tuple(dict.fromkeys(one for row in rows for one in row["marks"].split("\n") if one))

    def file_of(self, sha256: str) -> str | None:
        """File name of a picture; None where no record names this digest."""
        rows = self._rows("SELECT file FROM picture WHERE sha256 = ?", (sha256,))
        return str(rows[0]["file"]) if rows else None

    def days(self) -> dict[str, int]:
        """Every gaming day with its last record, the newest record's day first."""
        rows = self._rows("SELECT day, last FROM day ORDER BY last DESC")
        return {row["day"]: row["last"] for row in rows}

    def tosses(self, count: int) -> list[Mapping[str, Any]]:
        """The newest proved tosses, oldest first."""
        rows = self._rows("SELECT * FROM toss ORDER BY sequence DESC LIMIT ?", (count,))
        return [dict(row) for row in reversed(rows)]

    def faults(self, count: int) -> list[Mapping[str, Any]]:
        """The newest raised faults, newest first."""
        rows = self._rows("SELECT * FROM fault ORDER BY sequence DESC LIMIT ?", (count,))
        return [dict(row) for row in rows]

    def figures(self, column: str, count: int) -> list[float]:
        """The newest `count` values of `read_ms` or `lit_ms`."""
        assert column in ("read_ms", "lit_ms")
        rows = self._rows(
            f"SELECT {column} FROM round WHERE {column} IS NOT NULL ORDER BY number DESC LIMIT ?",
            (count,),
        )
        return [float(row[0]) for row in rows]

    def counted(self, column: str) -> dict[str, int]:
        """How many ended rounds have each value of `ending`, `reading`, `reason` or `cause`."""
        assert column in ("ending", "reading", "reason", "cause")
        sql = (
            f"SELECT {column}, count(*) FROM round WHERE {column} IS NOT NULL "
            f"AND {column} != '' AND ended IS NOT NULL GROUP BY {column} ORDER BY 2 DESC"
        )
        return {str(row[0]): int(row[1]) for row in self._rows(sql)}


def _round(row: sqlite3.Row) -> Round:
    told: dict[str, Any] = dict(row)
    told["values"] = _dice(told.pop("values_"))
    told["marks"] = tuple(filter(None, told["marks"].split("\n")))
    told["areas"] = tuple((told["areas"] or "").split())
    return Round(**told)


def _dice(text: str | None) -> tuple[int, ...] | None:
    return tuple(int(digit) for digit in text.split()) if text else None


# ── Writing ─────────────────────────────────────────────────────────────────


def _cursor(db: sqlite3.Connection) -> tuple[str, Head | None]:
    row = db.execute("SELECT identity, sequence, hash FROM kept").fetchone()
    return ("", None) if row is None else (row[0], Head(row[1], row[2]))


def _begin_anew(db: sqlite3.Connection) -> None:
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    db.execute("BEGIN IMMEDIATE")
    for name in names:
        db.execute(f'DROP TABLE "{name}"')
    for statement in _SCHEMA:
        db.execute(statement)
    db.execute("COMMIT")


def _fold(
    db: sqlite3.Connection, records: Sequence[Record], identity: str, day_begins: time
) -> None:
    """Put records into the tables, all or none."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for record in records:
            _fold_or_leave(db, record, day_begins)
        last = records[-1]
        values = (identity, last.sequence, last.hash)
        db.execute("INSERT OR REPLACE INTO kept VALUES (1, ?, ?, ?)", values)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _fold_or_leave(db: sqlite3.Connection, record: Record, day_begins: time) -> None:
    """Put one record into the tables; what says something else than this page knows stays out."""
    db.execute("SAVEPOINT record")
    try:
        plain = record.plain
        db.execute(
            "INSERT OR REPLACE INTO day VALUES (?, ?)",
            (day_of(plain["wall"], day_begins), record.sequence),
        )
        _take(db, plain)
    except (sqlite3.OperationalError, OSError):  # the medium's fault, not the record's
        raise
    except Exception as error:  # noqa: BLE001 - whatever a record holds, the next ones are shown
        log.warning("record %d is left out: %r", record.sequence, error)
        db.execute("ROLLBACK TO record")
        why = (record.sequence, repr(error))
        db.execute("INSERT OR REPLACE INTO left_out VALUES (?, ?)", why)
    db.execute("RELEASE record")


def _left_out(db: sqlite3.Connection) -> str:
    """What to say of the records that are not in the tables."""
    count, first = db.execute("SELECT count(*), min(sequence) FROM left_out").fetchone()
    if not count:
        return ""
    which = f"record {first} is" if count == 1 else f"{count} records, from {first} on, are"
    return f"{which} not shown here: not what this version knows; see shaker-ctl journal verify"


def _values(command: dict[str, Any]) -> str:
    """The values of a result as the tables keep them. Raises ValueError for what is none."""
    return " ".join(map(str, values_of(command.get("values")) or ()))


def _take(db: sqlite3.Connection, plain: dict[str, Any]) -> None:
    sequence, wall, number = plain["sequence"], plain["wall"], plain.get("round")
    if number is not None:
        db.execute(
            "INSERT INTO round (number, first, last, began) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (number) DO UPDATE SET last = excluded.last",
            (number, sequence, sequence, wall),
        )
        if marks := "\n".join(plain.get("marks", ())):
            db.execute("UPDATE round SET marks = ? WHERE number = ?", (marks, number))
    for picture in plain.get("pictures", {}).values():
        db.execute(
            "INSERT OR REPLACE INTO picture VALUES (?, ?, ?, ?)",
            (picture["sha256"], picture["file"], number, sequence),
        )
    if plain["kind"] == "step":  # a refused event changed nothing
        _event(db, plain, number)
    for order, command in enumerate(plain.get("decision", ())):
        _command(db, plain, command, number, order)


def _event(db: sqlite3.Connection, plain: dict[str, Any], number: int | None) -> None:
    event = plain["event"]
    kind = event["type"]
    for person in event.values():
        if number is not None and isinstance(person, dict) and person.get("type") == "Person":
            who = (number, person["name"], person["role"])
            db.execute("INSERT OR IGNORE INTO who VALUES (?, ?, ?)", who)
    if kind == "TossSettled":
        proof, of = event["proof"], event["occasion"]
        told = (proof.get(key) for key in ("turns", "in_band_s", "lowest_rpm", "highest_rpm"))
        db.execute(
            "INSERT OR REPLACE INTO toss VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (plain["sequence"], plain["wall"], of["purpose"], of["number"], *told),
        )
    if number is None or not is_of_play(event):
        return
    if kind == "AtRest":
        db.execute("UPDATE round SET rest_s = ? WHERE number = ?", (plain["at_s"], number))
    elif kind == "ReadingMade":
        verdict = event["verdict"]
        reason = verdict.get("reason") or verdict.get("kind") or ""
        overlay = plain["pictures"].get("overlay", {}).get("sha256")
        db.execute(
            "UPDATE round SET reading = ?, reason = ?, picture = ?, "
            "read_ms = COALESCE(read_ms, 1000 * (? - rest_s)) WHERE number = ?",
            (verdict["type"], reason, overlay, plain["at_s"], number),
        )
    elif kind == "LampsShown":
        db.execute(
            "UPDATE round SET lit_ms = 1000 * (? - rest_s) WHERE number = ? AND lit_ms IS NULL",
            (plain["at_s"], number),
        )


def _command(
    db: sqlite3.Connection,
    plain: dict[str, Any],
    command: dict[str, Any],
    number: int | None,
    order: int,
) -> None:
    kind = command["type"]
    if kind == "RecordRound":
        values = _values(command)
        told = (command.get(key) for key in ("ending", "source", "wagers", "cause"))
        db.execute(
            "UPDATE round SET ended = ?, ending = ?, source = ?, wagers = ?, cause = ?, "
            "values_ = ? WHERE number = ?",
            (plain["wall"], *told, values, command["round"]),
        )
        if (correction := command.get("correction")) is not None:
            first = " ".join(map(str, correction["first"] or ())) or "no roll"
            names = [correction[key]["name"] for key in ("named_by", "agreed_by")]
            db.execute(
                "UPDATE round SET withdrawn = ?, corrected_by = ? WHERE number = ?",
                (first, ", ".join(names), command["round"]),
            )
    elif kind == "PushLamps" and number is not None and is_of_play(command):
        shown = _values(command)
        if command.get("corrects"):
            db.execute(
                "UPDATE round SET withdrawn = coalesce(withdrawn, values_) WHERE number = ?",
                (number,),
            )
        db.execute(
            "UPDATE round SET values_ = ?, areas = ? WHERE number = ?",
            (shown, " ".join(command["areas"]), number),
        )
    elif kind == "RaiseFault":
        db.execute(
            "INSERT OR REPLACE INTO fault VALUES (?, ?, ?, ?, ?)",
            (
                plain["sequence"] * COMMANDS_OF_ONE + order,
                plain["wall"],
                number,
                command["kind"],
                command["code"],
            ),
        )
