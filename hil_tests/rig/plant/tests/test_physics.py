"""Thousands of tosses go on where they were, and the page says what is in the figures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hil_tests.rig.plant import physics


class Here(ThreadPoolExecutor):
    """In place of processes: the one test's own."""

    def __init__(self, jobs: int, mp_context: object) -> None:
        super().__init__(1)


app = typer.Typer()
app.command()(physics.main)


def toss(folder: Path, *options: str) -> str:
    """Toss in this process, without others; return the page."""
    common = ("--geometry", "narrow", "--results", str(folder))
    ended = CliRunner().invoke(app, [*common, *options])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_what_was_tossed_is_not_tossed_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(physics, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(physics, "CHUNK", 2)
    text = toss(tmp_path, "--tosses", "4")
    assert "| approved | narrow | 4 |" in text
    approved = physics.Machines(tmp_path, "narrow", "approved", seed=1)
    file = tmp_path / "narrow-approved-seed-1.jsonl"
    first, second = file.read_text().splitlines(keepends=True)
    file.write_text(first + second[:100])  # killed while it wrote
    assert approved.missing(4) == [(1, 2)]
    assert toss(tmp_path, "--tosses", "4") == text
    assert file.read_text() == first + second[:100] + "\n" + second
    text = toss(tmp_path, "--tosses", "3", "--shake", "faint")
    assert "| approved | narrow | 4 |" in text
    assert "| faint | narrow | 3 |" in text
    assert "20% of the stroke | fail: too weak |" in text
    assert approved.missing(7) == [(2, 2), (3, 1)]


def test_a_faint_shake_keeps_every_face_and_fails() -> None:
    trial = physics.toss_run("standard", "faint", 10, 3)
    assert physics.retention(trial) == (27, 27)
    tests = {test.name: test.passed for test in physics.findings(trial)}
    assert [passed for name, passed in tests.items() if "next toss" in name] == [False] * 3
    assert not tests["faces kept from toss to toss"]
