"""`shaker-ctl settings`: what can be set, and whether a file is right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from shaker_ctl import settings

app = typer.Typer(no_args_is_help=True, help="Settings: the reference of all keys, and a check.")
screen = Console()


@app.command()
def reference(
    plain: Annotated[bool, typer.Option("--plain", help="Markdown source, for a file.")] = False,
) -> None:
    """Print every key with unit, range, default and reason."""
    text = settings.reference()
    if plain:
        typer.echo(text, nl=False)
    else:
        screen.print(Markdown(text))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The TOML file that a table would be run with.")],
) -> None:
    """Say whether FILE is valid; status 1 and the reason where it is not."""
    found = settings.load(file)
    screen.print(
        f"[green]ok[/]  {file}: table {found.service.table_name!r}, profile {found.table.profile}"
    )
