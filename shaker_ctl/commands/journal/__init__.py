"""`shaker-ctl journal`: what the table remembers, and whether it can be believed.

Reads the files themselves; the service may run or not. Six commands write: `rebuild` a copy of
the journal, `fetch` and `remove` volumes of it, which they refuse while a service runs; `archive`
files of its folder; `dispute` a line of `disputes.jsonl`, beside the pictures; `export` the
three files of its folder.

What is read is held against the chain on the way: a record that does not fit is shown as far as it
can be, and named in the error with which the command ends (status 65).
"""

from __future__ import annotations

import typer

from shaker_ctl.commands.journal import (
    copies,
    day_sheet,
    disputes,
    export,
    proof,
    replay,
    rounds,
    statistics,
)

app = typer.Typer(
    no_args_is_help=True,
    help="The table's journal: its last rounds, one round, proof, disputes, export, figures.",
)
for command in (
    *(rounds.last, rounds.show, rounds.events, day_sheet.day, proof.verify, replay.replay),
    *(export.export, statistics.statistics, disputes.dispute),
    *(copies.rebuild, copies.archive, copies.fetch, copies.remove),
):
    app.command()(command)
