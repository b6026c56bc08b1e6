"""One writer at a time: a lock file beside the file that is written."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from shaker_ctl.adapters.disk.kept_aside import MOVE_AWAY
from shaker_ctl.errors import JournalWriteError, RefusedError, reraise_as
from shaker_ctl.whole_file import opened


class JournalLock:
    """Held until it is closed; freed by the system at any death of the one who holds it."""

    def __init__(self, written: Path) -> None:
        """`written`: what the lock is for, the journal or the tables beside it.

        Raises RefusedError where another process holds it, JournalWriteError where there is no
        place for it.
        """
        path = _place(written)
        remedy = "Create that folder, or mount its medium writable"
        if path.is_symlink() or (path.exists() and not path.is_file()):
            remedy = MOVE_AWAY
        with reraise_as(
            JournalWriteError, f"the journal cannot be locked at {path}", remedy=remedy
        ):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.fdopen(os.open(path, flags, 0o640), "r+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise RefusedError(
                f"another process writes the journal {written}",
                remedy="Only one service runs a table: systemctl stop shaker-ctl",
            ) from error

    def close(self) -> None:
        """Let the next one in."""
        self._file.close()


def is_locked(written: Path) -> bool:
    """Whether a process holds the lock now: a service, or a command that writes."""
    try:
        with opened(_place(written)) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass  # nobody has made it, or it may not be looked at
    return False


def _place(written: Path) -> Path:
    return written.with_name(written.name + ".lock")
