"""What the command line does with the folder that it is given, and with what is kept there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hil_tests.reliability import __main__ as program
from hil_tests.reliability import catalogue
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import Row, kept_in, name
from hil_tests.reliability.trial import Result as RowResult
from hil_tests.report.compare import load

WORST = catalogue.rows(every_moment=False)
EVERY = catalogue.rows(every_moment=True)
COMMANDS = [["soak", "--minutes", "0"], ["faults", "--only", "lamp"], ["crash"]]


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


@pytest.mark.parametrize("words", COMMANDS)
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


def test_playing_a_few_rows_anew_keeps_the_others_and_the_report_has_them_all(
    tmp_path: Path,
) -> None:
    kept = kept_in(tmp_path)
    for row in WORST[:3]:
        kept.keep(name(row), as_required(row))
    done = run("faults", "--results", str(tmp_path), "--only", WORST[0][0].name, "--minutes", "0")
    assert done.exit_code == 1
    assert f"not run: {WORST[0][0].name}" in said(done)
    assert [kept_in(tmp_path).find(name(row)) is None for row in WORST[:3]] == [True, False, False]
    nodes = [test["node"] for test in load(tmp_path)["tests"]]
    assert nodes == [f"faults::{name(row)}" for row in WORST[1:3]]


def test_a_shard_judges_its_own_rows_and_leaves_those_of_the_others_in_the_report(
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
    assert f"{count} of {count} rows played, 0 differ" in said(done)
    tests = load(tmp_path)["tests"]
    assert len(tests) == len(EVERY)
    assert tests[1]["outcome"] == "failed"


def test_a_cut_line_of_crashes_is_named_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "crashes.jsonl").write_text('{"point": "append 1", "aft')
    done = run("crash", "--results", str(tmp_path), "--resume", "--minutes", "0")
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)
    assert "crashes.jsonl, line 1, is not whole" in said(done)
    assert "0 points of a round" in said(done)
