"""The journal as people, screens and floor may see it: it ends before a reading that waits for the
dealer's entry (`rules.blind`).

Owns where it ends. What proves, repairs or resumes a journal reads `DiskJournal` itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.errors import JournalError
from shaker_ctl.journal.record import STEP_MARK, Head, Record
from shaker_ctl.rules import blind

_MARK = b'"%s":true' % blind.KEY.encode()
"""Looked for in the bytes: a damaged record is shown, and named by whoever reads it."""


def shown_head(journal: DiskJournal) -> Head:
    """Return the last record that may be shown now.

    No volume ends in a round: the open volume holds what is not shown.
    """
    end = journal.newest()
    begin = journal.closed[-1].last if journal.closed else 0
    hidden = None
    for sequence in range(end.sequence, begin, -1):
        for record in DiskJournal.read(journal, sequence, sequence):
            if STEP_MARK in record.body:
                if _MARK not in record.body:
                    return end if hidden is None else journal.head_before(hidden)
                hidden = sequence
    return end if hidden is None else journal.head_before(hidden)


class ShownJournal(DiskJournal):
    """One copy, opened for looking."""

    def head(self) -> Head:
        """Return where the shown part ends."""
        return shown_head(self)

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        """Yield as `DiskJournal.read`, to the shown end."""
        end = self.head().sequence
        yield from super().read(first, end if last is None else min(last, end))


def opened(path: Path) -> ShownJournal:
    """Open a journal for looking. Raises JournalError where that is not possible."""
    if not volume_numbers(path):
        raise JournalError(f"there is no journal at {path}", remedy="The first start founds it")
    return ShownJournal(path, read_only=True)


class ShownRecords:
    """A journal that this process writes, as its consoles may see it."""

    def __init__(self, journal: DiskJournal) -> None:
        self._journal = journal

    def head(self) -> Head:
        """Return where the shown part ends."""
        return shown_head(self._journal)

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        """Yield records to the shown end."""
        end = self.head().sequence
        yield from self._journal.read(first, end if last is None else min(last, end))

    def read_round(self, number: int) -> list[Record]:
        """Return what is shown of a round."""
        end = self.head().sequence
        return [record for record in self._journal.read_round(number) if record.sequence <= end]
