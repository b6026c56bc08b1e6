"""A run that was broken off goes on where it was; the matrix leaves nothing out."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from hil_tests.reliability import catalogue
from hil_tests.reliability.crash import APPENDS, TRIES, Crash, KeptCrashes, Point, missed, points
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import MATRIX_JSON, MATRIX_PAGE, Results, Row, line, shard
from hil_tests.reliability.trial import Result
from hil_tests.report.compare import load

ROWS = catalogue.rows(every_moment=True)
FIRST, SECOND, THIRD = ROWS[:3]


def result(row: Row, *differences: str) -> Result:
    seen = Observation(ending="void", motor="stopped", motor_after_s=0.1, lamps="dark", life="open")
    return Result(row[0].name, row[1].value, seen.as_dict(), list(differences))


def test_what_is_kept_is_found_again_whole(tmp_path: Path) -> None:
    kept = Results(tmp_path)
    kept.keep(FIRST, result(FIRST, "ending void, seen: settled"))
    assert Results(tmp_path).find(FIRST) == result(FIRST, "ending void, seen: settled")
    assert kept.find(SECOND) is None


def test_resuming_plays_what_is_missing_and_what_differed(tmp_path: Path) -> None:
    kept = Results(tmp_path)
    kept.keep(FIRST, result(FIRST))
    kept.keep(SECOND, result(SECOND, "lamps dark, seen: truth"))
    assert kept.open_rows([FIRST, SECOND, THIRD]) == [SECOND, THIRD]


def test_a_result_that_was_cut_off_is_none(tmp_path: Path) -> None:
    kept = Results(tmp_path)
    kept.keep(FIRST, result(FIRST))
    path = next(tmp_path.glob("*@*.json"))
    path.write_text(path.read_text()[:40])
    assert kept.open_rows([FIRST]) == [FIRST]


@pytest.mark.parametrize(
    "damaged",
    [
        {},
        {"seen": {}},
        {"seen": None},
        {"seen": Observation().as_dict() | {"motor": "stopped", "motor_after_s": "soon"}},
        {"differences": None},
        {"fault": SECOND[0].name, "moment": SECOND[1].value},
    ],
)
def test_a_result_without_its_shape_or_of_another_row_counts_as_not_played_and_is_named(
    tmp_path: Path, damaged: dict[str, Any]
) -> None:
    kept = Results(tmp_path)
    kept.keep(FIRST, result(FIRST))
    path = next(tmp_path.glob("*@*.json"))
    whole = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(whole | damaged if damaged else [whole]), "utf-8")
    assert kept.find(FIRST) is None
    assert kept.open_rows([FIRST]) == [FIRST]
    assert kept.damaged([FIRST, SECOND]) == [path.name]
    assert kept.count([FIRST]) == (0, 1)


def test_beginning_rows_anew_forgets_their_results_and_no_others(tmp_path: Path) -> None:
    kept = Results(tmp_path)
    for row in (FIRST, SECOND):
        kept.keep(row, result(row))
    kept.forget([FIRST, THIRD])
    assert kept.find(FIRST) is None
    assert kept.find(SECOND) is not None


def test_the_matrix_counts_differences_and_names_what_was_not_run(tmp_path: Path) -> None:
    kept = Results(tmp_path)
    kept.keep(FIRST, result(FIRST))
    kept.keep(SECOND, result(SECOND, "lamps dark, seen: truth"))
    assert kept.count([FIRST, SECOND, THIRD]) == (1, 1)
    kept.write_matrix([FIRST, SECOND, THIRD])
    page = (tmp_path / MATRIX_PAGE).read_text("utf-8").splitlines()
    assert len(page) == 2 + 3
    assert page[2].endswith("| as required |")
    assert page[3].endswith("| lamps dark, seen: truth |")
    assert page[4].endswith("| not run |")
    table = json.loads((tmp_path / MATRIX_JSON).read_text("utf-8"))
    assert [row["fault"] for row in table] == [row[0].name for row in (FIRST, SECOND, THIRD)]
    assert table[0]["required"][0]["ending"] == FIRST[0].required[FIRST[1]][0].ending
    assert table[2]["result"] is None


def test_repeated_attempts_are_said(tmp_path: Path) -> None:
    repeated = result(FIRST)
    repeated.attempts = 2
    assert line(FIRST, repeated)[-1] == "as required (2 attempts: the computer was late)"


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_are_the_whole_and_share_nothing(count: int) -> None:
    parts = [shard(ROWS, f"{i}/{count}") for i in range(1, count + 1)]
    together = [row for part in parts for row in part]
    assert len(together) == len(ROWS)
    assert sorted(map(repr, together)) == sorted(map(repr, ROWS))


@pytest.mark.parametrize("which", ["", "0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none_is_refused(which: str) -> None:
    with pytest.raises(ValueError, match="a shard is i/n"):
        shard(ROWS, which)


def test_crashes_go_on_behind_those_on_file(tmp_path: Path) -> None:
    path = tmp_path / "crashes.jsonl"
    kept = KeptCrashes(path, resume=False)
    kept.add(Crash("append 1", ending="void"))
    kept.add(Crash("append 2", wrong=["round 3 has no outcome"]))
    kept.add(Crash("random 1.00 s after the start"))
    again = KeptCrashes(path, resume=True)
    assert again.has(Point("append", "1"))
    assert not again.has(Point("append", "2"))
    assert again.random == 1
    assert [one["point"] for one in again.wrong] == ["append 2"]
    assert KeptCrashes(path, resume=False).all == []


def test_lines_of_crashes_that_are_not_whole_count_as_not_run_and_are_named(tmp_path: Path) -> None:
    path = tmp_path / "crashes.jsonl"
    well = json.dumps(asdict(Crash("append 1", ending="void")))
    without_verdict = json.dumps({"point": "append 2", "after": "AtRest"})
    path.write_text("\n".join([well, "nonsense", "[]", "", without_verdict, well[:30]]))
    kept = KeptCrashes(path, resume=True)
    assert [one["point"] for one in kept.all] == ["append 1"]
    assert kept.left_out == [2, 3, 4, 5, 6]


def test_the_next_crash_is_no_part_of_a_line_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "crashes.jsonl"
    path.write_text(json.dumps(asdict(Crash("append 1")))[:30])
    KeptCrashes(path, resume=True).add(Crash("append 2"))
    again = KeptCrashes(path, resume=True)
    assert [one["point"] for one in again.all] == ["append 2"]
    assert again.left_out == [1]


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
    kept = Results(tmp_path)
    fault, moment = row = next(
        one for one in ROWS if one[0].name == "estop-pressed" and one[1].name == "TOSS"
    )
    late = result(row, "EN low within 0.05 s, seen after 0.2 s")
    late.seen["motor_after_s"] = 0.2
    kept.keep(row, late)
    kept.keep(FIRST, result(FIRST))
    kept.write_report([FIRST, row, SECOND])
    tests = load(tmp_path)["tests"]
    assert [test["outcome"] for test in tests] == ["passed", "failed"]
    assert tests[1]["node"] == f"faults::{fault.name}@{moment.name.lower()}"
    (taken,) = tests[1]["measurements"]
    assert (taken["name"], taken["value"], taken["upper"]) == ("fault to EN low", 0.2, 0.05)
    assert "EN low within 0.05 s, seen after 0.2 s" in (tmp_path / "report.html").read_text()
