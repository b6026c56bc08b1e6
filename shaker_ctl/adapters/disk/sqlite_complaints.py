"""What complaints of SQLite and the system mean for the journal, and what to do about each.

Must not know: what is asked of a file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from shaker_ctl.errors import JournalBusyError, JournalCorruptError, JournalError, JournalWriteError

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

REBUILD = (
    "Keep the file; where the other copy is whole, shaker-ctl journal rebuild --main, or --second "
    "for the second copy, writes the last file anew, and shaker-ctl journal fetch a closed volume"
)
_NO_JOURNAL = f"Give the path of a journal. If this was one: {REBUILD[0].lower()}{REBUILD[1:]}"


@contextlib.contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Translate SQLite's complaints about a file that is only read."""
    try:
        yield
    except COMPLAINTS as error:
        raise translated(error, path, read_only=True) from error


def translated(error: BaseException, path: Path, *, read_only: bool = False) -> JournalError:
    """Return what a complaint of SQLite or the system means for the journal."""
    text = str(error)
    code = getattr(error, "sqlite_errorcode", None)
    is_short = code == sqlite3.SQLITE_IOERR_SHORT_READ
    by_medium = code is not None and code & 0xFF in _REFUSED_BY_MEDIUM and not is_short
    if isinstance(error, sqlite3.Error | UnicodeError | OverflowError) and not by_medium:
        return JournalCorruptError(
            f"the journal {path} is damaged: {text}",
            remedy=_NO_JOURNAL if code == sqlite3.SQLITE_NOTADB else REBUILD,
        )
    if code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return kept_by_another(path, error)
    if code == sqlite3.SQLITE_READONLY_ROLLBACK:
        return JournalCorruptError(
            f"a change of the journal {path} was cut short: {path.name}-journal stands beside it",
            remedy="A start of the table ends it, or says what to do",
        )
    if read_only:
        return JournalError(
            f"the journal {path} cannot be read: {text or type(error).__name__}",
            remedy="Read it as the service's user: sudo -u shaker shaker-ctl journal ...",
        )
    return JournalWriteError(
        f"the journal {path} cannot be written: {text or type(error).__name__}",
        remedy="Free space or mount its medium writable (df, dmesg), then start again",
    )


def kept_by_another(path: Path, error: BaseException) -> JournalBusyError:
    """Return the error where another process keeps the file of a journal."""
    return JournalBusyError(
        f"the journal {path} is kept by another process: {error}",
        remedy=f"Find out which one has it open (fuser {path}), then start again",
    )
