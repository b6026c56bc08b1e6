"""No odd text ends a run, and a test that is run again is new."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hil_tests.report import files
from hil_tests.report.tests.test_report import trial

AGAIN = """
from hil_tests.report import standstill

standstill.StandstillWatch.late_s = lambda watch, since, until: 1.0  # always late
tries = []

def test_the_second_try_keeps_it(measure, story):
    tries.append(0)
    story.did("rig", f"try {len(tries)}")
    measure("length", 5.0 - 2.0 * len(tries), "mm", upper=2.0)
"""


def run(folder: Path, tests: str) -> tuple[int, str]:
    """Run these tests with a report in `out`; return the exit status and what was said."""
    (folder / "test_promises.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timed: measures time\n")
    words = ["-p", "hil_tests.conftest", "-p", "hil_tests.report.standstill"]
    words += ["--rig-report", str(folder / "out"), "-q", "-rP", str(folder)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_a_test_that_is_run_again_is_judged_by_its_last_try(tmp_path: Path) -> None:
    status, said = run(tmp_path, AGAIN)
    assert status == 0, said
    (test,) = json.loads((tmp_path / "out" / "report.json").read_text())["tests"]
    assert (test["outcome"], test["reason"], test["trace"]) == ("passed", "", "")
    assert [taken["value"] for taken in test["measurements"]] == [1.0]
    assert [line["text"] for line in test["story"]] == ["try 2"]
    assert (tmp_path / "out" / "junit.xml").read_text().count("<property ") == 1
    assert "has not come to its end" not in (tmp_path / "out" / "report.html").read_text()
    assert json.loads((tmp_path / "out" / "openhtf.json").read_text())["outcome"] == "PASS"


def test_text_that_is_no_utf_8_is_written_in_the_letters_of_python(tmp_path: Path) -> None:
    tests: Any = [trial("failed", reason="file \udc80 is missing")]
    at = "2026-11-21T06:00:00+00:00"
    files.write(tmp_path, rig="virtual", at=at, began_s=0.0, about={}, tests=tests)
    assert r"file \udc80 is missing" in (tmp_path / "report.html").read_text()
