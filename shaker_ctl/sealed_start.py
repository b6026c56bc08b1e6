"""The seal at start: checked before anything else is touched, and a break that outlives restarts.

Owns the order. The files are examined first, before even the settings are believed. A break is kept
in the journal (O-2) and the start ends. A later start goes on only where all files verify and a
person has cleared it by a logged act (`shaker-ctl seal clear`). A table that was sealed and now is
not counts as broken, so that nobody gets rid of a seal by deleting it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.journal_copies import OpenedJournal, open_copies
from shaker_ctl.errors import JournalError, RefusedError, SealError, SettingsError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.rules.vocabulary import Person
from shaker_ctl.seal import fault, manifest, place
from shaker_ctl.seal.examine import Examined, examine
from shaker_ctl.seal.manifest import Manifest, SealFinding
from shaker_ctl.seal.parameters import SealParameters

CHECK = "Restore it, or have the approver seal again; then: shaker-ctl seal clear"
EXCHANGED = (
    "If the house exchanged it, that is all right and a person clears it: shaker-ctl seal clear. "
    "If not, put the former key and its seal back first"
)
CLEAR_THEN = "and a person clears it then: shaker-ctl seal clear"
SEAL = "The approver runs: shaker-ctl seal write"


def check_files(config: Path, root: Path = manifest.ROOT) -> Examined:
    """Examine the seal of the settings file `config`, before that file is believed.

    Raises SealError, naming the first file that differs, after keeping the break in the journal. A
    new table that waits for its first seal is no break, and keeps none.
    """
    found = examine(place.beside(config), root)
    if not found.findings:
        return found
    refuse_a_new_table(config)
    parameters = _journal_of(found.manifest, config)
    kept = "no journal is known" if parameters is None else _keep(parameters, found.findings)
    raise _broken(found.findings, kept)


def refuse_a_new_table(config: Path) -> None:
    """Raises SealError where a table without a journal waits for its first seal."""
    here, parameters = place.beside(config), _journal_of(None, config)
    if parameters is not None and here.awaits_its_first_seal(has_journal=has_volumes(parameters)):
        raise SealError(f"this table is not sealed yet: {here.manifest} is not there", remedy=SEAL)


def check_required(found: Examined, parameters: SealParameters, config: Path) -> None:
    """Raises SealError where the settings require a seal and there is none."""
    if parameters.required and not found.is_sealed:
        raise SealError(f"{config} requires a seal and none lies beside it", remedy=SEAL)


def check_journal(found: Examined, journal: OpenedJournal) -> None:
    """Hold the seal against what the journal remembers, with nothing but the journal open.

    Raises SealError where a break stands that nobody has cleared, where the seal is gone, or where
    another key than the last opening's has made it: whoever can exchange the key can seal anything.
    """
    past = fault.past(journal.main.milestones())
    if past.is_broken:
        first = past.findings[0].line() if past.findings else "a sealed file differed"
        raise SealError(
            f"a broken seal stands since {past.since}: {first}; the files verify now",
            remedy="A person clears it: shaker-ctl seal clear",
        )
    if exchanged := _exchanged(found, past):
        write(journal, fault.broken(exchanged))
        raise _broken(exchanged, "", EXCHANGED if found.is_sealed else CHECK)


def _exchanged(found: Examined, past: fault.Past) -> tuple[SealFinding, ...]:
    """Return what is otherwise than at the last opening although every file verifies."""
    if past.seal in (fault.UNSEALED, found.seal):
        return ()
    if not found.is_sealed:
        what = f"is gone; the table was sealed with the key {past.seal}"
        return (SealFinding(place.MANIFEST, what),)
    what = f"is another key ({found.seal}) than at the last opening ({past.seal})"
    return (SealFinding(place.PUBLIC_KEY, what),)


def asks_a_person(found: Examined, config: Path) -> str:
    """Say why the next start asks for `seal clear` though every file verifies; empty: it does not.

    Only looks. Raises JournalError where the journal cannot be read.
    """
    parameters = _journal_of(found.manifest, config)
    if parameters is None or not volume_numbers(parameters.path):
        return ""
    with closing(DiskJournal(parameters.path, read_only=True)) as journal:
        past = fault.past(journal.milestones())
    if past.is_broken:
        return f"a broken seal stands since {past.since}; a person clears it: shaker-ctl seal clear"
    if exchanged := _exchanged(found, past):
        return f"{exchanged[0].line()}: the next start keeps this as a broken seal, {CLEAR_THEN}"
    return ""


def clear(config: Path, signer: Person, reason: str, root: Path = manifest.ROOT) -> fault.Past:
    """Record that `signer` clears a broken seal; return what stood.

    Raises SealError while any file differs, RefusedError where nothing stands or a service runs.
    """
    found = examine(place.beside(config), root)
    if found.findings:
        raise _broken(found.findings, "")
    chosen = settings_file.load(config)
    check_required(found, chosen.seal, config)
    with closing(open_copies(chosen.journal)) as journal:
        past = fault.past(journal.main.milestones())
        if not past.is_broken:
            raise RefusedError("no broken seal stands in the journal", remedy="Start the table")
        write(journal, fault.cleared(past, found.seal, signer, reason))
    return past


def write(journal: OpenedJournal, entry: Entry) -> None:
    """Append one record to both copies outside of a running table. Raises JournalError."""
    record = link(
        journal.main.head(),
        entry,
        monotonic_s=0.0,
        wall=datetime.now(UTC).isoformat(timespec="milliseconds"),
        digests={},
    )
    journal.main.write([record])
    if journal.second is not None:
        journal.second.write([record])


def _journal_of(sealed: Manifest | None, config: Path) -> JournalParameters | None:
    """Where the table keeps its journal, by the seal's word, else by the settings'."""
    if sealed is not None:
        second = Path(sealed.journal_second) if sealed.journal_second else None
        return JournalParameters(path=Path(sealed.journal), second=second)
    try:
        return settings_file.load(config).journal
    except SettingsError:
        return None


def has_volumes(parameters: JournalParameters) -> bool:
    """True where any volume lies in either copy; the first ones may have been removed."""
    copies = (parameters.path, parameters.second)
    return any(volume_numbers(path) for path in copies if path is not None)


def _keep(parameters: JournalParameters, findings: Sequence[SealFinding]) -> str:
    """Write the break into the journal, once; return why that was not possible, or nothing."""
    try:
        journal = open_copies(parameters)
    except (JournalError, RefusedError) as error:
        return str(error)
    try:
        if fault.past(journal.main.milestones()).findings != tuple(findings[: fault.MAX_FILES]):
            write(journal, fault.broken(findings))
    except JournalError as error:
        return str(error)
    finally:
        journal.close()
    return ""


def _broken(findings: Sequence[SealFinding], not_kept: str, remedy: str = CHECK) -> SealError:
    more = f", and {len(findings) - 1} more files" if len(findings) > 1 else ""
    unkept = f" (not kept in the journal: {not_kept})" if not_kept else ""
    return SealError(f"the seal is broken: {findings[0].line()}{more}{unkept}", remedy=remedy)
