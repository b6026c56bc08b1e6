"""A journal in the form before 3: a file of SQLite for each volume, as an upgrade finds it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import volume_numbers, volume_path
from shaker_ctl.adapters.disk.volume_file import VolumeFile

_SCHEMA = (
    "CREATE TABLE identity (one INTEGER PRIMARY KEY, name TEXT)",
    "CREATE TABLE record (sequence INTEGER PRIMARY KEY, round INTEGER, hash BLOB, body BLOB)",
    "CREATE TABLE volume (number INTEGER PRIMARY KEY, day TEXT, first INTEGER, last INTEGER, "
    "hash BLOB, first_round INTEGER, last_round INTEGER)",
    "PRAGMA user_version=2",
)


def put_back(path: Path) -> list[Path]:
    """Write the volumes of a journal in the former form, in the place of what is there."""
    return [_written(volume_path(path, number)) for number in volume_numbers(path)]


def _written(file: Path) -> Path:
    former = file.with_suffix(".sqlite")
    volume, db = VolumeFile(file, read_only=True), sqlite3.connect(former)
    with closing(volume), closing(db):
        for statement in _SCHEMA:
            db.execute(statement)
        db.execute("INSERT INTO identity VALUES (1, ?)", (volume.identity,))
        closed = [
            (v.number, v.day, v.first, v.last, v.hash, v.first_round, v.last_round)
            for v in volume.closed
        ]
        db.executemany("INSERT INTO volume VALUES (?, ?, ?, ?, ?, ?, ?)", closed)
        rows = ((r.sequence, r.plain.get("round"), r.hash, r.body) for r in volume.read())
        db.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
        db.commit()
    file.unlink()
    return former
