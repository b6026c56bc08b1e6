"""A campaign: cases, what became of each, and a file with which a run that was broken off goes on.

Owns the file: one JSON line a result, with the name of its case; the newest line of a case counts.
The files of parts that were run apart, put together, are the file of the whole. Must not know what
a case is, nor how it is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import typer
from pydantic import TypeAdapter

Case = TypeVar("Case")
Kept = TypeVar("Kept")


class Campaign(Generic[Kept]):
    """The results of one campaign. Raises OSError where its file cannot be used."""

    def __init__(self, file: Path | None, kind: type[Kept]) -> None:
        """`kind`: the type of a result, which pydantic knows. Without a file nothing is kept."""
        self.file = file
        self.all: list[tuple[str, Kept]] = []
        """Every result, the newest last, with the name of its case."""
        self.left_out: list[int] = []
        """Numbers of the lines that are not whole, from 1 on: their cases count as not run."""
        self._kind = TypeAdapter(kind)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.exists():
                self._take_up(file)
        self.newest = dict(self.all)
        """The result that counts, by the name of its case."""

    def _take_up(self, file: Path) -> None:
        text = file.read_text("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                self.all.append(self._read(line))
            except (ValueError, TypeError, KeyError, RecursionError):
                self.left_out.append(number)
        if text and not text.endswith("\n"):
            with file.open("a", encoding="utf-8") as kept:
                kept.write("\n")  # what comes next is no part of a line that was cut

    def _read(self, line: str) -> tuple[str, Kept]:
        """Raises one of four errors for a line that `_line` would have written otherwise."""
        told = json.loads(line)
        case, result = told["case"], self._kind.validate_python(told["result"])
        if json.loads(self._line(case, result)) != told:
            raise ValueError("it lacks something, or has something else")
        return case, result

    def _line(self, case: str, result: Kept) -> str:
        plain = self._kind.dump_python(result, mode="json")
        return json.dumps({"case": case, "result": plain}) + "\n"

    def keep(self, case: str, result: Kept) -> None:
        """Add the result of a case, also to the file."""
        self.all.append((case, result))
        self.newest[case] = result
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as kept:
                kept.write(self._line(case, result))

    def find(self, case: str) -> Kept | None:
        """Return the newest result of a case; None where it was not run."""
        return self.newest.get(case)

    def forget(self, cases: Iterable[str]) -> None:
        """Begin these cases anew; whatever else was run stays."""
        gone = set(cases)
        if self.file is not None and self.file.exists():  # another process may have added to it
            self.all, self.left_out = [], []
            self._take_up(self.file)
        self.all = [(case, result) for case, result in self.all if case not in gone]
        self.newest = dict(self.all)
        if self.file is not None:
            lines = "".join(self._line(case, result) for case, result in self.all)
            fresh = self.file.with_suffix(".new")
            fresh.write_text(lines, "utf-8")
            fresh.replace(self.file)

    def run(self, cases: Iterable[Case], one: Callable[[Case], Kept]) -> list[Kept]:
        """Run the cases that have no result yet; return the results of all, in their order."""
        found: list[Kept] = []
        for case in cases:
            result = self.find(str(case))
            if result is None:
                result = one(case)
                self.keep(str(case), result)
            found.append(result)
        return found

    def said(self) -> list[str]:
        """Lines for a person: what is taken from the file, and what of it is not whole."""
        if self.file is None:
            return []
        lines = [f"{self.file.name}, line {n}, is not whole: not run" for n in self.left_out]
        if self.all:
            lines.append(f"{len(self.all)} results are kept in {self.file}; they are not run again")
        return lines


def shard(cases: Sequence[Case], which: str) -> list[Case]:
    """The cases of shard `i/n`, 1 ≤ i ≤ n: every n-th, so that each has a share of every kind.

    Raises ValueError.
    """
    index, _, count = which.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise ValueError(f"a shard is i/n with 1 <= i <= n, such as 2/4, not {which!r}")
    return list(cases[int(index) - 1 :: int(count)])


def chosen(
    cases: Sequence[Case], only: Sequence[str] | None, name: Callable[[Case], str]
) -> list[Case]:
    """The cases whose name begins with one of `only`; all without it. Raises ValueError."""
    found = [case for case in cases if name(case).startswith(tuple(only or ("",)))]
    if not found:
        raise ValueError(f"there is none that is called {', '.join(only or ())}")
    return found


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a case, in words."""

    is_good: bool
    told: str


Only = Annotated[list[str] | None, typer.Option(help="Beginnings of cases.")]
Results = Annotated[
    Path | None, typer.Option(help="Folder of the results: the next run goes on there.")
]


def judge_all(
    cases: Sequence[str], one: Callable[[str], Judged], only: list[str] | None, results: Path | None
) -> None:
    """Run the chosen cases, a line each; leave with status 1 where one is not as it must be."""
    try:
        wanted = chosen(cases, only, str)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    kept = Campaign(results and results / "results.jsonl", Judged)

    def told(case: str) -> Judged:
        found = one(case)
        typer.echo(f"{'ok  ' if found.is_good else 'FAIL'} {case}: {found.told}")
        return found

    if not all(found.is_good for found in kept.run(wanted, told)):
        raise typer.Exit(1)
