"""A timed test counts for nothing where the machine stood still, and for all where it did not."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hil_tests.report.standstill import TRIES, StandstillWatch

TESTS = """
import pytest

tried = []

@pytest.fixture
def fresh():
    tried.append("fixture")
    yield

@pytest.mark.timed
def test_good_at_the_third_try(fresh):
    assert tried.count("fixture") == 3

@pytest.mark.timed
def test_never_good():
    tried.append("never")
    print("tried", tried.count("never"))
    assert False

def test_untimed():
    tried.append("untimed")
    print("untimed", tried.count("untimed"))
    assert False
"""

CONFTEST = """
from hil_tests.report import standstill

standstill.StandstillWatch.late_s = lambda watch, since, until: {late_s}
"""


RUN_S = 400.0
"""Only ends a run that hangs: a busy machine takes a minute to start the workers."""


def run(folder: Path, late_s: float, *options: str) -> str:
    """What pytest prints of `TESTS` on a machine that is always so late."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timed: measures time\n")
    (folder / "conftest.py").write_text(CONFTEST.format(late_s=late_s))
    (folder / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "hil_tests.report.standstill", "-q", *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=RUN_S)
    return ended.stdout + ended.stderr


def test_what_failed_on_a_machine_that_stood_still_is_run_again(tmp_path: Path) -> None:
    said = run(tmp_path, 0.02, "-n", "2", "--dist", "loadfile")
    assert "2 failed, 1 passed" in said
    assert said.count("test_good_at_the_third_try: late by 20 ms") == 2
    assert f"tried {TRIES}\n" in said
    assert "untimed 1\n" in said


def test_what_failed_on_a_machine_that_kept_its_time_has_failed(tmp_path: Path) -> None:
    said = run(tmp_path, late_s=0.002)
    assert "3 failed" in said
    assert "tried 1\n" in said
    assert "run again" not in said


@pytest.mark.timed
def test_the_watch_sees_a_machine_that_is_busy_elsewhere() -> None:
    watch = StandstillWatch()
    try:
        began = time.monotonic()
        hog = "import time\nends = time.monotonic() + 1.0\nwhile time.monotonic() < ends: pass"
        hogs = [subprocess.Popen([sys.executable, "-c", hog]) for _ in range(24)]
        for one in hogs:
            one.wait()
        ended = time.monotonic()
        assert watch.late_s(began, ended) > 0.01
        assert watch.late_s(ended, ended + 1.0) == 0.0
    finally:
        watch.close()
