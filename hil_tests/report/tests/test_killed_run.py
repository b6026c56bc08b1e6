"""A run that is ended from outside leaves the page, the JSON and the JUnit file of what was run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

TESTS = """
import time, pathlib

def test_the_first_promise_is_kept(record, measure):
    measure("length", 3.0, "mm", upper=4.0)

def test_the_second_promise_is_broken(record):
    assert False, "expected: it holds"

def test_the_third_takes_for_ever(record):
    pathlib.Path(__file__).with_name("begun").write_text("")
    time.sleep(120)
"""


HIDES_THE_END = """
import time, pathlib

def test_the_first_fails_when_it_clears_up(record):
    pathlib.Path(__file__).with_name("begun").write_text("")
    try:
        time.sleep(120)
    finally:
        raise OSError("the line is dead")

def test_the_second_is_never_begun(record):
    pass
"""


def run_and_end(folder: Path, number: signal.Signals, tests: str = TESTS) -> dict[str, str]:
    """Start a run, end it in the test that takes long; return the verdicts of `report.json`, which
    the page counts."""
    (folder / "test_promises.py").write_text(tests)
    words = [
        *(sys.executable, "-m", "pytest", str(folder / "test_promises.py"), "-q"),
        *(
            "-p",
            "hil_tests.conftest",
            "--rig-report",
            str(folder / "out"),
            "--rootdir",
            str(folder),
        ),
        *("--rig-operator", "Fay", "--rig-station", "bench 2"),
    ]
    words[:0] = ["env", "--default-signal=INT"]  # nohup has it ignored
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 60.0
    while not (folder / "begun").exists():
        assert run.poll() is None, run.stdout and run.stdout.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(number)
    run.communicate(timeout=400)
    report = json.loads((folder / "out" / "report.json").read_text())
    assert (report["about"]["operator"], report["about"]["station"]) == ("Fay", "bench 2")
    assert "shaker-ctl" in report["about"]["build"]
    page = (folder / "out" / "report.html").read_text()
    assert "bench 2" in page
    assert "this run has not come to its end" in page
    assert json.loads((folder / "out" / "openhtf.json").read_text())["outcome"] == "ERROR"
    verdicts = {test["title"]: test["outcome"] for test in report["tests"]}
    for verdict, count in Counter(verdicts.values()).items():
        assert f"{count} {verdict}" in page
    return verdicts


KEPT = {"The first promise is kept": "passed", "The second promise is broken": "failed"}


def test_a_run_that_is_killed_outright_leaves_every_test_that_ended(tmp_path: Path) -> None:
    assert run_and_end(tmp_path, signal.SIGKILL) == KEPT
    cases = ElementTree.parse(tmp_path / "out" / "junit.xml").iter("testcase")
    assert [case.get("name") for case in cases] == [
        "test_the_first_promise_is_kept",
        "test_the_second_promise_is_broken",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_end_also_names_the_test_that_it_cut_short(
    tmp_path: Path, number: signal.Signals
) -> None:
    found = run_and_end(tmp_path, number)
    assert found == {**KEPT, "The third takes for ever": "not finished"}
    assert (tmp_path / "out" / "junit.xml").exists()


def test_a_run_that_is_told_to_end_begins_no_other_test(tmp_path: Path) -> None:
    found = run_and_end(tmp_path, signal.SIGTERM, HIDES_THE_END)
    assert found == {"The first fails when it clears up": "failed"}
