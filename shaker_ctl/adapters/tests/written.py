"""A journal with what a test wants on record, and what is done to its records behind its back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.volume_lines import record_in, sequence_in
from shaker_ctl.journal.record import Entry, Head, Record, chain_hash, link

WALL = "2026-11-27T12:00:00+00:00"


def append(path: Path, *entries: Entry, wall: str = WALL, **more: Mapping[str, Any]) -> None:
    """Record facts behind what there is, or found the journal with them. `more`: as for `link`."""
    facts = {"digests": {}, **more}
    with closing(DiskJournal(path)) as store:
        for entry in entries:
            store.write([link(store.head(), entry, monotonic_s=1.0, wall=wall, **facts)])


Change = Callable[[Record], Record | None]
"""What becomes of a record; None: it is left out."""


def rewritten(path: Path, change: Change) -> None:
    """Do so with each record of a volume's file."""
    header, *lines = path.read_bytes().split(b"\n")[:-1]
    records = [change(record_in(line, sequence_in(line) or 0)) for line in lines]
    kept = [record.exported for record in records if record is not None]
    path.write_bytes(b"".join([header + b"\n", *kept]))


def changed(path: Path, number: int, change: Change) -> None:
    """Do so with one record."""
    rewritten(path, lambda record: change(record) if record.sequence == number else record)


def cut_after(path: Path, number: int) -> None:
    """Leave out all records behind this one."""
    rewritten(path, lambda record: record if record.sequence <= number else None)


def gone(_: Record) -> None:
    """Leave it out."""


def saying(said: str, instead: str) -> Change:
    """Have a record say something else, under its old hash."""
    return lambda record: replace(record, body=record.body.replace(said.encode(), instead.encode()))


def flipped(record: Record) -> Record:
    """Change one byte, which leaves JSON."""
    return replace(record, body=record.body.replace(b'"wall":"20', b'"wall":"21'))


def unhashed(record: Record) -> Record:
    """Lose its hash."""
    return replace(record, hash=bytes(32))


def appended(path: Path, head: Head, body: bytes) -> Head:
    """Append a record whose hash is right behind `head`, whatever it says."""
    record = Record(head.sequence + 1, chain_hash(head.hash, body), body)
    with path.open("ab") as file:
        file.write(record.exported)
    return Head(record.sequence, record.hash)
