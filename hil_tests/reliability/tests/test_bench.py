"""What the service is shown of its computer, and nobody else."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hil_tests.processes import Program, TrialError
from hil_tests.reliability import bench
from hil_tests.reliability.bench import Bench, trial_session
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.table_under_test.world import MEMINFO, World, _may_show_memory

SAY = """
import sys
from shaker_ctl.service.self_watch import available_memory_b
print(available_memory_b(), flush=True)
sys.stdin.readline()
print(available_memory_b(), flush=True)
"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return trial_session(Plan(), tmp_path)


@pytest.mark.skipif(not _may_show_memory(), reason="unshare(1) is not permitted here")
def test_memory_runs_low_for_the_service_and_for_nobody_else(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.show_memory(None)
    with subprocess.Popen(
        world.seen_from_inside([sys.executable, "-c", SAY]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert int(program.stdout.readline()) > 12_000 * 1024
        world.show_memory(12_000)
        program.stdin.write("\n")
        program.stdin.flush()
        assert int(program.stdout.readline()) == 12_000 * 1024
    assert "MemAvailable: 12000 kB" not in MEMINFO.read_text("utf-8")


def test_where_nobody_may_have_a_view_of_their_own_the_fault_is_not_brought_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    monkeypatch.setattr("hil_tests.table_under_test.world._may_show_memory", lambda: False)
    world.show_memory(None)
    assert world.seen_from_inside(["true"]) == ["true"]
    with pytest.raises(TrialError, match="unshare"):
        world.show_memory(12_000)


class Obeyed(Bench):
    """A bench whose table obeys; what was said to it is looked at."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.said: list[str] = []

    def act(self, role: str, line: str) -> bool:
        self.said.append(f"{role}: {line}")
        return True


def out_of_service(*faults: str) -> dict[str, object]:
    return {"life": "out of service", "faults": list(faults), "pending": None, "round": 7}


def test_a_technician_tests_the_lamps_before_a_lamp_fault_is_cleared(
    session: Session,
) -> None:
    bench = Obeyed(session)
    for _ in range(2):
        for faults in (["lamp-readback"], ["lamp-readback"], []):
            bench.mend_step(out_of_service(*faults))
    once = ["lamp test", "fault clear lamp-readback", "return-to-service"]
    assert bench.said == [f"technician: {line}" for line in [*once, *once]]


def test_other_faults_are_cleared_at_once(session: Session) -> None:
    bench = Obeyed(session)
    bench.mend_step(out_of_service("motor-stall"))
    assert bench.said == ["technician: fault clear motor-stall"]


def test_a_table_that_paces_itself_is_settled_only_where_that_is_done_by_hand(
    session: Session,
) -> None:
    bench = Obeyed(session)
    status = {"pending": {"kind": "settled"}, "round": 7, "phase": "paying"}
    assert not bench.serve(status)
    assert bench.serve({**status, "phase": "settling by hand"})
    assert bench.said == ["dealer: settled 7"]


def test_a_round_waits_for_a_camera_that_is_coming_back(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = ["camera-silent: it gives no frames; check its cable", "starting", "ready", "never"]

    def look(folder: Path) -> dict[str, dict[str, str]]:
        return {"camera": {"state": states.pop(0)}}

    monkeypatch.setattr(bench, "read_status", look)
    Obeyed(session).await_sight()
    assert states == ["never"]


def test_what_a_killed_service_has_started_does_not_outlive_it(session: Session) -> None:
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
