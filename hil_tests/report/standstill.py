"""Tests that measure time are run again where the machine, not the program, was late.

    @pytest.mark.timed

Owns the watch that says how late the machine was, and the decision to measure again. Must not know
what a test measures.

A computer that is shared stands still for tens of milliseconds now and then; a time that was taken
meanwhile says nothing about the program. The watch is a process of its own with one thread on each
CPU that only sleeps for `TICK_S` and notes by how much it overslept. A timed test that fails while
the watch overslept by `LATE_S` in all is run again, at most `TRIES` times together; one that fails
on a machine that kept its time has failed. What was run again is listed at the end of the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

TICK_S = 0.002
LATE_S = 0.01
"""Lateness of all CPUs together from which a measurement counts for nothing."""
TRIES = 3
"""A test is repeated at most twice: more would make "best of ten" of a promise."""
_NOISE_S = 0.001
"""Oversleeping that every computer does."""
_PATIENCE_S = 60.0
"""No further try of one test after this long."""


class StandstillWatch:
    """How late the machine was, from the start of this watch on."""

    def __init__(self) -> None:
        descriptor, name = tempfile.mkstemp(prefix="standstill-")
        os.close(descriptor)
        self._notes = Path(name)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hil_tests.report.standstill", name], stdin=subprocess.PIPE
        )
        while self._process.poll() is None and not self._notes.stat().st_size:
            time.sleep(TICK_S)

    def late_s(self, since: float, until: float) -> float:
        """Seconds by which sleepers were late between two times of `time.monotonic`."""
        late = 0.0
        for line in self._notes.read_text().splitlines():
            at, seconds = map(float, line.split())
            if since <= at <= until:
                late += seconds
        return late

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._notes.unlink()


def _sleep_on(cpu: int, notes: int) -> None:
    os.sched_setaffinity(0, {cpu})  # on Linux: of this thread
    os.write(notes, f"{time.monotonic()} 0.0\n".encode())
    while True:
        wanted = time.monotonic() + TICK_S
        time.sleep(TICK_S)
        at = time.monotonic()
        if at - wanted > _NOISE_S:
            os.write(notes, f"{at} {at - wanted:.4f}\n".encode())


def watch(path: str) -> None:
    """Note how late this machine is, until standard input ends."""
    notes = os.open(path, os.O_WRONLY | os.O_APPEND)
    for cpu in os.sched_getaffinity(0):
        threading.Thread(target=_sleep_on, args=(cpu, notes), daemon=True).start()
    sys.stdin.read()


class StandstillPlugin:
    """One for a run; the watch starts with the first timed test."""

    def __init__(self) -> None:
        self.watch: StandstillWatch | None = None
        self.again: list[str] = []
        """A line for every try that counted for nothing."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Run a timed test until it passes, or fails on a machine that was not late."""
        if item.get_closest_marker("timed") is None:
            return None
        if self.watch is None:
            self.watch = StandstillWatch()
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        began = time.monotonic()
        for number in range(1, TRIES + 1):
            since = time.monotonic()
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            until = time.monotonic()
            has_failed = any(report.failed for report in reports)
            late_s = self.watch.late_s(since, until) if has_failed else 0.0
            if late_s < LATE_S or number == TRIES or until - began > _PATIENCE_S:
                break
            self.again.append(f"{item.nodeid}: late by {late_s * 1000:.0f} ms")
            item._initrequest()  # type: ignore[attr-defined]  # as every plugin that reruns does
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker of pytest-xdist tells its controller."""
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["again"] = self.again

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """In the controller: what that worker told; one that crashed told nothing."""
        self.again += getattr(node, "workeroutput", {}).get("again", [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.again:
            terminalreporter.section("run again, as the machine stood still meanwhile")
            for line in self.again:
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        if self.watch is not None:
            self.watch.close()
            self.watch = None


def pytest_configure(config: pytest.Config) -> None:
    """What `-p hil_tests.report.standstill` does."""
    config.pluginmanager.register(StandstillPlugin(), "standstill-of-the-machine")


if __name__ == "__main__":
    watch(sys.argv[1])
