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

    What stood there is moved aside, never deleted. Sound records that it alone has are brought to
    the other copy first. `sound_part`: where the last file of the source is damaged itself, take
    what is sound in either copy, each record proved by the one before it.

    Raises RefusedError where the source is damaged, no second copy is set, a service writes, or the
    copy is another journal, whole and longer, or has sound records that cannot be brought;
    JournalError where a file cannot be used.
    """
    if parameters.second is None:
        raise RefusedError("the settings name no second copy", remedy="Set journal.second")
    copies = (parameters.path, parameters.second)
    source_path, target_path = copies[::-1] if main else copies
    with contextlib.closing(JournalLock(parameters.path)):
        if not sound_part:
            _keep_what_goes_on(source_path, target_path)
            return _rebuilt(source_path, target_path, None, [])
        return _rebuilt(source_path, target_path, *_sound_in_either(source_path, target_path))


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


def _sound_in_either(source_path: Path, target_path: Path) -> tuple[int, list[Record]]:
    """Return the last sound record of the source, and what goes on after it in either copy."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(contextlib.closing(opened_only(source_path)))
        head, damage = source.verify()
        if damage is not None and damage.where != str(source.open_file):
            raise RefusedError(f"{source_path}: {damage.line()}", remedy=FETCH)
        copies, found, last = [source], list[Record](), head.sequence
        if (target := _readable(target_path)) is not None:
            stack.enter_context(contextlib.closing(target))
            _require_same(target, source)
            copies.append(target)
        while step := next(filter(None, (list(_sound_after(head, copy)) for copy in copies)), None):
            found += step
            head = Head(step[-1].sequence, step[-1].hash)
        return last, found


def _readable(path: Path) -> DiskJournal | None:
    """Open a copy; None where it cannot be read, which is what a rebuild is for."""
    try:
        return opened_only(path)
    except (JournalError, RefusedError):
        return None


def _require_sound(source: DiskJournal) -> Head:
    head, damage = source.verify()
    if damage is None:
        return head
    is_open = damage.where == str(source.open_file)
    raise RefusedError(
        f"{source.path} is damaged itself: {damage.line()}",
        remedy="Rebuild the other copy if it is whole; where neither is, add --sound-part: "
        "it takes what is sound in either"
        if is_open
        else FETCH,
    )


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


def _keep_what_goes_on(source_path: Path, target_path: Path) -> None:
    """Bring to the source what the target alone has: sound records that go on where it ends.

    Raises RefusedError where the source is damaged; where the target is another journal, or is
    whole and longer; where it holds sound records that cannot be brought.
    """
    with contextlib.closing(opened_only(source_path)) as source:
        head = _require_sound(source)
    if (target := _readable(target_path)) is None:
        return
    with contextlib.closing(target):
        _require_same(target, source)
        end, _ = target.verify_open()
        if end.sequence <= head.sequence or _forks(target, head):
            return
        if target.verify()[1] is None:
            raise RefusedError(
                f"{target_path} is whole and goes on to record {end.sequence}; {source_path} ends "
                f"at record {head.sequence}",
                remedy="Rebuild the one that ends earlier: rebuild --main, or rebuild --second",
            )
        with contextlib.closing(DiskJournal(source_path)) as source:
            copy_forward(_sound_after(head, target), source)
            kept = source.head().sequence
    if kept < end.sequence:
        raise RefusedError(
            f"{target_path} has sound records up to {end.sequence}; {source_path} ends at record "
            f"{kept}, and what lies between is missing",
            remedy=FETCH,
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
