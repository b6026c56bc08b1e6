"""People who teach a table of the rig its dice: a program that the installer runs.

Owns how they do it: one lifts the lid, throws the dice by hand and closes it, one looks through the
dome and says what lies there. They are told how the dice lie by the rig's door; what the reader
sees comes from the camera alone. It runs where the table's pins are, which light the ring.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import cv2
import typer

from hil_tests.rig.control import told
from hil_tests.table_under_test.lamps import values_of
from hil_tests.table_under_test.table import PEOPLE, SERIALS
from shaker_ctl import settings
from shaker_ctl.adapters.camera.stopped_camera import StillPictures
from shaker_ctl.commands.calibrate import lit_and_uncovered
from shaker_ctl.commands.teach import USUAL, learnt
from shaker_ctl.errors import CameraError
from shaker_ctl.reading.taught_table import Bound, TaughtTable
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.whole_file import mode, put
from vision.calibration import Calibration
from vision.table.confirmed import confirmed_toss
from vision.taught import Toss

app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)

MOST = 3 * USUAL
"""Tosses. A table that reads 99 of 100 of its own misses two of the usual 34 now and then, which is
too few to release it by: then its people go on."""


AGAIN = 10
"""Pictures of which the table says that they cannot be read, before its people give up."""


class AtRest(StillPictures):
    """Pictures of dice that somebody threw and saw come to rest."""

    quiet_s = 0.1


def teach(found: settings.Settings, control: str) -> TaughtTable:
    """Throw and confirm until the table reads enough of its own tosses, or too many are thrown."""
    bound = Bound.now(found.camera, SERIALS)
    fay = Person(PEOPLE["floorperson"], Role.FLOORPERSON, f"{PEOPLE['floorperson']}-1")
    tosses: list[Toss | None] = []
    while len(tosses) < MOST:
        tosses += _confirmed(found, control, len(tosses))
        seen = [toss for toss in tosses if toss is not None]
        typer.echo("each toss is read by what the others teach")
        calibration = Calibration.from_table(found.camera.calibration_table())
        table = learnt(seen, len(tosses) - len(seen), calibration, bound, (fay,))
        if table.is_enough:
            break
    return table


def _confirmed(found: settings.Settings, control: str, before: int) -> list[Toss | None]:
    """As many flat tosses as usual, after those `before`; None for one whose dice the network
    misses."""
    tosses: list[Toss | None] = []
    again = AGAIN
    with lit_and_uncovered(found), AtRest(found.camera) as pictures:
        while len(tosses) < USUAL:
            typer.echo(f"the table is taught its dice: toss {before + len(tosses) + 1}")
            values = _thrown(control)
            try:
                frame, seen = pictures.take()
            except CameraError as error:
                again -= 1
                if not again:
                    raise
                typer.echo(f"thrown again: {error}")
                continue
            if values is not None:
                tosses.append(confirmed_toss(frame, seen, values, pictures.calibration))
    return tosses


def _thrown(control: str) -> Values | None:
    """Throw the dice; return what a person sees; None where they do not all lie flat."""
    told(control, "hands force compartment")  # the service is not there to release the latch
    dice = told(control, "hands throw dice")
    told(control, "hands close compartment")
    return values_of(dice)


@app.command()
def main(
    config: Annotated[Path, typer.Argument(help="Settings file of the table.")],
    control: Annotated[str, typer.Argument(help="The rig's door.")],
) -> None:
    """Teach the table, and write what it was taught where its settings say."""
    started = datetime.now(UTC)
    cv2.setNumThreads(1)  # pictures this small are slower with two
    found = settings.load(config)
    table = teach(found, control)
    put(found.camera.teaching, table.to_bytes(), mode(0o640))
    typer.echo(f"{table.words()}; {(datetime.now(UTC) - started).total_seconds():.1f} s")
