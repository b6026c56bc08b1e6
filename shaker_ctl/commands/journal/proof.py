"""Is the journal whole: both copies, or an export of it."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.dispute_list import DisputeList, known
from shaker_ctl.adapters.disk.journal_copies import survey
from shaker_ctl.adapters.disk.journal_lock import is_locked
from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import (
    Config,
    Journal,
    opened,
    parameters_of,
    require_there,
    screen,
)
from shaker_ctl.commands.journal.export import RECORDS, verify_export
from shaker_ctl.errors import JournalCorruptError, JournalError, RefusedError
from shaker_ctl.quoting import visible


def verify(
    export: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="An export, instead of the journal.")
    ] = None,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Compare each kept picture with its record, too.")
    ] = False,
) -> None:
    """Walk both copies, or an export, record by record, and name the first bad one.

    The list of disputes is looked at, too. Ends with status 65 where a person has to decide. That
    the head of an export is the table's own says its day sheet, or the lamp box: compare it.
    """
    if export is not None:
        head = verify_export(export)
        line = f"{export / RECORDS}: whole; head {head.sequence} {head.hash.hex()}"
        screen.print(line, soft_wrap=True)
        return
    parameters = parameters_of(config, journal)
    require_there(parameters.path)
    try:
        heads, findings = survey(parameters)
    except JournalError:
        _say_if_one_writes(parameters.path)
        raise
    for path, head in heads:
        screen.print(f"{path}: {head.sequence} records, head {head.hash.hex()}")
    gone = 0
    with closing(DiskJournal(parameters.path, read_only=True)) as store, suppress(JournalError):
        gone = len(store.closed) - len(store.present)  # else its record is damaged: told below
    if gone:
        screen.print(f"{gone} closed volumes were removed; their archive holds them")
    worst = next((finding for finding in findings if finding.halts), None)
    for finding in (each for each in findings if each is not worst):  # which the error line tells
        colour = "red" if finding.halts else "yellow"
        found = Text.assemble((finding.trouble.value, colour), f": {finding.line()}")
        screen.print(found, soft_wrap=True)
    if worst is not None:
        _say_if_one_writes(parameters.path)
        raise worst.error()
    if journal is None:  # beside a copy of the journal lies no list
        with opened(config, journal) as book:
            DisputeList(parameters.pictures, known(book.store.milestones())).listed()
    screen.print("the chain is whole", style="green")
    if pictures:
        _verify_pictures(config, journal)


def _verify_pictures(config: Path, journal: Path | None) -> None:
    """Compare every picture that a record names. Raises JournalCorruptError for another one."""
    kept = dropped = 0
    changed: list[str] = []
    with opened(config, journal) as book:
        for record in book.all(first=book.first):
            for saved in record.plain["pictures"].values():
                try:
                    recorded_picture(book.parameters.pictures, saved["file"], saved["sha256"])
                    kept += 1
                except OSError:
                    dropped += 1
                except RefusedError as refused:
                    changed.append(f"record {record.plain['sequence']}: {refused}")
    screen.print(f"pictures: {kept} as recorded, {dropped} no longer kept, {len(changed)} changed")
    for line in changed:
        screen.print(visible(line), style="red", soft_wrap=True)
    if changed:
        raise JournalCorruptError(
            f"{len(changed)} pictures are not as their records have them",
            remedy="Find out who changed them; an archive or the floor may have the right ones",
        )


def _say_if_one_writes(journal: Path) -> None:
    """Say that what was found may be a command's work that is not done yet."""
    if is_locked(journal):
        screen.print(
            "another process writes the journal now. If it is no table but rebuild, fetch or "
            "remove: verify again once that has ended",
            style="yellow",
            soft_wrap=True,
        )
