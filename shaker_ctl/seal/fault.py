"""A broken seal in the journal: when it was found, and whether a person has cleared it since.

Owns the two kinds of record and how the last start's seal is found in others. A table reaches its
`opening` record only with no such fault standing, and each volume of the journal says again what
the opening said. So the newest of these decides, and nobody has to read further back. Must not know
files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Entry, Record, names_its_record
from shaker_ctl.rules.vocabulary import Person
from shaker_ctl.seal.manifest import SealFinding

BROKEN = "seal_broken"
CLEARED = "seal_cleared"

UNSEALED = "unsealed"
"""What screens and records say where there is no seal."""

MAX_FILES = 20
"""Findings that one record names; a wrong medium makes hundreds."""


@frozen
class Past:
    """What the journal says of the seal."""

    seal: str
    """Fingerprint of the key, or `unsealed`, at the last opening or clearing."""
    since: str = ""
    """Wall time of the fault that stands; empty where none does."""
    findings: tuple[SealFinding, ...] = ()

    @property
    def is_broken(self) -> bool:
        return bool(self.since)


@names_its_record
def past(milestones: Iterable[Record]) -> Past:
    """Return what the newest record that speaks of the seal says; newest first."""
    since = ""
    findings: tuple[SealFinding, ...] = ()
    for record in milestones:
        plain = record.plain
        match plain["kind"]:
            case "seal_broken" if not since:
                since = plain["wall"]
                findings = tuple(SealFinding(f["file"], f["what"]) for f in plain["findings"])
            case "seal_cleared" | "opening":
                return Past(plain.get("seal", UNSEALED), since, findings)
            case "volume" if "seal" in plain:
                return Past(plain["seal"], since, findings)
    return Past(UNSEALED, since, findings)


def broken(findings: Sequence[SealFinding]) -> Entry:
    """Return the entry that keeps a broken seal."""
    named = [{"file": f.file, "what": f.what} for f in findings[:MAX_FILES]]
    note = f"{len(findings)} sealed files differ, first {findings[0].line()}"
    return Entry(BROKEN, {"findings": named, "count": len(findings), "note": note})


def cleared(before: Past, seal: str, by: Person, reason: str) -> Entry:
    """Return the entry that says who cleared a broken seal, once all files verified again."""
    body: dict[str, Any] = {
        "by": by.signature(),
        "reason": reason,
        "seal": seal,
        "found": before.since,
        "note": f"seal fault of {before.since} cleared by {by.name}: {reason}",
    }
    return Entry(CLEARED, body)
