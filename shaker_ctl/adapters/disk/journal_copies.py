"""Both copies of the journal, opened, walked and compared at start.

Owns the order: open, verify, compare, keep the evidence where something is wrong, catch the second
copy up where it only was interrupted. What each finding means is `journal.recovery`'s.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.kept_aside import preserve
from shaker_ctl.adapters.disk.volume_file import Alive
from shaker_ctl.errors import (
    JournalAbsentError,
    JournalError,
    RefusedError,
)
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import UNCHAINED, Damage, Head, Record, first_difference
from shaker_ctl.journal.record import walk as walk_chain
from shaker_ctl.journal.recovery import (
    FETCH,
    REBUILD_MAIN,
    REBUILD_SECOND,
    CopyState,
    RecoveryFinding,
    Trouble,
    compare,
    tail_unproved,
)

log = logging.getLogger(__name__)

BATCH = 1000
"""Records that are written together."""


@frozen
class OpenedJournal:
    """Both copies, sound, and what a person should know though it halts nothing."""

    main: DiskJournal
    second: DiskJournal | None
    notices: tuple[RecoveryFinding, ...]
    lock: JournalLock

    @property
    def copies(self) -> list[DiskJournal]:
        return [copy for copy in (self.main, self.second) if copy is not None]

    def close(self) -> None:
        for copy in self.copies:
            copy.close()
        self.lock.close()


_LATE = (Trouble.SECOND_LATE, Trouble.MAIN_LATE)
_MAIN_ENDS_EARLIER = (Trouble.MAIN_CUT, Trouble.MAIN_LATE)

LOOK_AGAIN_S = 0.5


def await_media(
    parameters: JournalParameters,
    alive: Alive | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until both copies that the settings name are there, or neither, at most
    `parameters.media_wait_s`.

    A copy that is late is not a damaged one. `alive` is called now and then.
    """
    waited_s = 0.0
    while (
        len({bool(volume_numbers(copy)) for copy in parameters.copies}) > 1
        and waited_s < parameters.media_wait_s
    ):
        if not waited_s:
            missing = next(copy for copy in parameters.copies if not volume_numbers(copy))
            wait_s = parameters.media_wait_s
            log.warning("waiting up to %.0f s for the medium of %s", wait_s, missing)
        if alive is not None:
            alive()
        sleep(LOOK_AGAIN_S)
        waited_s += LOOK_AGAIN_S


def open_copies(parameters: JournalParameters, alive: Alive | None = None) -> OpenedJournal:
    """Open what the settings name, founding both where neither exists.

    The open volumes are walked, and the heads of the closed ones held against the chain; what this
    does not see in a closed volume is for `volume_proofs`. `alive` is called now and then.

    Raises RefusedError where another process writes them. Raises JournalCorruptError where the
    table must halt until a person acts (O-4): the bytes as found are then kept in a folder beside
    the damaged copy, which the message names. Raises JournalAbsentError where one of two copies is
    not there, and JournalWriteError where a medium refuses.
    """
    lock = JournalLock(parameters.path)
    try:
        return _opened_under(lock, parameters, alive)
    except BaseException:
        lock.close()
        raise


def _opened_under(
    lock: JournalLock, parameters: JournalParameters, alive: Alive | None
) -> OpenedJournal:
    main_is_new = not volume_numbers(parameters.path)
    second_is_there = parameters.second is not None and bool(volume_numbers(parameters.second))
    if main_is_new and second_is_there:
        raise JournalAbsentError(
            f"the journal {parameters.path} is missing, its second copy is there",
            remedy="Bring back its medium. Where it is lost for good, a person decides; then: "
            "shaker-ctl journal rebuild --main",
        )
    main = DiskJournal(parameters.path)
    second: DiskJournal | None = None
    try:
        # Empty: the first start was cut short between the two, or its journal was never written.
        is_empty = main.head().sequence == 0
        if parameters.second is not None and (is_empty or second_is_there):
            second = DiskJournal(parameters.second, identity=main.identity)
        findings = _compare(
            main, second, lambda copy: copy.verify_start(alive), parameters, parameters.second
        )
        for finding in findings:
            if finding.halts:
                raise _halted(finding, main, second)
            if finding.trouble in _LATE and second is not None:
                is_main = finding.trouble is Trouble.MAIN_LATE
                late, whole = (main, second) if is_main else (second, main)
                copy_forward(whole.read(late.head().sequence + 1), late)
        if parameters.second is None:
            findings.append(tail_unproved())
        return OpenedJournal(main, second, tuple(findings), lock)
    except BaseException:
        main.close()
        if second is not None:
            second.close()
        raise


def survey(parameters: JournalParameters) -> tuple[list[tuple[Path, Head]], list[RecoveryFinding]]:
    """Walk all volumes and compare the copies without changing anything: heads, and what was found.

    Raises JournalError where the main copy cannot be opened at all.
    """
    main = opened_only(parameters.path)
    second: DiskJournal | None = None
    findings: list[RecoveryFinding] = []
    heads: list[tuple[Path, Head]] = []

    def walked(copy: DiskJournal) -> tuple[Head, Damage | None]:
        head, damage = copy.verify()
        heads.append((copy.path, head))
        return head, damage

    try:
        if parameters.second is not None and volume_numbers(parameters.second):
            try:
                second = opened_only(parameters.second)
            except JournalError as error:
                damage = Damage(str(parameters.second), 1, None, str(error))
                findings.append(
                    RecoveryFinding(Trouble.SECOND_DAMAGED, damage.line(), error.remedy, halts=True)
                )
        wanted_at = None if findings else parameters.second
        findings += _compare(main, second, walked, parameters, wanted_at)
        if any(each.trouble in _MAIN_ENDS_EARLIER for each in findings) and _goes_on_to(
            parameters.path, heads[0][1], heads[1][1]
        ):
            findings = [each for each in findings if each.trouble not in _MAIN_ENDS_EARLIER]
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
    with contextlib.closing(opened_only(path)) as again:
        records = again.read(head.sequence + 1, end.sequence)
        newest = deque(walk_chain(head, records, str(path)), maxlen=1)
    return bool(newest) and isinstance(newest[0], Record) and newest[0].hash == end.hash


