"""Whether records continue what the floor has of a table, and what it means where they do not.

Owns the decision. Must not know databases nor messages. The floor's own record of a journal is a
`line`: the chain of one identity, from its first record. A line never changes and never ends;
where a table comes with another history, a named person decides whether a new line begins.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import genesis
from shaker_ctl.link.packing import Batch, Have, packed


class AlarmKind(StrEnum):
    """How a table's history contradicts the floor's."""

    FORK = "journal-fork"
    """The same record number, another content: rewritten after the fact."""
    REWIND = "journal-rewind"
    """The table's journal ends before what the floor holds of it: cut, or an older copy."""
    IDENTITY = "journal-identity"
    """Another journal altogether."""


@frozen
class Contradiction:
    """An alarm, which a named person accepts."""

    trouble: AlarmKind
    at: int
    """Record at which it shows."""
    text: str


def judge(
    line: Have, batch: Batch, hash_at: Callable[[int], bytes | None]
) -> Batch | Contradiction:
    """Return what of a batch follows a line. It has no records where all of them are here, or
    others are missing before them: then the table hears again what the floor has.

    `hash_at`: hash of a stored record of that line. A batch is one chain (`unpack` has proved it).
    So if the newest record that both hold has one hash, all before it are equal, too.
    """
    here = line.head
    if batch.identity != line.identity:
        return Contradiction(
            AlarmKind.IDENTITY,
            batch.head,
            f"the table has the journal {batch.identity}, the floor knows {line.identity}",
        )
    if not batch.records and batch.head < here.sequence:
        return Contradiction(
            AlarmKind.REWIND,
            batch.head,
            f"the table's journal ends at record {batch.head}, the floor holds {here.sequence}",
        )
    if batch.before.sequence > here.sequence:
        return Batch(line.identity, here, (), batch.head)
    shared = min(batch.end.sequence, here.sequence)
    known = here.hash if shared == here.sequence else hash_at(shared)
    if shared == 0:
        known = genesis(line.identity).hash
    if known is None:  # removed because of its age: the table goes on behind what is here
        return Batch(line.identity, here, (), batch.head)
    place = shared - batch.before.sequence
    if known != (batch.records[place - 1].hash if place else batch.before.hash):
        return Contradiction(
            AlarmKind.FORK,
            shared,
            f"the table's journal differs at record {shared} or before from what the floor holds",
        )
    if batch.before == here:
        return batch
    rest = batch.records[place:]
    return Batch(line.identity, here, rest, batch.head, packed(rest))
