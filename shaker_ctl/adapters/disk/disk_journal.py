"""One copy of the journal: a chain of volumes, one file each.

Owns which volume a record lies in, and the beginning of the next one. The first volume has the
path in the settings, `journal.jsonl`; the ones after it stand beside it as `journal-000002.jsonl`
and so on. The one with the highest number is open, the others are closed and never change.

The chain itself says where a volume begins: a record of the kind `volume` is the first of the next
file, wherever it is written. So a copy that is written anew has the same volumes.
"""

from __future__ import annotations

import os
import re
import uuid
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk import volume_file
from shaker_ctl.adapters.disk.volume_file import Alive, VolumeFile
from shaker_ctl.adapters.disk.volume_lines import REBUILD, Lines, record_in
from shaker_ctl.errors import JournalCorruptError, JournalError
from shaker_ctl.journal import volume
from shaker_ctl.journal.record import (
    MAX_INTEGER,
    STEP_MARK,
    Damage,
    Entry,
    Head,
    Record,
    genesis,
    walk,
)
from shaker_ctl.journal.recovery import FETCH
from shaker_ctl.journal.volume import Volume
from shaker_ctl.whole_file import opened

_PAGE = 255
"""Records that are read together on the way back."""


def volume_path(path: Path, number: int) -> Path:
    """Return the file of a volume; `path`: the journal's, which is the first volume's."""
    return path if number == 1 else path.parent / f"{path.stem}-{number:06}{path.suffix}"


def volume_numbers(path: Path) -> list[int]:
    """Return the numbers of the volumes whose files are there, in order."""
    digits = r"0(?!0000[01])\d{5}|[1-9]\d{5,8}"
    named = re.compile(rf"{re.escape(path.stem)}-({digits}){re.escape(path.suffix)}")
    found = [1] if os.path.lexists(path) else []
    try:
        names = os.listdir(path.parent)
    except OSError:
        return found
    return found + sorted(int(fits[1]) for fits in map(named.fullmatch, names) if fits)


FORMER_SUFFIX = ".sqlite"


def former_files(path: Path) -> list[Path]:
    """Return the volumes of the former form that stand beside a journal, in order: SQLite files
    that nobody has converted yet, damaged ones, too."""
    older = path.with_suffix(FORMER_SUFFIX)
    files = [volume_path(older, number) for number in volume_numbers(older)]
    return [file for file in files if older != path or _begins_as_former(file)]


def _begins_as_former(file: Path) -> bool:
    with suppress(OSError), opened(file) as content:
        return content.read(len(volume_file.FORMER)) == volume_file.FORMER
    return False


