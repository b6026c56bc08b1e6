"""`python -m hil_tests.floor`: load, chaos, and a floor to look at."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)

Pace = Annotated[float, typer.Option(help="Rounds a minute.")]
PACES = (1.0, 6.0, 20.0)
"""Of a floor's load, rounds a minute."""
Seed = Annotated[int, typer.Option(help="Of everything random.")]


@app.callback()
def _begin() -> None:
    # Whoever ends it, its processes end and its disk is unmounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logging.getLogger("shaker_ctl.link").setLevel(logging.ERROR)  # links that come and go are meant


@app.command()
def load(
    tables: Annotated[int, typer.Option(min=1, help="Tables that hand on.")] = 1000,
    paces: Annotated[
        list[float] | None, typer.Option(help="Rounds a minute; several, one after the other.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="For each pace.")] = 600.0,
    postgres: Annotated[bool, typer.Option("--postgres", help="Instead of SQLite.")] = False,
    commit_s: Annotated[float, typer.Option(help="Between two commits.")] = 0.2,
) -> None:
    """What a thousand tables cost a floor."""
    from hil_tests.floor.load import measured

    _tell(
        measured(
            tables=tables,
            paces=paces or PACES,
            seconds=seconds,
            postgres=postgres,
            commit_s=commit_s,
        )
    )


@app.command()
def chaos(
    tables: Annotated[int, typer.Option(min=1, help="Tables that hand on.")] = 100,
    kills: Annotated[int, typer.Option(min=1, help="Parts that are killed.")] = 50,
    pace: Pace = 6.0,
    every: Annotated[float, typer.Option(help="Seconds between two kills.")] = 3.0,
    sqlite: Annotated[bool, typer.Option("--sqlite", help="Instead of PostgreSQL.")] = False,
    seed: Seed = 1,
    hour: Annotated[float, typer.Option(help="Minutes of the network's cut.")] = 60.0,
) -> None:
    """Kill parts at random; every record must be there exactly once."""
    from hil_tests.floor.chaos import broken_at_random

    _tell(
        broken_at_random(
            tables=tables,
            kills=kills,
            pace=pace,
            every_s=every,
            cut_s=60.0 * hour,
            postgres=not sqlite,
            seed=seed,
        )
    )


@app.command()
def fuzz(
    messages: Annotated[int, typer.Option(min=1, help="How many.")] = 1_000_000, seed: Seed = 1
) -> None:
    """A million messages that no table sends."""
    from hil_tests.floor.fuzz import fuzzed

    _tell(fuzzed(messages, seed))


@app.command()
def beside(
    rounds: Annotated[int, typer.Option(min=1, help="Of each condition.")] = 12,
) -> None:
    """What a link costs the table beside it."""
    from hil_tests.floor import beside

    _tell(beside.beside(rounds=rounds))


@app.command()
def show(
    rigs: Annotated[int, typer.Option(help="Tables that play on the virtual rig.")] = 2,
    recorded: Annotated[int, typer.Option(help="Tables that only remember.")] = 50,
    pace: Pace = 2.0,
    seconds: Annotated[float, typer.Option(help="How long; 0: until Ctrl-C.")] = 0.0,
) -> None:
    """A floor to look at, until Ctrl-C."""
    from hil_tests.floor import show

    if not show.show(rigs=rigs, recorded=recorded, pace=pace, seconds=seconds, tell=typer.echo):
        raise typer.Exit(1)


def _tell(lines: Iterable[str]) -> None:
    """Print them as they come; status 1 where one says that something does not hold."""
    wrong = False
    for line in lines:
        typer.echo(line)
        wrong = wrong or "NOT" in line
    if wrong:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
