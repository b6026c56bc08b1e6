"""A journal of the former form is converted, to the byte, and never taken for a new one."""

from __future__ import annotations

import shlex
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.contracts.test_journal_volumes import both
from hil_tests.processes import program as python_program
from hil_tests.reliability import former_form
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.former_journal import convert
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.commands.program import program
from shaker_ctl.doctor.finding import Grade
from shaker_ctl.doctor.records import journal_copies
from shaker_ctl.errors import JournalCorruptError, JournalVersionError, RefusedError
from shaker_ctl.installation.places import shipped
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.main import exit_status


@pytest.fixture
def copies(parameters: JournalParameters) -> list[Path]:
    """Both copies, of three volumes each, in the former form."""
    both(parameters, 3)
    return list(parameters.copies)


def test_bodies_hashes_and_heads_stay_as_they_are(
    parameters: JournalParameters, copies: list[Path], tmp_path: Path
) -> None:
    files = [volume_path(copy, number) for copy in copies for number in volume_numbers(copy)]
    before = [file.read_bytes() for file in files]
    for copy in copies:
        former_form.put_back(copy)
    config = tmp_path / "settings.toml"
    config.write_text(f'[journal]\npath = "{copies[0]}"\nsecond = "{copies[1]}"\n')
    done = CliRunner().invoke(program, ["journal", "convert", "--config", str(config)])
    assert done.exit_code == 0, done.output
    assert [file.read_bytes() for file in files] == before
    assert done.output.count("as before, to record 120 ") == 2
    assert len(list(tmp_path.rglob("*.sqlite.converted"))) == 6
    open_copies(parameters).close()
    assert survey(parameters)[1] == []
    again = CliRunner().invoke(program, ["journal", "convert", "--config", str(config)])
    assert "no journal of a former form" in again.output


def configured(root: Path, settings: Path) -> subprocess.CompletedProcess[str]:
    """Run the package's postinst with its folders below `root` and this program as its own."""
    script = (shipped() / "debian/postinst").read_text("utf-8")
    for name in ("/usr/lib/shaker-ctl", "/run/"):
        script = script.replace(f"={name}", f"={root}{name}")
    script = script.replace("/run/systemd/system", str(root / "none"))
    script = script.replace("/etc/shaker-ctl/settings.toml", str(settings))
    own = root / "usr/lib/shaker-ctl/bin/shaker-ctl"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f'#!/bin/sh\nexec {shlex.join(python_program("shaker_ctl.main"))} "$@"\n')
    own.chmod(0o755)
    words = ["sh", "-c", script, "postinst", "configure"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_an_upgrade_converts_the_journal_and_goes_on_where_it_was_cut(
    parameters: JournalParameters, copies: list[Path], tmp_path: Path
) -> None:
    for copy in copies:
        former_form.put_back(copy)
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[journal]\npath = "{copies[0]}"\nsecond = "{copies[1]}"\n')
    assert journal_copies(parameters).verdict is Grade.WARN
    in_the_way = copies[1].with_name("journal-000002.jsonl")
    in_the_way.write_text("cut short by something else\n")
    cut = configured(tmp_path / "root", settings)
    assert cut.returncode == 0, cut.stderr
    assert "the journal is not converted, see above" in cut.stderr
    in_the_way.unlink()
    whole = configured(tmp_path / "root", settings)
    assert (whole.returncode, whole.stdout.count("as before, to record")) == (0, 3)
    open_copies(parameters).close()
    assert survey(parameters)[1] == []


def test_a_table_never_begins_anew_beside_its_former_journal(
    parameters: JournalParameters, copies: list[Path]
) -> None:
    for copy in copies:
        former_form.put_back(copy)
    for _ in range(2):
        with pytest.raises(JournalVersionError, match="form before 3") as caught:
            open_copies(parameters)
        assert "journal convert" in caught.value.remedy
        assert exit_status(caught.value) == 65
        assert volume_numbers(parameters.path) == []
        next(convert(parameters.path))[0].unlink()  # half converted, it is not opened either
    for copy in copies:
        copy.with_suffix(".sqlite").replace(copy)
    with pytest.raises(JournalVersionError, match="form before 3"):
        DiskJournal(parameters.path, read_only=True)


def test_what_is_damaged_is_not_converted_and_a_service_that_runs_keeps_it_away(
    copies: list[Path],
) -> None:
    former = former_form.put_back(copies[0])
    lock = JournalLock(copies[0].with_suffix(".sqlite"))
    with pytest.raises(RefusedError, match="another process"):
        list(convert(copies[0]))
    lock.close()
    with closing(sqlite3.connect(former[1])) as db, db:
        db.execute("UPDATE record SET body = CAST(replace(body, 'step', 'stop') AS BLOB)")
    with pytest.raises(JournalCorruptError, match=r"journal-000002\.sqlite: record 42"):
        list(convert(copies[0]))
    assert volume_numbers(copies[0]) == [1]
    assert all(file.exists() for file in former)
    former[1].write_bytes(former[1].read_bytes()[:5000])
    with pytest.raises(JournalCorruptError, match=r"journal-000002\.sqlite is damaged"):
        list(convert(copies[0]))


def test_another_file_in_the_place_of_a_volume_is_not_taken_for_it(copies: list[Path]) -> None:
    former = former_form.put_back(copies[0])
    copies[0].write_bytes(volume_path(copies[1], 2).read_bytes())
    with pytest.raises(JournalCorruptError, match=r"is not what .* holds"):
        list(convert(copies[0]))
    assert all(file.exists() for file in former)


@pytest.mark.parametrize("content", [b"", b"\xff"])
def test_a_former_volume_without_its_first_bytes_is_neither_passed_over_nor_begun_anew(
    copies: list[Path], content: bytes
) -> None:
    former = former_form.put_back(copies[0])
    former[-1].write_bytes(content and content + former[-1].read_bytes()[1:])
    with pytest.raises(JournalCorruptError, match=r"journal-000003\.sqlite is damaged"):
        list(convert(copies[0]))
    former[0].unlink()
    former[1].unlink()
    for written in (copies[0], volume_path(copies[0], 2)):
        written.unlink()
    with pytest.raises(JournalVersionError, match="form before 3"):
        DiskJournal(copies[0])


def test_settings_with_the_former_name_are_told_the_new_one(copies: list[Path]) -> None:
    former = former_form.put_back(copies[0])
    with pytest.raises(RefusedError, match="the settings name") as caught:
        list(convert(former[0]))
    assert f"Set it to {copies[0]} there" in caught.value.remedy
    assert [head.sequence for _, head in convert(copies[0])] == [40, 80, 120]
