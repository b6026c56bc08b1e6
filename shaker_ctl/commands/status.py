"""`shaker-ctl status`: a running table, from its status socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from shaker_ctl import settings
from shaker_ctl.commands.run import DEFAULT_CONFIG
from shaker_ctl.commands.screen import draw
from shaker_ctl.errors import ShakerError
from shaker_ctl.service.status_socket import follow_status, read_status

screen = Console()


def status(
    config: Annotated[Path, typer.Option(help="Settings file of the table.")] = DEFAULT_CONFIG,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep the screen live.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole view as JSON.")] = False,
) -> None:
    """Show a running table: state, motor, last reading, lamps, faults."""
    folder = settings.load(config).service.runtime_dir
    try:
        if not follow:
            view = read_status(folder)
            if as_json:
                typer.echo(json.dumps(view, indent=2))
            else:
                screen.print(draw(view, view["rounds"]))
            return
        with Live(console=screen, screen=True, refresh_per_second=8) as live:
            for view in follow_status(folder, rate_hz=8):
                live.update(draw(view, view["rounds"]))
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise ShakerError(
            f"no table answers at {folder}: {error.strerror or error}",
            remedy="Is the service running? systemctl status shaker-ctl",
        ) from error
