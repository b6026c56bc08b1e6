"""Closed volumes on another medium: brought there, and fetched back where one is missing or broken.

Owns the copying of whole volumes. A copy counts only when it was read back and verified against
what the chain of the table has sealed in of that volume. What is replaced is moved aside, and what
stands in the archive is never written over. A volume is removed from the table only by a named
person, after it was read back from an archive and verified there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import date, time, timedelta
from pathlib import Path

from shaker_ctl.adapters.disk.journal_copies import OpenedJournal
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.volume_file import MODE, newest_wall, sync_folder
from shaker_ctl.errors import JournalCorruptError, RefusedError, told_as
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.volume import Volume, day_of
from shaker_ctl.whole_file import opened, unused_stamp

KEPT_ROUNDS = 1000
"""A table that stood still for a month starts from rounds that are older: what the lamp box
remembers, and some 340 tosses for the watch on outcomes."""

KEPT_DAYS = 31
"""Gaming days that no removal touches."""


@frozen
class Brought:
    """What was done with one volume."""

    number: int
    file: Path
    is_new: bool
    """False where the file was there already, and is whole."""


def archive(path: Path, folder: Path, second: Path | None = None) -> Iterator[Brought]:
    """Bring every closed volume of the copy at `path` to `folder`; yield each as it is done.

    The folder of `second`, the other copy, is no archive, and neither is that of `path`.

    May run while the table plays. Raises JournalCorruptError where a volume, here or there, does
    not verify; RefusedError where the folder cannot be written, or another process writes there.
    """
    with closing(SqliteJournal(path, read_only=True)) as journal:
        _make_folder(folder)
        for copy in filter(None, (path, second)):
            if copy.parent.exists() and folder.samefile(copy.parent):
                raise _is_no_archive(folder, copy)
        with _alone_in(folder):
            for one in journal.present:
                target = folder / volume_path(path, one.number).name
                is_new = not target.exists()
                if is_new:
                    _copy(journal.file_of(one), target, journal, one)
                else:
                    _require_whole(target, journal, one)
                yield Brought(one.number, target, is_new)


def fetch(parameters: JournalParameters, folder: Path) -> Iterator[Brought]:
    """Put whole volumes from `folder` where one of a copy is missing or broken; yield each.

    A volume that was removed comes back if the archive has it, and may stay away.

    The table must be stopped. A broken file is moved aside. Raises RefusedError while a service
    runs, or where the archive lacks a volume that is wanted; JournalCorruptError where what it has
    does not verify.
    """
    with closing(JournalLock(parameters.path)):
        for path in (parameters.path, parameters.second):
            if path is not None and volume_numbers(path):
                yield from _fetch_copy(path, folder)


def _fetch_copy(path: Path, folder: Path) -> Iterator[Brought]:
    with closing(SqliteJournal(path, read_only=True)) as journal:
        for one in journal.closed:
            if journal.verify_closed(one)[1] is None:
                continue
            here = volume_path(path, one.number)
            source = folder / here.name
            if not source.exists() and one.number in journal.removed and not here.exists():
                continue
            if not source.exists():
                raise RefusedError(
                    f"volume {one.number} is wanted at {here}, and {folder} has none",
                    remedy="Give the folder of an archive that holds it",
                )
            _require_whole(source, journal, one)
            if here.exists():
                os.replace(here, here.with_name(f"{here.name}.replaced-{unused_stamp(here)}"))
            _copy(source, here, journal, one)
            yield Brought(one.number, here, is_new=True)


@frozen
class StaysAtTable:
    """A volume that stays at the table."""

    number: int
    why: str


def removable(
    opened: OpenedJournal,
    before: str,
    begins: time,
    disputed: frozenset[int],
    acknowledged: int | None,
) -> tuple[list[Volume], list[StaysAtTable]]:
    """Return which closed volumes of gaming days before `before` may go, and which must stay.

    A volume of an earlier day stays if one of its records is of `before` or later: a round was in
    play when that day began, or the clock was set. `begins`: local time at which a gaming day
    begins. `disputed`: rounds of open disputes. `acknowledged`: the last record that the floor has
    committed; None where the table has no floor. The last `KEPT_ROUNDS` stay, however old. Raises
    RefusedError where the last `KEPT_DAYS` would not all stay.
    """
    main = opened.main
    if not main.closed:
        return [], []
    latest = (date.fromisoformat(main.day()) - timedelta(days=KEPT_DAYS)).isoformat()
    if before > latest:
        raise RefusedError(
            f"the last {KEPT_DAYS} days stay at the table: a start may look back into them",
            remedy=f"Give {latest} or an earlier day",
        )
    before_last = max(one.last_round or 0 for one in main.closed) - KEPT_ROUNDS
    needed = [one.first for one in main.present if (one.last_round or 0) > before_last]
    going, staying = [], []
    for one in (each for each in main.present if each.day < before):
        if rounds := sorted(number for number in disputed if one.holds_round(number)):
            staying.append(StaysAtTable(one.number, f"round {rounds[0]} is disputed"))
        elif acknowledged is not None and one.last > acknowledged:
            staying.append(
                StaysAtTable(one.number, f"the floor has not committed record {one.last}")
            )
        elif needed and one.first >= needed[0]:
            why = f"a start may look back into the last {KEPT_ROUNDS} rounds"
            staying.append(StaysAtTable(one.number, why))
        elif (latest := day_of(newest_wall(main.file_of(one)), begins)) >= before:
            staying.append(StaysAtTable(one.number, f"it holds records of {latest}"))
        else:
            going.append(one)
    return going, staying


def require_archived(opened: OpenedJournal, going: list[Volume], folder: Path) -> None:
    """Read back and verify each in the archive. Raises RefusedError, also where what lies there is
    a file of one of the copies themselves, and JournalCorruptError."""
    main = opened.main
    for one in going:
        file = folder / volume_path(main.path, one.number).name
        for copy in filter(None, (main, opened.second)):
            own = volume_path(copy.path, one.number)
            if file.exists() and own.exists() and file.samefile(own):
                raise _is_no_archive(folder, copy.path)
        if not file.exists():
            raise RefusedError(
                f"volume {one.number} is not in {folder}",
                remedy=f"shaker-ctl journal archive {folder}",
            )
        _require_whole(file, main, one)


def delete(opened: OpenedJournal, going: list[Volume]) -> None:
    """Delete the files of both copies, whose removal is on record. Raises RefusedError.

    The main copy goes last: what it still holds is removed anew where this is cut short.
    """
    for copy in filter(None, (opened.second, opened.main)):
        for one in going:
            path = volume_path(copy.path, one.number)
            with _writing(path):
                path.unlink(missing_ok=True)
                sync_folder(path.parent)


def _make_folder(folder: Path) -> None:
    with _writing(folder):
        _make_lasting(folder)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Bring volumes to this folder alone, where its file system has locks; a lock leaves no file.

    Raises RefusedError.
    """
    number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(number)
        what = f"another process brings volumes to {folder}"
        raise RefusedError(what, remedy="Wait until it has ended") from error
    except OSError:
        pass
    try:
        yield
    finally:
        os.close(number)


