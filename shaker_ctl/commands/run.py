"""`shaker-ctl run`: the service itself. The same program on a Pi and on the virtual rig."""

from __future__ import annotations

import gc
import logging
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from shaker_ctl import sealed_start, settings
from shaker_ctl.adapters import waitless_log
from shaker_ctl.adapters.camera import allocator
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.errors import RefusedError
from shaker_ctl.installation import real_table

if TYPE_CHECKING:
    from shaker_ctl.table import Table


def run(
    config: Annotated[
        Path, typer.Option(help="Settings file; `shaker-ctl settings reference` explains it.")
    ] = DEFAULT_CONFIG,
    as_demonstration: Annotated[
        bool,
        typer.Option(
            "--as-demonstration",
            help="Play what is not in force, or without approval or attendance, for show: marked "
            "on every screen, record and lamp phase. Never for wagers, never on a real table.",
        ),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")] = False,
) -> None:
    """Run a table until SIGTERM or Ctrl-C.

    Verifies the seal, then opens the journal, the camera, the GPIO daemon, the lamp box and the
    consoles, in this order, and comes up with an inspection due. Whatever is missing ends the start
    with one line that says what, where, and what to do; the motor is off then.
    """
    gc.disable()  # until READY: what a start makes stays
    from shaker_ctl.table import Table  # the whole service, which no help text needs

    allocator.return_large_blocks()
    written = waitless_log.start(logging.DEBUG if verbose else logging.INFO)
    try:
        sealed = sealed_start.check_files(config)  # before even the settings are believed
        found = _settings(config, as_demonstration)
        sealed_start.check_required(sealed, found.seal, config)
        _run(Table(found, config, sealed))
    finally:
        gc.enable()  # a start that failed, too, leaves its caller as it was
        waitless_log.end(written)


TURN_S = 0.001
"""How long a thread that computes keeps the interpreter from one that waits for it. With Python's
5 ms, two people who asked for figures without a pause made the heartbeat 26 ms late."""


def _run(table: Table) -> None:
    sys.setswitchinterval(TURN_S)
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        table.start()
        set_start_aside()
        typer.echo("READY")
        while not ended.wait(0.5):
            table.check()
    finally:
        table.stop()


def set_start_aside() -> None:
    """Leave what the start made out of all later garbage collections.

    They look at new objects only, and none takes a noticeable part of the control loop's 50 ms. The
    second collection counts anew: a full one waits for a quarter as many new objects as the last
    one left behind, and of the start's 300,000 that quarter was an hour's garbage.
    """
    gc.collect()
    gc.freeze()
    gc.collect()
    gc.enable()


def _settings(config: Path, as_demonstration: bool) -> settings.Settings:
    """The settings of `config`, made a demonstration's if asked for."""
    found = settings.load(config)
    if not as_demonstration:
        return found
    if (mark := real_table.mark()) is not None:
        raise RefusedError(
            f"{mark} says that this is a real table: no demonstration runs here (O-16)",
            remedy="Run it on another machine, or without --as-demonstration",
        )
    table = found.table.model_copy(update={"as_demonstration": True})
    return found.model_copy(update={"table": table})
