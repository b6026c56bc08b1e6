"""`python -m hil_tests.proofs`: explore every table, and try mutants of the rules.

Owns the report. Ends non-zero on any violation, any state without a way home, any property that no
table ever puts to the test, any row that no table takes by an event that the product posts, or any
mutant that survives.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid

from hil_tests.proofs.explore import Exploration, explore
from hil_tests.proofs.mutants import Ground, Mutant, judge, mutants
from hil_tests.proofs.properties import PROPERTIES, Violation
from hil_tests.proofs.tables import ExploredTable, tables
from shaker_ctl.rules.machine import ROWS

app = typer.Typer(add_completion=False)
console = Console(width=None if sys.stdout.isatty() else 110)

ORDER = (0, 4, 6, 9, 14, 15, 2, 8, 10, 1, 3, 11, 12, 13, 7, 5)
"""The order of the tables: those that differ most come first, so that few mutants meet many."""


@app.command()
def prove(
    only: Annotated[str, typer.Option(help="Only tables whose name contains this.")] = "",
    with_mutants: Annotated[
        bool, typer.Option("--mutants", help="Try every mutant, too, on the same explorations.")
    ] = False,
) -> None:
    """Explore every table exhaustively and print every property with its non-vacuous count.

    With --only a property that no chosen table reaches, a row that none takes, and a mutant that
    survives there are no failure: another table has them.
    """
    chosen = [table for number in ORDER if only in (table := tables()[number]).name]
    if not chosen:
        names = ", ".join(table.name for table in tables())
        raise typer.BadParameter(
            f"no table's name contains {only!r}; there are: {names}", param_hint="--only"
        )
    trying = _Trying(list(mutants())) if with_mutants else None
    gc.disable()  # states form no cycle, and walking millions of them takes a fifth more
    try:
        found = [_judged(table, trying) for table in chosen]
    finally:
        gc.enable()
    good = _report(found, whole=not only)
    if trying is not None and not only:
        good = all([good, trying.report()])
    raise typer.Exit(0 if good else 1)


def _judged(table: ExploredTable, trying: _Trying | None) -> Exploration:
    """Explore a table, and try the mutants on what was found; return its figures."""
    explored = explore(table, keep=trying is not None)
    _print_table(explored)
    if trying is not None:
        trying.on(Ground.of(table, explored))
    figures = replace(explored, kept_nodes=[], kept_before=[], kept_ways=[])
    del explored
    gc.collect()
    return figures


def _report(found: list[Exploration], *, whole: bool) -> bool:
    """Print properties and the last line; return whether everything holds."""
    _print_properties(found)
    good = all(each.holds for each in found)
    if whole:
        good = all([good, _print_reached(found), _print_rows(found)])  # each says its own
    console.print(
        f"{len(found)} tables, {sum(each.states for each in found)} states, "
        f"{sum(each.transitions for each in found)} transitions, "
        f"{sum(each.seconds for each in found):.0f} s of one core: "
        + ("all hold" if good else "[bold red]NOT PROVED")
    )
    return good


def _print_table(one: Exploration) -> None:
    mark = "[green]holds[/]" if one.holds else "[bold red]FAILS[/]"
    console.print(
        f"{mark} {one.table}: {one.states} states ({one.nodes} with history), "
        f"{one.transitions} transitions, {one.accepted} accepted, {one.seconds:.0f} s"
    )
    for broken in one.violations[:5]:
        _print_broken(broken)
    for state in one.stuck[:3]:
        console.print(f"  [red]no path leads home from[/] {state}")


def _print_broken(broken: Violation) -> None:
    console.print(f"  [red]{broken.property}[/]", highlight=False)
    console.print(f"    in {broken.state}")
    console.print(f"    on {broken.event}")
    console.print(f"    to {broken.step.state.phase.value} by {broken.step.commands}")


def _print_properties(found: list[Exploration]) -> None:
    reached = _reached(found)
    broken = Counter(one.property for each in found for one in each.violations)
    grid = Grid("property", "held", "failed", title="Safety properties, by times reached")
    for name in dict.fromkeys(one.name for one in PROPERTIES):
        grid.add_row(name, str(reached[name]), str(broken[name]) if broken[name] else "")
    stuck = sum(len(each.stuck) for each in found)
    nodes = sum(each.nodes for each in found)
    grid.add_row("some path leads to open or out of service", str(nodes - stuck), str(stuck or ""))
    console.print(grid)


def _reached(found: list[Exploration]) -> Counter[str]:
    return sum((each.reached for each in found), Counter())


def _print_reached(found: list[Exploration]) -> bool:
    """Name what holds only because it never came to the test."""
    reached = _reached(found)
    vacuous = [one.name for one in PROPERTIES if not reached[one.name]]
    for name in vacuous:
        console.print(f"[yellow]never reached:[/] {name}")
    return not vacuous


def _print_rows(found: list[Exploration]) -> bool:
    never = {row.name for row in ROWS} - {name for each in found for name in each.rows}
    console.print(f"{len(ROWS) - len(never)} of {len(ROWS)} rows taken")
    for name in sorted(never):
        console.print(
            f"[yellow]no table takes the row by an event that the product posts:[/] {name}"
        )
    return not never


class _Trying:
    """The mutants that are tried: who is alive still, and what killed the others."""

    def __init__(self, tried: list[Mutant]) -> None:
        self._tried = self._alive = tried
        self._killers: dict[str, str] = {}
        self._seconds = 0.0

    def on(self, ground: Ground) -> None:
        """Try all that are alive on one table."""
        began = time.process_time()
        reasons = {mutant.name: judge(mutant, ground) for mutant in self._alive}
        self._killers |= {name: reason for name, reason in reasons.items() if reason}
        self._alive = [each for each in self._alive if not reasons[each.name]]
        self._seconds += time.process_time() - began
        console.print(f"{len(self._alive)} mutants alive after {ground.table.name}")

    def report(self) -> bool:
        """Print what killed them and who survives; return whether nobody does."""
        grid = Grid("killed by", "mutants")
        for name, number in Counter(self._killers.values()).most_common():
            grid.add_row(name, str(number))
        console.print(grid)
        for mutant in self._alive:
            console.print(f"[yellow]survived[/] {mutant.name}", highlight=False)
        console.print(
            f"{len(self._killers)} of {len(self._tried)} mutants killed, "
            f"{self._seconds:.0f} s of one core"
        )
        return not self._alive


if __name__ == "__main__":
    app()
