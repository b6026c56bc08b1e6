"""SQLite files beside the journal: how one is read, and what SQLite's complaints mean.

Must not know: what is asked of a file.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from shaker_ctl.errors import JournalCorruptError, JournalError, JournalWriteError
from shaker_ctl.whole_file import opened

CACHE_KB = 256
"""Pages kept in memory: SQLite's own 2 MB a connection look like a leak."""

COMPLAINTS = (sqlite3.Error, OSError, MemoryError, UnicodeError, OverflowError)
"""What SQLite and its module raise on damaged files and full media. A flipped bit in the schema is
a UnicodeDecodeError from inside the module."""

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


@contextlib.contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Translate SQLite's complaints about a file that is only read."""
    try:
        yield
    except COMPLAINTS as error:
        raise translated(error, path, read_only=True) from error


def translated(error: BaseException, path: Path, *, read_only: bool = False) -> JournalError:
    """Return what a complaint of SQLite or the system means for tables beside the journal."""
    text = str(error) or type(error).__name__
    code = getattr(error, "sqlite_errorcode", None)
    by_medium = code is not None and code & 0xFF in _REFUSED_BY_MEDIUM
    if isinstance(error, sqlite3.Error | UnicodeError | OverflowError) and not by_medium:
        return JournalCorruptError(f"{path} is damaged: {text}", remedy="It is made anew")
    if read_only:
        return JournalError(
            f"{path} cannot be read: {text}",
            remedy="Read it as the service's user: sudo -u shaker shaker-ctl journal ...",
        )
    return JournalWriteError(
        f"{path} cannot be written: {text}",
        remedy="Free space or mount its medium writable (df, dmesg), then start again",
    )


def reader(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing of it can change. Raises sqlite3.Error, OSError."""
    with opened(path):  # SQLite would wait for a pipe, or read a device, without end
        where = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
    db = sqlite3.connect(where, uri=True, timeout=1.0, check_same_thread=False)
    try:
        db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
    except sqlite3.Error:
        db.close()
        raise
    return db
