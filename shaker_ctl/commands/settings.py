"""`shaker-ctl settings`: what can be set, a file to begin with, what is in force, and a check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from shaker_ctl import settings, settings_page
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.errors import RefusedError, reraise_as

app = typer.Typer(
    no_args_is_help=True, help="Settings: reference, a new file, what is in force, a check."
)
screen = Console()

File = Annotated[
    Path | None,
    typer.Argument(help="The settings file of a table.", show_default=str(DEFAULT_CONFIG)),
]
Config = Annotated[
    Path | None, typer.Option(help="The same file, named as other commands have it named.")
]


def _named(file: Path | None, config: Path | None) -> Path:
    if file is not None and config is not None and file != config:
        raise typer.BadParameter(f"{file} and --config {config} are two files: name one")
    return file or config or DEFAULT_CONFIG


@app.command()
def reference(
    section: Annotated[str, typer.Argument(help="Only this one, such as camera.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Markdown source, for a file.")] = False,
) -> None:
    """Print every key with unit, range, default and reason."""
    text = settings_page.reference(section)
    if plain:
        typer.echo(text, nl=False)
    else:
        screen.print(Markdown(text))


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="The TOML file to write.")],
    purpose: Annotated[
        Literal["pi", "rig"], typer.Option("--for", help="rig: with what simulated lines need.")
    ] = "pi",
    machine: Annotated[
        bool, typer.Option("--machine", help="The keys of motor, pins and deadlines instead.")
    ] = False,
) -> None:
    """Write a commented file in which every key has its default. Writes over nothing."""
    chosen = settings_page.FOR_RIG if purpose == "rig" else {}
    with (
        reraise_as(RefusedError, f"{file} cannot be written", remedy="Name another file"),
        file.open("x", encoding="utf-8") as opened,
    ):
        opened.write(settings_page.fresh(chosen, machine=machine))
    screen.print(f"{file}: change what you need, then: shaker-ctl settings check {file}")


@app.command()
def show(
    file: File = None,
    config: Config = None,
    every: Annotated[bool, typer.Option("--all", help="Keys at their default, too.")] = False,
) -> None:
    """Say what is in force, and what differs from the defaults."""
    standing = settings.load(_named(file, config))
    differing = {key.name: usual for key, usual in settings_page.differing(standing)}
    table = Table("key", "in force", "default", box=None)
    for each in settings_page.entries(standing):
        if isinstance(each, settings_page.Key) and (every or each.name in differing):
            usual = differing.get(each.name, each)
            table.add_row(each.name, Text(each.spelled or "–"), Text(usual.spelled or "–"))
    screen.print(table)
    count = len(differing)
    screen.print(f"{count} {'key differs' if count == 1 else 'keys differ'} from the defaults")


@app.command()
def check(file: File = None, config: Config = None) -> None:
    """Say whether a table starts with FILE: every key, and the rules of its profile.

    Status 78 and the reason where it does not. What is connected, `shaker-ctl doctor` looks at.
    """
    path = _named(file, config)
    found = settings.load(path)
    settings.check_rules(found, source=str(path))
    table = f"table {found.service.table_name!r}, profile {found.table.profile}"
    screen.print(Text.assemble(("ok", "green"), f"  {path}: {table}"), soft_wrap=True)
