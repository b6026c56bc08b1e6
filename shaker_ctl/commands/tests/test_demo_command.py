"""A table without the rig, or with another version of it, says in one line what to install."""

from __future__ import annotations

import importlib.util

import pytest
from typer.testing import CliRunner

from shaker_ctl.commands import demo
from shaker_ctl.commands.program import program
from shaker_ctl.errors import SettingsError
from shaker_ctl.installation import real_table


@pytest.fixture(autouse=True)
def no_real_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_table, "mark", lambda: None)


def refused() -> SettingsError:
    result = CliRunner().invoke(program, ["demo", "--rounds", "1"])
    assert isinstance(result.exception, SettingsError)
    return result.exception


def test_without_the_rig_the_line_names_its_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "hil_tests" else there(name)
    )
    error = refused()
    assert "not installed" in str(error)
    assert "pip install shaker_rig" in error.remedy


def test_a_rig_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "version", lambda name: "7.7")
    assert "is of version 7.7" in str(refused())
