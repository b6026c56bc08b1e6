"""`shaker-ctl status`: where the table goes, or will not answer, a person is told so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.main import program
from shaker_ctl.tests.test_screen import view


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = SimpleNamespace(service=SimpleNamespace(runtime_dir=tmp_path))
    monkeypatch.setattr("shaker_ctl.commands.status.settings.load", lambda _config: found)
    return tmp_path


def shows(monkeypatch: pytest.MonkeyPatch, *views: dict[str, Any]) -> None:
    """A table that shows these views and then goes."""

    def follow(_folder: Path, _rate_hz: float) -> Iterator[dict[str, Any]]:
        yield from views

    monkeypatch.setattr("shaker_ctl.commands.status.follow_status", follow)


def run(*words: str) -> Result:
    return CliRunner().invoke(program, ["status", *words])


def test_followed_as_json_each_view_is_a_line_and_the_end_is_told(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shows(monkeypatch, {"life": "open"}, {"life": "closed"})
    done = run("--follow", "--json")
    assert [json.loads(line)["life"] for line in done.stdout.splitlines()] == ["open", "closed"]
    assert isinstance(done.exception, ShakerError)
    assert f"the table at {table} has gone" in done.exception.line()


def test_a_live_screen_ends_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    shows(monkeypatch, view(rounds=[]))
    monkeypatch.setattr("shaker_ctl.commands.status.screen", Console(force_terminal=True))
    done = run("--follow")
    assert done.stdout.endswith("\x1b[?1049l")  # the person's own screen is back
    assert isinstance(done.exception, ShakerError)
    assert "has gone" in done.exception.line()


def test_off_a_terminal_no_live_screen_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    shows(monkeypatch, {"life": "open"})
    done = run("--follow")
    assert done.stdout == ""
    assert isinstance(done.exception, RefusedError)
    assert "--json" in done.exception.line()


@pytest.mark.parametrize("words", [(), ("--follow", "--json")])
def test_where_no_table_runs_it_is_told_with_its_remedy(table: Path, words: list[str]) -> None:
    done = run(*words)
    assert isinstance(done.exception, ShakerError)
    assert f"no table answers at {table}: No such file" in done.exception.line()
    assert "systemctl" in done.exception.line()


def test_what_is_wrong_with_the_output_is_not_laid_on_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_text: str) -> None:
        raise BrokenPipeError

    shows(monkeypatch, {"life": "open"})
    monkeypatch.setattr("shaker_ctl.commands.status.typer.echo", broken)
    assert isinstance(run("--follow", "--json").exception, BrokenPipeError | SystemExit)
