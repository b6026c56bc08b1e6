"""What the command line does to the folder that it is given: nothing to anybody else's files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hil_tests.reliability import __main__ as program
from hil_tests.reliability import catalogue
from hil_tests.reliability.folders import MARK, FolderError, fresh
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import MATRIX_JSON, Row, kept_in, name
from hil_tests.reliability.trial import Result as RowResult

WORST = catalogue.rows(every_moment=False)
EVERY = catalogue.rows(every_moment=True)
FOLDERS = [["soak", "--minutes", "0"], ["faults", "--only", "lamp"], ["crash"]]
"""Every command that empties folders."""


def run(*words: str) -> Result:
    return CliRunner().invoke(program.app, list(words))


def said(done: Result) -> str:
    return " ".join(done.output.split())


@pytest.fixture(autouse=True)
def no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rig is started here: whoever gets so far has checked too little."""

    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("a table was started")

    monkeypatch.setattr(program, "Bench", started)


def as_required(row: Row) -> RowResult:
    return RowResult(row[0].name, row[1].value, Observation(), [])


# ── Folders of tables ───────────────────────────────────────────────────────


def test_a_folder_that_was_made_here_is_emptied_and_stays_one(tmp_path: Path) -> None:
    folder = fresh(tmp_path / "soak")
    (folder / "service.log").write_text("of the last run")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "1-frame.jpg").write_bytes(b"")
    for _ in range(2):
        assert [path.name for path in fresh(folder).iterdir()] == [MARK]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    assert fresh(tmp_path) == tmp_path
    assert (tmp_path / MARK).is_file()


def test_what_a_folder_that_was_made_here_links_to_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis").write_text("years of work")
    folder = fresh(tmp_path / "soak")
    (folder / "link").symlink_to(theirs)
    fresh(folder)
    assert (theirs / "thesis").exists()


def test_a_folder_of_somebody_else_keeps_every_file(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("years of work")
    with pytest.raises(FolderError, match="name another --results"):
        fresh(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]


def test_a_long_run_refuses_somebody_elses_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("years of work")
    done = run("soak", "--results", str(tmp_path), "--minutes", "0")
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)
    assert f"{tmp_path} is not empty and was not made here" in said(done)
    assert "name another --results" in said(done)
    assert (tmp_path / "thesis").read_text() == "years of work"


@pytest.mark.parametrize("command", ["faults", "crash"])
def test_tables_are_not_put_where_somebody_else_has_files(tmp_path: Path, command: str) -> None:
    row = WORST[0]
    kept_in(tmp_path).keep(name(row), as_required(row))
    (tmp_path / "crashes.jsonl").write_text("")
    (tmp_path / "table-2").mkdir()
    (tmp_path / "table-2" / "thesis").write_text("years of work")
    before = sorted(tmp_path.rglob("*"))
    done = run(command, "--results", str(tmp_path))
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)
    assert f"{tmp_path / 'table-2'} is not empty and was not made here" in said(done)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("words", FOLDERS)
@pytest.mark.parametrize("folder", ["/proc/nowhere", "a file"])
def test_a_folder_that_cannot_be_made_is_said_in_one_line(
    tmp_path: Path, words: list[str], folder: str
) -> None:
    (tmp_path / "a file").write_text("")
    done = run(*words, "--results", str(tmp_path / folder))
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)
    assert done.output.count("\n") == 1
    assert "cannot be used" in said(done)
    assert "name another --results" in said(done)


# ── Results ─────────────────────────────────────────────────────────────────


def test_playing_a_few_rows_anew_keeps_the_others_and_the_matrix_has_them_all(
    tmp_path: Path,
) -> None:
    kept = kept_in(tmp_path)
    for row in WORST[:3]:
        kept.keep(name(row), as_required(row))
    done = run("faults", "--results", str(tmp_path), "--only", WORST[0][0].name, "--minutes", "0")
    assert done.exit_code == 1
    assert f"matrix of all {len(WORST)}" in said(done)
    assert f"not run: {WORST[0][0].name}" in said(done)
    assert [kept_in(tmp_path).find(name(row)) is None for row in WORST[:3]] == [True, False, False]
    table = json.loads((tmp_path / MATRIX_JSON).read_text("utf-8"))
    assert [row["fault"] for row in table] == [row[0].name for row in WORST]
    assert [row["result"] is None for row in table[:3]] == [True, False, False]


def test_a_shard_judges_its_own_rows_and_leaves_those_of_the_others_in_the_matrix(
    tmp_path: Path,
) -> None:
    kept = kept_in(tmp_path)
    for row in EVERY:
        kept.keep(name(row), as_required(row))
    theirs = EVERY[1]
    kept.keep(name(theirs), RowResult(theirs[0].name, theirs[1].value, Observation(), ["dark"]))
    count = len(EVERY[0::2])
    done = run("faults", "--resume", "--results", str(tmp_path), "--shard", "1/2", "--minutes", "0")
    assert done.exit_code == 0, done.output
    assert f"{count} of {count} rows played, 0 differ; matrix of all {len(EVERY)}" in said(done)
    table = json.loads((tmp_path / MATRIX_JSON).read_text("utf-8"))
    assert len(table) == len(EVERY)
    assert table[1]["result"]["differences"] == ["dark"]


def test_a_cut_line_of_crashes_is_named_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "crashes.jsonl").write_text('{"point": "append 1", "aft')
    done = run("crash", "--results", str(tmp_path), "--resume", "--minutes", "0")
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)
    assert "crashes.jsonl, line 1, is not whole" in said(done)
    assert "0 points of a round" in said(done)
