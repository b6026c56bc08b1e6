"""Files as the set-up writes them: whole, with mode and group, and only where they differ."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from shaker_ctl.errors import ShakerError
from shaker_ctl.whole_file import mode, put


class SetupError(ShakerError):
    """A step of the set-up failed. What was answered before stays; running it again goes on."""

    code = "setup"


@contextlib.contextmanager
def changing(path: Path) -> Iterator[None]:
    """Raise what stands in the way of a change as `SetupError`."""
    try:
        yield
    except (OSError, LookupError) as error:
        is_denied = isinstance(error, PermissionError)
        reason = error.strerror if isinstance(error, OSError) else error
        raise SetupError(
            f"cannot change {path}: {reason}",
            remedy="Run it as root: sudo shaker-ctl setup"
            if is_denied
            else "Mend that; shaker-ctl setup goes on there",
        ) from error


def have(path: Path, content: str, bits: int = 0o644, group: str | None = None) -> bool:
    """Have a file with this content, mode and group; whether it had to be written."""
    with changing(path):
        if path.exists() and path.read_bytes() == content.encode():
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, content, mode(bits))
        if group is not None:
            shutil.chown(path, group=group)
        return True
