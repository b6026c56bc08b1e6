"""How the table does over weeks: figures of its view now and then, and the curve of each toss.

Owns one SQLite file in the page's folder. What happened while the page did not run
is missing. The figures are no evidence: where the file is damaged or of another version, it is made
anew, and the technician's page says so.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.sqlite_complaints import COMPLAINTS, translated
from shaker_ctl.errors import JournalCorruptError

log = logging.getLogger(__name__)

EVERY_S = 300.0
"""Between two samples: a year of them is 8 MB."""

VERSION = 1
"""Version of the tables. Tables of another version are made anew."""

KEPT_S = 400 * 86_400.0
POINTS = 1000
"""Points of a figure's shown series: a screen is not much wider."""

CURVES = 100
"""Tosses whose curve is kept."""

COLUMNS = (
    *("sharpness", "brightness", "fps", "late_frames", "temperature_c", "disk_free_b"),
    *("memory_free_b", "lamp_reply_ms", "lamp_repeats", "second_behind"),
)

_SCHEMA = (
    f"CREATE TABLE figure (at_s REAL PRIMARY KEY, {', '.join(COLUMNS)})",
    "CREATE TABLE curve (at_s REAL PRIMARY KEY, round INTEGER, seconds REAL, "
    "speeds TEXT NOT NULL, verdict TEXT)",
    f"PRAGMA user_version={VERSION}",
)

_UNKEPT = (*COMPLAINTS, ValueError, TypeError)
"""A medium that refuses, or a file that cannot be understood."""


class Trends:
    """The figures. `hear` from one thread; everything that asks, from any."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._sampled_s = float("-inf")
        self._curve: tuple[Any, ...] = ()
        self.trouble = ""
        """Why nothing is kept now; empty while it is."""
        self.lost = ""
        """Why what was kept was thrown away since the page started; empty where nothing was."""

    def hear(self, view: Mapping[str, Any]) -> None:
        """Take what is worth keeping from a view. Never raises: play is not concerned."""
        now_s = self._clock()
        motor = view["motor"]
        curve = (motor["last_toss_s"], *motor["last_toss_rpm"])
        is_new = bool(motor["last_toss_rpm"]) and curve != self._curve
        is_due = not 0.0 <= now_s - self._sampled_s < EVERY_S
        try:
            if is_new and motor["last_toss_is_over"]:
                is_first, self._curve = not self._curve, curve
                # The first one of a view may be an old toss that was kept before a restart.
                if not (is_first and self._has(motor["last_toss_rpm"])):
                    self._keep_curve(now_s, view["round_id"], motor)
                self.trouble = ""
            if is_due:
                self._sampled_s = now_s
                self._keep_sample(now_s, view)
                self.trouble = ""
        except _UNKEPT as error:
            if str(error) != self.trouble:
                log.warning("trends are not kept: %s", error)
            self.trouble = str(error)

    def _has(self, speeds: list[float]) -> bool:
        with self._opened() as db:
            row = db.execute("SELECT speeds FROM curve ORDER BY rowid DESC LIMIT 1").fetchone()
        return row is not None and json.loads(row[0]) == list(speeds)

    def _keep_curve(self, now_s: float, number: int | None, motor: Mapping[str, Any]) -> None:
        speeds = json.dumps(list(motor["last_toss_rpm"]))
        with self._opened() as db:
            row = (now_s, number, motor["last_toss_s"], speeds, motor["last_toss_verdict"])
            db.execute("INSERT OR REPLACE INTO curve VALUES (?, ?, ?, ?, ?)", row)
            db.execute(
                "DELETE FROM curve WHERE rowid NOT IN "
                "(SELECT rowid FROM curve ORDER BY rowid DESC LIMIT ?)",
                (CURVES,),
            )

    def _keep_sample(self, now_s: float, view: Mapping[str, Any]) -> None:
        camera, health = view["camera"], view["health"]
        behind = view["journal"]["second_copy"].partition(" behind")[0]
        told = (
            *(camera["sharpness"], camera["brightness"], camera["fps"], camera["late_frames"]),
            *(health["temperature_c"], health["disk_free_b"], health["memory_free_b"]),
            view["lamps"]["reply_ms"],
            view["lamps"]["repeats"],
            int(behind) if behind.isdigit() else 0,
        )
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        with self._opened() as db:
            db.execute(f"INSERT OR REPLACE INTO figure VALUES ({marks})", (now_s, *told))
            # By number and not by age: a clock that was wrong once takes nothing away.
            db.execute(
                "DELETE FROM figure WHERE rowid NOT IN "
                "(SELECT rowid FROM figure ORDER BY rowid DESC LIMIT ?)",
                (int(KEPT_S / EVERY_S),),
            )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file, for one thread at a time. One that cannot be understood is thrown away: the
        next one who asks makes it anew.
        """
        with self._lock:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(self._path, timeout=1.0)) as db, db:
                    db.execute("PRAGMA synchronous=OFF")
                    self._take_up(db)
                    yield db
            except _UNKEPT as error:
                said = translated(error, self._path)
                if isinstance(error, ValueError | TypeError) or isinstance(
                    said, JournalCorruptError
                ):
                    self._throw_away(str(error))
                raise

    def _take_up(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == VERSION:
            return
        if db.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None:
            raise ValueError(f"its tables have version {version}, and this page knows {VERSION}")
        for statement in _SCHEMA:
            db.execute(statement)

    def _throw_away(self, why: str) -> None:
        for suffix in ("", "-journal"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self.lost = why
        self._sampled_s = float("-inf")

    def curves(self) -> list[dict[str, Any]]:
        """The last tosses, oldest first: time, round, length in s, speeds in rpm evenly spaced."""
        names = ("at_s", "round", "seconds", "speeds", "verdict")
        return self._asked(
            f"SELECT {', '.join(names)} FROM curve ORDER BY rowid",
            lambda row: {**dict(zip(names, row, strict=True)), "speeds": json.loads(row[3])},
        )

    def samples(self, since_s: float) -> dict[str, list[Any]]:
        """Each figure's series from `since_s` on, with their times as `at_s`.

        At most about `POINTS` of each: where there are more samples, means over equal times.
        """
        names = ("at_s", *COLUMNS)
        means = ", ".join(f"avg({name})" for name in names)
        sql = (
            f"SELECT {means} FROM figure, (SELECT max(at_s) AS newest, min(at_s) AS oldest "
            "FROM figure WHERE at_s >= ?1) WHERE at_s >= ?1 GROUP BY "
            f"CAST((newest - at_s) / max({EVERY_S}, (newest - oldest) / {POINTS}) AS INTEGER) "
            "ORDER BY at_s"
        )
        rows = self._asked(sql, list, since_s)
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def _asked(self, sql: str, told: Callable[[Any], Any], *values: object) -> list[Any]:
        """Empty where nothing is kept that can be told."""
        try:
            with self._opened() as db:
                rows = [told(row) for row in db.execute(sql, values)]
                json.dumps(rows, allow_nan=False)  # a damaged cell may hold anything
                return rows
        except _UNKEPT:
            return []
