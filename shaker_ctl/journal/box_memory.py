"""What the lamp box remembers, compared with the journal after every start.

Whoever can write the journal's files can write a chain that verifies. The lamp box stands elsewhere
and keeps two things that no such hand reaches: the round and lamps that it committed last, and
the head of the journal after the last closed round, which it takes once (REGISTERS.md, "Memory").

A rewritten record before that head, a cut end, an older copy, another table's journal and a new one
are noticed. A record rewritten after it is not, nor is one where the memory of the box was erased
by hand before: that takes the key of its housing, and is counted. Owns the comparison alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Anchor, Head
from shaker_ctl.journal.recovery import REBUILD_MAIN, RecoveryFinding, Trouble

Lit = frozenset[str]

ADOPT = "shaker-ctl lamp adopt"
PUT_BACK = f"Put this table's own journal back. A person accepts another one: {ADOPT}"
FETCH_END = f"{REBUILD_MAIN}. Where no copy has more, a person accepts the loss: {ADOPT}"
ERASE = (
    "Erase the memory of the box by hand, inside its housing (REGISTERS.md, 6), then adopt it again"
)


@frozen
class BoxMemory:
    """What one lamp box retained without power."""

    serial_number: int
    erasures: int
    """How often this memory was erased by hand."""
    last_committed: int
    """Newest round of play whose lamps it committed; 0 where there is none."""
    lit: frozenset[Lit]
    """Lamps that it committed for that round: first and corrected."""
    anchor: Anchor | None
    """None where no round was closed since the erasure."""


@frozen
class KnownBox:
    """The box that the table had last, by its journal."""

    serial_number: int
    erasures: int
    remembers: int = 0
    """The last committed round that was accepted with it: at a start, or by a person."""


@frozen
class JournalMemory:
    """What the journal says of the same."""

    table: bytes
    """`record.table_mark` of it."""
    head: Head
    hash_at: Callable[[int], bytes | None]
    """Hash of the record with that number, or None where it has none."""
    last_pushed: int
    """Newest round of play whose values were sent to the lamps; 0 where there is none."""
    lit: frozenset[Lit]
    """Lamps that were to be lit for it: first and corrected."""
    box: KnownBox | None = None
    """None where no record names one."""


def compare_lamp_box(journal: JournalMemory, box: BoxMemory) -> RecoveryFinding | None:
    """Return what the box proves against the journal, if anything: the table then halts (O-4)."""
    return (
        _another_box(journal.box, box)
        or _against_anchor(journal, box.anchor)
        or _against_result(journal, box)
    )


def may_adopt(journal: JournalMemory, box: BoxMemory) -> RecoveryFinding | None:
    """Return why a person may not accept this box as it is: it keeps what erasing alone takes
    away."""
    found = _against_anchor(journal, box.anchor) or _against_result(journal, box)
    return None if found is None else replace(found, remedy=ERASE)


def _another_box(known: KnownBox | None, box: BoxMemory) -> RecoveryFinding | None:
    if known is None:
        return None
    remedy = f"Fit the box of this table. A person accepts this one: {ADOPT}"
    if known.serial_number != box.serial_number:
        text = (
            f"the lamp box on the line is number {box.serial_number}; this table had number "
            f"{known.serial_number}"
        )
        return RecoveryFinding(Trouble.OTHER_BOX, text, remedy, True)
    if known.erasures != box.erasures:
        text = (
            f"the memory of the lamp box was erased by hand: {box.erasures} times, "
            f"{known.erasures} on record"
        )
        return RecoveryFinding(Trouble.BOX_ERASED, text, remedy, True)
    return None


def _against_anchor(journal: JournalMemory, anchor: Anchor | None) -> RecoveryFinding | None:
    if anchor is None:
        return None
    kept = f"the lamp box keeps the head of the journal after round {anchor.round}"
    if anchor.table != journal.table:
        if journal.last_pushed == 0:
            text = f"{kept}, and this journal is a new one"
            return RecoveryFinding(Trouble.FOUNDED_ANEW, text, PUT_BACK, True)
        text = f"{kept} of another table than this journal is of"
        return RecoveryFinding(Trouble.OTHER_TABLE, text, PUT_BACK, True)
    found = journal.hash_at(anchor.head.sequence)
    if found is None:
        text = (
            f"{kept}, which is record {anchor.head.sequence}; this one ends at record "
            f"{journal.head.sequence}: the end of the journal is missing"
        )
        return RecoveryFinding(Trouble.LAMP_AHEAD, text, FETCH_END, True)
    if found != anchor.head.hash:
        text = (
            f"{kept}, and this journal has another: record {anchor.head.sequence} or one before "
            f"it was rewritten"
        )
        return RecoveryFinding(Trouble.REWRITTEN, text, REBUILD_MAIN, True)
    return None


def _against_result(journal: JournalMemory, box: BoxMemory) -> RecoveryFinding | None:
    accepted = journal.box.remembers if journal.box else 0
    if box.last_committed > journal.last_pushed and box.last_committed != accepted:
        text = (
            f"the lamp box committed round {box.last_committed}, the journal knows only "
            f"{journal.last_pushed}: the end of the journal is missing"
        )
        return RecoveryFinding(Trouble.LAMP_AHEAD, text, FETCH_END, True)
    is_same_round = box.last_committed == journal.last_pushed != 0
    if is_same_round and (others := box.lit - journal.lit):
        lit = ", ".join(sorted(min(others, key=sorted)))
        text = f"the lamp box lit {lit} for round {box.last_committed}, the journal has other lamps"
        return RecoveryFinding(Trouble.OTHER_RESULT, text, REBUILD_MAIN, True)
    return None
