"""Both copies of the journal, opened, walked and compared at start; and rebuilt by command.

Owns the order: open, verify, compare, keep the evidence where something is wrong, catch the second
copy up where it only was interrupted. What each finding means is `journal.recovery`'s.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from shaker_ctl.adapters.disk import volume_file
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.volume_file import Alive, VolumeFile
from shaker_ctl.errors import (
    JournalBusyError,
    JournalCorruptError,
    JournalError,
    JournalWriteError,
    RefusedError,
    told_as,
)
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import UNCHAINED, Damage, Head, Record, first_difference
from shaker_ctl.journal.record import walk as walk_chain
from shaker_ctl.journal.recovery import (
    FETCH,
    REBUILD_SECOND,
    CopyState,
    RecoveryFinding,
    Trouble,
    compare,
    tail_unproved,
)
from shaker_ctl.journal.volume import Volume
from shaker_ctl.whole_file import unused_stamp

log = logging.getLogger(__name__)

Done = TypeVar("Done")

_BATCH = 1000

BUSY_S = 60.0
"""Longest wait of a start for a process that keeps a file of the journal from it."""


@frozen
class OpenedJournal:
    """Both copies, sound, and what a person should know though it halts nothing."""

    main: SqliteJournal
    second: SqliteJournal | None
    notices: tuple[RecoveryFinding, ...]
    lock: JournalLock

    def close(self) -> None:
        self.main.close()
        if self.second is not None:
            self.second.close()
        self.lock.close()


def patiently(act: Callable[[], Done], alive: Alive | None) -> Done:
    """Do `act`, which can be begun anew; wait while another process keeps a file from it.

    Who reads at idle priority beside a busy computer, or was killed there, may keep a file for
    half a minute. Raises JournalBusyError after `BUSY_S`.
    """
    until_s = time.monotonic() + BUSY_S
    while True:
        try:
            return act()
        except JournalBusyError as error:  # SQLite has waited for a second
            if time.monotonic() > until_s:
                raise
            log.warning("%s; waiting for it", error)
            if alive is not None:
                alive()


def open_copies(parameters: JournalParameters, alive: Alive | None = None) -> OpenedJournal:
    """Open what the settings name, founding both where neither exists.

    The open volumes are walked, and the heads of the closed ones held against the chain; what this
    does not see in a closed volume is for `volume_proofs`. `alive` is called now and then.

    Raises RefusedError where another process writes them. Raises JournalCorruptError where the
    table must halt until a person acts (O-4): the bytes as
    found are then kept in a folder beside the damaged copy, which the message names. Raises
    JournalWriteError where a medium refuses, or another process keeps a file for too long.
    """
    lock = JournalLock(parameters.path)
    try:
        return patiently(lambda: _opened_under(lock, parameters, alive), alive)
    except BaseException:
        lock.close()
        raise


def _opened_under(
    lock: JournalLock, parameters: JournalParameters, alive: Alive | None
) -> OpenedJournal:
    main_is_new = not volume_numbers(parameters.path)
    second_is_there = parameters.second is not None and bool(volume_numbers(parameters.second))
    if main_is_new and second_is_there:
        raise JournalCorruptError(
            f"the journal {parameters.path} is missing, its second copy is there",
            remedy="A person decides; then: shaker-ctl journal rebuild --main",
        )
    main = SqliteJournal(parameters.path)
    second: SqliteJournal | None = None
    try:
        second_is_set = parameters.second is not None
        # Empty: the first start was cut short between the two, or its journal was never written.
        is_empty = main.head().sequence == 0
        if parameters.second is not None and (is_empty or second_is_there):
            second = SqliteJournal(parameters.second, identity=main.identity)
        findings = _compare(
            main, second, lambda copy: copy.verify_start(alive), second_is_set=second_is_set
        )
        for finding in findings:
            if finding.halts:
                raise _halted(finding, main, second)
            if finding.trouble is Trouble.SECOND_LATE and second is not None:
                copy_forward(main.read(second.head().sequence + 1), second)
        if not second_is_set:
            findings.append(tail_unproved())
        return OpenedJournal(main, second, tuple(findings), lock)
    except BaseException:
        main.close()
        if second is not None:
            second.close()
        raise


def survey(
    parameters: JournalParameters, alive: Alive | None = None
) -> tuple[list[tuple[Path, Head]], list[RecoveryFinding]]:
    """Walk all volumes and compare the copies without changing anything: heads, and what was found.

    Raises JournalError where the main copy cannot be opened at all.
    """
    main = _opened_only(parameters.path)
    second: SqliteJournal | None = None
    findings: list[RecoveryFinding] = []
    heads: list[tuple[Path, Head]] = []

    def walked(copy: SqliteJournal) -> tuple[Head, Damage | None]:
        head, damage = copy.verify(alive)
        heads.append((copy.path, head))
        return head, damage

    try:
        if parameters.second is not None and volume_numbers(parameters.second):
            try:
                second = _opened_only(parameters.second)
            except JournalBusyError:
                raise
            except JournalError as error:
                damage = Damage(str(parameters.second), 1, None, str(error))
                findings.append(
                    RecoveryFinding(Trouble.SECOND_DAMAGED, damage.line(), error.remedy, halts=True)
                )
        missing_is_news = parameters.second is not None and not findings
        findings += _compare(main, second, walked, second_is_set=missing_is_news)
        if any(each.trouble is Trouble.MAIN_CUT for each in findings) and _goes_on_to(
            parameters.path, heads[0][1], heads[1][1]
        ):
            findings = [each for each in findings if each.trouble is not Trouble.MAIN_CUT]
        if parameters.second is None:
            findings.append(tail_unproved())
        return heads, findings
    finally:
        main.close()
        if second is not None:
            second.close()


def _goes_on_to(path: Path, head: Head, end: Head) -> bool:
    """Whether a copy, looked at again, goes on soundly from `head` to `end`.

    A table that plays writes to both copies while they are walked one after the other.
    """
    with contextlib.closing(_opened_only(path)) as again:
        records = again.read(head.sequence + 1, end.sequence)
        newest = deque(walk_chain(head, records, str(path)), maxlen=1)
    return bool(newest) and isinstance(newest[0], Record) and newest[0].hash == end.hash


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
    with contextlib.closing(_opened_only(source_path)) as source:
        _require_room(source, target_path.parent)
        stamp = unused_stamp(target_path)
        for number in sorted({*volume_numbers(target_path), *range(1, source.volume + 1)}):
            volume_file.move_aside(volume_path(target_path, number), stamp=stamp)
        for one in source.present:  # what was removed stays in its archive
            before = source.closed[: one.number - 1]
            _write_volume(target_path, source, before, one.last).close_for_good()
        if last is None or not source.closed or last > source.closed[-1].last:
            _write_volume(target_path, source, source.closed, last).close()
    with contextlib.closing(SqliteJournal(target_path)) as target:
        copy_forward(iter(then), target)
        return target.head()


def _sound_in_either(source_path: Path, target_path: Path) -> tuple[int, list[Record]]:
    """Return the last sound record of the source, and what goes on after it in either copy."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(contextlib.closing(_opened_only(source_path)))
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


