"""Volumes: the parts of one chain, each in a file of its own, one a gaming day.

Owns what closes a volume and opens the next. A record of the kind `volume` is the first record of
each volume but the first; it continues the chain and holds the digest of the list of all volumes
before it. So whoever has verified the open volume has verified the heads of all closed ones. Must
not know of files.

A journal that was founded as one file is its own first volume; nothing in it changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Annotated

from pydantic import AfterValidator

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Entry, Head, Plain, Record, canonical

KIND = "volume"
_MARK = b'"kind":"volume"'

REMOVED = "volumes_removed"
"""Kind of the record with which a person has closed volumes removed that an archive holds."""
REMOVED_MARK = b'"kind":"volumes_removed"'

LOST = "records_lost"
"""Kind of the record with which a person accepts that records are bad in every copy."""
LOST_MARK = b'"kind":"records_lost"'
IN_ITS_PLACE = "lost"
"""Kind of what stands in the place of such a record."""


@frozen
class Volume:
    """One closed volume: which part of the chain it holds, and its head."""

    number: int
    """From 1."""
    day: str
    """Gaming day that it was begun on, ISO 8601."""
    first: int
    """Sequence number of its first record."""
    last: int
    """Sequence number of its last record; never before `first`: no volume is empty."""
    hash: bytes
    """Hash of its last record."""
    first_round: int | None
    """Lowest round of play that its records name; None where they name none."""
    last_round: int | None

    @property
    def is_typed(self) -> bool:
        """Whether each part is what a line of a file should have held."""
        rounds = [each for each in (self.first_round, self.last_round) if each is not None]
        numbers = (self.number, self.first, self.last, *rounds)
        return isinstance(self.day, str) and all(isinstance(each, int) for each in numbers)

    @property
    def head(self) -> Head:
        """Where the chain stands at its end."""
        return Head(self.last, self.hash)

    def holds_round(self, number: int) -> bool:
        """Whether records of this round can lie in it."""
        if self.first_round is None or self.last_round is None:
            return False
        return self.first_round <= number <= self.last_round

    def plain(self) -> list[Plain]:
        """As it goes into the digest of the list."""
        return [
            *(self.number, self.day, self.first, self.last),
            *(self.hash.hex(), self.first_round, self.last_round),
        ]


def digest(volumes: Sequence[Volume]) -> str:
    """Return the SHA-256 of a list of closed volumes, as a volume record has it."""
    return hashlib.sha256(canonical([volume.plain() for volume in volumes])).hexdigest()


def entry(closed: Sequence[Volume], day: str, run: Mapping[str, Plain]) -> Entry:
    """Return the first record of the volume after `closed`, which is not empty.

    `run`: what the opening record of the run says that goes on here, so that nobody who asks for
    it at a start has to read further back.
    """
    last = closed[-1]
    body = {
        **run,
        "volume": last.number + 1,
        "day": day,
        "closed": last.plain(),
        "volumes": digest(closed),
        "note": f"volume {last.number + 1} begins; volume {last.number} ended at {last.last}",
    }
    return Entry(KIND, body)


def removal(numbers: Sequence[int], archive: str, by: Mapping[str, Plain], reason: str) -> Entry:
    """Return the record of a removal: which volumes, where they are kept, who had it done."""
    body: dict[str, Plain] = {
        "removed": list(numbers),
        "archive": archive,
        "by": by,
        "reason": reason,
        "note": f"{len(numbers)} closed volumes are removed by {by['name']}; {archive} holds them",
    }
    return Entry(REMOVED, body)


def acceptance(numbers: Sequence[int], by: Mapping[str, Plain], reason: str) -> Entry:
    """Return the record that a person accepts the loss of records: which ones, who, and why."""
    named = ", ".join(map(str, numbers))
    note = f"the loss of the records {named} is accepted by {by['name']}: bad in every copy"
    if len(numbers) > 1:
        note += "; what lies between them fits together, and is proved by nothing else"
    return Entry(LOST, {"lost": list(numbers), "by": by, "reason": reason, "note": note})


def lost(records: Iterable[Record]) -> frozenset[int]:
    """Return the records whose loss the records `volume` and `records_lost` among `records` say
    that a person has accepted. Nothing has verified them yet."""
    return _named(records, LOST, "lost")


def lost_body(sequence: int, wall: str) -> bytes:
    """Return what stands in the place of a lost record. `wall`: about when it was made."""
    frame: dict[str, Plain] = {"sequence": sequence, "wall": wall, "round": None}
    return canonical({"kind": IN_ITS_PLACE, "digests": {}, "pictures": {}, **frame})


def as_accepted(record: Record, accepted: frozenset[int]) -> Record:
    """Return the record as a walk may pass it: what stands for a lost one proves nothing, and is
    passed only where a person has accepted that loss."""
    if record.sequence not in accepted:
        return record
    with suppress(JournalCorruptError):
        if record.plain.get("kind") == IN_ITS_PLACE:
            return replace(record, is_lost=True)
    return record


def removed(records: Iterable[Record]) -> frozenset[int]:
    """Return the numbers that the records `volume` and `volumes_removed` among `records` name.

    Nothing has verified them yet: what is no such record names none.
    """
    return _named(records, REMOVED, "removed")


def _named(records: Iterable[Record], kind: str, key: str) -> frozenset[int]:
    found = set[int]()
    for record in records:
        with suppress(JournalCorruptError):
            plain = record.plain
            numbers = plain.get(key) if plain.get("kind") in (KIND, kind) else None
            if isinstance(numbers, list):
                found.update(each for each in numbers if type(each) is int)
    return frozenset(found)


def begins_one(record: Record) -> bool:
    """Whether a volume begins with this record. Raises JournalCorruptError where it is no record"""
    return _MARK in record.body and record.plain.get("kind") == KIND


def misfit(first: Mapping[str, Plain], closed: Sequence[Volume]) -> str:
    """Say how a volume's first record contradicts the list of those before it; empty: it does not.

    `first`: the record, decoded.
    """
    if first.get("kind") != KIND or first.get("volume") != len(closed) + 1:
        return f"volume {len(closed) + 1} does not begin with its own volume record"
    if first.get("volumes") != digest(closed):
        return "the list of closed volumes is not the one that the chain has sealed in"
    return ""


def broken_list(volumes: Sequence[Volume]) -> str:
    """Say what cannot be in a list of closed volumes; empty where nothing is wrong."""
    expected = 1
    for number, volume in enumerate(volumes, start=1):
        if volume.number != number or volume.first != expected or volume.last < volume.first:
            return f"the list of closed volumes is broken at volume {number}"
        expected = volume.last + 1
    return ""


def gaming_day(now: datetime, begins: time) -> str:
    """Return the gaming day of a moment: the date on which the day began, in the zone of `now`."""
    began = now.date() if now.time() >= begins else now.date() - timedelta(days=1)
    return began.isoformat()


def began(day: str, begins: time) -> datetime:
    """Return the moment at which a gaming day begins, in the machine's own zone: of all records
    from then until the next day begins, `day_of` says this day.

    Raises ValueError or OverflowError where it is no day of the calendar.
    """
    return datetime.combine(date.fromisoformat(day), begins).astimezone()


def steady(begins: time) -> time:
    """Return a beginning of the gaming day in which this machine's zone never changes its clocks.

    Raises ValueError where it does within a year: the gaming day would go back, or table and floor
    would put the same minutes on different days.
    """
    yesterday = datetime.combine(datetime.now().date() - timedelta(days=1), begins)
    moments = [yesterday + timedelta(days=days) for days in range(372)]
    offsets = [moment.astimezone().utcoffset() for moment in moments]
    for before, moment, after in zip(offsets, moments[1:], offsets[2:], strict=False):
        if before == after:
            continue
        is_there = moment.astimezone().replace(tzinfo=None) == moment
        if not is_there or (_comes_twice(moment) and _comes_twice(moment - timedelta(seconds=1))):
            raise ValueError(
                f"{begins:%H:%M} lies inside a change of this machine's clocks, on "
                f"{moment.date()}: choose an hour outside it, such as 06:00"
            )
    return begins


def _comes_twice(moment: datetime) -> bool:
    offsets = {moment.replace(fold=fold).astimezone().utcoffset() for fold in (0, 1)}
    return len(offsets) > 1


DayBegins = Annotated[time, AfterValidator(steady)]
"""A setting: the local time at which a gaming day begins."""


def day_of(wall: str, begins: time) -> str:
    """Return the gaming day of a record's wall time, in the machine's own zone."""
    return gaming_day(datetime.fromisoformat(wall).astimezone(), begins)
