"""Files that are never half written: made aside, brought to the disk, then moved into place."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def put(
    path: Path, content: str | bytes, prepare: Callable[[int], object] = lambda _number: None
) -> None:
    """Have all of `content` at `path`, or what stood there before, whatever comes in between.

    The new file is for its owner alone (mode 0600), until `prepare` gives it another owner, group
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


def mode(bits: int) -> Callable[[int], object]:
    """For `put`: give the file this mode."""
    return lambda number: os.fchmod(number, bits)
