"""Thousands of tosses go on where they were, and the page says what is in the figures."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hil_tests.rig.plant import physics

app = typer.Typer()
app.command()(physics.main)


@pytest.fixture
def tossed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was tossed: by one machine in this process, without others."""
    done: list[str] = []

    def run(geometry: str, shake: str, tosses: int, seed: int, *_: object) -> physics.Trial:
        done.append(f"{geometry}-{shake}")
        return physics.toss_run(geometry, shake, tosses, seed)

    monkeypatch.setattr(physics, "run_trial", run)
    return done


def toss(*options: str) -> str:
    ended = CliRunner().invoke(app, [*options, "--geometry", "narrow"])
    assert ended.exit_code == 0, ended.output
    return str(ended.output)


def test_what_was_tossed_is_not_tossed_again(tossed: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    options = ("--tosses", "2", "--results", str(tmp_path), "--page", str(page))
    toss(*options)
    toss(*options, "--shake", "approved", "--shake", "faint")
    assert tossed == ["narrow-approved", "narrow-faint"]
    toss("--tosses", "3", "--results", str(tmp_path))
    assert tossed[2:] == ["narrow-approved"], "two were not enough for three"
    text = page.read_text("utf-8")
    assert "| approved | narrow | 2 |" in text
    assert "| faint | narrow | 2 |" in text
    assert "20% of the stroke | fail: too weak |" in text


def test_a_faint_shake_keeps_every_face_and_fails() -> None:
    found = physics.figures(physics.toss_run("standard", "faint", 10, 3))
    assert found["kept_share"] == 1.0
    assert not any(test["passed"] for test in found["tests"] if "next toss" in test["name"])


def test_a_page_needs_its_figures() -> None:
    ended = CliRunner().invoke(app, ["--page", "x.md"])
    assert ended.exit_code == 2
    assert "--results" in ended.output
