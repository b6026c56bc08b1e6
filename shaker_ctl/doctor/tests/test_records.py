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
from shaker_ctl.doctor.finding import Grade
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


@pytest.mark.parametrize(
    ("free_mb", "verdict"), [(4000, Grade.OK), (300, Grade.WARN), (20, Grade.FAIL)]
)
def test_a_disk_without_room_is_named_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mb: int, verdict: Grade
):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, free_mb * 10**6))
    assert records.disk("disk", tmp_path).verdict is verdict


def test_a_folder_that_is_not_there_is_wrong(tmp_path: Path):
    found = records.disk("disk", tmp_path / "none")
    assert found.verdict is Grade.FAIL
    assert "Mount" in found.remedy


def test_a_second_copy_on_the_same_medium_is_none(tmp_path: Path):
    found = records.second_disk(
        JournalParameters(path=tmp_path / "journal.jsonl", second=tmp_path / "second.jsonl")
    )
    assert found.verdict is Grade.FAIL
    assert "same medium" in found.text


def test_a_table_without_a_second_copy_is_to_be_known(tmp_path: Path):
    found = records.second_disk(JournalParameters(path=tmp_path / "journal.jsonl"))
    assert found.verdict is Grade.WARN
    assert "shaker-2nd" in found.remedy


def test_a_sound_journal_is_ok_and_left_as_it_is(tmp_path: Path):
    parameters = found_journal(tmp_path, second=True)
    before = parameters.path.read_bytes()
    assert records.journal_copies(parameters).verdict is Grade.OK
    assert parameters.path.read_bytes() == before


def test_a_new_table_has_no_journal_yet(tmp_path: Path):
    found = records.journal_copies(JournalParameters(path=tmp_path / "journal.jsonl"))
    assert found.verdict is Grade.OK


def test_a_lost_journal_beside_its_second_copy_is_wrong(tmp_path: Path):
    parameters = found_journal(tmp_path, second=True)
    parameters.path.unlink()
    found = records.journal_copies(parameters)
    assert found.verdict is Grade.FAIL
    assert "rebuild --main" in found.remedy


def test_a_file_that_is_no_journal_is_wrong(tmp_path: Path):
    parameters = JournalParameters(path=tmp_path / "journal.jsonl")
    parameters.path.write_text("no journal at all " * 100)
    assert records.journal_copies(parameters).verdict is Grade.FAIL


def test_a_journal_without_a_second_copy_says_what_it_cannot_prove(tmp_path: Path):
    assert records.journal_copies(found_journal(tmp_path, second=False)).verdict is Grade.WARN


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
    users = tmp_path / "users.toml"
    for role in roles:
        accounts.add(users, role.value, role, PASSPHRASE, f"{role.value}-1")
    assert records.people(users).verdict is verdict


def test_a_damaged_users_file_is_wrong(tmp_path: Path):
    users = tmp_path / "users.toml"
    for role in (Role.FLOORPERSON, Role.TECHNICIAN):
        accounts.add(users, role.value, role, PASSPHRASE, f"{role.value}-1")
    text = users.read_text()
    users.write_text(text.replace('"technician"', '"floorperson"', 1))
    damaged = records.people(users)
    assert damaged.verdict is Grade.FAIL
    assert "users --accept" in damaged.remedy


def test_people_without_a_number_are_named_with_what_to_type(tmp_path: Path):
    """A warning: an upgrade brings the command that gives them one, and a failure would undo it."""
    users = tmp_path / "users.toml"
    for role in (Role.FLOORPERSON, Role.TECHNICIAN):
        accounts.add(users, role.value, role, PASSPHRASE, f"{role.value}-1")
    kept = [x for x in users.read_text().splitlines() if not x.startswith(("digest", "number"))]
    users.write_text("\n".join(kept))
    accounts.accept(users)
    found = records.people(users)
    assert found.verdict is Grade.WARN
    assert "floorperson, technician" in found.text
    assert "set-number NAME NUMBER" in found.remedy


def test_a_missing_users_file_is_wrong(tmp_path: Path):
    found = records.people(tmp_path / "users.toml")
    assert found.verdict is Grade.FAIL
    assert "console add-user" in found.remedy


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
    assert found.verdict is Grade.FAIL
    assert "took the rows" in found.text
    assert "Restore the program" in found.remedy
    new = JournalParameters(path=tmp_path / "none.jsonl")
    assert records.resumption(new, book, TABLE).verdict is Grade.OK


def test_dice_that_nobody_has_recorded_are_named_before_the_inspection(tmp_path: Path) -> None:
    book, now = rulebook(TableParameters()), datetime(2026, 11, 2, tzinfo=UTC)
    journal = found_journal(tmp_path, second=False)
    found = records.dice(journal, book, TABLE, now)
    assert found.verdict is Grade.WARN
    assert "dice changed SERIAL SERIAL SERIAL" in found.remedy
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
    assert found.verdict is verdict
    assert said in found.text


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
    assert found.verdict is Grade.WARN
    assert "it was pa-625a, paytable A" in found.text


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
