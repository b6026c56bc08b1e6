"""The files of the journal: a copy written anew, its closed volumes archived, fetched, removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.disk.copy_rebuild import rebuild as rebuild_copy
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.dispute_list import DisputeList, known
from shaker_ctl.adapters.disk.former_journal import convert as convert_copy
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.volume_archive import archive as archive_volumes
from shaker_ctl.adapters.disk.volume_archive import (
    delete,
    lost_records,
    removable,
    require_archived,
    sharing_medium,
)
from shaker_ctl.adapters.disk.volume_archive import fetch as fetch_volumes
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import Config, Journal, parameters_of, require_there, screen
from shaker_ctl.commands.journal.day_sheet import day_named
from shaker_ctl.commands.link import LINK_CONFIG
from shaker_ctl.commands.service_user import become_owner_of
from shaker_ctl.errors import JournalError, RefusedError
from shaker_ctl.journal import volume
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Head
from shaker_ctl.link.parameters import LinkParameters
from shaker_ctl.quoting import visible
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.whole_file import read_bounded

MAX_FLOOR_B = 1_000_000
"""Largest file in which the link says where the floor stands; it has some hundred bytes."""


def rebuild(
    second: Annotated[bool, typer.Option("--second", help="Write the second copy anew.")] = False,
    main: Annotated[bool, typer.Option("--main", help="Write the main copy anew.")] = False,
    disputes: Annotated[
        bool, typer.Option("--disputes", help="Open the disputes anew that the journal knows.")
    ] = False,
    sound_part: Annotated[
        bool,
        typer.Option("--sound-part", help="Without the end that is sound in neither copy."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Write one copy of the journal anew from the other; or the list of disputes anew from the
    journal.

    The table must be stopped. What stood there is moved aside, never deleted.
    """
    parameters = settings_file.load(config).journal
    if main + second + disputes != 1:
        raise RefusedError(
            "say what to write anew", remedy="Give --second, or --main, or --disputes"
        )
    if disputes:
        _rebuild_disputes(parameters, yes=yes)
        return
    if parameters.second is None:
        raise RefusedError("the settings name no second copy", remedy="Set journal.second")
    copies = (parameters.second, parameters.path)
    source, target = copies if main else copies[::-1]
    if not yes:
        typer.confirm(f"Write {target} anew from {source}?", abort=True)
    become_owner_of(parameters.path.parent)
    head = rebuild_copy(parameters, main=main, sound_part=sound_part)
    screen.print(f"{target}: {head.sequence} records, head {head.hash.hex()}")


def _rebuild_disputes(parameters: JournalParameters, *, yes: bool) -> None:
    from shaker_ctl import sealed_start

    if not yes:
        typer.confirm(f"Write the list of disputes in {parameters.pictures} anew?", abort=True)
    become_owner_of(parameters.path.parent)
    with closing(open_copies(parameters)) as opened:
        listed = DisputeList(parameters.pictures, known(opened.main.milestones())).write_anew()
        sealed_start.write(opened, listed.entry())
    screen.print(f"open disputes: {listed.words()}; the list as it was lies beside the new one")


def convert(config: Config = DEFAULT_CONFIG, journal: Journal = None) -> None:
    """Write a journal of a former form, SQLite files, as files of lines. Once, after an upgrade.

    The table must be stopped. Records, hashes and heads stay as they are. The former files are
    moved aside, never deleted. What was cut short goes on when the command is run again.
    """
    parameters = parameters_of(config, journal)
    become_owner_of(parameters.path.parent)
    is_any = False
    for path in parameters.copies:
        for file, head in convert_copy(path):
            is_any = True
            screen.print(f"{visible(file)}: as before, to record {head.line()}", soft_wrap=True)
    if not is_any:
        screen.print("no journal of a former form is here")


def archive(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder on the medium that keeps the volumes.")
    ],
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Bring every closed volume to another medium, read it back and verify it there.

    Works while the table plays. Nothing is deleted here, and nothing is written over there. The
    folders of the two copies are no archive. A folder on the medium of one is taken, with a word.
    """
    parameters = parameters_of(config, journal)
    require_there(parameters.path)
    count = 0
    for one in archive_volumes(parameters, folder):
        count += 1
        what = "brought and verified" if one.is_new else "there already, verified"
        screen.print(f"volume {one.number}: {what}: {visible(one.file)}", soft_wrap=True)
    if not count:
        screen.print("no volume is closed yet; the open one stays at the table")
    _say_whose_medium(folder, parameters)


def _say_whose_medium(folder: Path, parameters: JournalParameters) -> None:
    """Say on standard error that an archive lies on the medium of one of the copies, if it does."""
    if copy := sharing_medium(folder, parameters.copies):
        told = f"{visible(folder)} lies on the medium of {visible(copy)}"
        typer.echo(f"{told}: what takes that medium takes the archive, too", err=True)


def fetch(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER]...", help="Folders of archives, beside the other copy."),
    ] = None,
    accept_loss: Annotated[
        bool,
        typer.Option("--accept-loss", help="Accept that records are bad in every file. Recorded."),
    ] = False,
    name: Annotated[str, typer.Option("--by", help="With it: your login name here.")] = "",
    reason: Annotated[str, typer.Option(help="With it: why there is no better file.")] = "",
    role: Annotated[
        Role, typer.Option(help="With it: technician or supervisor.")
    ] = Role.TECHNICIAN,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Put whole volumes where one of a copy is missing or broken.

    They come from an archive or the other copy. Where none of them has a volume whole, it is put
    together, record by record, from what is sound in any of them. All is verified against the
    chain. The table must be stopped. A broken file is moved aside, never deleted.

    A record that is bad in every file is lost. With --accept-loss a named person accepts that, with
    the passphrase; a record says which ones, and a mark stands in their place.
    """
    if (name or reason) and not accept_loss:
        raise typer.BadParameter("--by and --reason belong to --accept-loss")
    chosen = settings_file.load(config)
    parameters, folders = chosen.journal, folders or []
    if accept_loss:
        _accept_loss(parameters, folders, chosen.console.users_file, name, role, reason)
    become_owner_of(parameters.path.parent)
    count = 0
    for one in fetch_volumes(parameters, *folders):
        count += 1
        screen.print(f"volume {one.number}: fetched, verified: {visible(one.file)}", soft_wrap=True)
    _say_what_stays_away(parameters.path)
    if not count:
        screen.print(
            "every closed volume is whole; nothing was fetched. shaker-ctl journal verify looks at "
            "the last file of each copy, too",
            soft_wrap=True,
        )