def _readable(path: Path) -> SqliteJournal | None:
    """Open a copy; None where it cannot be read, which is what a rebuild is for."""
    try:
        return _opened_only(path)
    except JournalBusyError:
        raise
    except (JournalError, RefusedError):
        return None


def _require_sound(source: SqliteJournal) -> Head:
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


def _require_same(target: SqliteJournal, source: SqliteJournal) -> None:
    if target.identity != source.identity:
        raise RefusedError(
            f"{target.path} is another journal ({target.identity}) than {source.path}",
            remedy="Give the right paths in journal.path and journal.second",
        )


def _require_room(source: SqliteJournal, folder: Path) -> None:
    """Raise RefusedError where the volumes of `source` have no room in `folder`, JournalWriteError
    where it is not there."""
    files = [*(volume_path(source.path, one.number) for one in source.present), source.open_file]
    needed = sum(file.stat().st_size for file in files)
    remedy = "Create it or mount its medium"
    with told_as(JournalWriteError, f"the copy cannot be written to {folder}", remedy=remedy):
        free = shutil.disk_usage(folder).free
    if free < needed:
        raise RefusedError(
            f"{folder} has {free:,} bytes free, and the copy needs {needed:,}",
            remedy="Make room there, or take a larger medium: what stands there now is kept, too",
        )


def _keep_what_goes_on(source_path: Path, target_path: Path) -> None:
    """Bring to the source what the target alone has: sound records that go on where it ends.

    Raises RefusedError where the source is damaged; where the target is another journal, or is
    whole and longer; where it holds sound records that cannot be brought. Raises JournalBusyError.
    """
    with contextlib.closing(_opened_only(source_path)) as source:
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
        with contextlib.closing(SqliteJournal(source_path)) as source:
            copy_forward(_sound_after(head, target), source)
            kept = source.head().sequence
    if kept < end.sequence:
        raise RefusedError(
            f"{target_path} has sound records up to {end.sequence}; {source_path} ends at record "
            f"{kept}, and what lies between is missing",
            remedy=FETCH,
        )


def _forks(target: SqliteJournal, head: Head) -> bool:
    """Whether the target has another record where the source ends, so that a person has decided."""
    if head.sequence == 0:
        return False
    try:
        there = _hash_at(target, head.sequence)
    except JournalBusyError:
        raise
    except JournalError:  # it lies in a volume that is missing
        return False
    return there is not None and there != head.hash


def _sound_after(head: Head, journal: SqliteJournal) -> Iterator[Record]:
    """Yield the records that follow `head`, up to the first that is not sound."""
    with contextlib.suppress(JournalError):
        for step in walk_chain(head, journal.read(head.sequence + 1), str(journal.path)):
            if isinstance(step, Damage):
                return
            yield step


