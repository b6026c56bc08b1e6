"""The report leaves nothing out, and neither do the points of a crash."""

from __future__ import annotations

from pathlib import Path

from hil_tests.reliability import catalogue
from hil_tests.reliability.crash import APPENDS, TRIES, Point, missed, points
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import (
    Row,
    as_test,
    count,
    kept_in,
    name,
    open_rows,
    write_report,
)
from hil_tests.reliability.trial import Result
from hil_tests.report.compare import load

ROWS = catalogue.rows(every_moment=True)
FIRST, SECOND, THIRD = ROWS[:3]


def result(row: Row, *differences: str) -> Result:
    seen = Observation(ending="void", motor="stopped", motor_after_s=0.1, lamps="dark", life="open")
    return Result(row[0].name, row[1].value, seen, list(differences))


def test_differences_are_counted_and_what_was_not_run_is_open(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.keep(name(FIRST), result(FIRST))
    kept.keep(name(SECOND), result(SECOND, "lamps dark, seen: truth"))
    assert count(kept, [FIRST, SECOND, THIRD]) == (1, 1)
    assert open_rows(kept, [FIRST, SECOND, THIRD]) == [SECOND, THIRD]


def test_repeated_attempts_are_said() -> None:
    repeated = result(FIRST)
    repeated.attempts = 2
    said = [line["text"] for line in as_test(FIRST, repeated)["story"]]
    assert said[1] == "2 attempts: the computer was late"


def test_an_append_that_was_missed_is_aimed_at_again_and_not_for_ever() -> None:
    hit = [event for event in APPENDS if event != "ReadingMade"]
    assert missed(hit, []) == [Point("append", "10 (for ReadingMade, 1)")]
    tried = [Point("append", f"10 (for ReadingMade, {n})").name for n in range(1, TRIES + 1)]
    assert missed(hit, tried[:2]) == [Point("append", "10 (for ReadingMade, 3)")]
    assert missed(hit, tried) == []
    assert missed(APPENDS, []) == []


def test_every_point_is_one_of_its_own() -> None:
    names = [point.name for point in points(both_sides=True)]
    assert len(set(names)) == len(names)
    assert {"append 1", "write 1", "output commit", "console result"} <= set(names)
    assert not any(point.kind == "write" for point in points(both_sides=False))


def test_rows_stand_in_a_report_as_stories_do_with_their_limits(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    fault, moment = row = next(
        one for one in ROWS if one[0].name == "estop-pressed" and one[1].name == "TOSS"
    )
    late = result(row, "EN low within 0.05 s, seen after 0.2 s")
    late.seen.motor_after_s = 0.2
    kept.keep(name(row), late)
    kept.keep(name(FIRST), result(FIRST))
    write_report(kept, [FIRST, row, SECOND], tmp_path)
    report = load(tmp_path)
    assert not report["is_ended"]
    tests = report["tests"]
    assert [test["outcome"] for test in tests] == ["passed", "failed"]
    assert tests[1]["node"] == f"faults::{fault.name}@{moment.name.lower()}"
    (taken,) = tests[1]["measurements"]
    assert (taken["name"], taken["value"], taken["upper"]) == ("fault to EN low", 0.2, 0.05)
    assert "EN low within 0.05 s, seen after 0.2 s" in (tmp_path / "report.html").read_text()
