"""From a gaming day to its records, wherever the clock has put them in the chain.

Owns which volumes can hold records of a day. A volume is named by the day on which it begins, but
a clock that stands ahead for a while, or is set back, leaves days that do not rise along the chain.
So each closed volume is asked for the times of its first and its last record, and the open one is
always looked through.

Not found: a clock that somebody set wrong and right again within one volume. A table changes
volumes between two rounds when its clock shows another day, so this concerns the records of one
round, or of a clock that nobody trusts. The sheet of the day around them counts them as records of
other days.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import JournalCorruptError, JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.day_sheet import DaySheet
from shaker_ctl.journal.record import Chain, Record
from shaker_ctl.journal.volume import Volume, day_of


@frozen
class _Span:
    """One volume, and the days between which its records lie."""

    volume: Volume
    began: str
    """Day of its first record; what the chain says of a volume that is not here."""
    earliest: str
    latest: str
    is_here: bool


def _beside(day: str, days: int) -> str:
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return day


class GamingDays:
    """The days of one copy, as they stand when it is made."""

    def __init__(self, journal: DiskJournal, begins: time) -> None:
        """`begins`: local time at which a gaming day begins."""
        self._journal, self._begins = journal, begins
        here = {one.number for one in journal.present} if journal.closed else set()
        volumes = [*journal.closed, *journal.open_volume()]
        self._spans: list[_Span] = []
        for at, one in enumerate(volumes):
            is_here = one.number in here or at == len(journal.closed)
            ends = self._ends(one) if is_here else []
            began = ends[0] if ends else one.day
            days = [one.day, *ends]
            if len(days) == 1:  # what nobody can see goes on to where the next volume begins
                days += [max(one.day, volumes[at + 1].day)]
            if not is_here:  # its day was named in the time zone of then; now it may be another
                days += [_beside(one.day, -1), _beside(one.day, 1)]
            self._spans.append(_Span(one, began, min(days), max(days), is_here))

    def _ends(self, one: Volume) -> list[str]:
        """Days of a volume's first and last record; none where a closed one is damaged."""
        try:
            return [self._day(each) for each in self._journal.ends(one)]
        except JournalError:
            if one.number == self._journal.volume:
                raise
            return []

    def _day(self, record: Record) -> str:
        try:
            return day_of(record.plain["wall"], self._begins)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise JournalCorruptError(
                f"{self._journal.path}: record {record.sequence} says no time",
                remedy="shaker-ctl journal verify",
            ) from error

    def volumes(self, first: str, last: str) -> list[Volume]:
        """Return the volumes that are here and can hold records of a day from `first` to `last`."""
        return [
            one.volume
            for one in self._spans
            if one.is_here
            and (one is self._spans[-1] or (one.earliest <= last and first <= one.latest))
        ]

    def removed(self, first: str, last: str) -> list[Volume]:
        """Return the volumes that were removed from the table and can hold records of a day from
        `first` to `last`."""
        return [
            one.volume
            for one in self._spans
            if not one.is_here and one.earliest <= last and first <= one.latest
        ]

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
        holding = [at for at, one in enumerate(self._spans) if one.earliest <= day <= one.latest]
        beside = {at + step for at in holding for step in (-1, 0, 1, 2)}
        for at in sorted(beside & set(range(1, len(self._spans)))):
            before, one = self._spans[at - 1], self._spans[at]
            if one.began < before.began:
                told.append(
                    f"the clock was set back at record {one.volume.first}, "
                    f"from {before.began} to {one.began}:"
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
