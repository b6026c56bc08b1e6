"""One version: of the product, of its rig, of the newest entry in the changelog, and of a tag."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import shaker_ctl.commands.program
import shaker_ctl.floor.main

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "hil_tests" / "pyproject.toml").exists(), reason="needs the source tree"
)


def _version(folder: Path) -> str:
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def test_product_rig_and_changelog_have_one_version() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert _version(ROOT) == _version(ROOT / "hil_tests") == newest[1]


@pytest.mark.parametrize(
    "program",
    [shaker_ctl.commands.program.program, shaker_ctl.floor.main.program],
)
def test_each_program_names_its_version(program: typer.Typer) -> None:
    told = CliRunner().invoke(program, ["--version"], prog_name="shaker")
    assert told.exit_code == 0
    assert told.output.split()[-1] == _version(ROOT)


def test_a_tag_of_this_commit_names_this_version() -> None:
    asked = subprocess.run(
        ["git", "-C", ROOT, "tag", "--points-at", "HEAD", "--list", "v*"],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode or not asked.stdout.split():
        pytest.skip("no tag names this commit")
    assert asked.stdout.split() == [f"v{_version(ROOT)}"]
