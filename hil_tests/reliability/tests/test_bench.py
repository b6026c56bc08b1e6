"""What the service is shown of its computer, and nobody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hil_tests.demo.session import Plan
from hil_tests.reliability.bench import MEMINFO, BenchError, TestedSession, _may_show_memory

SAY = """
import sys
from shaker_ctl.service.self_watch import available_memory_b
print(available_memory_b(), flush=True)
sys.stdin.readline()
print(available_memory_b(), flush=True)
"""


@pytest.fixture
def session(tmp_path: Path) -> TestedSession:
    return TestedSession(Plan(), tmp_path)


@pytest.mark.skipif(not _may_show_memory(), reason="unshare(1) is not permitted here")
def test_memory_runs_low_for_the_service_and_for_nobody_else(session: TestedSession) -> None:
    session.show_memory(None)
    with subprocess.Popen(
        session.seen_from_inside([sys.executable, "-c", SAY]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert int(program.stdout.readline()) > 12_000 * 1024
        session.show_memory(12_000)
        program.stdin.write("\n")
        program.stdin.flush()
        assert int(program.stdout.readline()) == 12_000 * 1024
    assert "MemAvailable: 12000 kB" not in MEMINFO.read_text("utf-8")


def test_where_nobody_may_have_a_view_of_their_own_the_fault_is_not_brought_about(
    session: TestedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hil_tests.reliability.bench._may_show_memory", lambda: False)
    session.show_memory(None)
    assert session.seen_from_inside(["true"]) == ["true"]
    with pytest.raises(BenchError, match="unshare"):
        session.show_memory(12_000)
