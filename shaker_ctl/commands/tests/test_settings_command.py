"""`shaker-ctl settings check`: what it calls right, a table starts with."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.commands.settings import app
from shaker_ctl.errors import SettingsError

RUNNER = CliRunner()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def check(file: Path, text: str) -> str:
    file.write_text(text, encoding="utf-8")
    found = RUNNER.invoke(app, ["check", str(file)], catch_exceptions=False)
    assert found.exit_code == 0
    return found.output


@pytest.mark.parametrize("name", ["[red]x[/blue]", "[/x]", ":dice:", "back\\\\"])
def test_a_tables_name_is_printed_as_it_is(tmp_path: Path, name: str) -> None:
    file = tmp_path / "[bold]settings[x].toml"
    output = check(file, f'[service]\ntable_name = "{name}"\n')
    assert name in output
    assert str(file) in output


def run(*words: str) -> str:
    done = RUNNER.invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("purpose", ["pi", "rig"])
def test_a_new_file_is_one_that_a_table_starts_with(file: Path, purpose: str) -> None:
    run("new", str(file), "--for", purpose)
    assert "ok" in run("check", str(file))


@pytest.mark.parametrize("command", ["show", "check"])
def test_the_file_is_named_alone_or_as_an_option(file: Path, command: str) -> None:
    file.write_text("[service]\ntable_name = 'Pit 3'\n")
    alone = run(command, str(file))
    assert "Pit 3" in alone
    assert run(command, "--config", str(file)) == alone
    assert run(command, str(file), "--config", str(file)) == alone


def test_show_names_what_differs_from_the_defaults(file: Path) -> None:
    file.write_text("[lamp]\nbaudrate = 19200\n")
    shown = run("show", "--config", str(file))
    assert ["lamp.baudrate", "19200", "115200"] in [line.split() for line in shown.splitlines()]
    assert "1 key differs" in shown
    assert "camera.device" not in shown
    assert "camera.device" in run("show", "--config", str(file), "--all")


def test_the_reference_of_one_section_is_short_and_another_is_named(file: Path) -> None:
    shown = run("reference", "lamp", "--plain")
    assert "[lamp]" in shown
    assert "[camera]" not in shown
    with pytest.raises(SettingsError) as caught:
        run("reference", "lamb")
    assert "camera.calibration" in str(caught.value.remedy)
