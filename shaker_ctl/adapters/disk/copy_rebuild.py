"""One copy of the journal written anew from the other, by command.

Owns what a rebuild takes and what it refuses: no sound record is lost, and nothing is deleted. What
a start makes of two copies is `journal_copies`'.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from shaker_ctl.adapters.disk import kept_aside
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.journal_copies import copy_forward, hash_at, opened_only
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.volume_file import found
from shaker_ctl.errors import (
    JournalError,
    JournalWriteError,
    RefusedError,
    reraise_as,
)
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Damage, Head, Record
from shaker_ctl.journal.record import walk as walk_chain
from shaker_ctl.journal.recovery import FETCH
from shaker_ctl.journal.volume import Volume
from shaker_ctl.whole_file import unused_stamp


def rebuild(parameters: JournalParameters, *, main: bool, sound_part: bool = False) -> Head:
    """Write one copy anew from the other, the main one or the second; return its head.

    What stood there is moved aside, never deleted. Sound records that it alone has go on behind
    those of the other copy, each proved by the one before it, and are brought there, too.
    `sound_part`: also where a record at the end is sound in neither.

    Raises RefusedError where the source is damaged, no second copy is set, a service writes, or the
    copy is another journal, whole and longer, or has sound records that cannot be brought;
    JournalError where a file cannot be used.
    """
    if parameters.second is None:
        raise RefusedError("the settings name no second copy", remedy="Set journal.second")
    copies = (parameters.path, parameters.second)
    source_path, target_path = copies[::-1] if main else copies
    with contextlib.closing(JournalLock(parameters.path)):
        last, then = _sound_in_either(source_path, target_path, sound_part=sound_part)
        if last is None:
            with contextlib.closing(DiskJournal(source_path)) as source:
                copy_forward(iter(then), source)
                then = []
        return _rebuilt(source_path, target_path, last, then)


def _rebuilt(
    source_path: Path, target_path: Path, last: int | None, then: Sequence[Record]
) -> Head:
    """`last`: record up to which the source is taken; None: all. `then`: what comes after it."""
    with contextlib.closing(opened_only(source_path)) as source:
        _require_room(source, target_path.parent)
        stamp = unused_stamp(target_path)
        for number in sorted({*volume_numbers(target_path), *range(1, source.volume + 1)}):
            kept_aside.move_aside(volume_path(target_path, number), stamp=stamp)
        for one in source.present:  # what was removed stays in its archive
            before = source.closed[: one.number - 1]
            _write_volume(target_path, source, before, one.last)
        if last is None or not source.closed or last > source.closed[-1].last:
            _write_volume(target_path, source, source.closed, last)
    with contextlib.closing(DiskJournal(target_path)) as target:
        copy_forward(iter(then), target)
        return target.head()


def _sound_in_either(
    source_path: Path, target_path: Path, *, sound_part: bool
) -> tuple[int | None, list[Record]]:
    """Return the last sound record of the source, None where all are sound, and what goes on after
    it in either copy. Raises RefusedError."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(contextlib.closing(opened_only(source_path)))
        start, damage = source.verify()
        if damage is not None and damage.where != str(source.open_file):
            raise RefusedError(f"{source_path} is damaged: {damage.line()}", remedy=FETCH)
        copies, wanted = [source], start.sequence
        if (target := _readable(target_path)) is not None:
            stack.enter_context(contextlib.closing(target))
            _require_same(target, source)
            copies.append(target)
            if not _forks(target, start):
                wanted = max(wanted, target.verify_open()[0].sequence)
            if wanted > start.sequence and damage is None and target.verify()[1] is None:
                raise RefusedError(
                    f"{target_path} is whole and goes on to record {wanted}; {source_path} ends "
                    f"at record {start.sequence}",
                    remedy="Rebuild the one that ends earlier: rebuild --main, or rebuild --second",
                )
        head, found = start, list[Record]()
        while step := next(filter(None, (list(_sound_after(head, copy)) for copy in copies)), None):
            found += step
            head = Head(step[-1].sequence, step[-1].hash)
        if not sound_part and head.sequence < wanted:
            raise RefusedError(
                f"{target_path} has sound records up to {wanted}; {source_path} ends at record "
                f"{head.sequence}, and what lies between is missing",
                remedy=FETCH,
            )
        if not sound_part and damage is not None and head.sequence < damage.sequence:
            raise RefusedError(
                f"{source_path} is damaged itself: {damage.line()}",
                remedy="No copy has that record sound. To go on without it and what stands behind "
                "it, add --sound-part",
            )
        return None if damage is None else start.sequence, found


def _readable(path: Path) -> DiskJournal | None:
    """Open a copy; None where it cannot be read, which is what a rebuild is for."""
    try:
        return opened_only(path)
    except (JournalError, RefusedError):
        return None


def _require_same(target: DiskJournal, source: DiskJournal) -> None:
    if target.identity != source.identity:
        if target.verify()[1] is not None:  # a journal's first record is chained to its identity
            raise RefusedError(
                f"{target.path}: the first line of {target.open_file} is damaged",
                remedy=f"Move {target.open_file} away, and rebuild again",
            )
        raise RefusedError(
            f"{target.path} is another journal ({target.identity}) than {source.path}",
            remedy="Give the right paths in journal.path and journal.second",
        )


def _require_room(source: DiskJournal, folder: Path) -> None:
    """Raise RefusedError where the volumes of `source` have no room in `folder`, JournalWriteError
    where it is not there."""
    files = [*(volume_path(source.path, one.number) for one in source.present), source.open_file]
    needed = sum(file.stat().st_size for file in files)
    remedy = "Create it or mount its medium"
    with reraise_as(JournalWriteError, f"the copy cannot be written to {folder}", remedy=remedy):
        free = shutil.disk_usage(folder).free
    if free < needed:
        raise RefusedError(
            f"{folder} has {free:,} bytes free, and the copy needs {needed:,}",
            remedy="Make room there, or take a larger medium: what stands there now is kept, too",
        )


def _forks(target: DiskJournal, head: Head) -> bool:
    """Whether the target has another record where the source ends, so that a person has decided."""
    if head.sequence == 0:
        return False
    try:
        there = hash_at(target, head.sequence)
    except JournalError:  # it lies in a volume that is missing
        return False
    return there is not None and there != head.hash


def _sound_after(head: Head, journal: DiskJournal) -> Iterator[Record]:
    """Yield the records that follow `head`, up to the first that is not sound."""
    with contextlib.suppress(JournalError):
        for step in walk_chain(head, journal.read(head.sequence + 1), str(journal.path)):
            if isinstance(step, Damage):
                return
            yield step


def _write_volume(
    path: Path, source: DiskJournal, closed: Sequence[Volume], last: int | None
) -> None:
    """Write the volume that comes after `closed`, up to its `last` record; None: the open one."""
    records = source.read(closed[-1].last + 1 if closed else 1, last)
    found(volume_path(path, len(closed) + 1), source.identity, closed, records)
