"""Files that are never half written: made aside, brought to the disk, then moved into place.

And files that are opened only where they are files, small ones that are read whole, and the names
of those that are moved aside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path


def put(
    path: Path, content: str | bytes, prepare: Callable[[int], object] = lambda _number: None
) -> None:
    """Have all of `content` at `path`, or what stood there before, whatever comes in between.

    Its name is on the disk, too, when this returns: a power cut afterwards takes nothing back. The
    new file is for its owner alone (mode 0600), until `prepare` gives it another owner, group
    or mode by its descriptor, before anything is written. Raises OSError, with nothing left aside.
    """
    number, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            prepare(number)
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fsync(number)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in `folder` to the disk, after a new file or a rename. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def mode(bits: int) -> Callable[[int], object]:
    """For `put`: give the file this mode."""
    return lambda number: os.fchmod(number, bits)


def opened(path: Path) -> BufferedReader:
    """Open a file for reading.

    Raises OSError, also for what is no ordinary file: a pipe would be waited for, and a device
    read, without end.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    kind = os.fstat(number).st_mode
    if stat.S_ISDIR(kind):
        os.close(number)
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(kind):
        os.close(number)
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
    return os.fdopen(number, "rb")


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return all that stands in a small file. Raises OSError as `opened` does, and for more than
    `max_bytes`."""
    with opened(path) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {max_bytes} bytes", str(path))
    return content


def unused_stamp(path: Path) -> str:
    """Return the time for a name `….replaced-TIME` beside `path`, with a number where that second
    was used already: what is moved aside never takes the place of what was before."""
    stamp = now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    number = 1
    while any(path.parent.glob(f"*.replaced-{stamp}*")):
        number += 1
        stamp = f"{now}-{number}"
    return stamp
