"""The demonstration plays a table from inspection to report, on real parts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.rig, pytest.mark.timeout(240)]

FIELDS = {
    *("round", "profile", "truth", "read", "verdict", "reason", "wagers", "lamps"),
    *("t_toss", "t_rest", "t_verified", "t_lit"),
}


def play(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-c", "from shaker_ctl.main import app; app()"),
            *("demo", "--pace", "brisk", "--report", str(folder), *options),
        ],
        capture_output=True,
        text=True,
        timeout=220,
        check=False,
    )


def test_a_table_opens_plays_and_reports_without_a_difference(tmp_path: Path) -> None:
    done = play(tmp_path, "--rounds", "3", "--seed", "21")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fay: sign" in done.stdout
    rounds = [json.loads(line) for line in (tmp_path / "rounds.jsonl").read_text().splitlines()]
    assert [r["round"] for r in rounds] == [1, 2, 3]
    for played in rounds:
        assert set(played) >= FIELDS
        assert played["verdict"] in ("verified", "entered", "no_roll", "void", "settled_by_hand")
        if played["verdict"] == "verified":
            assert sorted(played["read"]) == sorted(d["value"] for d in played["truth"])
            assert played["t_toss"] < played["t_rest"] < played["t_verified"] < played["t_lit"]
            assert (tmp_path / played["picture"]).stat().st_size > 1000
    assert any(played["verdict"] == "verified" for played in rounds)
