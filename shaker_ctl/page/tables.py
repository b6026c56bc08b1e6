"""The page's own tables, made from the journal: rounds, decisions, tosses, faults, people.

Owns one SQLite file in the page's folder. One thread follows the journal and writes; requests read.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import time
from pathlib import Path
from typing import Any
from zlib import crc32

from shaker_ctl.adapters.disk.folded_tables import CACHE_KB, FoldedTables, Told
from shaker_ctl.errors import JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal import history
from shaker_ctl.journal.history import Round
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.journal.volume import day_of

log = logging.getLogger(__name__)

PAUSE_S = 0.4
"""Between two looks at the journal."""

AGAIN_AFTER_S = 2.0
"""Between two tries where a file cannot be used."""

TOSS, FAULT = "toss", "fault"
"""Kinds of rows."""

FAULTS_OF_ONE = 16
"""A fault's `sequence` is its record's number times this, plus its place among the faults of the
record: one record can raise several."""

_ASKED = ("began", "ended", "ending", "cause", "reading", "reason")
"""What is looked for and counted of a round."""


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

    def _keep_up(self) -> None:
        while not self._ended.is_set():
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with closing(RoundTables(self.path, self._journal, self._day_begins)) as tables:
                    self._follow(tables)
            except Exception as error:  # noqa: BLE001 - a page that goes blind must say so
                trouble = error.line() if isinstance(error, JournalError) else str(error)
                if trouble != self.trouble:
                    log.warning("the journal is not followed: %s", trouble)
                self.trouble = trouble
                self._heard()
                self._ended.wait(AGAIN_AFTER_S)

    def _follow(self, tables: RoundTables) -> None:
        self.cursor, self.trouble = tables.cursor, _left_out(tables)
        self._heard()
        while not self._ended.is_set():
            self.is_behind = tables.keep_up()
            if self.cursor != tables.cursor:
                self.cursor, self.trouble = tables.cursor, _left_out(tables)
                if not self.is_behind:
                    self._heard()
            # Many records at once take the interpreter: requests get their turn in between.
            self._ended.wait(0.01 if self.is_behind else PAUSE_S)

    # ── Asking ──────────────────────────────────────────────────────────────

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Empty where the tables are not there yet, or damaged."""
        try:
            with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=1.0)) as db:
                db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
                db.row_factory = sqlite3.Row
                return db.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError):
            return []

    def _told(self, where: str, values: Sequence[Any]) -> list[Round]:
        rows = self._rows(f"SELECT told FROM round {where}", values)
        try:
            return [_round(row) for row in rows]
        except ValueError:  # a damaged row
            return []

    def last(self, count: int) -> list[Round]:
        """The newest ended rounds, oldest first."""
        newest = "WHERE ended IS NOT NULL ORDER BY number DESC LIMIT ?"
        return self._told(newest, (count,))[::-1]

    def round(self, number: int) -> Round | None:
        """One round; None where there is none."""
        return next(iter(self._told("WHERE number = ?", (number,))), None)

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
        return self._told(f"{where} ORDER BY number DESC LIMIT ?", (*values, count))

    def between(self, first: int, last: int) -> list[Round]:
        """Rounds of these numbers."""
        return self._told("WHERE number BETWEEN ? AND ? ORDER BY number", (first, last))

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

    def tosses(self, count: int) -> list[dict[str, Any]]:
        """The newest proved tosses, oldest first."""
        return self._newest(TOSS, count)[::-1]

    def faults(self, count: int) -> list[dict[str, Any]]:
        """The newest raised faults, newest first."""
        return self._newest(FAULT, count)

    def _newest(self, kind: str, count: int) -> list[dict[str, Any]]:
        sql = "SELECT told FROM kept WHERE kind = ? ORDER BY sequence DESC LIMIT ?"
        return [json.loads(row["told"]) for row in self._rows(sql, (kind, count))]

    def counted(self, column: str) -> dict[str, int]:
        """How many ended rounds have each value of `ending`, `reading`, `reason` or `cause`."""
        assert column in ("ending", "reading", "reason", "cause")
        sql = (
            f"SELECT {column}, count(*) FROM round WHERE {column} IS NOT NULL "
            f"AND {column} != '' AND ended IS NOT NULL GROUP BY {column} ORDER BY 2 DESC"
        )
        return {str(row[0]): int(row[1]) for row in self._rows(sql)}


