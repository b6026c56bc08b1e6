"""What the service is shown of its computer, and nobody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hil_tests.processes import TrialError
from hil_tests.table_under_test.world import MEMINFO, World, _may_show_memory

SAY = """
import sys
from shaker_ctl.service.self_watch import available_memory_b
print(available_memory_b(), flush=True)
sys.stdin.readline()
print(available_memory_b(), flush=True)
"""


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
