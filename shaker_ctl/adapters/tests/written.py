"""A journal with what a test wants on record."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal
from shaker_ctl.journal.record import Entry, link

WALL = "2026-11-27T12:00:00+00:00"


def append(path: Path, *entries: Entry, wall: str = WALL, **more: Mapping[str, Any]) -> None:
    """Record facts behind what there is, or found the journal with them. `more`: as for `link`."""
    facts = {"digests": {}, **more}
    with closing(SqliteJournal(path)) as store:
        for entry in entries:
            store.write([link(store.head(), entry, monotonic_s=1.0, wall=wall, **facts)])


def forge(path: Path, statement: str, *values: str) -> None:
    """Change the records of a journal behind its back."""
    with closing(SqliteJournal(path)) as store:
        db = store._file._db
        for trigger in ("record_stays", "record_is_kept"):
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute(statement, values)
