"""pytest's side of the report: measurements shown while running and kept; JUnit XML and HTML.

Owns what is kept of each test and where it is written. Must not know rigs: whoever has evidence
attaches it.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Generator
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from _pytest.junitxml import xml_key  # pytest's own file, which it writes at the end alone

from hil_tests.report import files
from hil_tests.report.measurement import Measurement
from hil_tests.report.record import TestRecord

WHOLE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
"""Ends of a run in which every test was run."""


def title_of(item: pytest.Item) -> str:
    """The promise that a test's name makes, as a sentence."""
    name, bracket, case = item.name.partition("[")
    words = name.removeprefix("test_").replace("_", " ")
    return words[:1].upper() + words[1:] + (f" ({case.rstrip(']')})" if bracket else "")


class ReportPlugin:
    """One for a run. `folder` None keeps nothing but still shows and judges."""

    def __init__(
        self, config: pytest.Config, rig_name: str, folder: Path | None, about: dict[str, str]
    ) -> None:
        """`about`: what stands above the report, by name."""
        self._config = config
        self._rig_name = rig_name
        self._about = about
        self.folder = folder
        self._began = datetime.now().astimezone()
        self._began_s = time.monotonic()
        self._records: dict[str, TestRecord] = {}

    def record_of(self, item: pytest.Item) -> TestRecord:
        if item.nodeid not in self._records:
            promise = getattr(getattr(item, "obj", None), "__doc__", None) or ""
            self._records[item.nodeid] = TestRecord(
                item.nodeid, title_of(item), promise.strip(), self._tell, self.folder
            )
        return self._records[item.nodeid]

    @property
    def records(self) -> list[TestRecord]:
        return list(self._records.values())

    def _tell(self, text: str) -> None:
        if self._config.get_verbosity() < 0:
            return
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(text)

    # ── What pytest calls ───────────────────────────────────────────────────

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin anew where a test is run again: what it measured before counts for nothing."""
        if self._records.pop(item.nodeid, None) is not None:
            item.user_properties.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Fail a test whose measurements were outside their limits."""
        if "record" not in pyfuncitem.fixturenames and not pyfuncitem.get_closest_marker("rig"):
            return (yield)
        record = self.record_of(pyfuncitem)
        record.t0 = time.monotonic()
        try:
            result = yield
        finally:
            record.t1 = time.monotonic()
            for taken in record.measure.taken:
                pyfuncitem.user_properties.append((taken.name, _property(taken)))
        if outside := record.measure.verdict():
            raise AssertionError(f"outside its limits: {outside}")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep outcome and reason."""
        report = yield
        record = self._records.get(item.nodeid)
        if record is None and (report.outcome != "passed" and item.get_closest_marker("rig")):
            record = self.record_of(item)
        if record is not None and report.outcome == "passed" and call.when == "call":
            record.outcome = "passed"
        if record is not None and report.outcome != "passed":
            record.outcome = report.outcome if call.when == "call" else _at(call.when, report)
            record.reason = _reason(report, call)
            record.trace = "" if report.outcome == "skipped" else str(report.longrepr)
        return report

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """End a run that is told to end (a CI's time limit) as one that was interrupted."""

        def end(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            session.shouldstop = "ended by SIGTERM"  # a test that clears up may hide the exit
            pytest.exit("ended by SIGTERM", returncode=128 + number)

        if self.folder is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, end)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write what there is: a run that is killed outright leaves all but its last test."""
        if nodeid not in self._records:
            return
        xml = self._config.stash.get(xml_key, None)
        self._write(is_ended=False)
        if xml is not None:
            xml.pytest_sessionfinish()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write once more, with the test that was cut short."""
        was_cut = session.shouldfail or session.shouldstop  # by `-x`, for example
        self._write(is_ended=session.exitstatus in WHOLE and not was_cut)

    def _write(self, *, is_ended: bool) -> None:
        """Write what there is; `junit.xml` is pytest's own. Raises OSError."""
        if self.folder is None or not self._records:
            return
        files.write(
            self.folder,
            rig=self._rig_name,
            at=self._began.isoformat(timespec="seconds"),
            began_s=self._began_s,
            about=self._about,
            tests=[record.as_dict() for record in self.records],
            is_ended=is_ended,
        )

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.folder is not None and self._records:
            terminalreporter.write_sep("-", f"report: {self.folder / 'report.html'}")


def _property(taken: Measurement) -> str:
    verdict = "passed" if taken.passed else "failed"
    return f"{taken.value:.6g} {taken.unit} [{taken.limits}] {verdict}"


def _at(when: str, report: pytest.TestReport) -> str:
    return "skipped" if report.outcome == "skipped" else f"error in {when}"


def _reason(report: pytest.TestReport, call: pytest.CallInfo[None]) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    if call.excinfo is None:
        return ""
    return str(call.excinfo.value).split("\n", 1)[0] or call.excinfo.typename
