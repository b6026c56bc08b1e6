"""Pages that list what lies beside them leave nothing out, and call it as it calls itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import shaker_ctl

PACKAGE = Path(shaker_ctl.__file__).parent
CONTRIBUTING = PACKAGE.parent / "CONTRIBUTING.md"


def test_each_decision_is_listed_under_its_own_title() -> None:
    page = (PACKAGE / "decisions" / "README.md").read_text("utf-8")
    listed = dict(re.findall(r"\| \[\d+\]\((.+?)\) \| (.+?) \|", page))
    titles = {}
    for file in (PACKAGE / "decisions").glob("0*.md"):
        number, _, title = file.read_text("utf-8").splitlines()[0].removeprefix("# ").partition(" ")
        assert file.name.startswith(number)
        titles[file.name] = title
    assert listed == titles


@pytest.mark.parametrize("folder", ["console", "rules", "seal"])
def test_a_page_of_modules_names_every_one(folder: str) -> None:
    page = (PACKAGE / folder / "README.md").read_text("utf-8")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    modules = {file.name for file in (PACKAGE / folder).glob("*.py")} - {"__init__.py"}
    assert {name for name in modules if f"`{name}`" not in rows} == set()


@pytest.mark.skipif(not CONTRIBUTING.exists(), reason="an installed package has no map")
def test_the_map_leads_to_every_folder() -> None:
    page = CONTRIBUTING.read_text("utf-8")
    map_of_folders = page.split("## Find your way")[1].split("\n## ")[0]
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")} | {"decisions"}
    assert {name for name in folders - {"tests"} if f"{name}/`" not in map_of_folders} == set()