def _is_no_archive(folder: Path, copy: Path) -> RefusedError:
    return RefusedError(
        f"{folder} holds the journal itself, {copy}", remedy="Give a folder on another medium"
    )


def _make_lasting(folder: Path) -> None:
    """Make a folder, and those that it lies in, so that a power cut takes none away."""
    if not folder.is_dir():
        _make_lasting(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def _copy(source: Path, target: Path, journal: SqliteJournal, one: Volume) -> None:
    """Copy aside, sync, read back and verify, then move into place."""
    aside = target.with_name(target.name + ".part")
    with _writing(target):
        aside.unlink(missing_ok=True)
        with source.open("rb") as old, aside.open("xb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            os.fchmod(new.fileno(), MODE)  # and not of what a link in its place names
            os.fsync(new.fileno())
        _require_whole(aside, journal, one)
        os.replace(aside, target)
        sync_folder(target.parent)


def _require_whole(file: Path, journal: SqliteJournal, one: Volume) -> None:
    with suppress(OSError), opened(file) as content:
        # What was just written would be read from memory, and prove nothing of the medium.
        os.posix_fadvise(content.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    _, damage = journal.verify_closed(one, file=file)
    if damage is not None:
        raise JournalCorruptError(
            damage.line(), remedy="Move that file away; another copy or archive has the volume"
        )


def _writing(where: Path) -> AbstractContextManager[None]:
    """Say what the system refuses as `RefusedError`."""
    remedy = "Mount the medium writable, with room for the volumes"
    return told_as(RefusedError, f"cannot write {where}", remedy=remedy)
