"""The record of this table's lamp box, and the journal's side of what a box remembers.

Owns the facts in `opening`, `volume`, `closing` and `lamp_adopted` records that name the box.
Differences are judged by `journal.box_memory`, and a person accepts them with `shaker-ctl lamp
adopt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from shaker_ctl.journal.box_memory import BoxMemory, JournalMemory, KnownBox
from shaker_ctl.journal.record import Entry, Head, Record, names_its_record, table_mark
from shaker_ctl.rules.vocabulary import Person
from shaker_ctl.service.recovery import last_push

KEY = "lamp_box"
ADOPTED = "lamp_adopted"


class Readable(Protocol):
    """A copy of the journal as it is read here."""

    identity: str

    def head(self) -> Head: ...

    def read(self, first: int, last: int) -> Iterable[Record]: ...

    def newest_first(self) -> Iterator[Record]: ...

    def milestones(self) -> Iterator[Record]: ...


def as_recorded(box: BoxMemory) -> dict[str, Any]:
    """Return what an opening, a closing and an adoption keep of a box."""
    return {"serial": box.serial_number, "erasures": box.erasures, "remembers": box.last_committed}


def adopted(box: BoxMemory, by: Person, reason: str) -> Entry:
    """Return the record that a person accepts this box with what it remembers."""
    note = f"lamp box {box.serial_number} adopted by {by.name} ({by.role.value}): {reason}"
    facts = {KEY: as_recorded(box), "by": by.signature(), "reason": reason, "note": note}
    return Entry(ADOPTED, facts)


@names_its_record
def on_record(milestones: Iterable[Record]) -> KnownBox | None:
    """Return the box that the newest record of one names; None before the first. Newest first."""
    for record in milestones:
        box = record.plain.get(KEY)
        if isinstance(box, dict):
            return KnownBox(box["serial"], box["erasures"], box["remembers"])
    return None


def journal_memory(journal: Readable) -> JournalMemory:
    """Return what `journal` says of everything that a box remembers."""
    pushed, lit = last_push(journal.newest_first())

    def hash_at(sequence: int) -> bytes | None:
        return next((record.hash for record in journal.read(sequence, sequence)), None)

    return JournalMemory(
        table=table_mark(journal.identity),
        head=journal.head(),
        hash_at=hash_at,
        last_pushed=pushed,
        lit=lit,
        box=on_record(journal.milestones()),
    )
