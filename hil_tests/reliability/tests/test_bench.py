"""What the service is shown of its computer, and nobody else."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hil_tests.processes import Program
from hil_tests.reliability import bench
from hil_tests.reliability.bench import Bench
from hil_tests.reliability.tested_session import (
    MEMINFO,
    TestedSession,
    TrialError,
    _may_show_memory,
)
from hil_tests.table_under_test.session import Plan

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
    monkeypatch.setattr("hil_tests.reliability.tested_session._may_show_memory", lambda: False)
    session.show_memory(None)
    assert session.seen_from_inside(["true"]) == ["true"]
    with pytest.raises(TrialError, match="unshare"):
        session.show_memory(12_000)


class Obeyed(Bench):
    """A bench whose table obeys; what was said to it is looked at."""

    def __init__(self, session: TestedSession) -> None:
        super().__init__(session)
        self.said: list[str] = []

    def act(self, role: str, line: str) -> bool:
        self.said.append(f"{role}: {line}")
        return True


def out_of_service(*faults: str) -> dict[str, object]:
    return {"life": "out of service", "faults": list(faults), "pending": None, "round": 7}


def test_a_technician_tests_the_lamps_before_a_lamp_fault_is_cleared(
    session: TestedSession,
) -> None:
    bench = Obeyed(session)
    for _ in range(2):
        for faults in (["lamp-readback"], ["lamp-readback"], []):
            bench.mend_step(out_of_service(*faults))
    once = ["lamp test", "fault clear lamp-readback", "return-to-service"]
    assert bench.said == [f"technician: {line}" for line in [*once, *once]]


def test_other_faults_are_cleared_at_once(session: TestedSession) -> None:
    bench = Obeyed(session)
    bench.mend_step(out_of_service("motor-stall"))
    assert bench.said == ["technician: fault clear motor-stall"]


def test_a_table_that_paces_itself_is_settled_only_where_that_is_done_by_hand(
    session: TestedSession,
) -> None:
    bench = Obeyed(session)
    status = {"pending": {"kind": "settled"}, "round": 7, "phase": "paying"}
    assert not bench.serve(status)
    assert bench.serve({**status, "phase": "settling by hand"})
    assert bench.said == ["dealer: settled 7"]


def test_a_round_waits_for_a_camera_that_is_coming_back(
    session: TestedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = ["camera-silent: it gives no frames; check its cable", "starting", "ready", "never"]

    def look(folder: Path) -> dict[str, dict[str, str]]:
        return {"camera": {"state": states.pop(0)}}

    monkeypatch.setattr(bench, "read_status", look)
    Obeyed(session).await_sight()
    assert states == ["never"]


def test_what_a_killed_service_has_started_does_not_outlive_it(session: TestedSession) -> None:
    command = ["sh", "-c", "sleep 60 & echo READY; wait"]
    service = Program("the service", command, session.folder / "service.log", ends_its_own=True)
    service.start()
    service.wait_for("READY")
    session._service = service
    (child,) = session.children()
    session.kill_service()
    until_s = time.monotonic() + 5.0
    program = Path(f"/proc/{child}/exe")  # which a process that has ended no longer has
    while program.exists() and time.monotonic() < until_s:
        time.sleep(0.01)
    assert not program.exists()
    assert session.children() == []
    session.kill_service()
