"""`shaker-ctl doctor`: everything that a technician checks, line by line, with the remedy.

Owns the screen and the exit status. Runs as the service's user where it can, so that what it finds
is what the service will meet.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from shaker_ctl import settings
from shaker_ctl.adapters.pins import daemon_network
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.service_user import become_the_service
from shaker_ctl.doctor.computer import Computer
from shaker_ctl.doctor.finding import Finding, Grade
from shaker_ctl.errors import RefusedError
from shaker_ctl.whole_file import mode, put

screen = Console(highlight=False)

COLOURS = {Grade.OK: "green", Grade.WARN: "yellow", Grade.FAIL: "bold red"}

NAME_WIDTH = 21

KEPT = "doctor.jsonl"
"""The last result, beside the journal, as a JSON object a line."""


def doctor(
    config: Annotated[Path, typer.Option(help="Settings file of the table.")] = DEFAULT_CONFIG,
    jog: Annotated[
        bool, typer.Option(help="Turn the shaker for a second and count what the tach says.")
    ] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it turns.")] = False,
    root: Annotated[
        Path, typer.Option(help="Look for the computer's own files below this folder.")
    ] = Path("/"),
) -> None:
    """Check the whole table: computer, disks, people, digests, lamps, consoles, camera, shaker.

    Each line is ok, warn or fail, with what to do. Ends with status 1 where any line fails. Refuses
    while the service runs: it holds the hardware.
    """
    from shaker_ctl.doctor.examination import examine  # and with it every device's library

    daemon_network.enter()
    become_the_service()
    found = settings.load(config)
    if jog and not yes and not typer.confirm("The shaker turns for one second. Is it closed?"):
        raise RefusedError("nothing was looked at", remedy="Close it, or give --no-jog")
    failed = warned = 0
    lines = []
    for one in examine(found, config, machine=Computer(root), is_jogged=jog):
        lines.append(json.dumps(asdict(one), ensure_ascii=False))
        failed += one.verdict is Grade.FAIL
        warned += one.verdict is Grade.WARN
        _show(one)
    _keep(found.journal.path.with_name(KEPT), lines)
    screen.print(f"{failed} failed, {warned} to know" if failed or warned else "all ok")
    if failed:
        raise typer.Exit(1)


def _keep(path: Path, lines: list[str]) -> None:
    """Leave the result beside the journal, for the page; where that cannot be, it was shown."""
    with contextlib.suppress(OSError):
        put(path, "".join(f"{line}\n" for line in lines), mode(0o640))


def _show(one: Finding) -> None:
    word = Text(f"{one.verdict.value:<5}", COLOURS[one.verdict])
    screen.print(Text.assemble(word, f"{one.name:<{NAME_WIDTH}}", one.text), soft_wrap=True)
    if one.remedy:
        screen.print(
            Text.assemble(" " * (5 + NAME_WIDTH), ("→ ", "dim"), one.remedy), soft_wrap=True
        )
