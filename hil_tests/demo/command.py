"""`shaker-ctl demo`: a table on the virtual rig. `shaker_ctl.commands.program` loads it by name."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import typer

from hil_tests.demo.play import play
from hil_tests.table_under_test.session import Plan
from shaker_ctl import __version__
from shaker_ctl.commands.program import INSTALL_RIG
from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.installation import real_table
from shaker_ctl.rules import profile_files
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import out_of_force, rulebook


def demo(
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many rounds; else at Ctrl-C.")
    ] = None,
    profile: Annotated[str, typer.Option(help="Rule text to play (`shaker-ctl rules list`).")] = (
        "pa-625a"
    ),
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the rig's physics and camera noise.")
    ] = 1,
    compartment: Annotated[
        Literal["standard", "narrow", "rough"],
        typer.Option(help="rough: about one toss in four does not end flat."),
    ] = "standard",
    pace: Annotated[
        Literal["table", "brisk"],
        typer.Option(help="brisk: short betting, settling and payout; same toss and reading."),
    ] = "table",
    dice: Annotated[
        str, typer.Option(help="Style of the rig's dice: white, ivory, red, blue, green, asian.")
    ] = "white",
    pins: Annotated[
        Literal["pigpio", "gpiod"],
        typer.Option(help="gpiod: as on a Raspberry Pi 5, through a virtual gpiochip."),
    ] = "pigpio",
    by_hand: Annotated[
        bool,
        typer.Option("--by-hand", help="You are the people: the screen says where to log in."),
    ] = False,
    page: Annotated[
        bool,
        typer.Option("--page", help="Serve the page for browsers beside it, on this computer."),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the page of the rounds (index.html), pictures, journal and logs. "
            "Without it they go at the end, unless something went wrong."
        ),
    ] = None,
    as_demonstration: Annotated[
        bool,
        typer.Option(
            "--as-demonstration",
            help="Play a text that is not in force today, marked as all demonstrations are.",
        ),
    ] = False,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Lines instead of the live screen (also off a terminal)."),
    ] = False,
) -> None:
    """Play a table on the virtual rig: opening inspection, then round after round.

    Rig and service start as two ordinary programs. A scripted floorperson logs in at the console,
    watches the inspection, signs it and opens the table; there is no way around it. Play is marked
    as a demonstration on every screen and record. At the end every lit lamp is compared with what
    the physics knows; a difference ends the program with status 1. A text that is not in force
    today, such as pa-625b since August 2026, needs --as-demonstration.

    With --by-hand nobody is scripted: the screen prints the line to paste into a second terminal,
    and the table waits for its floorperson and its dealer as a real one does.

    With --page it prints the address of a page that shows the table in a browser, without a login.
    """
    if (mark := real_table.mark()) is not None:
        raise RefusedError(
            f"{mark} says that this is a real table: no demonstration runs here (O-16)",
            remedy="Run it on another machine",
        )
    if as_demonstration:
        profile_files.load(profile)  # raises where there is no such text, before anything starts
    else:
        _refuse_out_of_force(profile)
    _require_same_version()
    plan = Plan(profile, seed, compartment, pace, dice, by_hand, page, pins)
    raise typer.Exit(play(plan, rounds=rounds, report=report, plain=plain))


def _require_same_version() -> None:
    """Raise `SettingsError` where the rig was built with another program. A source tree that was
    never installed has no version to compare."""
    with contextlib.suppress(PackageNotFoundError):
        built = version("shaker-rig")
        if built != __version__:
            raise SettingsError(
                f"the virtual rig is of version {built}, this program of {__version__}",
                remedy=INSTALL_RIG,
            )


def _refuse_out_of_force(profile: str) -> None:
    """Raise `RefusedError` where the text does not govern today, saying why and since when."""
    text = profile_files.load(profile)
    if barrier := out_of_force(text, text.day(datetime.now(UTC))):
        why = rulebook(TableParameters(profile=profile)).explain(barrier)
        raise RefusedError(
            f"the table does not open for play: {why}",
            remedy="Add --as-demonstration to see it played for show, marked everywhere",
        )
