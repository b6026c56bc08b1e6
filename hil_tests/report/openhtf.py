"""A run in the form of an OpenHTF test record (`openhtf.output.callbacks.json_factory`), for
laboratories whose database reads this form.

Owns the form: the run is the test, each test a phase, each measurement a measurement. Must not know
rigs. https://github.com/google/openhtf, `openhtf/core/test_record.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

OUTCOMES = {"passed": "PASS", "failed": "FAIL", "skipped": "SKIP", "not finished": "ERROR"}


def test_record(report: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a whole run; `report` is the content of a `report.json`."""
    about = report["about"]
    epoch_s = datetime.fromisoformat(report["at"]).timestamp() - report["began_s"]
    phases = [_phase(test, epoch_s) for test in report["tests"]]
    outcomes = {phase["outcome"] for phase in phases}
    if not report.get("is_ended", True):  # what was not run has not passed
        outcomes.add("ERROR")
    failed = [phase["name"] for phase in phases if phase["outcome"] in ("FAIL", "ERROR")]
    return {
        "dut_id": about.get("build", "unknown"),
        "station_id": about.get("station", "unknown"),
        "start_time_millis": _millis(report["began_s"], epoch_s),
        "end_time_millis": max((phase["end_time_millis"] for phase in phases), default=0),
        "outcome": "ERROR" if "ERROR" in outcomes else "FAIL" if "FAIL" in outcomes else "PASS",
        "outcome_details": [{"code": "FAIL", "description": name} for name in failed],
        "metadata": {"test_name": report["rig"], "test_version": about.get("build", ""), **about},
        "phases": phases,
        "log_records": [],
    }


def _phase(test: Mapping[str, Any], epoch_s: float) -> dict[str, Any]:
    outcome = OUTCOMES.get(test["outcome"], "ERROR")
    return {
        "name": test["title"],
        "codeinfo": {"name": test["node"], "docstring": test["promise"]},
        "start_time_millis": _millis(test["t0"], epoch_s),
        "end_time_millis": _millis(test["t0"] + test["seconds"], epoch_s),
        "outcome": outcome,
        "result": {"phase_result": test["reason"] or "CONTINUE"},
        "measurements": {taken["name"]: _measurement(taken) for taken in test["measurements"]},
        "attachments": {file: {"filename": file} for file in test.get("attached", ())},
    }


def _measurement(taken: Mapping[str, Any]) -> dict[str, Any]:
    bounds = [
        f"{sign} {limit:g}"
        for sign, limit in (("x >=", taken["lower"]), ("x <=", taken["upper"]))
        if limit is not None
    ]
    return {
        "name": taken["name"],
        "outcome": "PASS" if taken["passed"] else "FAIL",
        "measured_value": taken["value"] if math.isfinite(taken["value"]) else None,
        "units": {"name": taken["unit"], "code": None, "suffix": taken["unit"]},
        "validators": bounds,
    }


def _millis(at_s: float, epoch_s: float) -> int:
    return round(1000 * (at_s + epoch_s))
