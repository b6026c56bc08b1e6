"""`shaker-ctl status`: a running table, from its status socket."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from shaker_ctl import settings
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.screen import draw
from shaker_ctl.errors import RefusedError, ShakerError, reraise_as
from shaker_ctl.service.status_socket import follow_status, read_status

screen = Console()

FOLLOW_HZ = 8
IS_IT_RUNNING = "Is the service running? systemctl status shaker-ctl"


def status(
    config: Annotated[Path, typer.Option(help="Settings file of the table.")] = DEFAULT_CONFIG,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep the screen live.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The whole view as JSON; with --follow one a line.")
    ] = False,
) -> None:
    """Show a running table: state, motor, last reading, lamps, faults."""
    if follow and not as_json and not screen.is_terminal:
        raise RefusedError(
            "--follow draws a live screen, and the output is no terminal",
            remedy="Add --json for one view a line, or leave out --follow for one view",
        )
    folder = settings.load(config).service.runtime_dir
    with contextlib.suppress(KeyboardInterrupt):
        if not follow:
            _show(next(_views(folder, None)), as_json=as_json)
            return
        views = _views(folder, FOLLOW_HZ)
        if as_json:
            for view in views:
                typer.echo(json.dumps(view))
        else:
            with Live(console=screen, screen=True, refresh_per_second=FOLLOW_HZ) as live:
                for view in views:
                    live.update(draw(view, view["rounds"]))
        raise ShakerError(f"the table at {folder} has gone", remedy=IS_IT_RUNNING)


def _show(view: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(view, indent=2))
    else:
        screen.print(draw(view, view["rounds"]))


def _views(folder: Path, rate_hz: float | None) -> Iterator[dict[str, Any]]:
    """Yield views until the table goes; one where `rate_hz` is None.

    Raises `ShakerError` where none answers.
    """
    with reraise_as(ShakerError, f"no table answers at {folder}", remedy=IS_IT_RUNNING):
        if rate_hz is None:
            yield read_status(folder)
        else:
            yield from follow_status(folder, rate_hz)
