"""What a person may type at the tools that measure: what means nothing is refused before anything
is made or measured, in one line that says what to give instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from hil_tests.reliability import bytes_cut
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.journal.parameters import JournalParameters

Program = Callable[..., None]


def ran(program: Program, *words: str) -> Result:
    """What came of these words on the program's command line."""
    app = typer.Typer()
    app.command()(program)
    return CliRunner(env={"COLUMNS": "1000"}).invoke(app, words)


def refused(program: Program, *words: str) -> str:
    """What the program says with which it ends, status 2."""
    done = ran(program, *words)
    assert done.exit_code == 2
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def journal(tmp_path: Path) -> JournalParameters:
    """Both copies of a small journal, closed in order."""
    (tmp_path / "second").mkdir()
    parameters = JournalParameters(
        path=tmp_path / "journal.jsonl", second=tmp_path / "second" / "journal.jsonl"
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
    journal: JournalParameters,
) -> None:
    before = journal.path.read_bytes()
    done = ran(bytes_cut.main, *cut_words(journal))
    assert done.exit_code == 0
    said = done.stdout
    assert "12 records" in said
    assert re.search(r"main +flipped +20: ", said)
    assert re.search(r"closed +no such file", said)
    assert journal.path.read_bytes() == before


@pytest.mark.parametrize("which", ["path", "second"])
def test_a_file_that_is_no_whole_journal_is_named_as_it_was_given(
    journal: JournalParameters, which: str
) -> None:
    """Otherwise any damage to it would be called noticed."""
    getattr(journal, which).write_text("my diary\n" * 1000)
    said = refused(bytes_cut.main, *cut_words(journal))
    assert f"{journal.path}, with {journal.second} as its second copy, does not open whole" in said
