"""Closed volumes on another medium: brought there, and fetched back where one is missing or broken.

Owns the copying of whole volumes. A copy counts only when it was read back and verified against
what the chain of the table has sealed in of that volume. Nothing is ever deleted here: what is
replaced is moved aside, and what stands in the archive is never written over.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl.adapters.disk.journal_copies import JournalLock
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.volume_file import MODE, Alive, sync_folder
from shaker_ctl.errors import JournalCorruptError, RefusedError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.volume import Volume


@dataclass(frozen=True, slots=True)
class Brought:
    """What was done with one volume."""

    number: int
    file: Path
    is_new: bool
    """False where the file was there already, and is whole."""


def archive(path: Path, folder: Path, alive: Alive | None = None) -> Iterator[Brought]:
    """Bring every closed volume of the copy at `path` to `folder`; yield each as it is done.

    May run while the table plays. Raises JournalCorruptError where a volume, here or there, does
    not verify; RefusedError where the folder cannot be written.
    """
    journal = SqliteJournal(path, read_only=True)
    try:
        _require_folder(folder, path)
        for one in journal.closed:
            target = folder / volume_path(path, one.number).name
            is_new = not target.exists()
            if is_new:
                _copy(journal.file_of(one), target, journal, one, alive)
            else:
                _require_whole(target, journal, one, alive)
            yield Brought(one.number, target, is_new)
    finally:
        journal.close()


def fetch(
    parameters: JournalParameters, folder: Path, alive: Alive | None = None
) -> Iterator[Brought]:
    """Put whole volumes from `folder` where one of a copy is missing or broken; yield each.

    The table must be stopped. A broken file is moved aside. Raises RefusedError while a service
    runs, or where the archive lacks a volume that is wanted; JournalCorruptError where what it has
    does not verify.
    """
    lock = JournalLock(parameters)
    try:
        for path in (parameters.path, parameters.second):
            if path is not None and volume_numbers(path):
                yield from _fetch_copy(path, folder, alive)
    finally:
        lock.release()


def _fetch_copy(path: Path, folder: Path, alive: Alive | None) -> Iterator[Brought]:
    journal = SqliteJournal(path, read_only=True)
    try:
        for one in journal.closed:
            if journal.verify_closed(one, alive)[1] is None:
                continue
            here = volume_path(path, one.number)
            source = folder / here.name
            if not source.exists():
                raise RefusedError(
                    f"volume {one.number} is wanted at {here}, and {folder} has none",
                    remedy="Give the folder of an archive that holds it",
                )
            _require_whole(source, journal, one, alive)
            if here.exists():
                stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
                os.replace(here, here.with_name(f"{here.name}.replaced-{stamp}"))
            _copy(source, here, journal, one, alive)
            yield Brought(one.number, here, is_new=True)
    finally:
        journal.close()


def _require_folder(folder: Path, path: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_own = folder.samefile(path.parent)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    if is_own:
        raise RefusedError(
            f"{folder} is the folder of the journal itself",
            remedy="Give a folder on another medium",
        )


def _copy(
    source: Path, target: Path, journal: SqliteJournal, one: Volume, alive: Alive | None
) -> None:
    """Copy aside, sync, read back and verify, then move into place."""
    aside = target.with_name(target.name + ".part")
    try:
        aside.unlink(missing_ok=True)
        with source.open("rb") as old, aside.open("xb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            os.fchmod(new.fileno(), MODE)  # and not of what a link in its place names
            os.fsync(new.fileno())
        _require_whole(aside, journal, one, alive)
        os.replace(aside, target)
        sync_folder(target.parent)
    except OSError as error:
        raise _cannot_write(target, error) from error


def _require_whole(file: Path, journal: SqliteJournal, one: Volume, alive: Alive | None) -> None:
    _, damage = journal.verify_closed(one, alive, file=file)
    if damage is not None:
        raise JournalCorruptError(
            damage.line(), remedy="Move that file away; another copy or archive has the volume"
        )


def _cannot_write(where: Path, error: OSError) -> RefusedError:
    return RefusedError(
        f"cannot write {where}: {error.strerror or error}",
        remedy="Mount the medium writable, with room for the volumes",
    )
