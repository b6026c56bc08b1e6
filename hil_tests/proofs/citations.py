"""`python -m hil_tests.proofs.citations`: which tests show that each key of the profiles is kept.

Owns the file `shaker_ctl/rules/clauses/shown_by.toml`, which nobody writes by hand. Each row that
cites a key is deleted, and each of its guards negated; the key's value is changed in every profile.
The tests that then fail are the key's citation. Tests that meet the row are tried: first those that
take it, and of those the ones that meet the fewest rows, which say most plainly what they are
about. What no test notices is tried on the proof, and the property that fails is cited.

`--draw 25` draws changes that tests are cited for, tries the cited tests alone, and counts.
"""

from __future__ import annotations

import sys
import tomllib
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import date, timedelta
from enum import Enum
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from pydantic import ValidationError

from hil_tests.proofs.explore import explore
from hil_tests.proofs.mutants import Ground, Mutant, judge, mutants
from hil_tests.proofs.tables import tables
from shaker_ctl.rules import clauses, machine, profile_files
from shaker_ctl.rules.machine import MACHINE, ROWS
from shaker_ctl.rules.regulation import Profile, values_of
from shaker_ctl.rules.row import Context, Row
from shaker_ctl.rules.vocabulary import Role

SHOWN_BY = Path(clauses.__file__).with_name("shown_by.toml")
TESTS = Path(machine.__file__).with_name("tests")
COMPARISON = "test_profiles_say_what_the_texts_say"
"""Where no behaviour shows a value, the comparison with the texts does."""
MOST_TRIED = 40
"""Tests that one change is tried on. What survives them is named at the end."""


PROVED = "property: "
"""Begins a citation of the proof."""
PROVED_ON, NODES = (0, 4, 6, 9, 14, 2, 8, 11, 12, 13, 3, 10, 1), 2500
"""Tables of the proof, and how many of their nodes a change is tried on."""


class Change(NamedTuple):
    """One duty taken away."""

    name: str
    keys: tuple[str, ...]
    rows: frozenset[Row]
    """Rows that a test has to meet before it can fail."""
    made: Callable[[], AbstractContextManager[None]]
    mutant: Mutant | None = None


# ── What is changed ─────────────────────────────────────────────────────────


def changes() -> Iterator[Change]:
    """Yield each change of a row, and of each key's value where another one is lawful."""
    for mutant in mutants():
        row, instead = mutant.row, mutant.instead
        if instead is None or instead.when != row.when:
            rows = mutant.machine().rows
            yield Change(
                mutant.name, row.may_cite, frozenset({row}), partial(_tabled, rows), mutant
            )
    for key, _ in values_of(profile_files.load("ma")):
        if any(_otherwise(each, key) != each for each in profile_files.shipped_profiles()):
            rest = frozenset(row for row in ROWS if key in row.may_cite)
            yield Change(f"{key}: another value", (key,), rest, partial(_valued, key))


@contextmanager
def _tabled(rows: tuple[Row, ...]) -> Iterator[None]:
    MACHINE.__init__(rows)  # type: ignore[misc]
    yield
    MACHINE.__init__(ROWS)  # type: ignore[misc]


@contextmanager
def _valued(key: str) -> Iterator[None]:
    read = profile_files._read

    def read_otherwise(path: Path, seen: tuple[Path, ...]) -> Any:
        whole = read(path, seen)
        return whole._replace(profile=_otherwise(whole.profile, key))

    profile_files._read = read_otherwise
    yield
    profile_files._read = read


def _otherwise(profile: Profile, key: str) -> Profile:
    """Return the profile with another lawful value of a key; unchanged where there is none."""
    section, name = key.split(".")
    told = profile.model_dump()
    for value in _others(told[section][name]["value"]):
        told[section][name]["value"] = value
        with suppress(ValidationError):
            return Profile.model_validate(told).model_copy(update={"own_file": profile.own_file})
    return profile


def _others(value: object) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (each for each in type(value) if each is not value)
        case int() | float():
            yield value + 1
        case date():
            yield value + timedelta(days=400)
        case (Role(), *_):
            yield from ((role,) for role in Role)
        case (_, *rest):
            yield tuple(rest)


# ── What notices it ─────────────────────────────────────────────────────────