def copy_forward(records: Iterator[Record], target: DiskJournal) -> None:
    """Append to `target` what comes next."""
    while batch := list(islice(records, BATCH)):
        target.write(batch)


def opened_only(path: Path) -> DiskJournal:
    """Open a copy to look at it. Raises RefusedError where there is none, and JournalError."""
    if not volume_numbers(path):
        raise RefusedError(
            f"there is no journal at {path}",
            remedy="Mount its medium, or give its path: --journal, or the settings with --config",
        )
    return DiskJournal(path, read_only=True)


Walk = Callable[[DiskJournal], tuple[Head, Damage | None]]
"""A walk over one copy: its sound head, and the first damage."""


def _compare(
    main: DiskJournal,
    second: DiskJournal | None,
    walk: Walk,
    parameters: JournalParameters,
    second_at: Path | None,
) -> list[RecoveryFinding]:
    if second is not None and second.identity != main.identity:
        text = f"{second.path} is the copy of another journal ({second.identity})"
        remedy = (
            "Give the right path in journal.second. If it is, a first line is damaged: move "
            f"{second.open_file} away, then rebuild: shaker-ctl journal rebuild --second"
        )
        return [RecoveryFinding(Trouble.FORKED, text, remedy, halts=True)]
    first = _walked(main, walk)
    other = None if second is None else _walked(second, walk)
    if second is not None and other is not None:
        first = _pinpointed(first, main, other, second)
        other = _pinpointed(other, second, first, main)
        copies = (main, second)
        first = replace(first, hash_at=lambda at: hash_at(main, _known_to(copies, at)))
        other = replace(other, hash_at=lambda at: hash_at(second, _known_to(copies, at)))
    opened = {str(copy.open_file) for copy in (main, second) if copy is not None}
    findings = [
        replace(each, remedy=FETCH) if each.file and each.file not in opened else each
        for each in compare(
            first, other, second_at=second_at, kept_by_either=parameters.kept_by_either
        )
    ]
    for each in findings:
        if second is not None and each.trouble in _LATE:
            is_main = each.trouble is Trouble.MAIN_LATE
            late, whole = (main, second) if is_main else (second, main)
            if _lacks_removed(late, whole):
                return [_older(late, is_main=is_main)]
    return findings


def _lacks_removed(late: DiskJournal, whole: DiskJournal) -> bool:
    """Whether volumes after the end of a copy were removed, so that nothing catches it up."""
    end = late.newest().sequence
    return any(one.last > end and one not in whole.present for one in whole.closed)


def _older(late: DiskJournal, *, is_main: bool) -> RecoveryFinding:
    which = "main" if is_main else "second"
    end = late.newest().sequence
    text = f"the {which} copy ends at record {end}, and volumes after it were removed"
    if is_main:
        return RecoveryFinding(Trouble.MAIN_CUT, text, REBUILD_MAIN, halts=True)
    return RecoveryFinding(Trouble.SECOND_BEHIND, text, REBUILD_SECOND, halts=True)


def _pinpointed(
    state: CopyState, copy: DiskJournal, other: CopyState, twin: DiskJournal
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


def _walked(copy: DiskJournal, walk: Walk) -> CopyState:
    head, damage = walk(copy)
    return CopyState(str(copy.path), head, damage, partial(hash_at, copy))


def _known_to(copies: Sequence[DiskJournal], sequence: int) -> int:
    """Return the newest record up to `sequence` whose hash every copy knows: of a volume that was
    removed, the chain has only the last one sealed in."""
    for copy in copies:
        for one in copy.closed:
            if one.first <= sequence < one.last and one not in copy.present:
                sequence = one.first - 1
    return sequence


def hash_at(copy: DiskJournal, sequence: int) -> bytes | None:
    """Return the hash of one record of a copy, unverified; None where it is not there."""
    if sequence == 0:
        return b""
    sealed = next((one.hash for one in copy.closed if one.last == sequence), None)
    if sealed is not None:
        return sealed
    record = next(copy.read(sequence, sequence), None)
    return None if record is None else record.hash


def _halted(
    finding: RecoveryFinding, main: DiskJournal, second: DiskJournal | None
) -> JournalError:
    about_second = finding.trouble in (Trouble.SECOND_DAMAGED, Trouble.SECOND_BEHIND)
    concerned = second if about_second else main
    kept = ""
    if concerned is not None and finding.trouble is not Trouble.SECOND_MISSING:
        with contextlib.suppress(OSError):
            named = Path(finding.file)
            file = named if finding.file and named.exists() else concerned.open_file
            kept = f" (as found: {preserve(file, finding.text)})"
    return finding.error(kept)
