"""The wear of motor, cam and dice, beside the lifetime that the house sets for each.

Owns the section `[parts]` of the settings file and the notice on the day sheet. It stops nothing:
the proof of each toss finds the effect of a worn part. Must not know where the counts
come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.parameters import Parameters, bounded

SOON = 0.9
"""Share of a life from which on a notice stands on the sheet."""


class PartsParameters(Parameters):
    """How long parts last, and since when they are in the table. Zero: no limit is kept."""

    motor_hours: float = bounded(0.0, at_least=0.0, at_most=100_000.0)
    """Hours of shaking after which the motor is replaced. 0: no notice. The maker's figure, or the
    interval of the house's approval; shaking at speed is counted, a jog is not."""

    motor_fitted: date | None = None
    """Gaming day on which the motor was fitted. Empty: it is as old as the journal."""

    cam_strokes: float = bounded(0.0, at_least=0.0, at_most=1e9)
    """Strokes of the plate after which cam and follower are replaced. 0: no notice. One turn of
    the cam is one stroke; a toss at 720 rpm for 3 s makes about 36."""

    cam_fitted: date | None = None
    """Gaming day on which the cam was fitted. Empty: it is as old as the journal."""

    dice_tosses: float = bounded(0.0, at_least=0.0, at_most=1e9)
    """Tosses after which a set of dice is replaced, whatever its age. 0: no notice. The profile's
    own limit of age is kept besides, and bars play; this one does not."""


def lives(p: PartsParameters, motor: PartUsage, cam: PartUsage, dice: PartUsage) -> Iterator[str]:
    """Yield one line for each part that has a limit: how far it is, and what is to be done."""
    yield from _life("motor", "hours of shaking", motor.shaken_s / 3600, p.motor_hours)
    yield from _life("cam", "strokes", cam.turns, p.cam_strokes)
    yield from _life("dice", "tosses", dice.tosses, p.dice_tosses)


def _life(name: str, unit: str, used: float, limit: float) -> Iterator[str]:
    if not limit:
        return
    share = used / limit
    then = "" if share < SOON else ": replace it soon" if share < 1 else ": REPLACE IT"
    yield f"{name}: {used:,.0f} of {limit:,.0f} {unit}{then}"
