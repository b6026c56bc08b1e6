"""`shaker-ctl backup`: a table in one file, checked, and laid onto an empty machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shaker_ctl import backup as archive
from shaker_ctl import settings
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.installation.places import Places

app = typer.Typer(no_args_is_help=True, help="The whole table in one file, and back.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup, a tar file.")]
Root = Annotated[Path, typer.Option(help="A folder that stands for the system.")]


@app.command()
def write(
    file: File,
    config: Annotated[Path, typer.Option(help="Settings file of the table.")] = DEFAULT_CONFIG,
    root: Root = Path("/"),
) -> None:
    """Write settings, people, keys, calibration, journal and pictures into FILE, and read it back.

    The table must be stopped. FILE holds keys and hashes of passphrases: keep it as you keep those.
    """
    number = archive.write(file, Places(root.resolve()), settings.load(config))
    typer.echo(f"{file}: {number} files, read back")


@app.command()
def check(file: File) -> None:
    """Say whether every file in FILE is as it was taken."""
    typer.echo(f"{file}: {len(archive.check(file))} files, whole")


@app.command()
def restore(
    file: File,
    root: Root = Path("/"),
    also: Annotated[
        list[Path] | None,
        typer.Option(help="A folder below which the settings put files. Several: once for each."),
    ] = None,
) -> None:
    """Lay FILE onto an empty machine on which the same version of the package is installed.

    Nothing that is there is written over. Then: shaker-ctl journal verify; shaker-ctl setup start.
    """
    typer.echo(f"{file}: {archive.restore(file, root.resolve(), also or ())} files restored")
