"""A closed volume that no file has whole is put together; what nobody has, a person accepts."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hil_tests.contracts.test_journal_volumes import EACH, both, turn
from shaker_ctl.adapters.disk.copy_rebuild import rebuild
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_path
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.volume_archive import archive, fetch, lost_records
from shaker_ctl.adapters.tests import written as tampering
from shaker_ctl.adapters.tests.written import changed
from shaker_ctl.commands.program import program
from shaker_ctl.console import accounts
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Record, canonical
from shaker_ctl.rules.vocabulary import Role

WORD = "correct horse battery"


def flipped(path: Path, *numbers: int) -> None:
    """Flip a byte in records of the second volume."""
    for number in numbers:
        changed(volume_path(path, 2), number, tampering.flipped)


def unhashed(path: Path, *numbers: int) -> None:
    """Lose the hashes of records of the second volume."""
    for number in numbers:
        changed(volume_path(path, 2), number, tampering.unhashed)


@pytest.fixture
def config(parameters: JournalParameters, tmp_path: Path) -> Path:
    accounts.add(tmp_path / "users.toml", "tess", Role.TECHNICIAN, WORD, "tess-1")
    file = tmp_path / "settings.toml"
    file.write_text(
        f'[journal]\npath = "{parameters.path}"\nsecond = "{parameters.second}"\n'
        f'pictures = "{tmp_path}/pictures"\n[console]\nusers_file = "{tmp_path}/users.toml"\n'
    )
    return file


def accept(config: Path) -> Result:
    words = ["journal", "fetch", "--accept-loss", "--by", "tess", "--reason", "no archive"]
    return CliRunner().invoke(program, [*words, "--config", str(config)], input=WORD + "\n")


def everything(path: Path) -> list[Record]:
    with closing(DiskJournal(path, read_only=True)) as store:
        return list(store.read())


def test_each_copy_and_archive_gives_what_it_has(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    records = both(parameters, 3)
    list(archive(parameters, tmp_path / "archive"))
    flipped(parameters.path, 50, 51, 80)
    flipped(parameters.copies[1], 50, 70)
    flipped(tmp_path / "archive" / parameters.path.name, 41, 60, 51)
    assert lost_records(parameters) == [50]
    assert lost_records(parameters, tmp_path / "archive") == []
    assert len(list(fetch(parameters, tmp_path / "archive"))) == 2
    assert everything(parameters.path) == everything(parameters.copies[1]) == records


@pytest.mark.parametrize("seed", range(20))
def test_what_is_sound_somewhere_is_found_wherever_the_damage_lies(
    parameters: JournalParameters, seed: int
) -> None:
    """Bodies and hashes alike, in a fifth of the records of each copy, never the same record."""
    records = both(parameters, 3)
    chosen = random.Random(seed).sample(range(EACH + 1, 2 * EACH + 1), 16)
    for path, numbers in ((parameters.path, chosen[:8]), (parameters.copies[1], chosen[8:])):
        flipped(path, *numbers[:5])
        unhashed(path, *numbers[5:])
    list(fetch(parameters))
    assert everything(parameters.path) == everything(parameters.copies[1]) == records


@pytest.mark.parametrize("bad", [[50], [41], [80], [50, 51], [41, 60, 80]])
def test_what_is_bad_everywhere_is_named_and_a_person_accepts_its_loss(
    parameters: JournalParameters, config: Path, bad: list[int]
) -> None:
    records = both(parameters, 3)
    for path in parameters.copies:
        flipped(path, *bad)
    with pytest.raises(JournalCorruptError, match=f": {', '.join(map(str, bad))}$") as caught:
        list(fetch(parameters))
    assert "--accept-loss" in caught.value.remedy
    done = accept(config)
    assert done.exit_code == 0, done.output
    assert f"accepted as lost: records {', '.join(map(str, bad))}" in done.output
    assert survey(parameters)[1] == []
    for path in parameters.copies:
        found = everything(path)
        sound = [record for record in found if record.sequence not in bad]
        assert sound[: len(records) - len(bad)] == [r for r in records if r.sequence not in bad]
        said = found[-1].plain
        assert (said["kind"], said["lost"]) == ("records_lost", bad)
        assert (said["by"]["name"], said["reason"]) == ("tess", "no archive")
    with closing(open_copies(parameters)) as opened:
        assert opened.main.verify()[1] is None
        opened.main.check_tail()
        list(opened.main.newest_first())
        opened.copies[1].write([turn(opened.main, "2026-11-24")])
    assert survey(parameters)[1] == [], "the next volume says what is lost, too"
    rebuild(parameters, main=False)
    assert survey(parameters)[1] == []


def test_a_loss_that_nobody_accepted_stays_damage(
    parameters: JournalParameters, config: Path
) -> None:
    both(parameters, 3)
    for path in parameters.copies:
        flipped(path, 50)
    assert accept(config).exit_code == 0
    mark = canonical({"kind": "lost", "sequence": 60, "wall": "2026-11-22", "round": None})
    changed(volume_path(parameters.path, 2), 60, lambda record: replace(record, body=mark))
    assert "record 60" in survey(parameters)[1][0].text
    list(fetch(parameters))
    assert survey(parameters)[1] == []


def test_a_wrong_passphrase_accepts_nothing(parameters: JournalParameters, config: Path) -> None:
    both(parameters, 3)
    for path in parameters.copies:
        flipped(path, 50)
    words = ["journal", "fetch", "--accept-loss", "--by", "tess", "--reason", "no archive"]
    done = CliRunner().invoke(program, [*words, "--config", str(config)], input="guess\n")
    assert "do not belong together" in str(done.exception)
    assert everything(parameters.path)[-1].plain["kind"] != "records_lost"
