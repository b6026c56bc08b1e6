"""Disks, journal and people: what a table must be able to write, and who can open it."""

from __future__ import annotations

import shutil
from collections import namedtuple
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.tests.written import append
from shaker_ctl.console import accounts
from shaker_ctl.doctor import records
from shaker_ctl.doctor.finding import Finding, Grade
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry
from shaker_ctl.journal.tests.zones import zone
from shaker_ctl.rules import machine
from shaker_ctl.rules.events import DiceChanged
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.service.digests import of_profile

Usage = namedtuple("Usage", "total used free")

PASSPHRASE = "long enough to be taken"


TABLE = TableParameters()


def found_journal(folder: Path, *, second: bool) -> JournalParameters:
    parameters = JournalParameters(
        path=folder / "journal.jsonl", second=folder / "second.jsonl" if second else None
    )
    open_copies(parameters).close()
    return parameters


def users_file(folder: Path, *roles: Role) -> Path:
    users = folder / "users.toml"
    for role in roles:
        accounts.add(users, role.value, role, PASSPHRASE, f"{role.value}-1")
    return users


def assert_says(found: Finding, verdict: Grade, remedy: str = "", *, said: str = "") -> None:
    assert found.verdict is verdict
    assert remedy in found.remedy
    assert said in found.text


@pytest.mark.parametrize(
    ("free_mb", "verdict"), [(4000, Grade.OK), (300, Grade.WARN), (20, Grade.FAIL)]
)
def test_a_disk_without_room_is_named_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mb: int, verdict: Grade
):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, free_mb * 10**6))
    assert records.disk("disk", tmp_path).verdict is verdict


def test_a_copy_that_is_none_or_on_the_same_medium_is_named(tmp_path: Path):
    path, second = tmp_path / "journal.jsonl", tmp_path / "second.jsonl"
    assert_says(records.disk("disk", tmp_path / "none"), Grade.FAIL, "Mount")
    assert_says(records.second_disk(JournalParameters(path=path)), Grade.WARN, "shaker-2nd")
    same = records.second_disk(JournalParameters(path=path, second=second))
    assert_says(same, Grade.FAIL, said="same medium")


def test_journals_that_are_new_alone_sound_lost_or_none(tmp_path: Path):
    parameters = JournalParameters(path=tmp_path / "journal.jsonl")
    assert_says(records.journal_copies(parameters), Grade.OK)
    assert_says(records.journal_copies(found_journal(tmp_path, second=False)), Grade.WARN)
    both = found_journal(tmp_path, second=True)
    before = parameters.path.read_bytes()
    assert_says(records.journal_copies(both), Grade.OK)
    assert parameters.path.read_bytes() == before
    parameters.path.unlink()
    assert_says(records.journal_copies(both), Grade.FAIL, "rebuild --main")
    parameters.path.write_text("no journal at all " * 100)
    assert_says(records.journal_copies(parameters), Grade.FAIL)


@pytest.mark.parametrize(
    ("roles", "verdict"),
    [
        ((Role.FLOORPERSON, Role.TECHNICIAN), Grade.OK),
        ((Role.SUPERVISOR, Role.TECHNICIAN), Grade.OK),
        ((Role.FLOORPERSON,), Grade.WARN),
        ((Role.TECHNICIAN, Role.DEALER), Grade.FAIL),
    ],
)
def test_somebody_must_be_able_to_open_and_somebody_to_mend(
    tmp_path: Path, roles: tuple[Role, ...], verdict: Grade
):
    assert records.people(users_file(tmp_path, *roles)).verdict is verdict


def test_a_users_file_that_is_damaged_or_missing_is_wrong(tmp_path: Path):
    users = users_file(tmp_path, Role.FLOORPERSON, Role.TECHNICIAN)
    users.write_text(users.read_text().replace('"technician"', '"floorperson"', 1))
    assert_says(records.people(users), Grade.FAIL, "users --accept")
    users.unlink()
    assert_says(records.people(users), Grade.FAIL, "console add-user")


