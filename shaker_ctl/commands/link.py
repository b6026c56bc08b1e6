"""`shaker-ctl link`: the table's link to its floor, as a program beside the service."""

from __future__ import annotations

import json
import logging
import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from shaker_ctl import settings
from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.link.parameters import LinkParameters
from shaker_ctl.quoting import visible

LINK_CONFIG = Path("/etc/shaker-link/link.toml")


def link(
    config: Annotated[Path, typer.Option(help="Settings file of the link.")] = LINK_CONFIG,
    show: Annotated[
        bool, typer.Option("--show", help="Say how the running link stands with the floor.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Check settings and certificates.")] = (
        False
    ),
) -> None:
    """Hand the table's journal, state and alarms to a floor, until SIGTERM or Ctrl-C.

    It only reads, connects outward only, and keeps nothing: it goes on where the floor's database
    says that it stands. Play never waits for it.
    """
    found = settings.parse_file(config, LinkParameters)
    if show:
        _show(found)
        return
    try:
        from shaker_ctl.link.connection import tls_context
        from shaker_ctl.link.link import Link
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"the link needs the library {error.name}",
            remedy="Install the table's package, or shaker-ctl[link] from shaker_ctl/lock.txt",
        ) from error
    if check:
        tls_context(found)
        settings.load(found.settings)
        typer.echo(f"{config}: good; the table is {found.site}/{found.table}")
        return
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    Link(found).run(over.is_set)


def _show(found: LinkParameters) -> None:
    path = found.runtime_dir / "floor.json"
    try:
        stands = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RefusedError(
            f"no link says how it stands: {path}: {error}",
            remedy="Is it running? systemctl status shaker-link",
        ) from error
    typer.echo(
        "connected" if stands["connected"] else f"not connected: {visible(stands['trouble'])}"
    )
    if stands["acknowledged"] is not None:
        typer.echo(f"the floor has committed up to record {stands['acknowledged']}")
    if stands["contradiction"]:
        typer.echo(f"the floor holds another history: {visible(stands['contradiction'])}")
