"""Whether what decides is what was sealed. Owns the one line; the seal itself is `seal`'s."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.seal import place
from shaker_ctl.seal.examine import Examined, examine
from shaker_ctl.sealed_start import has_volumes

SHOWN = 3
"""Differing files that one line names; a wrong medium makes hundreds."""


def digests(source: Path, journal: JournalParameters, *, is_real_table: bool) -> Finding:
    """Compare program, model, profile and the settings file `source` with their seal.

    `journal`: where the table keeps its records.
    """
    here = place.beside(source)
    if here.awaits_its_first_seal(has_journal=has_volumes(journal)):
        return warn(
            "digests",
            "the approver's key is here, and nothing is sealed yet",
            "When all else is ok, the approver seals it: shaker-ctl seal write",
        )
    return judged(examine(here), is_real_table=is_real_table)


def judged(seen: Examined, *, is_real_table: bool) -> Finding:
    """Say what an examination of the seal means for this computer."""
    if seen.findings:
        named = "; ".join(finding.line() for finding in seen.findings[:SHOWN])
        more = len(seen.findings) - SHOWN
        return fail(
            "digests",
            named + (f"; and {more} more" if more > 0 else ""),
            "Restore those files from the sealed release; then `shaker-ctl seal check`",
        )
    if seen.manifest is not None:
        count = len(seen.manifest.packages) + len(seen.manifest.elsewhere)
        return ok("digests", f"{count} files are as sealed with key {seen.seal}")
    if is_real_table:
        return warn(
            "digests",
            "a real table, and nothing is sealed",
            "The approver seals it: shaker-ctl seal --help",
        )
    return ok("digests", "unsealed, and no real table")
