"""`python -m hil_tests.proofs.clause_pages`: one page a rule text, from clause to row and test.

Owns the pages beside `shaker_ctl/rules/clauses/*.toml`, and the search for what they name: values
of the profile by their citation, rows by the key that they cite, tests by their name in the tree.
"""

from __future__ import annotations

import ast
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import shaker_ctl
from hil_tests.proofs.rows_of import APPROVAL, rows_of
from shaker_ctl.commands.rules import cited as values
from shaker_ctl.rules import clauses as known
from shaker_ctl.rules import profile_files
from shaker_ctl.rules.clauses import TEXTS, Clause, Kept
from shaker_ctl.rules.clauses.words import numbers
from shaker_ctl.rules.machine import ROWS

PAGES = Path(known.__file__).parent
TREE = Path(shaker_ctl.__file__).parents[1]


@cache
def tests() -> dict[str, tuple[str, ...]]:
    """Return each test's files by its name, with `/` between folders, from the root of the tree."""
    found: dict[str, tuple[str, ...]] = {}
    for top in ("shaker_ctl", "hil_tests"):
        for path in sorted((TREE / top).rglob("test_*.py")):
            where = path.relative_to(TREE).as_posix()
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    found[node.name] = (*found.get(node.name, ()), where)
    return found


def citations(text: str) -> Iterator[tuple[str, str]]:
    """Yield (key, citation) for every value, odds line and range of a text's profile."""
    profile = profile_files.load(text)
    for key, value in values(profile):
        yield key, value.clause
    for letter, lines in profile.payout.tables.items():
        for name, line in lines.items():
            yield f"payout.tables.{letter}.{name}", line.clause
    for name, span in profile.multipliers.ranges.items():
        yield f"multipliers.ranges.{name}", span.clause


def keys(text: str) -> dict[str, list[str]]:
    """Return the profile keys that rest on each clause, or on a section where no clause speaks."""
    names = known.clauses(text)
    found: dict[str, list[str]] = {name: [] for name in names}
    for key, citation in citations(text):
        for name in known.cited(citation, names):
            found.setdefault(name, []).append(key)
    return found


def page(text: str) -> str:
    """Return the page of a text."""
    profile, resting = profile_files.load(text), keys(text)
    rows = _rows(text)
    lines = [
        f"# {profile.title}: from clause to row and test",
        "",
        f"{profile.instrument}. Every clause of the text, in its order.",
        f"Made by `python -m hil_tests.proofs.clause_pages` from `{text}.toml`, profile and rows.",
        "Duties are told in our words; `shaker-ctl rules show --text CLAUSE` prints the text.",
        "Rows are those that a table with this profile takes, whatever the house chooses.",
        "Enforced means: the table does it itself, or refuses everything else. It prints no odds",
        "but those of the text; that they are paid is the dealer's.",
        "",
        _counts(text),
        "",
        "| clause | duty | who | verdict | profile key | rows | tests |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, clause in known.clauses(text).items():
        lines.append(_line(name, clause, resting[name], rows))
    lines += ["", "## Rows that the device's own duties ask for", ""]
    of_profile = {key for key, _ in values(profile)}
    lines += [
        f"- {cites}: " + "; ".join(names)
        for cites, names in rows.items()
        if cites not in of_profile
    ]
    return "\n".join(lines) + "\n"


def _rows(text: str) -> dict[str, list[str]]:
    """Return the rows that tables of a text take, by what they cite; marked if by approval only."""
    plain, approved = rows_of(text), rows_of(text, APPROVAL)
    found: dict[str, list[str]] = {}
    for row in ROWS:
        if row in plain or row in approved:
            mark = "" if row in plain else " (by approval)"
            for key in row.may_cite:
                found.setdefault(key, []).append(row.name + mark)
    return found


def _counts(text: str) -> str:
    told = [clause.verdict for clause in known.clauses(text).values()]
    parts = [f"{told.count(kept)} {kept.words}" for kept in Kept]
    return f"{len(told)} clauses: {', '.join(parts)}."


def _line(name: str, clause: Clause, resting: list[str], rows: dict[str, list[str]]) -> str:
    plain = [
        key for key in resting if not key.startswith(("payout.tables.", "multipliers.ranges."))
    ]
    tables = sorted({key.rpartition(".")[0] for key in resting if key not in plain})
    taken = [row for key in plain for row in rows.get(key, ())]
    cells = (
        name,
        clause.duty,
        clause.who,
        clause.verdict.words,
        _cell(f"`{key}`" for key in (*plain, *tables)),
        _cell(taken),
        _cell(f"`{where}` {test}" for test in clause.tests for where in tests().get(test, ("?",))),
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _cell(items: Iterable[str]) -> str:
    return "<br>".join(dict.fromkeys(items))


def missing(text: str, folder: Path) -> list[str]:
    """Return the clauses of a text, found in any file of `folder`, that its page does not list.

    Raises ValueError where no file there holds the text.
    """
    listed = known.clauses(text)
    files = [numbers(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.txt"))]
    held = max(files, key=lambda found: len(set(found) & set(listed)), default=[])
    if not set(held) & set(listed):
        raise ValueError(f"no file in {folder} holds the text of {text}")
    return [name for name in held if name not in listed]


def main() -> int:
    parser = ArgumentParser(description="Write one page a rule text: clause, row and test.")
    parser.add_argument(
        "--texts", type=Path, help="compare the pages with the rule texts in this folder instead"
    )
    folder = parser.parse_args().texts
    if folder is None:
        for text in TEXTS:
            (PAGES / f"{text}.md").write_text(page(text), encoding="utf-8")
        return 0
    wanting = {text: missing(text, folder) for text in TEXTS}
    for text, names in wanting.items():
        told = ", ".join(names) or "none"
        sys.stdout.write(f"{text}: {len(known.clauses(text))} clauses, missing: {told}\n")
    return 1 if any(wanting.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