class Citing:
    """A plug-in of pytest: runs its tests on the rules as they are, then on each change."""

    def __init__(self, shown: dict[str, list[str]], drawn: int, seed: int) -> None:
        self.shown, self._drawn, self._seed = shown, drawn, seed
        self.survived: list[Change] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        met: dict[Row, list[pytest.Item]] = defaultdict(list)
        rows_of = {item: _rows_met(item) for item in session.items}
        plainest = sorted(session.items, key=lambda each: len(rows_of[each]))
        for takes in (True, False):
            for item in plainest:
                for row in (row for row, taken in rows_of[item].items() if taken is takes):
                    met[row].append(item)
        for change in self._chosen():
            those = [item for row in change.rows for item in met[row]]
            if change.name.endswith("another value"):
                those += [item for item in plainest[::-1] if item not in those]
            self._judge(change, those)
        return True

    def _chosen(self) -> Sequence[Change]:
        every = list(changes())
        if not self._drawn:
            return every
        shown = [each for each in every if any(key in self.shown for key in each.keys)]
        return Random(self._seed).sample(shown, self._drawn)

    def _judge(self, change: Change, met: list[pytest.Item]) -> None:
        """Find a test that fails on the change: one that is cited already, if there is."""
        cited = self._cited(change)
        tried = sorted(met, key=lambda item: name_of(item) not in cited)[:MOST_TRIED]
        tried += [item for item in met if name_of(item) == COMPARISON]
        if self._drawn:
            tried = [item for item in met if name_of(item) in cited]
        with change.made():
            killer = next((item for item in tried if not _passes(item)), None)
        if killer is None:
            self.survived.append(change)
        else:
            self._cite(change, name_of(killer))

    def _cited(self, change: Change) -> set[str]:
        return {each for key in change.keys for each in self.shown.get(key, ())}

    def _cite(self, change: Change, by: str) -> None:
        for key in change.keys:
            if by not in (found := self.shown.setdefault(key, [])):
                found.append(by)

    def prove(self) -> None:
        """Try what no test has noticed on the proof."""
        for table in (tables()[number] for number in PROVED_ON):
            found = explore(table, max_nodes=NODES, keep=True, checked=False, scatter=True)
            ground = Ground.of(table, found)
            alive, self.survived = self.survived, []
            for change in alive:
                killer = judge(change.mutant, ground) if change.mutant else ""
                if killer and (not self._drawn or PROVED + killer in self._cited(change)):
                    self._cite(change, PROVED + killer)
                else:
                    self.survived.append(change)


def _rows_met(item: pytest.Item) -> dict[Row, bool]:
    """Return the rows whose guards a test asks, as the rules are, and whether it takes them."""
    met: dict[Row, bool] = {}
    first = machine._first

    def traced(rows: Sequence[Row], context: Context) -> Row | str:
        found = first(rows, context)
        for row in rows[: rows.index(found)] if isinstance(found, Row) else rows:
            met.setdefault(row, False)
        if isinstance(found, Row):
            met[found] = True
        return found

    machine._first = traced
    try:
        assert _passes(item), f"{item.nodeid} fails on the rules as they are"
    finally:
        machine._first = first
    return met


def name_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[2].partition("[")[0]


def _passes(item: Any) -> bool:
    item._initrequest()  # so that it runs again
    return all(report.passed for report in runtestprotocol(item, log=False, nextitem=None))


def main() -> int:
    parser = ArgumentParser(description="Find the tests that show each key of the profiles.")
    parser.add_argument("--draw", type=int, default=0, help="only try so many changes, by chance")
    parser.add_argument("--seed", type=int, default=1, help="where chance begins")
    asked = parser.parse_args()
    shown = tomllib.loads(SHOWN_BY.read_text("utf-8")) if asked.draw else {}
    citing = Citing(shown, asked.draw, asked.seed)
    options = ["-q", "-p", "no:cacheprovider", "-k", "not every_multiset"]
    pytest.main([str(TESTS), *options], plugins=[citing])
    citing.prove()
    for change in citing.survived:
        sys.stdout.write(f"nothing fails: {change.name}\n")
    if asked.draw:
        caught = asked.draw - len(citing.survived)
        sys.stdout.write(f"{caught} of {asked.draw} changes caught by what is cited\n")
        return 1 if citing.survived else 0
    lines = ["# Made by `python -m hil_tests.proofs.citations`, and not written."]
    for key, tests in sorted(citing.shown.items()):
        names = "".join(f'  "{name}",\n' for name in sorted(tests))
        lines.append(f'"{key}" = [\n{names}]')
    SHOWN_BY.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
