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
from shaker_ctl.parameters import Parameters

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


Kind = Annotated[
    Literal["table", "link", "floor"], typer.Option("--for", help="Whose settings file.")
]


def _kind(name: str) -> type[Parameters]:
    if name == "link":
        from shaker_ctl.link.parameters import LinkParameters

        return LinkParameters
    if name == "floor":
        from shaker_ctl.floor.parameters import FloorParameters

        return FloorParameters
    return settings.Settings


@app.command()
def reference(
    section: Annotated[str, typer.Argument(help="Only this one, such as camera.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Markdown source, for a file.")] = False,
    kind: Kind = "table",
) -> None:
    """Print every key with unit, range, default and reason."""
    text = settings_page.reference(section, _kind(kind)())
    if plain:
        typer.echo(text, nl=False)
    else:
        screen.print(Markdown(text))


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="The TOML file to write.")],
    purpose: Annotated[
        Literal["pi", "rig", "link", "floor"],
        typer.Option("--for", help="Of a table on a Pi or on the rig; of a link or a floor."),
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
        kind = _kind(purpose)
        opened.write(settings_page.fresh(chosen, kind(), machine=machine))
    then = f"shaker-ctl settings check{settings.for_(kind)} {file}"
    screen.print(f"{file}: change what you need, then: {then}", soft_wrap=True)


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
def check(file: File = None, config: Config = None, kind: Kind = "table") -> None:
    """Say whether a table starts with FILE: every key, and the rules of its profile.

    Status 78 and the reason where it does not. What is connected, `shaker-ctl doctor` looks at.
    """
    path = _named(file, config)
    if kind != "table":
        settings.parse_file(path, _kind(kind))
        screen.print(Text.assemble(("ok", "green"), f"  {path}"), soft_wrap=True)
        return
    found = settings.load(path)
    settings.check_rules(found, source=str(path))
    table = f"table {found.service.table_name!r}, profile {found.table.profile}"
    screen.print(Text.assemble(("ok", "green"), f"  {path}: {table}"), soft_wrap=True)
