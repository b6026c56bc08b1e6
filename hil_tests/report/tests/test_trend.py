"""Measurements over many runs, and a run in a laboratory's form."""

from __future__ import annotations

import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from hil_tests.report import openhtf, trend
from hil_tests.report.tests.test_report import report, trial
from hil_tests.rig.main import app


def taken(value: float, upper: float | None = 100.0) -> dict[str, Any]:
    return {
        "name": "e-stop to EN low",
        "value": value,
        "unit": "ms",
        "lower": None,
        "upper": upper,
        "passed": upper is None or value <= upper,
    }


def runs(*values: float, upper: float | None = 100.0) -> list[dict[str, Any]]:
    return [report(trial(measurements=[taken(value, upper)])) for value in values]


def test_a_value_that_grows_towards_its_limit_is_found_in_time() -> None:
    (found,) = trend.trends(runs(50, 58, 66, 74, 82))
    assert found.drift == pytest.approx(8.0)
    assert found.runs_left == pytest.approx(18 / 8)
    assert found.is_near
    screen = StringIO()
    Console(width=200, file=screen).print(trend.table([found], 5))
    assert "1 near a limit" in screen.getvalue()


@pytest.mark.parametrize(
    "values",
    [
        pytest.param((50, 62, 48, 60, 51), id="chance"),
        pytest.param((50, 58, 66), id="too few runs"),
        pytest.param((82, 74, 66, 58, 50), id="away from its only limit"),
        pytest.param((50, 50.1, 50.2, 50.3, 50.4), id="far away"),
    ],
)
def test_what_goes_nowhere_near_is_not_marked(values: tuple[float, ...]) -> None:
    (found,) = trend.trends(runs(*values))
    assert not found.is_near


@pytest.mark.parametrize(
    ("damaged", "where"),
    [
        ([], "the whole"),
        ({"format": 2, "tests": []}, "format"),
        (report({"node": "a::b"}), "tests.0.title"),
        (
            report(trial(measurements=[taken(1) | {"value": "soon"}])),
            "tests.0.measurements.0.value",
        ),
    ],
)
def test_a_damaged_report_is_said_to_be_none_and_where(
    tmp_path: Path, damaged: Any, where: str
) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(damaged))
    done = CliRunner(env={"COLUMNS": "1000"}).invoke(app, ["trend", str(tmp_path)])
    assert done.exit_code == 1
    assert f"{file} is no report ({where}" in done.output
    assert "--rig-report" in done.output


def test_a_run_is_a_test_record_with_a_phase_for_each_test() -> None:
    whole = {
        **report(
            trial(measurements=[taken(50)]),
            trial("failed", title="Other", measurements=[taken(150)]),
            trial("skipped", title="Third"),
        ),
        "began_s": 90.0,
        "about": {"station": "bench 1", "build": "shaker-ctl 0.1.0", "operator": "ann"},
    }
    record = json.loads(json.dumps(openhtf.test_record(whole)))
    assert (record["outcome"], record["station_id"]) == ("FAIL", "bench 1")
    assert record["dut_id"] == "shaker-ctl 0.1.0"
    assert record["metadata"]["operator"] == "ann"
    assert [phase["outcome"] for phase in record["phases"]] == ["PASS", "FAIL", "SKIP"]
    assert record["phases"][0]["start_time_millis"] - record["start_time_millis"] == 10_000
    assert record["end_time_millis"] - record["start_time_millis"] == 15_000
    measured = record["phases"][1]["measurements"]["e-stop to EN low"]
    assert (measured["outcome"], measured["measured_value"]) == ("FAIL", 150)
    assert (measured["validators"], measured["units"]["suffix"]) == (["x <= 100"], "ms")


def test_what_is_not_a_number_is_none_in_a_record_that_any_program_reads() -> None:
    whole = {**report(trial(measurements=[taken(math.nan)])), "began_s": 0.0, "about": {}}
    text = json.dumps(openhtf.test_record(whole), allow_nan=False)
    assert '"measured_value": null' in text


def test_a_run_that_was_cut_short_is_an_error() -> None:
    whole = {**report(trial("not finished")), "began_s": 0.0, "about": {}}
    assert openhtf.test_record(whole)["outcome"] == "ERROR"
