"""Where the table writes and what it reads back: disks, journal, people.

Owns the limits of room. Opens journals read-only; a damaged one is named, never touched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from shaker_ctl.adapters.disk.disk_journal import DiskJournal, former_files, volume_numbers
from shaker_ctl.adapters.disk.journal_copies import survey
from shaker_ctl.console import accounts
from shaker_ctl.console.parameters import ConsoleParameters
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.errors import SettingsError, ShakerError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.regulation import NOT_STATED
from shaker_ctl.rules.rulebook import Rulebook, out_of_force
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Barrier, Role, TimeTrust
from shaker_ctl.service.digests import of_profile
from shaker_ctl.service.round_rules import RoundRules, of_settings, recovered

LITTLE_ROOM_MB, NO_ROOM_MB = 500.0, 50.0
"""A round takes 0.15 MB with its pictures: 500 MB are a week of play, 50 MB half a day."""


def examine(
    journal: JournalParameters, console: ConsoleParameters, book: Rulebook, table: TableParameters
) -> Iterator[Finding]:
    """Look at disks, journal, text, dice and people."""
    yield disk("disk", journal.path.parent)
    yield second_disk(journal)
    yield journal_copies(journal)
    yield resumption(journal, book, table)
    yield text(book, table, datetime.now(UTC))
    yield time_zone(book, datetime.now(UTC))
    yield dice(journal, book, table, datetime.now(UTC))
    yield people(console.users_file)


def disk(name: str, folder: Path) -> Finding:
    """Whether there is room, and leave to write."""
    if not folder.is_dir():
        return fail(name, f"{folder} does not exist", "Mount its medium")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail(
            name,
            f"{folder} cannot be written",
            f"Mount it writable and give it to the service's user: sudo chown shaker: {folder}",
        )
    free_mb = shutil.disk_usage(folder).free / 1e6
    said = f"{folder}: {free_mb:,.0f} MB free"
    remedy = "Make room, or lower journal.pictures_mb"
    if free_mb < NO_ROOM_MB:
        return fail(name, said, remedy)
    if free_mb < LITTLE_ROOM_MB:
        return warn(name, said, remedy)
    return ok(name, said)


def second_disk(journal: JournalParameters) -> Finding:
    """Whether the second copy lies on another medium (O-6)."""
    name = "second disk"
    if journal.second is None:
        return warn(
            name,
            "the journal has no second copy",
            "Plug in a USB stick labelled shaker-2nd, then: shaker-ctl setup journal.second",
        )
    folder = journal.second.parent
    found = disk(name, folder)
    if found.verdict == "fail":
        return found
    if journal.path.parent.is_dir() and folder.stat().st_dev == journal.path.parent.stat().st_dev:
        return fail(
            name,
            f"{folder} is on the same medium as the journal itself",
            "Mount a USB stick there: mkfs.ext4 -L shaker-2nd, then plug it in again",
        )
    return found


def journal_copies(journal: JournalParameters) -> Finding:
    """Whether both copies verify from their first record to their last."""
    if former := former_files(journal.path):
        # No failure: an upgrade converts it once the doctor has found the rest fit.
        text = f"{former[0]} is of a former version, and the table does not start beside it"
        return warn("journal", text, "shaker-ctl journal convert")
    if not volume_numbers(journal.path):
        if journal.second is not None and volume_numbers(journal.second):
            return fail(
                "journal",
                f"{journal.path} is missing, its second copy is there",
                "Bring back its medium. Where it is lost for good, a person decides; then: "
                "shaker-ctl journal rebuild --main",
            )
        return ok("journal", "none yet; the first start founds it")
    try:
        heads, findings = survey(journal)
    except ShakerError as error:
        return fail("journal", str(error), error.remedy)
    for found in sorted(findings, key=lambda one: not one.halts):
        return (fail if found.halts else warn)("journal", found.text, found.remedy)
    return ok("journal", f"{heads[0][1].sequence} records in {len(heads)} copies verify")


def text(book: Rulebook, table: TableParameters, now: datetime) -> Finding:
    """Whether the rule text governs today."""
    said = f"{table.profile}, paytable {table.paytable}, entry {book.entry.value}"
    barrier = out_of_force(book.profile, book.profile.day(now))
    if barrier is None:
        return ok("text", f"{said}: in force")
    remedy = "shaker-ctl setup table.profile names another; to show it only: table.as_demonstration"
    return warn("text", f"{said}: {book.explain(barrier)}", remedy)


def time_zone(book: Rulebook, now: datetime) -> Finding:
    """Whether this machine, in whose zone gaming days begin, is in the zone of the rule text."""
    name = book.profile.in_force.time_zone.value
    if name == NOT_STATED:
        return ok("time zone", "the text names none")
    wanted = ZoneInfo(name)
    year = [now + timedelta(days=days) for days in range(0, 366, 7)]  # clocks change meanwhile
    if all(at.astimezone().utcoffset() == at.astimezone(wanted).utcoffset() for at in year):
        return ok("time zone", f"{name}, as the text")
    return warn(
        "time zone",
        f"it is {now.astimezone():%H:%M %Z} here and {now.astimezone(wanted):%H:%M %Z} by the text:"
        " gaming days begin by the time here",
        f"sudo timedatectl set-timezone {name}, then restart the table",
    )


def resumption(journal: JournalParameters, book: Rulebook, table: TableParameters) -> Finding:
    """Whether this program can go on from where the journal ends: a dry run of the start."""
    try:
        state, then = _recovered(journal, book, table)
    except ShakerError as error:
        return fail("resumption", str(error), error.remedy)
    phase = (
        "from the beginning" if state is None else f"from: {state.phase.value.replace('_', ' ')}"
    )
    if then is not None and not then.decides_as(_rules(book, table)):
        said = f"play goes on {phase}; it was {then.words()} before, and the change is recorded"
        return warn("resumption", said, "Nothing, where the change is meant")
    return ok("resumption", f"play goes on {phase}")


def _rules(book: Rulebook, table: TableParameters) -> RoundRules:
    return of_settings(table, of_profile(table.profile, book.profile))


def _recovered(
    journal: JournalParameters, book: Rulebook, table: TableParameters
) -> tuple[TableState | None, RoundRules | None]:
    """Return the state that a start would take up, None without a journal, and the rules of the
    newest run. Raises ShakerError."""
    if not volume_numbers(journal.path):
        return None, None
    with closing(DiskJournal(journal.path, read_only=True)) as store:
        found, then = recovered(store, _rules(book, table), book)
        return found.state, then


def dice(
    journal: JournalParameters, book: Rulebook, table: TableParameters, now: datetime
) -> Finding:
    """Whether the dice are on record and young enough: other dice make an inspection due anew."""
    remedy = "At a console, before the inspection: dice changed SERIAL SERIAL SERIAL"
    try:
        state, _ = _recovered(journal, book, table)
    except ShakerError as error:
        return warn("dice", f"the journal does not say: {error}", error.remedy)
    held = None if state is None else state.dice
    book = book.in_use(manual=state is not None and state.manual)
    barrier = book.bars(now, TimeTrust.RTC, False, held)
    if barrier in (Barrier.DICE_UNKNOWN, Barrier.DICE_EXPIRED):
        return warn("dice", book.explain(barrier), remedy)
    return ok("dice", f"{', '.join(held.serials) if held else 'none'} on record")


def people(users_file: Path) -> Finding:
    """Whether somebody can log in who may open the table, and somebody who may mend it."""
    add = f"shaker-ctl console add-user NAME ROLE --users {users_file}"
    try:
        known = {account.role for account in accounts.load(users_file)}
    except SettingsError as error:
        return fail("people", str(error), error.remedy)
    missing = {role for role in (Role.FLOORPERSON, Role.TECHNICIAN) if role not in known}
    if Role.FLOORPERSON in missing and Role.SUPERVISOR not in known:
        return fail("people", "nobody may open the table", f"sudo {add}, with role floorperson")
    if Role.TECHNICIAN in missing:
        return warn("people", "nobody may clear a fault", f"sudo {add}, with role technician")
    try:
        accounts.admitted(users_file)
    except SettingsError as error:  # no failure: an upgrade brings the command that mends it
        return warn("people", f"nobody is let in: {error}", f"sudo: {error.remedy}")
    return ok("people", "a floorperson and a technician can log in")
