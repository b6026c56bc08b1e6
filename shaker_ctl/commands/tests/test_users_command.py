"""`shaker-ctl console users`, `add-user`, `remove-user`: who may log in, and as what."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.commands.console import app
from shaker_ctl.console import accounts
from shaker_ctl.console.tests.support import PASSPHRASE
from shaker_ctl.errors import SettingsError
from shaker_ctl.rules.vocabulary import Role


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users.toml"
    accounts.add(file, "ann", Role.DEALER, PASSPHRASE)
    accounts.add(file, "tom", Role.TECHNICIAN, PASSPHRASE)
    return file


def run(users: Path, *words: str, typed: str = "") -> str:
    done = CliRunner().invoke(
        app, [*words, "--users", str(users)], input=typed, catch_exceptions=False
    )
    assert done.exit_code == 0
    return done.output


def test_everybody_is_listed_with_every_role(users: Path) -> None:
    accounts.add(users, "ann", Role.FLOORPERSON, PASSPHRASE)
    lines = [line.split() for line in run(users, "users").splitlines()]
    assert ["ann", "dealer,", "floorperson"] in lines
    assert ["tom", "technician"] in lines


def test_a_second_role_is_said_when_it_is_given(users: Path) -> None:
    said = run(users, "add-user", "ann", "floorperson", typed=f"{PASSPHRASE}\n{PASSPHRASE}\n")
    assert "ann is also dealer" in said


def test_one_role_goes_and_the_others_stay(users: Path) -> None:
    accounts.add(users, "ann", Role.FLOORPERSON, PASSPHRASE)
    run(users, "remove-user", "ann", "dealer")
    left = {(each.name, each.role) for each in accounts.load(users)}
    assert left == {("ann", Role.FLOORPERSON), ("tom", Role.TECHNICIAN)}


def test_a_person_goes_with_every_role(users: Path) -> None:
    accounts.add(users, "ann", Role.FLOORPERSON, PASSPHRASE)
    assert "dealer, floorperson" in run(users, "remove-user", "ann")
    assert {each.name for each in accounts.load(users)} == {"tom"}


@pytest.mark.parametrize("words", [("bob",), ("ann", "technician"), ("ann", "king")])
def test_who_is_not_there_is_named_and_nobody_goes(users: Path, words: tuple[str, ...]) -> None:
    before = users.read_bytes()
    with pytest.raises(SettingsError) as caught:
        run(users, "remove-user", *words)
    assert words[-1] in str(caught.value)
    assert caught.value.remedy
    assert users.read_bytes() == before
