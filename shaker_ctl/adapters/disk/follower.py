"""Following a journal by a cursor: what console, page and link read, each at its own pace.

Owns the way forward through the volumes of one copy: each record is proved by the chain before it
is handed on. It only reads, needs no service to run, and takes no lock that a writer would wait
for. Whoever follows keeps the cursor, with what was made of the records up to it.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import volume_path
from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import Damage, Head, Record, walk

AT_ONCE = 1000
"""Records that are handed on together."""


class Follower:
    """One reader's place in one copy of the journal. One thread."""

    def __init__(self, path: Path, after: Head | None = None, *, identity: str = "") -> None:
        """`after`: the last record that was read before, None for the beginning. `identity`: of
        the journal that it was read from.

        Raises JournalCorruptError where this is another journal, or holds another record there;
        JournalError where there is none, or it may not be read.
        """
        self._path = path
        self._book = opened(self._path)
        try:
            if identity not in ("", self._book.identity):
                raise JournalCorruptError(
                    f"{path} is another journal ({self._book.identity})",
                    remedy="Follow it anew from its beginning",
                )
            self.cursor = after or self._book.start
            if after is not None and self._book.head_before(after.sequence + 1) != after:
                raise JournalCorruptError(
                    f"{path} does not hold the record {after.sequence} that was read before",
                    remedy="shaker-ctl journal verify; then follow it anew from its beginning",
                )
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> str:
        """Of the journal that is followed."""
        return self._book.identity

    def take(self, most: int = AT_ONCE) -> list[Record]:
        """Return what follows the cursor, at most so many, and move the cursor behind it.

        Empty where nothing new is there. Raises JournalCorruptError at a record that does not
        continue the chain; the cursor then stays before it.
        """
        if volume_path(self._path, self._book.volume + 1).exists():
            self._book.close()
            self._book = opened(self._path)
        taken: list[Record] = []
        found = islice(self._book.read(self.cursor.sequence + 1), most)
        for step in walk(self.cursor, found, str(self._path)):
            if isinstance(step, Damage):
                raise JournalCorruptError(step.line(), remedy="shaker-ctl journal verify")
            taken.append(step)
        if taken:
            self.cursor = Head(taken[-1].sequence, taken[-1].hash)
        return taken

    def close(self) -> None:
        """Let go of the file."""
        self._book.close()
