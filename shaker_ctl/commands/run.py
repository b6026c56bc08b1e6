"""`shaker-ctl run`: the service itself. The same program on a Pi and on the virtual rig."""

from __future__ import annotations

import logging
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from shaker_ctl import settings
from shaker_ctl.table import Table

DEFAULT_CONFIG = Path("/etc/shaker-ctl/settings.toml")


def run(
    config: Annotated[
        Path, typer.Option(help="Settings file; `shaker-ctl settings reference` explains it.")
    ] = DEFAULT_CONFIG,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")] = False,
) -> None:
    """Run a table until SIGTERM or Ctrl-C.

    Opens the journal, the GPIO daemon, the lamp box, the camera and the consoles, in this order,
    and comes up with an inspection due. Whatever is missing ends the start with one line that says
    what, where, and what to do; the motor is off then.
    """
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
    )
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    table = Table(settings.load(config), source=config)
    try:
        table.start()
        typer.echo("READY")
        while not ended.wait(0.5):
            table.check()
    finally:
        table.stop()
