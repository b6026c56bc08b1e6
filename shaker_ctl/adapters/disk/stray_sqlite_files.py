"""The file of a volume among the other files of its folder: how it stands, and what is kept of it.

Owns: what SQLite would take for its own beside a file, the look at a closed volume without SQLite,
the copy for evidence, and moving aside. Must not know: records.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl.adapters.disk.sqlite_complaints import kept_by_another
from shaker_ctl.errors import JournalCorruptError, JournalWriteError, reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.whole_file import read_bounded, unused_stamp

_WITH_LOG = 2
"""Write version in the header of a file that has a write-ahead log."""

BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names that SQLite takes for its own, beside a file. What stands there, whoever put it
there, SQLite applies to the file as soon as it opens it."""

_SHARED_LOCK = 0x40000002
"""The byte that SQLite locks while it reads a file; its writer locks it for itself alone."""

IS_A_LINK = "is a link; a volume of the journal is a file of its own"

MOVE_AWAY = "Find out who put it there, and move it away"


def beside(path: Path) -> list[Path]:
    """Return what stands beside a file under the names that SQLite takes for its own."""
    named = [f"{path}{suffix}" for suffix in BESIDE]
    return [Path(name) for name in named if os.path.lexists(name)]


def require_file(path: Path) -> None:
    """Raise JournalCorruptError where something else than a file stands there, or beside it: SQLite
    would wait for a pipe, or read a device, without end. What is missing is SQLite's to say."""
    followed = [(path, path.stat), *((there, there.lstat) for there in beside(path))]
    for there, state in followed:
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(state().st_mode):
                raise JournalCorruptError(f"{there} is no ordinary file", remedy=MOVE_AWAY)


MAX_EVIDENCE_B = 1 << 30
"""Largest volume that is copied for evidence at a start; a gaming day makes some 30 MB."""


def preserve(path: Path, note: str) -> Path:
    """Copy a volume and its log, as found, beside it; return the folder. For evidence (O-4).

    Call before closing it: closing folds the log into the file. The same finding is kept once, so
    that restarts in a row do not fill the medium. Raises OSError, also where what stands there is
    larger than `MAX_EVIDENCE_B` or than the room that is left; it then stands as it was.
    """
    why = (note + "\n").encode(errors="backslashreplace")
    for earlier in path.parent.glob(f"{path.name}.evidence-*"):
        with contextlib.suppress(OSError):  # what is damaged there is not the same finding
            if read_bounded(earlier / "why.txt", len(why)) == why:
                return earlier
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    folder = path.with_name(f"{path.name}.evidence-{stamp}")
    found = (path, *beside(path))
    sources = [each for each in found if not each.name.endswith("-shm") and _is_file(each)]
    room = min(shutil.disk_usage(path.parent).free, MAX_EVIDENCE_B)
    if sum(source.stat().st_size for source in sources) > room:
        raise OSError(errno.ENOSPC, "no room for a copy of the evidence", str(path))
    folder.mkdir()  # and never into one that somebody made, or a link to one
    try:
        for source in sources:
            shutil.copy2(source, folder / source.name)
        (folder / "why.txt").write_bytes(why)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)  # it keeps no room on a medium that is full
        raise
    return folder


def _is_file(path: Path) -> bool:
    """Whether an ordinary file stands there, and no link to one."""
    with contextlib.suppress(OSError):
        return stat.S_ISREG(path.lstat().st_mode)
    return False


def move_aside(path: Path, suffixes: Sequence[str] = ("", *BESIDE), stamp: str = "") -> None:
    """Move a volume, and what stands beside it, out of the way as `….replaced-TIME`. Never deleted.

    Raises JournalWriteError.
    """
    stamp = stamp or unused_stamp(path)
    for suffix in suffixes:
        old = f"{path}{suffix}"
        if os.path.lexists(old):
            remedy = "Mount its medium writable, and act as the service's user"
            with reraise_as(JournalWriteError, f"{old} cannot be moved aside", remedy=remedy):
                os.replace(old, f"{path}.replaced-{stamp}{suffix}")


def clear(path: Path) -> None:
    """Delete what an act that was cut short left there; a folder is moved aside. Raises OSError,
    JournalWriteError."""
    if path.is_dir() and not path.is_symlink():
        move_aside(path, ("",))
    path.unlink(missing_ok=True)


@frozen
class StrayFile:
    """How the file of a closed volume stands, by its header and the names beside it."""

    wrong: str = ""
    """What is wrong with it; empty where nothing is."""
    has_log: bool = False
    """It says that a write-ahead log belongs to it, which is not folded in yet."""
    beside: tuple[Path, ...] = ()
    """What stands beside it under SQLite's names."""

    @property
    def foreign(self) -> str:
        """Say what stands beside it and is no log of its own; empty where nothing does."""
        found = [there.name for there in self.beside if not self.owns(there)]
        return f"{found[0]} stands beside it, and no closed volume has one" if found else ""

    def owns(self, there: Path) -> bool:
        """Whether it is the log that the file says it has. A rollback journal never is: no record
        is written with one."""
        return self.has_log and not there.name.endswith("-journal")


def look(path: Path) -> StrayFile:
    """Return how a closed volume stands. Raises JournalBusyError while a process writes it.

    Reads 100 bytes: a missing file and a cut end are seen at each start, however many volumes
    there are. Not for a file that this process has open: its locks would be lost.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            _share(handle, path)
            header, size = os.read(handle, 100), os.fstat(handle).st_size
            found = tuple(beside(path))
        finally:
            os.close(handle)
    except OSError as error:
        wrong = IS_A_LINK if error.errno == errno.ELOOP else error.strerror or str(error)
        return StrayFile(wrong, beside=tuple(beside(path)))
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        return StrayFile("no SQLite file", beside=found)
    if header[18] == _WITH_LOG:
        return StrayFile(has_log=True, beside=found)
    page = int.from_bytes(header[16:18]) or 1
    pages = int.from_bytes(header[28:32])
    page = 65536 if page == 1 else page
    wrong = "" if page * pages == size else f"{size} bytes long, its header says {page * pages}"
    return StrayFile(wrong, beside=found)


def _share(handle: int, path: Path) -> None:
    """Lock a file as SQLite's readers do, until it is closed. Raises JournalBusyError."""
    try:
        fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, _SHARED_LOCK)
    except BlockingIOError as error:
        raise kept_by_another(path, error) from error
    except OSError:
        pass  # a file system without locks
