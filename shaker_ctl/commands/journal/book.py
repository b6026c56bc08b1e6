"""Which journal is looked at, and how: its options, and its records held against their chain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.gaming_days import GamingDays
from shaker_ctl.adapters.disk.shown_journal import ShownJournal
from shaker_ctl.errors import JournalCorruptError, RefusedError, ShakerError
from shaker_ctl.journal.day_sheet import DaySheet
from shaker_ctl.journal.history import until_ended
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Chain, Record
from shaker_ctl.journal.volume import Volume, day_of
from shaker_ctl.quoting import visible

screen = Console(markup=False, emoji=False)
"""Prints people's words, file names and what a damaged record holds: as they stand."""

Config = Annotated[Path, typer.Option(help="Settings file of the table, which names the journal.")]
Journal = Annotated[
    Path | None, typer.Option("--journal", help="A journal file, instead of the settings' one.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Plain JSON instead of a table.")]


def parameters_of(config: Path, journal: Path | None) -> JournalParameters:
    if journal is None:
        return settings_file.load(config).journal
    return JournalParameters(path=journal, pictures=journal.parent / "pictures")


class CheckedJournal:
    """An opened journal, read as it stands. Every record is held against its chain on the way, and
    the first that does not fit is remembered."""

    def __init__(self, parameters: JournalParameters, store: DiskJournal) -> None:
        self.parameters, self.store = parameters, store
        self._chain = Chain(str(store.path))

    def round(self, number: int) -> list[Record]:
        """Return the records of a round to its end; none where the journal does not know it.

        A changed record may hide a round: what could hold it is verified where none is found.
        """
        records = self.store.read_round(number)
        if not records:
            self._chain.damage = self.store.round_damage(number) or self.store.verify_open()[1]
            return []
        proved = list(self._chain.over(self.store.head_before(records[0].sequence), records))
        self._chain.damage = self._chain.damage or self.store.round_damage(number)
        return until_ended(proved, number)

    @property
    def first(self) -> int:
        """The first record behind all volumes that were removed from the table; 1 if none was."""
        closed = self.store.closed
        here = self.store.present if closed else ()  # which reads the open volume for it
        return max((each.last for each in closed if each not in here), default=0) + 1

    def kept(self) -> Iterator[Record]:
        """Yield every record from `first` on, and say on standard error what is not among them."""
        self.say_what_is_left_out()
        yield from self.all(first=self.first)

    def say_what_is_left_out(self, first: int | None = None) -> None:
        """Say on standard error that volumes before `first`, or `self.first`, were removed, if some
        were."""
        if (first := first or self.first) > 1:
            told = f"records up to {first - 1} are left out: volumes among them were removed,"
            typer.echo(f"{told} and `shaker-ctl journal fetch FOLDER` brings them back", err=True)

    def all(
        self, *, is_proved: bool = False, first: int = 1, last: int | None = None
    ) -> Iterator[Record]:
        """Yield every record; with `is_proved` raise JournalCorruptError at the first that does not
        fit, before it is handed on."""
        for record in self._chain.over(self.store.head_before(first), self.store.read(first, last)):
            if is_proved and (trouble := self.trouble()) is not None:
                raise trouble
            yield record

    @cached_property
    def days(self) -> GamingDays:
        """Where the records of each gaming day lie."""
        return GamingDays(self.store, self.parameters.day_begins)

    def of_day(self, day: str) -> Iterator[Record]:
        """Yield the records of a gaming day, and say on standard error what may be missing."""
        yield from self.days.records(day, self._chain)
        for note in self.days.notes(day):
            typer.echo(visible(note), err=True)

    def sheet(self, day: str) -> DaySheet:
        """Count a gaming day."""
        return self.days.sheet(day, self._chain)

    def piece(self, since: datetime | None, until: datetime | None) -> tuple[int, int]:
        """Return the first and the last record of a time, `since` on and before `until`.

        The last is before the first where there is none. If the clock was set, records of another
        time may lie between them. No volume between them was removed: what lies before one that
        was is left out, which is said on standard error, and so is what may be missing else.

        Raises JournalCorruptError at a record that does not fit.
        """
        if since is None and until is None:
            self.say_what_is_left_out()
            return self.first, self.store.head().sequence

        def day(at: datetime | None, far: str) -> str:
            try:
                return far if at is None else day_of(at.isoformat(), self.parameters.day_begins)
            except OverflowError:  # a day before the first one of the calendar, or behind the last
                return far

        first, last = day(since, ""), day(until, "9")

        def of(one: Volume) -> Iterator[int]:
            for record in self.all(is_proved=True, first=one.first, last=one.last):
                at = datetime.fromisoformat(record.plain["wall"])
                if (since is None or at >= since) and (until is None or at < until):
                    yield record.sequence

        for one in self.days.removed(first, last):
            typer.echo(visible(self.days.lost(one)), err=True)
        found = [span for one in self.days.volumes(first, last) if (span := [*of(one)])]
        if not found:
            return self.first, self.first - 1
        ends = found[-1][-1]
        present = self.store.present
        gone = [one.last for one in self.store.closed if one.last < ends and one not in present]
        behind = max(gone, default=0) + 1
        if found[0][0] < behind:
            self.say_what_is_left_out(behind)
        return next(span[0] for span in found if span[0] >= behind), ends

    def unknown_round(self, number: int) -> ShakerError:
        """Return what a person is told who asks for a round that is not there."""
        return self.trouble() or RefusedError(
            f"the journal {self.parameters.path} knows no round {number}",
            remedy="shaker-ctl journal last shows which there are",
        )

    def trouble(self) -> JournalCorruptError | None:
        """What a person must know of what was read so far."""
        if self._chain.damage is None:
            return None
        return JournalCorruptError(
            self._chain.damage.line(),
            remedy="Do not rely on this copy: shaker-ctl journal verify compares it with the other "
            "one, --journal reads that",
        )


@contextmanager
def opened(config: Path, journal: Path | None) -> Iterator[CheckedJournal]:
    """Open a journal for looking.

    Raises RefusedError where there is none. Raises JournalCorruptError at the end, or where a
    record could not be understood, if anything that was read does not fit the chain.
    """
    parameters = parameters_of(config, journal)
    require_there(parameters.path)
    with closing(ShownJournal(parameters.path, read_only=True)) as store:
        book = CheckedJournal(parameters, store)
        try:
            yield book
        except Exception as error:
            # A record that does not fit may hold anything, and anything may stumble over it. What
            # a person needs to know is which record that is; any other error is one of its own.
            is_told = isinstance(error, ShakerError) and not isinstance(error, JournalCorruptError)
            if is_told or (trouble := book.trouble()) is None:
                raise
            raise trouble from error
        if (trouble := book.trouble()) is not None:
            raise trouble


def require_there(path: Path) -> None:
    if volume_numbers(path):
        return
    try:
        path.stat()
    except PermissionError as error:
        raise RefusedError(
            f"the journal {path} may not be looked at: {error.strerror}",
            remedy="Read it as the service's user: sudo -u shaker shaker-ctl journal ...",
        ) from error
    except OSError as error:
        raise RefusedError(
            f"there is no journal at {path}: {error.strerror}",
            remedy="Give its path with --journal, or the settings with --config",
        ) from error
