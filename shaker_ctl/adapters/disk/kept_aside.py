"""Files of the journal that are kept: copies for evidence, and what is moved aside.

Must not know: records.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl.errors import JournalWriteError, reraise_as
from shaker_ctl.whole_file import read_bounded, unused_stamp

IS_A_LINK = "is a link; a volume of the journal is a file of its own"

MOVE_AWAY = "Find out who put it there, and move it away"

MAX_EVIDENCE_B = 1 << 30
"""Largest volume that is copied for evidence at a start; a gaming day makes some 30 MB."""


def preserve(path: Path, note: str) -> Path:
    """Copy a volume, as found, beside it; return the folder. For evidence (O-4).

    The same finding is kept once, so that restarts in a row do not fill the medium. Raises OSError,
    also where what stands there is larger than `MAX_EVIDENCE_B` or than the room that is left; it
    then stands as it was.
    """
    why = (note + "\n").encode(errors="backslashreplace")
    for earlier in path.parent.glob(f"{path.name}.evidence-*"):
        with contextlib.suppress(OSError):  # what is damaged there is not the same finding
            if read_bounded(earlier / "why.txt", len(why)) == why:
                return earlier
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    folder = path.with_name(f"{path.name}.evidence-{stamp}")
    is_file = _is_file(path)
    room = min(shutil.disk_usage(path.parent).free, MAX_EVIDENCE_B)
    if is_file and path.stat().st_size > room:
        raise OSError(errno.ENOSPC, "no room for a copy of the evidence", str(path))
    folder.mkdir()  # and never into one that somebody made, or a link to one
    try:
        if is_file:
            shutil.copy2(path, folder / path.name)
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


def move_aside(path: Path, stamp: str = "") -> None:
    """Move what stands there out of the way as `….replaced-TIME`. Never deleted.

    Raises JournalWriteError.
    """
    if os.path.lexists(path):
        remedy = "Mount its medium writable, and act as the service's user"
        with reraise_as(JournalWriteError, f"{path} cannot be moved aside", remedy=remedy):
            os.replace(path, f"{path}.replaced-{stamp or unused_stamp(path)}")


def clear(path: Path) -> None:
    """Delete what an act that was cut short left there; a folder is moved aside. Raises OSError,
    JournalWriteError."""
    if path.is_dir() and not path.is_symlink():
        move_aside(path)
    path.unlink(missing_ok=True)
