"""`python -m hil_tests.reliability`: faults, crashes, and a long run, on the virtual rig.

Owns the command line, progress, and when a session is given up for a new one. Exit status 0: all as
required; 1: a difference, or not everything was run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hil_tests.demo.session import Plan
from hil_tests.reliability import catalogue, results
from hil_tests.reliability.bench import Bench, BenchError, TestedSession, fresh
from hil_tests.reliability.results import Results, Row
from hil_tests.reliability.trial import Result, Trials
from hil_tests.reliability.witness import Witness
from shaker_ctl.errors import ShakerError

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)
DEFAULT = Path("var/reliability")
SEED = 3
WIDEST = 180
"""Columns of the printed matrix where the terminal has fewer: a log is read in a pager."""

ResultsOption = Annotated[Path, typer.Option("--results", help="Folder of the results.")]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Leave out what has a result that is as required.")
]
MinutesOption = Annotated[
    float, typer.Option("--minutes", help="Begin no row after so long; what is left, is named.")
]


@app.command()
def faults(
    folder: ResultsOption = DEFAULT / "faults",
    resume: ResumeOption = False,
    minutes: MinutesOption = 30.0,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Names, or beginnings of names.")
    ] = None,
) -> None:
    """Every fault at its worst moment."""
    rows = catalogue.rows(every_moment=False)
    _play(_chosen(rows, only), Results(folder), resume, minutes)


@app.command("faults-all")
def faults_all(
    folder: ResultsOption = DEFAULT / "faults-all",
    shard: Annotated[str, typer.Option(help="Which part: i/n.")] = "1/1",
    resume: ResumeOption = True,
    minutes: MinutesOption = 600.0,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Names, or beginnings of names.")
    ] = None,
) -> None:
    """The whole matrix of faults and moments, or one part of it."""
    whole = catalogue.rows(every_moment=True)
    try:
        rows = results.shard(whole, shard)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if len(rows) < len(whole):
        typer.echo(f"shard {shard}: {len(rows)} of {len(whole)} rows; the others are not run here")
    _play(_chosen(rows, only), Results(folder), resume, minutes)


def _chosen(rows: list[Row], only: list[str] | None) -> list[Row]:
    if not only:
        return rows
    chosen = [row for row in rows if any(row[0].name.startswith(name) for name in only)]
    if not chosen:
        raise typer.BadParameter(f"no fault is called {', '.join(only)}")
    return chosen


def _play(rows: list[Row], kept: Results, resume: bool, minutes: float) -> None:
    if not resume:
        kept.forget()
    console = Console()
    wanted = kept.open_rows(rows)
    until_s = time.monotonic() + 60.0 * minutes
    with _progress(console) as progress:
        task = progress.add_task("faults", total=len(rows), completed=len(rows) - len(wanted))
        for row, result in _results(wanted, until_s, kept, console):
            kept.keep(row, result)
            mark = "[green]as required[/]" if result.is_as_required else "[red]DIFFERS[/]"
            progress.console.print(
                f"{row[0].name:34} {row[1].value:18} {result.took_s:5.1f} s  {mark}"
                + ("" if result.is_as_required else f"  {'; '.join(result.differences)}"),
                highlight=False,
                soft_wrap=True,
            )
            progress.advance(task)
    _report(rows, kept, console)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


def _results(
    rows: list[Row], until_s: float, kept: Results, console: Console
) -> Iterator[tuple[Row, Result]]:
    """Play one row after the other; a session in which the bench itself fails is left behind."""
    waiting = list(rows)
    sessions = 0
    while waiting and time.monotonic() < until_s:
        sessions += 1
        folder = fresh(kept.folder / f"table-{sessions}")
        session = TestedSession(Plan(seed=SEED + sessions), folder.resolve())
        with Bench(session) as bench:
            witness = Witness(
                session.rig,
                session.folder / "journal.sqlite",
                session.folder / "journal-second.sqlite",
            )
            trials = Trials(bench, witness)
            try:
                while waiting and time.monotonic() < until_s:
                    row = waiting.pop(0)
                    try:
                        yield row, trials.play(*row)
                    except (BenchError, ShakerError, OSError) as error:
                        console.print(f"{row[0].name}: a new table is needed: {error}")
                        yield row, _not_played(row, error)
                        break
            finally:
                trials.close()


def _not_played(row: Row, error: Exception) -> Result:
    from hil_tests.reliability.required import Seen

    return Result(
        row[0].name,
        row[1].value,
        Seen().as_dict(),
        [f"the table did not come back: {error}"],
    )


def _report(rows: list[Row], kept: Results, console: Console) -> None:
    differ, missing = kept.write_matrix(rows)
    table = Table(*results.HEAD, title="Faults", show_lines=True)
    for row in rows:
        table.add_row(*results.line(row, kept.find(row)))
    Console(width=max(WIDEST, console.width)).print(table)
    played = len(rows) - missing
    console.print(
        f"{played} of {len(rows)} rows played, {differ} differ; matrix: "
        f"{kept.folder / results.MATRIX_PAGE}, {kept.folder / results.MATRIX_JSON}"
    )
    for row in rows:
        if kept.find(row) is None:
            console.print(f"not run: {row[0].name}, {row[1].value}")
    if differ or missing:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
