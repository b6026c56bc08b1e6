"""The whole command line: what its help texts and remedies say can be read, and done."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import shaker_ctl
from shaker_ctl.commands.program import LISTED, loaded
from shaker_ctl.installation.places import USER
from shaker_ctl.main import program

TAG = re.compile(r"(?<!\\)\[[A-Za-z/@#]")
"""How a tag of Rich's markup begins, which is taken out of every help text."""

SOURCES = sorted(
    path
    for path in Path(shaker_ctl.__file__).parent.rglob("*")
    if path.suffix in (".py", ".md", ".toml")
    and "tests" not in path.relative_to(Path(shaker_ctl.__file__).parent).parts
)


def every_command() -> Iterator[tuple[str, Any]]:
    """Yield the words that call each command, groups included, and the command."""
    yield "shaker-ctl", typer.main.get_command(program)
    waiting = [(f"shaker-ctl {name}", loaded(name)) for name in LISTED]
    while waiting:
        words, command = waiting.pop()
        yield words, command
        children = getattr(command, "commands", {})
        waiting += [(f"{words} {name}", child) for name, child in children.items()]


def helps(command: Any) -> Iterator[str]:
    for part in (command, *command.params):
        for name in ("help", "short_help", "epilog"):
            yield getattr(part, name, None) or ""


COMMANDS = dict(every_command())


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_no_help_text_loses_a_word_as_markup(words: str) -> None:
    for text in helps(COMMANDS[words]):
        assert TAG.search(text) is None, f"{words}: write it without `[`: {text}"


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_help_fills_the_width_and_no_switch_names_a_type(words: str) -> None:
    command = COMMANDS[words]
    context = typer.Context(command)

    assert not re.search(r"\w\n\w", command.help or "")
    switches = [p for p in command.get_params(context) if getattr(p, "is_flag", False)]
    assert switches
    assert {one.display_type_rich(context) for one in switches} == {""}


def test_a_remedy_names_the_user_that_is_installed() -> None:
    named = {
        user for path in SOURCES for user in re.findall(r"sudo -u (\S+)", path.read_text("utf-8"))
    }
    assert named == {USER}


def test_the_list_says_what_each_command_says_of_itself() -> None:
    for name, line in LISTED.items():
        own = (COMMANDS[f"shaker-ctl {name}"].help or "").split("\n\n")[0]
        assert line == " ".join(own.split())


def test_help_and_version_load_no_command() -> None:
    """The whole program takes seconds to load on a Raspberry Pi."""
    code = (
        "import sys; from shaker_ctl.main import app; sys.argv = ['shaker-ctl', sys.argv[1]]\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'numpy', 'cv2', 'sqlite3', 'serial', 'shaker_ctl.settings'}\n"
        "sys.exit(' '.join(heavy & sys.modules.keys()) or None)"
    )
    for word in ("--help", "--version"):
        done = subprocess.run(
            [sys.executable, "-c", code, word], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "shaker-ctl" in done.stdout


@pytest.mark.parametrize(
    ("loaded", "without"),
    [
        ("commands.journal", "numpy cv2 pymodbus pigpio shaker_ctl.table"),
        ("commands.run, shaker_ctl.table", "numpy cv2 onnxruntime"),
    ],
)
def test_what_a_part_does_not_need_it_does_not_load(loaded: str, without: str) -> None:
    code = (
        f"import sys; import shaker_ctl.{loaded}\n"
        f"sys.exit(' '.join(set({without!r}.split()) & sys.modules.keys()) or None)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
