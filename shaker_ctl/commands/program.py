"""The whole command line as one program: every command under its name.

Owns the names and the order in which they are listed. Loading it loads everything that any command
needs, seconds on a Raspberry Pi; `main` does so when it is ready for a Ctrl-C.
"""

from __future__ import annotations

from typing import Annotated

import typer

from shaker_ctl import __version__
from shaker_ctl.commands import (
    calibrate,
    console,
    demo,
    doctor,
    install,
    journal,
    lamp,
    read,
    rules,
    run,
    seal,
    settings,
    status,
)

program = typer.Typer(
    name="shaker-ctl",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Controller of a Sic Bo table with an automated dice shaker. "
    "It tosses, reads, verifies, lights, and keeps the rules.",
    pretty_exceptions_show_locals=False,
)
program.command()(run.run)
program.command()(demo.demo)
program.command()(status.status)
program.command()(install.install)
program.command()(install.uninstall)
program.command()(doctor.doctor)
program.command()(read.read)
program.add_typer(calibrate.app, name="calibrate")
program.add_typer(journal.app, name="journal")
program.add_typer(lamp.app, name="lamp")
program.add_typer(rules.app, name="rules")
program.add_typer(seal.app, name="seal")
program.add_typer(console.app, name="console")
program.add_typer(settings.app, name="settings")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shaker-ctl {__version__}")
        raise typer.Exit


@program.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print and exit.")
    ] = False,
) -> None:
    """Options that come before a command."""