def _write_volume(
    path: Path, source: SqliteJournal, closed: Sequence[Volume], last: int | None
) -> VolumeFile:
    """Write the volume that comes after `closed`, up to its `last` record; None: the open one."""
    file = volume_path(path, len(closed) + 1)
    records = source.read(closed[-1].last + 1 if closed else 1, last)
    volume_file.found(file, source.identity, closed, list(islice(records, _BATCH)))
    written = VolumeFile(file)
    while batch := list(islice(records, _BATCH)):
        written.append(batch)
    return written


def copy_forward(records: Iterator[Record], target: SqliteJournal) -> None:
    """Append to `target` what comes next."""
    while batch := list(islice(records, _BATCH)):
        target.write(batch)


def _opened_only(path: Path) -> SqliteJournal:
    if not volume_numbers(path):
        raise RefusedError(
            f"there is no journal at {path}",
            remedy="Give its path with --journal, or the settings with --config",
        )
    return SqliteJournal(path, read_only=True)


Walk = Callable[[SqliteJournal], tuple[Head, Damage | None]]
"""A walk over one copy: its sound head, and the first damage."""


def _compare(
    main: SqliteJournal, second: SqliteJournal | None, walk: Walk, *, second_is_set: bool
) -> list[RecoveryFinding]:
    if second is not None and second.identity != main.identity:
        text = f"{second.path} is the copy of another journal ({second.identity})"
        return [
            RecoveryFinding(
                Trouble.FORKED, text, "Give the right path in journal.second", halts=True
            )
        ]
    first = _walked(main, walk)
    other = None if second is None else _walked(second, walk)
    if second is not None and other is not None:
        first = _pinpointed(first, main, other, second)
        other = _pinpointed(other, second, first, main)
        copies = (main, second)
        first = replace(first, hash_at=lambda at: _hash_at(main, _known_to(copies, at)))
        other = replace(other, hash_at=lambda at: _hash_at(second, _known_to(copies, at)))
    opened = {str(copy.open_file) for copy in (main, second) if copy is not None}
    findings = [
        replace(each, remedy=FETCH) if each.file and each.file not in opened else each
        for each in compare(first, other, second_is_set=second_is_set)
    ]
    if other is not None and any(each.trouble is Trouble.SECOND_LATE for each in findings):
        end = other.head.sequence
        if any(one.last > end and one not in main.present for one in main.closed):
            text = f"the second copy ends at record {end}, and volumes after it were removed"
            return [RecoveryFinding(Trouble.SECOND_BEHIND, text, REBUILD_SECOND, halts=True)]
    return findings


def _pinpointed(
    state: CopyState, copy: SqliteJournal, other: CopyState, twin: SqliteJournal
) -> CopyState:
    """Name the first wrong byte of a bad record, where the other copy has that record sound."""
    damage = state.damage
    if damage is None or damage.what != UNCHAINED or damage.sequence > other.head.sequence:
        return state
    try:
        ours = next(copy.read(damage.sequence, damage.sequence), None)
        theirs = next(twin.read(damage.sequence, damage.sequence), None)
    except JournalError:
        return state
    if ours is None or theirs is None or ours.sequence != theirs.sequence:
        return state
    byte = first_difference(ours.body, theirs.body)
    what = damage.what if byte is not None else "its hash is not the one that the other copy has"
    return replace(state, damage=replace(damage, byte=byte, what=what))


def _walked(copy: SqliteJournal, walk: Walk) -> CopyState:
    head, damage = walk(copy)
    return CopyState(str(copy.path), head, damage, partial(_hash_at, copy))


def _known_to(copies: Sequence[SqliteJournal], sequence: int) -> int:
    """Return the newest record up to `sequence` whose hash every copy knows: of a volume that was
    removed, the chain has only the last one sealed in."""
    for copy in copies:
        for one in copy.closed:
            if one.first <= sequence < one.last and one not in copy.present:
                sequence = one.first - 1
    return sequence


def _hash_at(copy: SqliteJournal, sequence: int) -> bytes | None:
    if sequence == 0:
        return b""
    sealed = next((one.hash for one in copy.closed if one.last == sequence), None)
    if sealed is not None:
        return sealed
    record = next(copy.read(sequence, sequence), None)
    return None if record is None else record.hash


def _halted(
    finding: RecoveryFinding, main: SqliteJournal, second: SqliteJournal | None
) -> JournalCorruptError:
    about_second = finding.trouble in (Trouble.SECOND_DAMAGED, Trouble.SECOND_BEHIND)
    concerned = second if about_second else main
    kept = ""
    if concerned is not None and finding.trouble is not Trouble.SECOND_MISSING:
        with contextlib.suppress(OSError):
            file = Path(finding.file) if finding.file and Path(finding.file).exists() else None
            kept = f" (as found: {concerned.preserve(finding.text, file)})"
    error = JournalCorruptError(f"{finding.text}{kept}", remedy=finding.remedy)
    error.code = finding.trouble.value
    return error
