"""A closed volume put together, record by record, from every file that has some of it.

Owns the proof. What is taken leads from the end of the volume before to the hash that the chain has
sealed in of this one, so no file is believed for its own sake. A record that is bad in all of them
is named as lost. The hash beside it leads on to the next record. So what stands before the first
lost record is proved by the volume before, and what stands behind the last one by the sealed hash.
What lies between two lost ones fits together, and nothing else proves it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from shaker_ctl.adapters.disk.volume_lines import Lines
from shaker_ctl.errors import JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Head, Record, chain_hash
from shaker_ctl.journal.volume import Volume, lost_body

UNKNOWN = bytes(32)
"""For the hash of a record that nobody has."""

MAX_WAYS = 16
"""Ways through damaged places that are followed beside each other; one is right."""


@frozen
class Assembled:
    """What could be put together."""

    records: tuple[Record, ...]
    lost: tuple[int, ...]
    """Numbers of those among the records that were bad everywhere: a mark stands in their place."""


@dataclass(slots=True)
class _Way:
    """A way from the start to one record: what was taken, and what it cost."""

    hash: bytes
    body: bytes | None
    """None where the record is lost."""
    before: _Way | None
    lost: int = 0
    unproved: int = 0
    """Records at its end whose computed hash stands nowhere."""

    @property
    def rank(self) -> tuple[int, int]:
        return self.lost + self.unproved, self.unproved


def assemble(identity: str, start: Head, one: Volume, files: Sequence[Path]) -> Assembled:
    """Put volume `one` of the journal `identity` together from `files`, with as few lost records as
    there can be. `start`: the end of the volume before."""
    with ExitStack() as opened:
        rows: list[Iterator[Record]] = []
        for file in files:
            with suppress(JournalError):
                lines = Lines(file, read_only=True)
                opened.callback(lines.close)
                if not _is_of_another(lines.header, identity):
                    rows.append(_rows(lines, one))
        ways = [_Way(start.hash, None, None)]
        for sequence in range(one.first, one.last + 1):
            found = [record for each in rows if (record := next(each)).body]
            known = {one.hash} if sequence == one.last else {each.hash for each in found}
            ways = _onward(ways, known - {b""}, {each.body for each in found})
    return _made(one, next(way for way in ways if way.hash == one.hash))


def _is_of_another(header: bytes, identity: str) -> bool:
    """Whether a file says that it is of another journal; it may be too damaged to say anything."""
    try:
        said = json.loads(header).get("journal")
    except (ValueError, AttributeError, RecursionError):
        return False
    return isinstance(said, str) and said != identity


def _rows(lines: Lines, one: Volume) -> Iterator[Record]:
    """One after the other what a file has of each record of a volume; no body where it has none."""
    wanted = one.first
    with suppress(JournalError):
        for record in lines.records(one.first, one.last, one.first - 1):
            if record.sequence >= wanted:
                yield from (Record(at, b"", b"") for at in range(wanted, record.sequence))
                yield record
                wanted = record.sequence + 1
    yield from (Record(at, b"", b"") for at in range(wanted, one.last + 1))


def _onward(ways: list[_Way], known: set[bytes], bodies: set[bytes]) -> list[_Way]:
    """Each way on by one record: by a body that a file has, or over a record that is lost."""
    best: dict[bytes, _Way] = {}

    def offer(way: _Way) -> None:
        if way.hash not in best or way.rank < best[way.hash].rank:
            best[way.hash] = way

    for way in ways:
        for body in bodies:
            link = chain_hash(way.hash, body)
            offer(_Way(link, body, way, way.lost, 0 if link in known else way.unproved + 1))
    cheapest = min(ways, key=lambda way: way.rank)
    for link in known or {UNKNOWN}:
        offer(_Way(link, None, cheapest, cheapest.lost + cheapest.unproved + 1))
    return sorted(best.values(), key=lambda way: way.rank)[:MAX_WAYS]


def _made(one: Volume, end: _Way) -> Assembled:
    way: _Way | None = end
    records: list[Record] = []
    lost: list[int] = []
    unproved = 0
    for sequence in range(one.last, one.first - 1, -1):
        assert way is not None
        if way.body is None:
            unproved = 0 if way.before is None else way.before.unproved + 1
        if unproved:  # what stood before a lost record and is proved by nothing is lost, too
            unproved -= 1
            lost.append(sequence)
            records.append(Record(sequence, way.hash, b""))
        else:
            records.append(Record(sequence, way.hash, way.body or b""))
        way = way.before
    records.reverse()
    return Assembled(tuple(_marked(records, set(lost))), tuple(reversed(lost)))


def _marked(records: Iterable[Record], lost: set[int]) -> Iterator[Record]:
    """Put a mark in the place of each lost record, with the time of the one before it."""
    wall = "1970-01-01T00:00:00+00:00"
    for record in records:
        if record.sequence in lost:
            yield Record(record.sequence, record.hash, lost_body(record.sequence, wall))
        else:
            with suppress(JournalError):
                wall = record.plain["wall"]
            yield record
