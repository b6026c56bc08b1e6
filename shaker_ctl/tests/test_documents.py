"""Pages that list what lies beside them leave nothing out, and call it as it calls itself."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import shaker_ctl

PACKAGE = Path(shaker_ctl.__file__).parent
ROOT = PACKAGE.parent
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
in_the_tree = pytest.mark.skipif(
    not CONTRIBUTING.exists(), reason="an installed package has not every page"
)


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


@in_the_tree
def test_the_map_leads_to_every_folder() -> None:
    page = CONTRIBUTING.read_text("utf-8")
    map_of_folders = page.split("## Find your way")[1].split("\n## ")[0]
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")} | {"decisions"}
    assert {name for name in folders - {"tests"} if f"{name}/`" not in map_of_folders} == set()


def anchors(page: str) -> set[str]:
    """What a link may name on a page: its headings, as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    plain = (re.sub(r"\]\(.*?\)", "", heading).lower() for heading in headings)
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain}


@in_the_tree
def test_links_between_pages_lead_somewhere() -> None:
    folders = ("shaker_ctl", "vision", "models", "hil_tests", "systemd")
    pages = [
        *ROOT.glob("*.md"),
        *(page for name in folders for page in (ROOT / name).rglob("*.md")),
    ]
    dead = []
    for page in pages:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
        for path, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", prose):
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
                dead.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    assert dead == []


def sets_in(cell: str) -> Iterator[tuple[str, int]]:
    """The renderer and the seed of each set that a cell of `sets.csv` names."""
    for part in cell.split(";"):
        renderer = next((word for word in ("path-traced", "fast") if word in part), "rig")
        for first, last in re.findall(r"(\d{4,})(?:–(\d+))?", part):
            for seed in range(int(first), int(last or first) + 1):
                yield renderer, seed


@in_the_tree
def test_no_set_of_pictures_is_called_untouched_that_is_listed_as_used() -> None:
    uses = defaultdict(list)
    with (ROOT / "models" / "sets.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for each in sets_in(row["sets"]):
                uses[each].append(row["use"])
    assert len(uses["rig", 28301]) > 1
    assert [
        each for each, said in uses.items() if len(said) > 1 and "nothing chosen" in "".join(said)
    ] == []
