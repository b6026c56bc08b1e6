"""`shaker-ctl settings`: what can be set, and whether a file is right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

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
    """Say whether a table starts with FILE: every key, and the rules of its profile.

    Status 78 and the reason where it does not. What is connected, `shaker-ctl doctor` looks at.
    """
    found = settings.load(file)
    settings.check_rules(found, source=str(file))
    table = f"table {found.service.table_name!r}, profile {found.table.profile}"
    screen.print(Text.assemble(("ok", "green"), f"  {file}: {table}"), soft_wrap=True)
