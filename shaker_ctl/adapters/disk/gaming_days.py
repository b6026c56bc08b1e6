"""From a gaming day to its records, wherever the clock has put them in the chain.

Owns which volumes can hold records of a day. A volume is named by the day on which it begins, and a
table changes volumes between two rounds when its clock shows another day. So its records lie
between its own day and that of the next volume, whichever is later: a clock that stands ahead for a
while, or is set back, leaves days that do not rise along the chain. The day before is looked at,
too, since days were named in the time zone of then. The open volume is always looked through.

Not found: a clock that somebody set wrong and right again within one volume, by more than a day.
The sheet of the day around them counts such records as those of other days.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from itertools import pairwise

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.day_sheet import DaySheet
from shaker_ctl.journal.record import Chain, Record
from shaker_ctl.journal.volume import Volume, day_of


def _day_before(day: str) -> str:
    try:
        return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return day


class GamingDays:
    """The days of one copy, as they stand when it is made."""

    def __init__(self, journal: DiskJournal, begins: time) -> None:
        """`begins`: local time at which a gaming day begins."""
        self._journal, self._begins = journal, begins
        self._closed = [*journal.closed]
        self._open = journal.open_volume()
        self._removed = {*journal.closed} - {*journal.present} if journal.closed else set()

    def _day(self, record: Record) -> str:
        try:
            return day_of(record.plain["wall"], self._begins)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise JournalCorruptError(
                f"{self._journal.path}: record {record.sequence} says no time",
                remedy="shaker-ctl journal verify",
            ) from error

    def _holding(self, first: str, last: str) -> Iterator[Volume]:
        """Yield the closed volumes that can hold records of a day from `first` to `last`."""
        begun = [one.day for one in (*self._closed, *self._open)]
        for at, one in enumerate(self._closed):
            until = begun[at + 1 : at + 2] or [one.day]
            if _day_before(min(one.day, *until)) <= last and first <= max(one.day, *until):
                yield one

    def volumes(self, first: str, last: str) -> list[Volume]:
        """Return the volumes that are here and can hold records of a day from `first` to `last`."""
        holding = (one for one in self._holding(first, last) if one not in self._removed)
        return [*holding, *self._open]

    def removed(self, first: str, last: str) -> list[Volume]:
        """Return the volumes that were removed from the table and can hold records of a day from
        `first` to `last`."""
        return [one for one in self._holding(first, last) if one in self._removed]

    def lost(self, one: Volume) -> str:
        """Say that a removed volume may hold some of what is looked for."""
        return (
            f"volume {one.number}, records {one.first} to {one.last}, was removed and may hold "
            "some of that time: shaker-ctl journal fetch FOLDER"
        )

    def records(self, day: str, chain: Chain) -> Iterator[Record]:
        """Yield the records of a day; all of their volumes are held against `chain` on the way, to
        their ends.

        Raises JournalError where they were all removed, or may have been.
        """
        found = False
        for one in self.volumes(day, day):
            before = self._journal.head_before(one.first)
            for record in chain.over(before, self._journal.read(one.first, one.last)):
                if self._day(record) == day:
                    found = True
                    yield record
        if not found and (removed := self.removed(day, day)):
            self._journal.file_of(removed[0])

    def notes(self, day: str) -> list[str]:
        """Say why the records of a day may not be all that were made on it."""
        told = [self.lost(one) for one in self.removed(day, day)]
        holding = [one.number for one in (*self._holding(day, day), *self._open)]
        volumes = [*self._closed, *self._open]
        for before, one in pairwise(volumes):
            # A journal that was founded before its first record said a day has the date in UTC.
            was = _day_before(before.day) if before.number == 1 else before.day
            if one.day < was and {one.number, before.number} & {*holding}:
                told.append(
                    f"the clock was set back at record {one.first}, "
                    f"from {before.day} to {one.day}:"
                    " records about there may stand on the sheet of a day that was another"
                )
        return told

    def sheet(self, day: str, chain: Chain) -> DaySheet:
        """Count a day, with notes on what may be missing; see `records`."""
        found = DaySheet()
        for record in self.records(day, chain):
            found.take(record.plain, record.hash.hex())
        found.notes += self.notes(day)
        found.damage = "" if chain.damage is None else chain.damage.line()
        if found.records and (others := found.last - found.first + 1 - found.records):
            found.notes.append(f"{others} records between them are of other days")
        return found
