"""Closed volumes on another medium: brought there, and fetched back where one is missing or broken.

Owns the copying of whole volumes. A copy counts only when it was read back and verified against
what the chain of the table has sealed in of that volume. What is replaced is moved aside, and what
stands in the archive is never written over. A volume is removed from the table only by a named
person, after it was read back from an archive and verified there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.journal_copies import OpenedJournal
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.kept_aside import clear, move_aside
from shaker_ctl.adapters.disk.volume_assembly import assemble
from shaker_ctl.adapters.disk.volume_file import found
from shaker_ctl.errors import JournalCorruptError, JournalError, RefusedError, reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Record
from shaker_ctl.journal.recovery import FETCH
from shaker_ctl.journal.volume import Volume
from shaker_ctl.whole_file import opened, sync_folder

FROM_ARCHIVE = "Give the folder of an archive that holds it: shaker-ctl journal fetch FOLDER"

GIVE_MORE = (
    "Give the folder of an archive that holds them: shaker-ctl journal fetch FOLDER. If there is "
    "none, a technician accepts that they are lost: shaker-ctl journal fetch --accept-loss "
    "--by NAME --reason TEXT"
)

SHOWN = 20
"""Numbers of lost records that a line names."""

KEPT_ROUNDS = 1000
"""A table that stood still for a month starts from rounds that are older: what the lamp box
remembers, and some 340 tosses for the watch on outcomes."""

KEPT_VOLUMES = 31
"""The newest closed volumes stay: a month of gaming days, however the clock stood."""


@frozen
class RestoredVolume:
    """What was done with one volume."""

    number: int
    file: Path
    is_new: bool
    """False where the file was there already, and is whole."""


def archive(parameters: JournalParameters, folder: Path) -> Iterator[RestoredVolume]:
    """Bring every closed volume of the main copy to `folder`; yield each as it is done.

    The folder of a copy is no archive.

    May run while the table plays. Raises JournalCorruptError where a volume, here or there, does
    not verify, once the others are brought; RefusedError where the folder cannot be written, or
    another process writes there.
    """
    with closing(DiskJournal(parameters.path, read_only=True)) as journal:
        with _writing(folder):
            _make_lasting(folder)
        for copy in parameters.copies:
            if copy.parent.exists() and folder.samefile(copy.parent):
                raise _is_no_archive(folder, copy)
        with _alone_in(folder):
            trouble: JournalError | RefusedError | None = None
            for one in journal.present:
                try:
                    brought = _brought(journal, one, folder)
                except (JournalError, RefusedError) as error:
                    trouble = trouble or error
                else:
                    yield brought
            if trouble is not None:
                raise trouble


def _brought(journal: DiskJournal, one: Volume, folder: Path) -> RestoredVolume:
    file = journal.file_of(one)
    target = folder / file.name
    if target.exists():
        _require_whole(target, journal, one)
        return RestoredVolume(one.number, target, is_new=False)
    if (damage := journal.verify_closed(one)[1]) is not None:
        raise JournalCorruptError(damage.line(), remedy=FETCH)
    aside = _written(target, journal.read(one.first, one.last), journal, one)
    with _writing(target):
        os.replace(aside, target)
        sync_folder(folder)
    return RestoredVolume(one.number, target, is_new=True)


def fetch(parameters: JournalParameters, *folders: Path) -> Iterator[RestoredVolume]:
    """Put whole volumes where one of a copy is missing or broken; yield each as it is done.

    Each is put together from what is sound in `folders`, in the other copy, or in what is here. A
    volume that was removed comes back if an archive has it, and may stay away. What is broken is
    moved aside.

    The table must be stopped. Raises RefusedError while a service runs, or where a folder holds no
    volume, or none of them one that is wanted; JournalCorruptError where what is there does not
    verify, and names the records that are bad everywhere.
    What can be mended is, before that is said.
    """
    archived = _archived(parameters, folders)
    trouble: JournalError | RefusedError | None = None
    with closing(JournalLock(parameters.path)):
        for path in parameters.copies:
            if volume_numbers(path):
                others = [other for other in parameters.copies if other != path]
                try:
                    yield from _fetch_copy(path, [*archived, *others])
                except (JournalError, RefusedError) as error:
                    trouble = trouble or error
    if trouble is not None:
        raise trouble


def lost_records(parameters: JournalParameters, *folders: Path) -> list[int]:
    """Return the records of closed volumes that are bad in each copy and in each archive given, and
    whose loss nobody has accepted. Raises RefusedError, JournalError."""
    archived = _archived(parameters, folders)
    found = set[int]()
    with closing(DiskJournal(parameters.path, read_only=True)) as journal:
        for one in journal.present:
            here = volume_path(parameters.path, one.number)
            places = [volume_path(source, one.number) for source in (*archived, *parameters.copies)]
            if all(journal.verify_closed(one, file=file)[1] for file in {here, *places}):
                found.update(assemble(journal.identity, journal.start_of(one), one, places).lost)
        return sorted(found - journal.lost)


def _archived(parameters: JournalParameters, folders: Iterable[Path]) -> list[Path]:
    names = {path.name for path in parameters.copies}
    return [journal for folder in folders for journal in _journals_in(folder, names)]


def _journals_in(folder: Path, names: set[str]) -> list[Path]:
    found = [folder / name for name in names if volume_numbers(folder / name)]
    if not found:
        raise RefusedError(
            f"{folder} holds no volume of a journal",
            remedy="Give the folder of an archive, or of a whole copy",
        )
    return found


def _fetch_copy(path: Path, sources: list[Path]) -> Iterator[RestoredVolume]:
    """`sources`: the journals that volumes are taken from."""
    trouble: JournalError | RefusedError | None = None
    with closing(DiskJournal(path, read_only=True)) as journal:
        for one in journal.closed:
            try:
                brought = _fetched(journal, one, sources)
            except (JournalError, RefusedError) as error:
                trouble = trouble or error
            else:
                if brought is not None:
                    yield brought
    if trouble is not None:
        raise trouble


def _fetched(journal: DiskJournal, one: Volume, sources: list[Path]) -> RestoredVolume | None:
    """Return None where the volume is whole, or was removed and is nowhere."""
    _, damage = journal.verify_closed(one)
    if damage is None:
        return None
    here = volume_path(journal.path, one.number)
    places = [volume_path(source, one.number) for source in sources]
    there = [file for file in places if os.path.lexists(file)]
    if not there and one.number in journal.removed and not os.path.lexists(here):
        return None
    if not there:
        searched = f"{places[-1]} has none" if places else "there is no other copy"
        raise RefusedError(
            f"volume {one.number} is wanted at {here}, and {searched}", remedy=FROM_ARCHIVE
        )
    aside = _assembled(here, [*there, *filter(os.path.lexists, [here])], journal, one)
    with _writing(here):
        move_aside(here)  # what stood here
        os.replace(aside, here)
        sync_folder(here.parent)
    return RestoredVolume(one.number, here, is_new=True)


def _assembled(here: Path, candidates: list[Path], journal: DiskJournal, one: Volume) -> Path:
    """Write what is sound in any of the candidates to a place beside `here`; return that place.

    Raises JournalCorruptError where records are bad in all of them and nobody has accepted it.
    """
    made = assemble(journal.identity, journal.start_of(one), one, candidates)
    if unknown := sorted(set(made.lost) - journal.lost):
        named = f"{', '.join(map(str, unknown[:SHOWN]))}{' and more' * (len(unknown) > SHOWN)}"
        raise JournalCorruptError(
            f"volume {one.number}: {len(unknown)} of its {one.last - one.first + 1} records are bad"
            f" or missing in each of {len(candidates)} files: {named}",
            remedy=GIVE_MORE,
        )
    return _written(here, made.records, journal, one)


def removable(
    opened: OpenedJournal, before: str, disputed: frozenset[int], acknowledged: int | None
) -> tuple[list[Volume], dict[int, str]]:
    """Return which closed volumes of gaming days before `before` may go, and the numbers of those
    that must stay, with the reason.

    A volume stays while it is too young, while one of its rounds is disputed, and until the floor
    has committed its last record. Young are the newest `KEPT_VOLUMES`, by their place in the chain
    and whatever a clock said, and those with one of the last `KEPT_ROUNDS`.

    `disputed`: rounds of open disputes. `acknowledged`: the last record that the floor has
    committed; None where the table has no floor.
    """
    main = opened.main
    young_from = _first_young(main.closed)
    going, staying = list[Volume](), dict[int, str]()
    for one in (each for each in main.present if each.day < before):
        rounds = sorted(number for number in disputed if one.holds_round(number))
        if one.number >= young_from:
            why = f"the newest {KEPT_VOLUMES} volumes and the last {KEPT_ROUNDS} rounds do"
        elif rounds:
            why = f"round {rounds[0]} is disputed"
        elif acknowledged is not None and one.last > acknowledged:
            why = f"the floor has not committed record {one.last}"
        else:
            going.append(one)
            continue
        staying[one.number] = why
    return going, staying


def _first_young(closed: Sequence[Volume]) -> int:
    """Return the number of the first volume into which a start may look back."""
    last_old_round = max((one.last_round or 0 for one in closed), default=0) - KEPT_ROUNDS
    recent = [one.number for one in closed if (one.last_round or 0) > last_old_round]
    return min([len(closed) - KEPT_VOLUMES + 1, *recent])


def sharing_medium(folder: Path, copies: Iterable[Path]) -> Path | None:
    """Return the copy on whose medium a folder lies, if there is one."""
    for copy in copies:
        with suppress(OSError):
            if folder.stat().st_dev == copy.parent.stat().st_dev:
                return copy
    return None


def require_archived(opened: OpenedJournal, going: list[Volume], folder: Path) -> None:
    """Read back and verify each in the archive, and at the table. Raises RefusedError, also where
    what lies there is a file of one of the copies themselves, and JournalCorruptError."""
    main = opened.main
    for one in going:
        file = folder / volume_path(main.path, one.number).name
        for copy in opened.copies:
            own = volume_path(copy.path, one.number)
            if file.exists() and own.exists() and file.samefile(own):
                raise _is_no_archive(folder, copy.path)
        if not file.exists():
            raise RefusedError(
                f"volume {one.number} is not in {folder}",
                remedy=f"shaker-ctl journal archive {folder}",
            )
        _require_whole(file, main, one)
        for copy in opened.copies:
            there = os.path.lexists(volume_path(copy.path, one.number))
            if there and (damage := copy.verify_closed(one)[1]) is not None:
                raise JournalCorruptError(damage.line(), remedy=FETCH)  # evidence is not removed


def delete(opened: OpenedJournal, going: list[Volume]) -> None:
    """Delete the files of both copies, whose removal is on record. Raises RefusedError.

    The main copy goes last: what it still holds is removed anew where this is cut short.
    """
    for copy in reversed(opened.copies):
        for one in going:
            path = volume_path(copy.path, one.number)
            with _writing(path):
                path.unlink(missing_ok=True)
                sync_folder(path.parent)


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


def _written(target: Path, records: Iterable[Record], journal: DiskJournal, one: Volume) -> Path:
    """Write a volume beside the target, read it back and verify it; return that place."""
    aside = target.with_name(target.name + ".part")
    with _writing(aside):
        clear(aside)
        found(aside, journal.identity, journal.closed[: one.number - 1], records)
    try:
        _require_whole(aside, journal, one)
    except JournalCorruptError:
        aside.unlink()
        raise
    return aside


def _require_whole(file: Path, journal: DiskJournal, one: Volume) -> None:
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
    return reraise_as(RefusedError, f"cannot write {where}", remedy=remedy)
