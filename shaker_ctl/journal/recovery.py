"""Two copies of the journal: do they tell one story, and what to do where they do not.

Owns the comparison after every start. It never mends anything: it says what was found, whether the
table may play, and the remedy. It must not read files; it is told heads and hashes.

Where the main copy is written first and releases commands, the second may end earlier, by what was
on its way, and never later: a main copy that ends before the second has lost its tail. Where either
copy keeps a record (`kept_by_either`), either may end earlier by so much; what it lacks the other
has. What the lamp box remembers proves the end of both: `journal.box_memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path

from shaker_ctl.errors import JournalAbsentError, JournalCorruptError, JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Damage, Head

IN_FLIGHT = 256
"""Records by which a copy may be behind after an interruption and be caught up by itself. More is
a medium that had stopped working. A round makes 13 to 16."""


class Trouble(Enum):
    """What can be found. The value is the fault's stable code."""

    MAIN_DAMAGED = "journal-damaged"
    SECOND_DAMAGED = "journal-second-damaged"
    SECOND_MISSING = "journal-second-missing"
    SECOND_BEHIND = "journal-second-behind"
    SECOND_LATE = "journal-second-late"
    MAIN_LATE = "journal-main-late"
    MAIN_CUT = "journal-cut"
    FORKED = "journal-forked"
    LAMP_AHEAD = "journal-cut-lamp"
    REWRITTEN = "journal-rewritten"
    OTHER_TABLE = "journal-other-table"
    FOUNDED_ANEW = "journal-founded-anew"
    OTHER_RESULT = "journal-other-result"
    OTHER_BOX = "lamp-other-box"
    BOX_ERASED = "lamp-memory-erased"
    TAIL_UNPROVED = "journal-tail-unproved"


@frozen
class RecoveryFinding:
    """One thing found, in a person's words."""

    trouble: Trouble
    text: str
    remedy: str
    halts: bool
    """Whether the table must stay out of service until a person acts (O-4)."""
    file: str = ""
    """The volume that is damaged, where one is."""

    def line(self) -> str:
        return f"{self.text}. {self.remedy}" if self.remedy else self.text

    def error(self, kept: str = "") -> JournalError:
        """As what ends a start; `kept`: where the bytes are, as they were found."""
        is_absent = self.trouble is Trouble.SECOND_MISSING
        kind = JournalAbsentError if is_absent else JournalCorruptError
        error = kind(f"{self.text}{kept}", remedy=self.remedy)
        error.code = self.trouble.value
        return error


@frozen
class CopyState:
    """What a walk over one copy gave."""

    name: str
    head: Head
    damage: Damage | None
    hash_at: Callable[[int], bytes | None]
    """Hash of the record with that number, or None where it has none."""


REBUILD_SECOND = "Check its medium, then: shaker-ctl journal rebuild --second"
BRING_BACK = (
    "Plug its medium in; the table waits for it. Where it is lost for good: "
    "shaker-ctl journal rebuild --second"
)
REBUILD_MAIN = "A person compares both copies, then: shaker-ctl journal rebuild --main"
FETCH = (
    "A person looks at it, then: shaker-ctl journal fetch takes what is sound from the other copy, "
    "shaker-ctl journal fetch FOLDER from an archive, too"
)
"""Of a closed volume: another one may be broken in each copy."""


def compare(
    main: CopyState,
    second: CopyState | None,
    *,
    second_at: Path | None,
    kept_by_either: bool = False,
) -> list[RecoveryFinding]:
    """Return everything wrong, the worst first; nothing where both tell one story.

    `second` is None where there is no file; `second_at` says where there should be one.
    """
    findings: list[RecoveryFinding] = []
    if main.damage is not None:
        findings.append(_damaged(Trouble.MAIN_DAMAGED, main.damage, REBUILD_MAIN))
    if second is None:
        if second_at is not None:
            text = f"the second copy of the journal is missing: {second_at}"
            findings.append(RecoveryFinding(Trouble.SECOND_MISSING, text, BRING_BACK, True))
        return findings
    if second.damage is not None:
        findings.append(_damaged(Trouble.SECOND_DAMAGED, second.damage, REBUILD_SECOND))
    if main.damage is None and second.damage is None:
        findings += _compare_sound(main, second, IN_FLIGHT if kept_by_either else 0)
    return findings


def _damaged(trouble: Trouble, damage: Damage, remedy: str) -> RecoveryFinding:
    return RecoveryFinding(trouble, damage.line(), remedy, halts=True, file=damage.where)


def _compare_sound(main: CopyState, second: CopyState, main_may_lack: int) -> list[RecoveryFinding]:
    shorter = min(main.head.sequence, second.head.sequence)
    if main.hash_at(shorter) != second.hash_at(shorter):
        text = (
            f"the two copies of the journal tell different stories (at record {shorter}): "
            f"{main.name} and {second.name}"
        )
        return [RecoveryFinding(Trouble.FORKED, text, REBUILD_MAIN, True)]
    behind = main.head.sequence - second.head.sequence
    if 0 < -behind <= main_may_lack:
        text = f"the main copy of the journal is {-behind} records behind; a start catches it up"
        return [RecoveryFinding(Trouble.MAIN_LATE, text, "", False)]
    if behind < 0:
        text = (
            f"the end of the journal is missing: {main.name} ends at record "
            f"{main.head.sequence}, its second copy at {second.head.sequence}"
        )
        return [RecoveryFinding(Trouble.MAIN_CUT, text, REBUILD_MAIN, True)]
    if behind > IN_FLIGHT:
        text = f"the second copy of the journal is {behind} records behind"
        return [RecoveryFinding(Trouble.SECOND_BEHIND, text, REBUILD_SECOND, True)]
    if behind > 0:
        text = f"the second copy of the journal is {behind} records behind; a start catches it up"
        return [RecoveryFinding(Trouble.SECOND_LATE, text, "", False)]
    return []


def tail_unproved() -> RecoveryFinding:
    """Say that a tail which was cut off could not be seen: nothing else remembers the end."""
    return RecoveryFinding(
        Trouble.TAIL_UNPROVED,
        "there is no second copy and no lamp box to ask: a missing end could not be seen",
        "Set journal.second to a path on another medium",
        False,
    )