class DiskJournal:
    """`ports.JournalStore` on the files of one copy. `write` for one thread at a time; reading from
    any.
    """

    def __init__(self, path: Path, *, identity: str | None = None, read_only: bool = False) -> None:
        """Open, or found where no file is; `identity` then names the journal that it copies.

        `read_only` leaves every byte as it is: for looking at what may be evidence.
        Raises JournalWriteError where the medium refuses, JournalCorruptError where the file is no
        journal, JournalVersionError where a newer program wrote it.
        """
        self.path = path
        self._read_only = read_only
        self._milestones: list[Record] | None = None
        """Of the open volume; a start asks for them three times before it writes."""
        self._held: dict[int, Damage | None] = {}
        """What `round_damage` found of each volume."""
        numbers = volume_numbers(path)
        if not read_only and (older := former_files(path)):
            raise volume_file.former(older[0])
        if not numbers and not read_only:
            stamp = datetime.now(UTC).isoformat(timespec="seconds")
            volume_file.found(path, identity or f"{uuid.uuid4()} founded {stamp}")
        number = numbers[-1] if numbers else 1
        self._file = VolumeFile(volume_path(path, number), read_only=read_only)
        if self._file.number != number:
            self._file.close()
            named = f"-{self._file.number:06}{path.suffix}"
            if path.name.endswith(named):
                first = path.with_name(path.name.removesuffix(named) + path.suffix)
                raise JournalError(
                    f"{path} is volume {self._file.number} of a journal",
                    remedy=f"Give the path of the first volume, {first}",
                )
            raise JournalCorruptError(
                f"{self._file.path} holds volume {self._file.number}, its name says {number}",
                remedy=REBUILD,
            )
        self.identity = self._file.identity
        self.start = genesis(self.identity)

    def _not_closed_so(self, one: Volume) -> Damage | None:
        """Look at the end of a closed volume alone: whether it is there, and is what was closed."""
        path = volume_path(self.path, one.number)
        try:
            with closing(Lines(path, read_only=True)) as there:
                last = record_in(next(there.backwards(), b""), one.last)
                is_as_closed = last.hash == one.hash and not there.torn
            wrong = "" if is_as_closed else "it does not end as it was closed"
        except JournalError as error:
            wrong = str(error)
        return _of(one, path, wrong) if wrong else None

    # ── Volumes ─────────────────────────────────────────────────────────────

    @property
    def closed(self) -> tuple[Volume, ...]:
        """The closed volumes, oldest first, as the chain has them sealed in."""
        return self._file.closed

    @property
    def volume(self) -> int:
        """Number of the open volume."""
        return self._file.number

    @property
    def open_file(self) -> Path:
        """File of the open volume."""
        return self._file.path

    def open_volume(self) -> list[Volume]:
        """Return the open volume as it stands, without its rounds; nothing where it is empty."""
        if not self.in_open_volume():
            return []
        head, first = self.head(), self._file.start.sequence + 1
        return [Volume(self.volume, self.day(), first, head.sequence, head.hash, None, None)]

    def in_open_volume(self) -> int:
        """How many records stand in the open volume."""
        return self._file.head().sequence - self._file.start.sequence

    def day(self) -> str:
        """Gaming day on which the open volume began; empty where it holds nothing yet."""
        return self._file.day()

    def next_volume(self, day: str, run: Mapping[str, Any]) -> Entry:
        """Return the record that begins the next volume; the open one must not be empty.

        The next `write` must begin with it, and may then hold more. `run`: see `volume.entry`.
        """
        gone = {"removed": sorted(self.removed)} if self.removed else {}
        lost = {"lost": sorted(self.lost)} if self.lost else {}
        return volume.entry((*self.closed, self._file.as_closed()), day, {**run, **gone, **lost})

    @cached_property
    def removed(self) -> frozenset[int]:
        """Numbers of the closed volumes that a person has had removed, as the open one says. They
        are removed while no service runs."""
        return volume.removed(self._file.marked(volume.REMOVED_MARK))

    @cached_property
    def lost(self) -> frozenset[int]:
        """Numbers of the records whose loss a person has accepted, as the open volume says."""
        return volume.lost(self._file.marked(volume.LOST_MARK))

    @property
    def present(self) -> tuple[Volume, ...]:
        """The closed volumes that must be here: all but those that a person has had removed."""
        if not self.removed:
            return self.closed
        return tuple(
            one
            for one in self.closed
            if one.number not in self.removed or volume_path(self.path, one.number).exists()
        )

    # ── Writing ─────────────────────────────────────────────────────────────

    def head(self) -> Head:
        """Return where the chain ends, as last written or found."""
        return self._file.head()

    def newest(self) -> Head:
        """Return the last record that is there now; for who reads what another process writes."""
        return self._file.newest()

    def write(self, records: Sequence[Record]) -> None:
        """Append and sync; all or none, but that each volume among them is written by itself.

        Raises JournalWriteError, JournalCorruptError.
        """
        if not records:
            return
        if records[0].sequence != self.head().sequence + 1:
            raise JournalCorruptError(
                f"{self.path} ends at record {self.head().sequence}, "
                f"so {records[0].sequence} cannot follow",
                remedy="shaker-ctl journal verify",
            )
        self._milestones = None
        for part in _by_volume(records):
            if volume.begins_one(part[0]):
                self._begin(part)
            else:
                self._file.append(part)

    def _begin(self, records: Sequence[Record]) -> None:
        """Close the open volume and found the next one with its first records in it.

        The rename of the new file is the moment at which the volume changes: before it, the old
        volume is open and whole; after it, the new one is.
        """
        self._file.lines.move_torn_end()
        closed = (*self.closed, self._file.as_closed())
        if wrong := volume.misfit(records[0].plain, closed):
            raise JournalCorruptError(f"{self.path}: {wrong}", remedy=REBUILD)
        path = volume_path(self.path, len(closed) + 1)
        volume_file.found(path, self.identity, closed, records)
        self._file = VolumeFile(path)  # the old one is closed when its last reader has ended

    # ── Reading ─────────────────────────────────────────────────────────────

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        """Yield records from `first` to `last` as they stand, unverified. From any thread.

        The last one of a closed volume has the hash that the chain has sealed in, whatever its file
        says: whoever walks to it has proved what was read. Raises JournalCorruptError where a file
        cannot be read, is not there, or ends too early.
        """
        limit = MAX_INTEGER if last is None else last
        file = self._file
        for one in file.closed:
            if one.first <= limit and one.last >= first:
                yield from self._read_closed(one, max(first, one.first), limit)
        if limit > file.start.sequence:
            yield from file.read(first, limit)

    def _read_closed(self, one: Volume, first: int, limit: int) -> Iterator[Record]:
        path = self.file_of(one)
        reached = first - 1
        with closing(Lines(path, read_only=True)) as file:
            for record in file.records(first, min(limit, one.last), one.first - 1):
                reached = record.sequence
                if reached == one.last:
                    record = Record(one.last, one.hash, record.body)
                yield volume.as_accepted(record, self.lost)
        if reached < min(one.last, limit):
            damage = Damage(str(path), reached + 1, None, f"missing; the volume ends at {one.last}")
            raise JournalCorruptError(damage.line(), remedy="shaker-ctl journal verify")

    def file_of(self, one: Volume) -> Path:
        """Return the file of a closed volume. Raises JournalError where it is not there."""
        path = volume_path(self.path, one.number)
        if not path.exists():
            if one.number in self.removed:
                raise JournalError(
                    f"volume {one.number} of the journal, up to record {one.last}, was removed",
                    remedy="Bring it back from its archive: shaker-ctl journal fetch FOLDER",
                )
            raise JournalCorruptError(
                f"volume {one.number} of the journal is missing: {path}", remedy=FETCH
            )
        return path

    def head_before(self, sequence: int) -> Head:
        """Return what the record `sequence` must follow: the record before it, or the beginning.

        Where that one is missing, the newest that is there before it in its volume. At the
        beginning of a volume, what the chain has sealed in of the end of the one before.
        """
        for one in self.closed:
            if sequence == one.last + 1:
                return one.head
            if sequence <= one.last:
                with closing(Lines(self.file_of(one), read_only=True)) as there:
                    found = there.newest(sequence, one.first - 1)
                return self.start_of(one) if found is None else Head(found.sequence, found.hash)
        return self._file.newest(sequence)

    def newest_first(self, newest: int | None = None) -> Iterator[Record]:
        """Yield records from `newest`, or the newest, back to the first, a page at a time.

        Each is proved by the hash that the record after it rests on. Raises JournalCorruptError at
        the first that does not fit, and JournalError at the first that was removed: no page holds
        records of two volumes.
        """
        last = self.head().sequence if newest is None else newest
        begins = [1, *(one.last + 1 for one in self.closed)]
        while last > 0:
            number = bisect_right(begins, last)
            first = max(last - _PAGE, begins[number - 1])
            before = self.head_before(first)
            page: list[Record] = []
            for step in walk(before, self.read(first, last), str(self.path)):
                if isinstance(step, Damage):
                    raise JournalCorruptError(step.line(), remedy="shaker-ctl journal verify")
                page.append(step)
            yield from reversed(page)
            last = first - 1

    def milestones(self) -> Iterator[Record]:
        """Yield the records that are no steps, newest first: openings, closings, volumes, seals.

        Those of the open volume stand as `verify_start` found them, the ones before it are proved
        as `newest_first` does. Raises JournalCorruptError.
        """
        if self._milestones is None:
            found = [each for each in self._file.read() if STEP_MARK not in each.body]
            self._milestones = found[::-1]
        yield from self._milestones
        for record in self.newest_first(self._file.start.sequence):
            if STEP_MARK not in record.body:
                yield record

    def read_round(self, number: int) -> list[Record]:
        """Return everything recorded from the first to the last record of a round."""
        spans = []
        for one in self.closed:
            if one.holds_round(number):
                with closing(Lines(self.file_of(one), read_only=True)) as there:
                    spans.append(there.span_of(number, one.first - 1))
        spans.append(self._file.lines.span_of(number, self._file.start.sequence))
        found = [span for span in spans if span is not None]
        return list(self.read(found[0][0], found[-1][1])) if found else []

    def last_rounds(self, count: int) -> list[int]:
        """Return the numbers of the last rounds, newest last, an incomplete one included (O-7).

        Without those of which a volume was removed. Raises JournalError.
        """
        found = set(self._file.lines.rounds(count))
        for one in reversed(self.closed):
            path = volume_path(self.path, one.number)
            if (
                not path.exists() and one.number in self.removed
            ):  # what follows a round in the next volume bears its number
                found = {number for number in found if not one.holds_round(number)}
            elif len(found) >= count:
                break
            elif one.first_round is not None:
                with closing(Lines(self.file_of(one), read_only=True)) as there:
                    found.update(there.rounds(count))
        return sorted(found)[-min(count, MAX_INTEGER) :]

    # ── Verifying ───────────────────────────────────────────────────────────

    def verify(self, alive: Alive | None = None) -> tuple[Head, Damage | None]:
        """Walk all volumes; return the sound head and the first damage, if any.

        A tail that was cut off is not seen here: compare the head with another medium. The open
        volume comes first: its records say which of the closed ones must be here.
        """
        end, damage = self._file.verify(alive)
        if damage is not None:
            return end, damage
        for one in self.present:
            head, damage = self.verify_closed(one, alive)
            if damage is not None:
                return head, damage
        return end, None

    def verify_start(self, alive: Alive | None = None) -> tuple[Head, Damage | None]:
        """Walk the open volume, and look at the files of the closed ones, whose heads it seals in.

        What this does not see in one of them is for `verify_closed`.
        """
        end, damage = self._file.verify(alive)
        if damage is not None:
            return end, damage
        for one in self.present:
            if (damage := self._not_closed_so(one)) is not None:
                return Head(one.first - 1, b""), damage
        return end, None

    def verify_open(self) -> tuple[Head, Damage | None]:
        """Walk the open volume alone; return as `verify` does."""
        return self._file.verify()

    def verify_closed(
        self, one: Volume, alive: Alive | None = None, *, file: Path | None = None
    ) -> tuple[Head, Damage | None]:
        """Walk one closed volume and hold it against what the chain has sealed in of it.

        `file`: another file that should hold it, such as an archive's.
        """
        path = file or volume_path(self.path, one.number)
        start = self.start_of(one)
        try:
            if file is None:
                self.file_of(one)
        except JournalError as error:
            return start, Damage(str(path), one.first, None, str(error))
        try:
            there = VolumeFile(path, read_only=True)
        except JournalError as error:
            return start, Damage(str(path), one.first, None, str(error))
        with closing(there):
            if (there.identity, there.closed) != (self.identity, self.closed[: one.number - 1]):
                what = "it is a volume of another journal, or of another place in this one"
                return start, Damage(str(path), one.first, None, what)
            head, damage = there.verify(alive, self.lost, closed=True)
        if damage is None and head != one.head:
            what = f"volume {one.number} ends at record {head.sequence}, not as it was closed"
            damage = Damage(str(path), min(head.sequence, one.last) + 1, None, what)
        return head, damage

    def round_damage(self, number: int) -> Damage | None:
        """Return the first damage of the volumes that can hold records of a round.

        What `read_round` yields leads to nothing that is sealed; its volumes do. Each closed one is
        verified once.
        """
        for one in self.closed:
            if one.holds_round(number):
                if one.number not in self._held:
                    self._held[one.number] = self.verify_closed(one)[1]
                if (damage := self._held[one.number]) is not None:
                    return damage
        return None

    def start_of(self, one: Volume) -> Head:
        """Return where the chain stands before a closed volume."""
        return self.closed[one.number - 2].head if one.number > 1 else self.start

    def check_tail(self, count: int = 64) -> None:
        """Read the last records back and prove that they lead to the head (O-5).

        Raises JournalCorruptError naming the first that does not.
        """
        written = self.head()
        first = max(1, written.sequence - count)
        head = self.head_before(first)
        for step in walk(head, self.read(first, written.sequence), str(self.path)):
            if isinstance(step, Damage):
                raise JournalCorruptError(step.line(), remedy="shaker-ctl journal verify")
            head = Head(step.sequence, step.hash)
        if head != written:
            raise JournalCorruptError(
                f"{self.path} ends at record {head.sequence}, written was {written.sequence}",
                remedy="shaker-ctl journal verify",
            )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _of(one: Volume, path: Path, wrong: str) -> Damage:
    return Damage(str(path), one.first, None, f"volume {one.number}: {wrong}")


def _by_volume(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Split before each record that begins a volume."""
    part: list[Record] = []
    for record in records:
        if part and volume.begins_one(record):
            yield part
            part = []
        part.append(record)
    yield part
