"""What a person may type at the tools that measure: what means nothing is refused before anything
is made or measured, in one line that says what to give instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hil_tests import bench, recorded
from hil_tests.contracts import bytes_cut, motor_off
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.journal.parameters import JournalParameters

Program = Callable[[list[str]], int]


def refused(program: Program, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The line that the program ends with, status 2."""
    with pytest.raises(SystemExit) as ended:
        program(list(words))
    assert ended.value.code == 2
    heard = capsys.readouterr()
    assert heard.out == ""
    return heard.err.splitlines()[-1]


# ── Numbers ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("program", "option", "least", "given"),
    [
        (motor_off.main, "--trials", 1, 0),
        (bytes_cut.main, "--every", 1, 0),
        (bytes_cut.main, "--flips", 1, 0),
    ],
)
def test_numbers_that_measure_nothing_are_refused(
    program: Program, option: str, least: int, given: int, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(program, capsys, option, str(given))
    assert said.endswith(f"argument {option}: must be {least} or more, not {given}")


@pytest.mark.parametrize(
    ("option", "least", "given"), [("--rounds", 1, 0), ("--rounds", 1, -3), ("--seed", 0, -1)]
)
def test_no_rounds_are_recorded_for_numbers_out_of_bounds(
    option: str, least: int, given: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(recorded.main, capsys, str(tmp_path / "new"), option, str(given))
    assert said.endswith(f"argument {option}: must be {least} or more, not {given}")
    assert not (tmp_path / "new").exists()


def test_what_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(motor_off.main, capsys, "--trials", "many")
    assert said.endswith("argument --trials: must be a whole number, not 'many'")


def test_the_bench_refuses_a_seed_below_zero() -> None:
    app = typer.Typer()
    app.command()(bench.main)
    done = CliRunner().invoke(app, ["--seed", "-1"])
    assert done.exit_code == 2
    assert "--seed" in done.output


# ── Files ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("folder", ["/proc/nowhere", "a file"])
def test_rounds_are_not_recorded_where_no_folder_can_be(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a file").write_text("")
    said = refused(recorded.main, capsys, str(tmp_path / folder))
    assert f"{tmp_path / folder} cannot be used" in said
    assert said.endswith("name a new folder")


@pytest.fixture
def journal(tmp_path: Path) -> JournalParameters:
    """Both copies of a small journal, closed in order."""
    (tmp_path / "second").mkdir()
    parameters = JournalParameters(
        path=tmp_path / "journal.sqlite", second=tmp_path / "second" / "journal.sqlite"
    )
    opened = open_copies(parameters)
    assert opened.second is not None
    records = bytes_cut.records_after(opened.main.head(), 12)
    opened.main.write(records)
    opened.second.write(records)
    opened.close()
    return parameters


def cut_words(journal: JournalParameters) -> list[str]:
    words = ["--journal", str(journal.path), "--second", str(journal.second)]
    return [*words, "--every", "1000", "--flips", "20"]


def test_a_tables_own_journal_is_cut_in_copies(
    journal: JournalParameters, capsys: pytest.CaptureFixture[str]
) -> None:
    journal.path.with_name(journal.path.name + "-wal").write_bytes(b"")  # as a checkpoint leaves it
    before = journal.path.read_bytes()
    assert bytes_cut.main(cut_words(journal)) == 0
    said = capsys.readouterr().out
    assert "12 records" in said
    assert re.search(r"main +flipped +20: ", said)
    assert re.search(r"log +is empty", said)
    assert journal.path.read_bytes() == before


@pytest.mark.parametrize("which", ["path", "second"])
def test_a_journal_that_is_not_there_is_named_as_it_was_given(
    journal: JournalParameters, which: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking: Path = getattr(journal, which)
    lacking.unlink()
    said = refused(bytes_cut.main, capsys, *cut_words(journal))
    assert f"{lacking} is no file" in said


@pytest.mark.parametrize("which", ["path", "second"])
def test_a_file_that_is_no_whole_journal_is_named_as_it_was_given(
    journal: JournalParameters, which: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise any damage to it would be called noticed."""
    getattr(journal, which).write_text("my diary\n" * 1000)
    said = refused(bytes_cut.main, capsys, *cut_words(journal))
    assert f"{journal.path}, with {journal.second} as its second copy, does not open whole" in said