def _round(row: sqlite3.Row | tuple[str]) -> Round:
    return history.from_plain(json.loads(row[0]))


# ── Writing ─────────────────────────────────────────────────────────────────


def _left_out(tables: RoundTables) -> str:
    """What to say of the records that are not in the tables."""
    if not tables.left_out:
        return ""
    count, first = tables.left_out
    which = f"record {first} is" if count == 1 else f"{count} records, from {first} on, are"
    return f"{which} not shown here: not what this version knows; see shaker-ctl journal verify"


class RoundTables(FoldedTables):
    """The writer."""

    SCHEMA = (
        "CREATE TABLE round (number INTEGER PRIMARY KEY, told TEXT NOT NULL, marks TEXT NOT NULL, "
        "began TEXT NOT NULL, ended TEXT, ending TEXT, cause TEXT, reading TEXT, reason TEXT)",
        "CREATE INDEX round_began ON round (began)",
        "CREATE TABLE who (round INTEGER, name TEXT, role TEXT, PRIMARY KEY (round, name, role)) "
        "WITHOUT ROWID",
        "CREATE INDEX who_name ON who (name)",
        "CREATE TABLE picture (sha256 TEXT PRIMARY KEY, file TEXT NOT NULL, round INTEGER, "
        "sequence INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE day (day TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
    )
    VERSION = crc32(repr((SCHEMA, history.FACTS)).encode()) >> 1
    """Of the tables, and of what a round tells."""
    WHO = "page"
    LOG = "WAL"

    def __init__(self, path: Path, journal: Path, day_begins: time) -> None:
        """`day_begins`: local time at which a gaming day begins."""
        self._day_begins = day_begins
        super().__init__(path, journal)

    def begin(self) -> None:
        self._rounds: dict[int, Round] = {}
        """Those that records of this batch have changed."""

    def told(self) -> Told:
        for one in self._rounds.values():
            self._keep(one)
        self._rounds = {}
        return {}

    def take(self, record: Record) -> None:
        plain = record.plain
        sequence, wall, number = plain["sequence"], plain["wall"], plain.get("round")
        put = self._db.execute
        put("INSERT OR REPLACE INTO day VALUES (?, ?)", (day_of(wall, self._day_begins), sequence))
        changed = list(history.changed_by(plain, self._known))
        for picture in plain.get("pictures", {}).values():
            row = (picture["sha256"], picture["file"], number, sequence)
            put("INSERT OR REPLACE INTO picture VALUES (?, ?, ?, ?)", row)
        if (proof := history.proof_in(plain)) is not None:
            self.keep(TOSS, sequence, {**proof, "wall": wall})
        faults = history.raised_by(plain)
        if len(faults) > FAULTS_OF_ONE:
            raise ValueError(f"{len(faults)} faults")
        for order, (kind, code) in enumerate(faults):
            fault = {"wall": wall, "round": number, "kind": kind, "code": code}
            self.keep(FAULT, sequence * FAULTS_OF_ONE + order, fault)
        self._rounds |= {one.number: one for one in changed}

    def _known(self, number: int) -> Round | None:
        if number in self._rounds:
            return self._rounds[number]
        sql = "SELECT told FROM round WHERE number = ?"
        row = self._db.execute(sql, (number,)).fetchone()
        return None if row is None else _round(row)

    def _keep(self, one: Round) -> None:
        told = (one.number, json.dumps(history.to_plain(one)), "\n".join(one.marks))
        asked = [getattr(one, name) for name in _ASKED]
        names = f"number, told, marks, {', '.join(_ASKED)}"
        places = ", ".join("?" * (3 + len(_ASKED)))
        sql = f"INSERT OR REPLACE INTO round ({names}) VALUES ({places})"
        self._db.execute(sql, (*told, *asked))
        who = [(one.number, each.name, each.role) for each in one.people]
        self._db.executemany("INSERT OR IGNORE INTO who VALUES (?, ?, ?)", who)