def test_people_without_a_number_are_named_with_what_to_type(tmp_path: Path):
    """A warning: an upgrade brings the command that gives them one, and a failure would undo it."""
    users = users_file(tmp_path, Role.FLOORPERSON, Role.TECHNICIAN)
    kept = [x for x in users.read_text().splitlines() if not x.startswith(("digest", "number"))]
    users.write_text("\n".join(kept))
    accounts.accept(users)
    found = records.people(users)
    assert_says(found, Grade.WARN, "set-number NAME NUMBER", said="floorperson, technician")


def test_a_journal_that_this_program_cannot_go_on_from_is_named_before_the_start(
    tmp_path: Path,
) -> None:
    """A release with other rows over the journal of a run that was killed."""
    book, now = rulebook(TableParameters()), datetime(2026, 11, 2, tzinfo=UTC)
    journal = found_journal(tmp_path, second=False)
    assert records.resumption(journal, book, TABLE).verdict is Grade.OK
    event = DiceChanged(Person("fay", Role.FLOORPERSON), ("A1", "A2", "A3"), now)
    step = {"event": to_record(event), "rows": ["a row of another release"], "decision": []}
    append(journal.path, Entry("step", step))
    found = records.resumption(journal, book, TABLE)
    assert_says(found, Grade.FAIL, "Restore the program", said="took the rows")
    new = JournalParameters(path=tmp_path / "none.jsonl")
    assert records.resumption(new, book, TABLE).verdict is Grade.OK


def test_dice_that_nobody_has_recorded_are_named_before_the_inspection(tmp_path: Path) -> None:
    book, now = rulebook(TableParameters()), datetime(2026, 11, 2, tzinfo=UTC)
    journal = found_journal(tmp_path, second=False)
    found = records.dice(journal, book, TABLE, now)
    assert_says(found, Grade.WARN, "dice changed SERIAL SERIAL SERIAL")
    event = DiceChanged(Person("fay", Role.FLOORPERSON), ("A1", "A2", "A3"), now)
    step = machine.step(machine.initial(book), event, book)
    append(journal.path, Entry("step", {"state": to_record(step.state)}))
    assert records.dice(journal, book, TABLE, now).verdict is Grade.OK


@pytest.mark.parametrize(
    ("profile", "verdict", "said"),
    [
        ("pa-625a", Grade.OK, "pa-625a, paytable A, entry dealer_confirm: in force"),
        ("pa-625b", Grade.WARN, "pa-625b is not in force since the end of 2026-08-04"),
    ],
)
def test_a_text_that_is_over_is_named(profile: str, verdict: Grade, said: str) -> None:
    table = TableParameters(profile=profile)
    found = records.text(rulebook(table), table, datetime(2026, 11, 2, tzinfo=UTC))
    assert_says(found, verdict, said=said)


def test_other_rules_than_those_of_the_newest_run_are_named_before_the_start(
    tmp_path: Path,
) -> None:
    journal = found_journal(tmp_path, second=False)
    profile = of_profile(TABLE.profile, rulebook(TABLE).profile)
    opening = Entry("opening", {"rules": TABLE.model_dump(mode="json")})
    append(journal.path, opening, digests={"profile": profile})
    assert records.resumption(journal, rulebook(TABLE), TABLE).verdict is Grade.OK
    other = TableParameters(paytable="B")
    found = records.resumption(journal, rulebook(other), other)
    assert_says(found, Grade.WARN, said="it was pa-625a, paytable A")


@pytest.mark.parametrize(
    ("profile", "here", "verdict"),
    [
        ("pa-625a", "America/New_York", Grade.OK),
        ("pa-625a", "EST5", Grade.WARN),
        ("pa-625a", "Europe/London", Grade.WARN),
        ("house-auto", "Europe/London", Grade.OK),
    ],
)
def test_a_machine_in_another_zone_than_its_text_is_named(
    profile: str, here: str, verdict: Grade
) -> None:
    """A Raspberry Pi comes in London's: gaming days would begin at one in the night."""
    with zone(here):
        book = rulebook(TableParameters(profile=profile))
        found = records.time_zone(book, datetime(2026, 11, 23, tzinfo=UTC))
    assert found.verdict is verdict
    assert ("set-timezone America/New_York" in found.remedy) is (verdict is Grade.WARN)
