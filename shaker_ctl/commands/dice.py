"""`shaker-ctl dice`: the ledger of the table's dice, and what their test finds, and when.

Owns how results look. What is tested is `journal.dice_watch`'s.
"""

from __future__ import annotations

from datetime import datetime
from statistics import median
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from shaker_ctl.adapters.disk.record_tables import TablesReader, place
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import Config, opened
from shaker_ctl.commands.journal.day_sheet import NOT_COUNTED, reconciled
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.dice_watch import PROMISE
from shaker_ctl.journal.simulated_dice import FAULTS, Fault, first_found
from shaker_ctl.quoting import visible

app = typer.Typer(
    no_args_is_help=True, help="The ledger of the table's dice, and the test that watches them."
)

screen = Console(highlight=False)


@app.callback()
def dice() -> None:
    """The ledger of the table's dice, and the test that watches them."""


@app.command()
def simulate(
    runs: Annotated[int, typer.Option(min=1, help="Sets of dice for each fault.")] = 20,
    tosses: Annotated[int, typer.Option(min=1, help="Tosses of each set.")] = 1440,
    behaving: Annotated[int, typer.Option(min=0, help="Sets of dice that behave.")] = 200,
    long: Annotated[int, typer.Option(min=1, help="Tosses of a set that behaves.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the first set.")] = 0,
) -> None:
    """Say after how many simulated tosses the test of a table's dice finds each fault.

    The test is the one that a table makes after every round. A set that behaves and is found to be
    outside is a false alarm: the status is then 1 if there are more than the promise allows.
    """
    table = Table("dice", "sets", "tosses", "found", "median", "first", "last")
    for name, fault in FAULTS.items():
        table.add_row(name, str(runs), f"{tosses:,}", *_found(fault, runs, tosses, seed))
    alarms = 0
    if behaving:
        found = _found(None, behaving, long, seed)
        table.add_row("behaving", str(behaving), f"{long:,}", *found)
        alarms = int(found[0])
    screen.print(table)
    screen.print(f"promise: at most 1 of {PROMISE:,} sets that behave, in their whole life")
    if alarms > max(1, 5 * behaving // PROMISE):
        raise typer.Exit(1)


@app.command("ledger")
def the_ledger(config: Config = DEFAULT_CONFIG) -> None:
    """Print the ledger of the table's dice, from box to destroyed, and what does not add up.

    It follows from the journal: `dice log` and `dice changed` at a console write it.
    """
    with opened(config, None) as book:
        told = TablesReader(place(book.store.path)).ledger(book.store.head().sequence)
    if told is None:
        raise RefusedError(NOT_COUNTED, remedy="Start the service, and ask again")
    for line in reconciled(config, told, 1, datetime.now().astimezone().isoformat()):
        screen.print(visible(line), soft_wrap=True, markup=False)
    if not told.lines:
        screen.print("no dice are on record")


def _found(fault: Fault | None, runs: int, tosses: int, seed: int) -> tuple[str, ...]:
    """How many sets are found, and after how many tosses: half of all sets, the first, the last."""
    after = [first_found(fault, seed + run, tosses) for run in range(runs)]
    found = sorted(each for each in after if each is not None)
    half = median(each or tosses + 1 for each in after)
    within = f"{half:,.0f}" if half <= tosses else "-"
    return str(len(found)), within, *(f"{at:,}" for at in (*found[:1], *found[-1:]))
