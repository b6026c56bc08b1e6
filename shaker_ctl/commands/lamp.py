"""`shaker-ctl lamp`: a person accepts another lamp box, or one that remembers something else.

The table holds its journal against the box at every start, and halts where they differ. Where that
is a spare part, an erased memory or an end of the journal that is lost for good, somebody says so
here under their own name, and the journal keeps it.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from shaker_ctl import sealed_start
from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.service_user import become_owner_of
from shaker_ctl.commands.signing import require_mender
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.box_memory import compare_lamp_box, may_adopt
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.service.lamp_box import adopted, journal_memory

app = typer.Typer(no_args_is_help=True, help="The lamp box of the table, as a spare part.")

Config = Annotated[Path, typer.Option(help="Settings file of the table.")]


@app.callback()
def group() -> None:
    """Keeps `adopt` a word of its own while it is the only one."""


@app.command()
def adopt(
    name: Annotated[str, typer.Option("--by", help="Your login name at this table's consoles.")],
    reason: Annotated[str, typer.Option(help="Why this box, or this memory, is accepted.")],
    role: Annotated[
        Role, typer.Option(help="Your role there: technician or supervisor.")
    ] = Role.TECHNICIAN,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Accept the lamp box on the line with what it remembers. Asks for your passphrase; recorded.

    For a spare box, a memory that was erased by hand, and a round that the journal has lost for
    good. The table must not be running.
    """
    chosen = settings_file.load(config)
    signer = require_mender(chosen.console.users_file, name, role, reason, "accept a lamp box")
    become_owner_of(chosen.journal.path.parent)
    with closing(open_copies(chosen.journal)) as journal:
        with closing(ModbusLamp(chosen.lamp, rulebook(chosen.table).layout)) as lamp:
            box = lamp.memory()
        ours = journal_memory(journal.main)
        if (found := compare_lamp_box(ours, box)) is None:
            raise RefusedError(
                f"lamp box {box.serial_number} and the journal tell one story",
                remedy="Nothing is to be accepted: start the table",
            )
        if (bar := may_adopt(ours, box)) is not None:
            raise RefusedError(bar.text, remedy=bar.remedy)
        sealed_start.write(journal, adopted(box, signer, reason))
    typer.echo(f"accepted: {found.text}; the table may be started")
