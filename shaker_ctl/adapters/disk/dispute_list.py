"""Rounds with an open dispute: their pictures stay, whatever the quota says.

Owns one file beside the pictures, one line of JSON an act, only ever appended: who opened or closed
a dispute, when and why. It is no part of the journal's chain, so that it can be written while the
service holds the journal. A last line without its end was cut by a power cut and never
acknowledged: it is passed over, and the next act takes its place. Must not know pictures.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path

from shaker_ctl.errors import JournalWriteError, told_as
from shaker_ctl.frozen import frozen
from shaker_ctl.quoting import require_words
from shaker_ctl.whole_file import read_bounded

NAME = "disputes.jsonl"
MAX_BYTES = 16_000_000
"""Some hundred thousand acts; a table has a few a month."""


@frozen
class Dispute:
    """One act."""

    round: int
    is_open: bool
    by: str
    reason: str
    wall: str
    """ISO 8601 with offset."""


TYPES = {"round": int, "is_open": bool, "by": str, "reason": str, "wall": str}


def _act(plain: object) -> Dispute:
    """Raises ValueError for what is no act."""
    if not isinstance(plain, dict) or {key: type(value) for key, value in plain.items()} != TYPES:
        raise ValueError(f"{str(plain)[:80]!r} is no act of a dispute")
    return Dispute(**plain)


class DisputeList:
    """The acts in one folder of pictures. Read afresh each time: another program may append."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def add(self, act: Dispute) -> None:
        """Append and sync. Raises JournalWriteError, and RefusedError where who or why is missing
        or no text."""
        require_words("the dispute's --by", act.by)
        require_words("the dispute's --reason", act.reason)
        line = (json.dumps(asdict(act), ensure_ascii=False) + "\n").encode()
        with told_as(
            JournalWriteError,
            f"the dispute cannot be kept in {self._path}",
            remedy="Run as the service's user: sudo -u shaker shaker-ctl journal dispute",
        ):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(self._path, flags, 0o640), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.truncate(file.seek(file.read().rfind(b"\n") + 1))
                file.write(line)
                file.flush()
                os.fsync(file.fileno())

    def acts(self) -> tuple[Dispute, ...]:
        """Return every act, oldest first. Raises JournalWriteError where the file is damaged."""
        return self._read()[1]

    def require_whole(self) -> None:
        """Raise JournalWriteError where the last line has lost its end, or the file is damaged.

        That act may have been acknowledged: nothing is removed for good without it.
        """
        content, _ = self._read()
        if content is not None and not content.endswith(b"\n"):
            raise JournalWriteError(
                f"the last line of the list of disputes {self._path} has no end",
                remedy="Look at that line; write its act again: shaker-ctl journal dispute",
            )

    def _read(self) -> tuple[bytes | None, tuple[Dispute, ...]]:
        """Return what stands in the file, None without one, and the acts of its whole lines."""
        try:
            content = read_bounded(self._path, MAX_BYTES)
            # Not `splitlines`: a reason may hold a line separator that is no end of a line here.
            *lines, _cut = content.split(b"\n")
            return content, tuple(_act(json.loads(line)) for line in lines if line)
        except FileNotFoundError:
            return None, ()
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise JournalWriteError(
                f"the list of disputes {self._path} cannot be read: {error}",
                remedy="Mend or remove that line by hand; until then no picture is dropped",
            ) from error

    def open_rounds(self) -> frozenset[int]:
        """Return the rounds whose newest act opens a dispute. Raises JournalWriteError."""
        newest = {act.round: act.is_open for act in self.acts()}
        return frozenset(number for number, is_open in newest.items() if is_open)
