"""What may only fall: lines, words, and in how many ways the tree does one thing.

`[tool.budget]` in pyproject.toml holds the numbers. Whoever takes something away lowers its number.
Whoever raises one writes a decision record that says why the tree needs it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "pyproject.toml"
FOLDERS = ("shaker_ctl", "vision", "models", "hil_tests", "systemd")

pytestmark = pytest.mark.skipif(not PROJECT.exists(), reason="an installed package has no budget")


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "/tests/" in path or name.startswith("test_") or name == "conftest.py"


def lines_and_words(files: Mapping[str, str]) -> dict[str, int]:
    """Return the lines of each folder without its tests, of the rules' rows, of all tests, and the
    words of pages."""
    found = dict.fromkeys((*FOLDERS, "rows", "tests", "words"), 0)
    for path, text in files.items():
        if path.endswith(".md"):
            found["words"] += len(text.split())
        elif path.endswith(".rows"):
            found["rows"] += text.count("\n")
        elif path.endswith(".py"):
            found["tests" if is_test(path) else path.partition("/")[0]] += text.count("\n")
    return found


def ways(files: Mapping[str, str], idea: Mapping[str, Any]) -> int:
    """Return how often one idea stands outside tests: each match, or the files that have one."""
    own = [
        text
        for path, text in files.items()
        if not is_test(path)
        and not path.endswith((".md", ".rows"))
        and re.match(idea.get("within", ""), path)
    ]
    if "files" in idea:
        return sum(bool(re.search(idea["files"], text)) for text in own)
    return sum(len(re.findall(idea["each"], text, re.MULTILINE)) for text in own)


def above(files: Mapping[str, str], budget: Mapping[str, Any]) -> list[str]:
    """Name what is above its number."""
    sizes = lines_and_words(files)
    over = {name: sizes[name] - most for name, most in budget["most"].items() if sizes[name] > most}
    if sum(more for name, more in over.items() if name != "words") <= budget["margin"]:
        over = {name: more for name, more in over.items() if name == "words"}
    counts = {name: (ways(files, idea), idea["most"]) for name, idea in budget["ways"].items()}
    return [
        *(f"{name}: {more} more than pyproject.toml allows" for name, more in over.items()),
        *(f"{name}: {now}, allowed {most}" for name, (now, most) in counts.items() if now > most),
    ]


@pytest.fixture(scope="module")
def budget() -> dict[str, Any]:
    return tomllib.loads(PROJECT.read_text("utf-8"))["tool"]["budget"]


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    paths = [*ROOT.glob("*.md"), ROOT / "systemd" / "debian" / "rules"]
    for folder in FOLDERS:
        paths += [
            path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".rows")
        ]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def test_the_tree_keeps_to_its_budget(files, budget) -> None:
    assert above(files, budget) == []


def test_a_number_falls_with_what_it_counts(files, budget) -> None:
    """A pattern that matches nothing any more, or a number far above, would hold nothing."""
    ideas = budget["ways"].items()
    assert {name for name, idea in ideas if ways(files, idea) < idea["most"]} == set(), "lower them"
    sizes = lines_and_words(files)
    most = budget["most"].items()
    assert {name for name, many in most if many > sizes[name] + 2000} == set(), "lower them"


@pytest.fixture(scope="module")
def exact(files, budget) -> dict[str, Any]:
    """A budget that allows what there is."""
    ideas = {name: {**idea, "most": ways(files, idea)} for name, idea in budget["ways"].items()}
    return {"margin": 100, "most": lines_and_words(files), "ways": ideas}


@pytest.mark.parametrize(
    ("added", "named"),
    [
        ("head = chain_hash(head, body)", "functions that step along the chain"),
        ("class SecondTable(TableUnderTest):", "classes that open a table"),
        ("class KeptTrials:", "keepers of a campaign's results"),
        ("db.execute('CREATE TABLE round (number INTEGER)')", "files with an SQL schema"),
        ("SAYS: dict[Phase, str] = {", "tables by phase"),
        ("x = 1\n" * 200, "hil_tests"),
    ],
)
def test_one_more_of_something_is_noticed(added, named, files, exact) -> None:
    (said,) = above({**files, "hil_tests/second.py": added}, exact)
    assert said.startswith(f"{named}: ")
