"""The report leaves nothing out, and neither do the points of a crash."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hil_tests.processes import BenchError
from hil_tests.reliability import catalogue, crash
from hil_tests.reliability.crash import APPENDS, TRIES, Point, missed
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import (
    Row,
    case,
    kept_in,
    name,
    open_rows,
    write_report,
)
from hil_tests.reliability.trial import Result
from hil_tests.report.trend import load

ROWS = catalogue.rows(every_moment=True)
FIRST, SECOND, THIRD = ROWS[:3]


def result(row: Row, *differences: str) -> Result:
    seen = Observation(ending="void", motor="stopped", motor_after_s=0.1, lamps="dark", life="open")
    return Result(row[0].name, row[1].value, seen, list(differences))


def test_an_append_that_was_missed_is_aimed_at_again_and_not_for_ever() -> None:
    hit = [event for event in APPENDS if event != "ReadingMade"]
    assert missed(hit, []) == [Point("append", "10 (for ReadingMade, 1)")]
    tried = [Point("append", f"10 (for ReadingMade, {n})").name for n in range(1, TRIES + 1)]
    assert missed(hit, tried[:2]) == [Point("append", "10 (for ReadingMade, 3)")]
    assert missed(hit, tried) == []
    assert missed(APPENDS, []) == []


def test_a_start_that_fails_after_a_kill_is_tried_again_as_the_unit_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = iter([BenchError("no camera yet"), BenchError("no camera yet"), None])

    def restart() -> None:
        if error := next(starts):
            raise error

    monkeypatch.setattr(crash, "RESTART_S", 0.0)
    bench: Any = SimpleNamespace(restart_service=restart)
    crash.Crashes(bench, cast("Any", None))._start_as_the_unit_does()
    assert list(starts) == [], "two failed, the third came"


def test_rows_stand_in_a_report_as_stories_do_with_their_limits(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    fault, moment = row = next(
        one for one in ROWS if one[0].name == "estop-pressed" and one[1].name == "TOSS"
    )
    late = result(row, "EN low within 0.05 s, seen after 0.2 s")
    late.seen.motor_after_s = 0.2
    kept.keep(case(row), late)
    kept.keep(case(FIRST), result(FIRST))
    write_report(kept, [FIRST, row, SECOND], tmp_path)
    report = load(tmp_path)
    assert not report["is_ended"]
    tests = report["tests"]
    assert [test["outcome"] for test in tests] == ["passed", "failed"]
    assert tests[1]["node"] == f"faults::{fault.name}@{moment.name.lower()}"
    (taken,) = tests[1]["measurements"]
    assert (taken["name"], taken["value"], taken["upper"]) == ("fault to EN low", 0.2, 0.05)
    assert "EN low within 0.05 s, seen after 0.2 s" in (tmp_path / "report.html").read_text()


def test_the_result_of_a_row_that_was_changed_since_counts_no_more(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.keep(case(FIRST), result(FIRST))
    fault, moment = FIRST
    changed = replace(fault, hold_s=fault.hold_s + 1.0), moment
    assert open_rows(kept, [FIRST, changed]) == [changed]
    assert name(changed) == name(FIRST), "a report knows it again"
