"""The demonstration says in one line why it does not play, and what to do."""

import sys

import pytest

from hil_tests.demo import command
from shaker_ctl.commands.program import program
from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.installation import real_table


@pytest.fixture(autouse=True)
def no_real_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_table, "mark", lambda: None)


def test_without_the_rig_the_line_names_its_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hil_tests.demo.command", None)
    with pytest.raises(SettingsError, match="not installed") as refused:
        program(["demo", "--rounds", "1"], standalone_mode=False)
    assert "pip install shaker_rig" in refused.value.remedy


def test_a_rig_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "version", lambda name: "7.7")
    with pytest.raises(SettingsError, match=r"is of version 7\.7"):
        program(["demo", "--rounds", "1"], standalone_mode=False)


@pytest.mark.parametrize(
    ("profile", "since"), [("pa-625b", "2026-08-04"), ("pa-539", "2012-04-03")]
)
def test_an_expired_text_does_not_open_and_says_since_when(profile: str, since: str) -> None:
    with pytest.raises(RefusedError, match=f"not in force since the end of {since}") as refused:
        command._refuse_out_of_force(profile)
    assert "--as-demonstration" in refused.value.line()


@pytest.mark.parametrize("profile", ["pa-625a", "ma", "md", "house-auto"])
def test_a_text_in_force_or_undated_needs_no_flag(profile: str) -> None:
    command._refuse_out_of_force(profile)
