"""The command line: builds the program from its commands, and words every error in one line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from shaker_ctl import __version__
from shaker_ctl.commands import (
    calibrate,
    console,
    demo,
    doctor,
    install,
    journal,
    read,
    rules,
    run,
    seal,
    settings,
    status,
)
from shaker_ctl.errors import JournalCorruptError, SealError, SettingsError, ShakerError

EX_DATAERR = 65
EX_CONFIG = 78

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


def app() -> None:
    """Run the command line. An error that a person can mend is one line and a status of its own.

    Status 78 (settings) and 65 (data), after sysexits.h, tell the service manager that a restart
    would change nothing; everything else that a person meets is 1.
    """
    try:
        program()
    except ShakerError as error:
        Console(stderr=True).print(
            Text.assemble((error.code, "bold red"), f": {error.line()}"), soft_wrap=True
        )
        sys.exit(exit_status(error))


def exit_status(error: ShakerError) -> int:
    """Return the exit status that says what kind of help is needed."""
    if isinstance(error, SettingsError):
        return EX_CONFIG
    return EX_DATAERR if isinstance(error, JournalCorruptError | SealError) else 1
