"""`shaker-ctl journal`: what the table remembers, and whether it can be believed.

The commands read the files themselves, whether the service runs or not. Seven commands write:
`rebuild` writes a copy of the journal, or the list of disputes, anew, `convert` a journal of a
former form, `fetch` and `remove` change its volumes and keep a record of it (all four refuse while
a service runs); `archive` writes files into its folder; `dispute` adds a line to `disputes.jsonl`,
beside the pictures, and a record of it; `export` writes three files into its folder.

Every record that is read is checked against the chain. A record that does not fit is shown as far
as possible, and the command ends with an error that names it (status 65).
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
    *(copies.rebuild, copies.convert, copies.archive, copies.fetch, copies.remove),
):
    app.command()(command)
