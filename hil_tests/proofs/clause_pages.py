"""`python -m hil_tests.proofs.clause_pages`: one page a rule text, from clause to key and test.

Owns the pages beside `shaker_ctl/rules/clauses/*.toml`, and the search for what they name: values
of the profile by their citation, and tests by their name in the tree.
Tests of the rules are found by `citations`; a clause names others itself.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

import shaker_ctl
from hil_tests.proofs.citations import PROVED
from shaker_ctl.rules import clauses as known
from shaker_ctl.rules import profile_files
from shaker_ctl.rules.clauses import TEXTS, Clause, Kept
from shaker_ctl.rules.regulation import values_of

PAGES = Path(known.__file__).parent
TREE = Path(shaker_ctl.__file__).parents[1]

ALONE = {Kept.ENFORCED: "the machine", Kept.HOUSE: "the house"}
"""Who keeps a clause of this verdict where the page names nobody."""


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
    for key, value in values_of(profile):
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


@cache
def shown_by() -> dict[str, list[str]]:
    """Return what shows each key: tests, and properties of the proof."""
    return tomllib.loads((PAGES / "shown_by.toml").read_text(encoding="utf-8"))


def kept(text: str) -> dict[str, Clause]:
    """Return each clause with the tests that it names and those that show its keys."""
    resting = keys(text)
    found = {}
    for name, clause in known.clauses(text).items():
        shown = {each for key in resting[name] for each in shown_by().get(key, ())}
        those = (*clause.tests, *sorted(each for each in shown if not each.startswith(PROVED)))
        proof = (THE_PROOF,) if any(each.startswith(PROVED) for each in shown) else ()
        is_kept = clause.verdict in (Kept.ENFORCED, Kept.PERSON)
        tests = tuple(dict.fromkeys((*those, *proof))) if is_kept else ()
        found[name] = clause.model_copy(update={"tests": tests})
    return found


THE_PROOF = "`hil_tests.proofs`"


def page(text: str) -> str:
    """Return the page of a text."""
    profile, resting, told = profile_files.load(text), keys(text), kept(text)
    return "\n".join(
        (
            f"# {profile.title}: from clause to row and test",
            "",
            f"{profile.instrument}. `make pages` makes this page;",
            "[how to read it](../README.md#from-clause-to-row-and-test).",
            "",
            _counts(told.values()),
            "",
            *(_line(run, told[run[0]], resting) for run in runs(told, resting)),
            "",
        )
    )


def runs(told: Mapping[str, Clause], resting: Mapping[str, list[str]]) -> list[list[str]]:
    """Return the clauses in their order, those together that stand in one line."""

    def alike(name: str) -> object:
        clause = told[name]
        match clause.verdict:
            case Kept.NOT_APPLICABLE:
                return clause.verdict
            case Kept.HOUSE:
                return clause.verdict, clause.who
        return clause.verdict, clause.who, clause.tests, tuple(_shown(resting[name]))

    return [list(run) for _, run in groupby(told, alike)]


def _counts(told: Collection[Clause]) -> str:
    verdicts = [clause.verdict for clause in told]
    parts = [f"{verdicts.count(kept)} {kept.value}" for kept in Kept if kept in verdicts]
    return f"{len(told)} clauses: {', '.join(parts)}."


def _line(run: list[str], first: Clause, resting: Mapping[str, list[str]]) -> str:
    """Return the line of one clause, or of several that are kept alike."""
    name = run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"
    duty = first.duty + (" …" if len(run) > 1 else "")
    shown = (*_shown(key for name in run for key in resting[name]), *_ids(first.tests))
    return f"- **{name}** {_cell((f'{duty} (*{_kept(first)}*)', *shown))}"


def _kept(clause: Clause) -> str:
    verdict = clause.verdict
    if verdict is Kept.NOT_APPLICABLE or clause.who == ALONE.get(verdict):
        return verdict.value
    return f"{verdict.value}: {clause.who}"


def _shown(found: Iterable[str]) -> list[str]:
    """Return profile keys as a page shows them: of odds and ranges their table, once."""
    tables = ("payout.tables.", "multipliers.ranges.")
    plain = sorted(found, key=lambda key: key.startswith(tables))
    names = (key.rpartition(".")[0] if key.startswith(tables) else key for key in plain)
    return [f"`{name}`" for name in dict.fromkeys(names)]


def _ids(names: Iterable[str]) -> Iterator[str]:
    """Yield the ids of tests, the file once: before the first of its tests."""
    names = tuple(names)
    those = [name for name in names if name != THE_PROOF]
    found = sorted((where, name) for name in those for where in tests().get(name, ("?",)))
    for where, group in groupby(found, lambda each: each[0]):
        first, *others = (name for _, name in group)
        yield f"`{where}::{first}`"
        yield from (f"`::{name}`" for name in others)
    if THE_PROOF in names:
        yield THE_PROOF


def _cell(items: Iterable[str]) -> str:
    return "<br>".join(dict.fromkeys(items))


def main() -> None:
    for text in TEXTS:
        (PAGES / f"{text}.md").write_text(page(text), encoding="utf-8")


if __name__ == "__main__":
    main()