def _accept_loss(
    parameters: JournalParameters,
    folders: Sequence[Path],
    users: Path,
    name: str,
    role: Role,
    reason: str,
) -> None:
    """Have both copies say which records a person accepts as lost."""
    from shaker_ctl import sealed_start
    from shaker_ctl.commands.signing import require_mender

    signer = require_mender(users, name, role, reason, "accept that records are lost")
    become_owner_of(parameters.path.parent)
    if not (lost := lost_records(parameters, *folders)):
        return
    with closing(open_copies(parameters)) as opened:
        sealed_start.write(opened, volume.acceptance(lost, signer.signature(), reason))
    screen.print(f"accepted as lost: records {', '.join(map(str, lost))}", soft_wrap=True)


def _say_what_stays_away(path: Path) -> None:
    with suppress(JournalError), closing(DiskJournal(path, read_only=True)) as journal:
        if away := len(journal.closed) - len(journal.present):
            told = "shaker-ctl journal fetch FOLDER, with the folder of their archive"
            screen.print(f"{away} removed volumes stay away: {told}", soft_wrap=True)


def remove(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the archive that holds the volumes.")
    ],
    before: Annotated[str, typer.Option(help="Gaming day, such as 2026-01-01; it stays.")],
    name: Annotated[str, typer.Option("--by", help="Your login name at this table's consoles.")],
    reason: Annotated[str, typer.Option(help="Why the volumes need not stay at the table.")],
    role: Annotated[
        Role, typer.Option(help="Your role there: technician or supervisor.")
    ] = Role.TECHNICIAN,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Remove closed volumes from both copies, once an archive holds them whole. Recorded.

    The table must be stopped. Asks for your passphrase. Each volume is first read back from the
    archive and verified there. A volume stays if it is one of the newest 31 or holds one of the
    last 1,000 rounds, if one of its rounds is disputed, and until the floor has committed it.
    `shaker-ctl journal fetch FOLDER` brings removed ones back.
    """
    from shaker_ctl import sealed_start
    from shaker_ctl.commands.signing import require_mender

    chosen = settings_file.load(config)
    parameters = chosen.journal
    before = day_named(before, "Give it as 2026-01-01")
    if not LINK_CONFIG.exists():
        told = f"no floor: {LINK_CONFIG} is not there, so no volume waits until a floor has it"
        screen.print(told, soft_wrap=True)
    signer = require_mender(chosen.console.users_file, name, role, reason, "remove volumes")
    become_owner_of(parameters.path.parent)
    with closing(open_copies(parameters)) as opened, ExitStack() as alone:
        disputes = DisputeList(parameters.pictures, known(opened.main.milestones()))
        disputes.require_whole()
        alone.enter_context(disputes.held())
        acknowledged = _acknowledged(opened.main)
        going, staying = removable(opened, before, disputes.open_rounds(), acknowledged)
        for number, why in staying.items():
            screen.print(f"volume {number} stays: {why}")
        _say_whose_medium(folder, parameters)
        require_archived(opened, going, folder)
        if not going:
            told = "" if staying else f": none that is here was begun before {before}"
            screen.print(f"no volume is removed{told}")
            return
        numbers = [one.number for one in going]
        sealed_start.write(
            opened, volume.removal(numbers, visible(folder), signer.signature(), reason)
        )
        delete(opened, going)
    screen.print(
        f"{len(going)} volumes are removed, up to record {going[-1].last}; "
        f"{visible(folder)} holds them, verified",
        soft_wrap=True,
    )


def _acknowledged(journal: DiskJournal) -> int | None:
    """The last record of this journal that the floor has committed, 0 where the floor holds another
    history; None where this table has no floor."""
    if not LINK_CONFIG.exists():
        return None
    stands = settings_file.parse_file(LINK_CONFIG, LinkParameters).runtime_dir / "floor.json"
    try:
        said = json.loads(read_bounded(stands, MAX_FLOOR_B))
        head = Head(int(said["acknowledged"]), bytes.fromhex(said["acknowledged_hash"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return 0
    if head.sequence > journal.head().sequence:
        return 0
    try:
        return head.sequence if journal.head_before(head.sequence + 1) == head else 0
    except JournalError:  # it stands within a volume that was removed: nothing here proves it
        return 0
