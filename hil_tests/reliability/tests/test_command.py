"""What the command line does with the folder that it is given, and with what is kept there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hil_tests.reliability import __main__ as program
from hil_tests.reliability import catalogue
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import Row, case, kept_in, name
from hil_tests.reliability.trial import Result as RowResult
from hil_tests.report.trend import load

WORST = catalogue.rows(every_moment=False)
EVERY = catalogue.rows(every_moment=True)


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


def test_playing_a_few_rows_anew_keeps_the_others_and_the_report_has_them_all(
    tmp_path: Path,
) -> None:
    kept = kept_in(tmp_path)
    for row in WORST[:3]:
        kept.keep(case(row), as_required(row))
    done = run("faults", "--results", str(tmp_path), "--only", WORST[0][0].name, "--minutes", "0")
    assert done.exit_code == 1
    assert f"not run: {WORST[0][0].name}" in said(done)
    assert [kept_in(tmp_path).find(case(row)) is None for row in WORST[:3]] == [True, False, False]
    nodes = [test["node"] for test in load(tmp_path)["tests"]]
    assert nodes == [f"faults::{name(row)}" for row in WORST[1:3]]


def test_a_shard_judges_its_own_rows_and_leaves_those_of_the_others_in_the_report(
    tmp_path: Path,
) -> None:
    kept = kept_in(tmp_path)
    for row in EVERY:
        kept.keep(case(row), as_required(row))
    theirs = EVERY[1]
    kept.keep(case(theirs), RowResult(theirs[0].name, theirs[1].value, Observation(), ["dark"]))
    count = len(EVERY[0::2])
    done = run("faults", "--resume", "--results", str(tmp_path), "--shard", "1/2", "--minutes", "0")
    assert done.exit_code == 0, done.output
    assert f"{count} of {count} rows played, 0 differ" in said(done)
    tests = load(tmp_path)["tests"]
    assert len(tests) == len(EVERY)
    assert tests[1]["outcome"] == "failed"
