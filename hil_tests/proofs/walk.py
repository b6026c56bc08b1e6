"""Long random play by people who err (wrong values, moments, persons): `python -m
hil_tests.proofs.walk`.

Owns the walk. Every step, taken or refused, is judged by the properties of the exploration; unlike
the exploration it goes thousands of steps deep on one path, numbers and names as they come about.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from random import Random
from typing import Annotated

import typer

from hil_tests.proofs.alphabet import alphabet
from hil_tests.proofs.explore import HOME, first, transition
from hil_tests.proofs.properties import Violation, check
from hil_tests.proofs.tables import ExploredTable, tables
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.commands import RecordRound
from shaker_ctl.rules.machine import MACHINE
from shaker_ctl.rules.phases import STANDING
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Part, Purpose, Timer, TimeTrust
from vision.reading import Verified

GOES_WRONG = 0.004
"""Share of choices among everything; in all others nothing breaks and nobody disturbs the table, so
that it gets somewhere. What a dealer types is right or wrong with equal chance in both."""

LEADS_ON = 0.8
"""How often an event is passed over that would leave the table where it stands."""

DISTURBS = (
    *(ev.ShakerFault, ev.LampFault, ev.ReaderFault, ev.ControllerFault, ev.ConditionChanged),
    *(ev.Restarted, ev.CompartmentOpened, ev.EstopPressed, ev.TossNotStarted, ev.TossDisproved),
    *(ev.MultipliersNotShown, ev.CloseRequested, ev.InspectionAbandoned, ev.LampSeenWrong),
    *(ev.OutOfServiceRequested, ev.LidRequested, ev.JogRequested, ev.TrialTossRequested),
    *(ev.LampTrialRequested, ev.ShakerRetired, ev.ShakerRestored, ev.ShiftBegan),
    *(ev.WalkSteered, ev.TimeConfirmed),
)
PACE = (
    *(Timer.LOOK, Timer.MIN_ROUND, Timer.BETTING, Timer.ACTIVATION),
    *(Timer.SETTLING, Timer.PAYOUT),
)
"""Timers that run out in usual play; any other is a device that does not answer."""

REFUSED_BETWEEN = 60
"""Most events in a row that nobody takes, before the next is chosen among all that are taken."""


@dataclass
class Walked:
    """What a walk met."""

    table: str
    steps: int = 0
    """Events that were taken."""
    refused: int = 0
    rounds: int = 0
    longest: int = 0
    """Most steps in a row away from a table that is open between rounds, or out of service."""
    violations: list[Violation] = field(default_factory=list)
    dead_ends: int = 0
    """States in which no event at all is taken."""
    seconds: float = 0.0
    """Processor time."""


def walk(table: ExploredTable, steps: int, seed: int) -> Walked:
    """Take `steps` events, chosen at random, and judge every transition."""
    found, luck, began = Walked(table.name), Random(seed), time.process_time()
    letters = {purpose: alphabet(table, purpose) for purpose in Purpose}
    live = {
        (purpose, phase): [each for each in letters[purpose] if MACHINE.has_rows(phase, type(each))]
        for purpose in Purpose
        for phase in Phase
    }
    usual = {
        (purpose, phase): [each for each in events if not _goes_wrong(table, phase, each)] or events
        for (purpose, phase), events in live.items()
    }
    state, watch = first(table)
    away = tries = 0
    while found.steps < steps and not found.violations:
        everything = luck.random() < GOES_WRONG or tries > REFUSED_BETWEEN
        choices = (live if everything else usual)[state.purpose, state.phase]
        if tries > REFUSED_BETWEEN:
            choices = [each for each in choices if MACHINE.permits(state, each, table.rules)]
        if not choices:
            found.dead_ends += 1
            break
        event = luck.choice(choices)
        case, after = transition(MACHINE, table, (state, watch), event)
        stays = case.accepted and case.to is case.phase
        if stays and not everything and luck.random() < LEADS_ON:
            continue
        for name, holds in check(case):
            if not holds:
                found.violations.append(Violation(name, table.name, state, event, case.step))
        state, watch = after or (state, watch)
        if case.refused:
            found.refused += 1
            tries += 1
            continue
        tries = 0
        found.steps += 1
        found.rounds += case.orders(RecordRound)
        away = 0 if state.phase in HOME else away + 1
        found.longest = max(found.longest, away)
    found.seconds = time.process_time() - began
    return found


def _goes_wrong(table: ExploredTable, phase: Phase, event: ev.Event) -> bool:
    """True for what breaks, disturbs, or answers otherwise than in usual play."""
    match event:
        case ev.TimerExpired(timer=timer):
            return timer not in PACE
        case ev.ReadingMade(verdict=verdict):
            return not isinstance(verdict, Verified)
        case ev.CycleJudged(tossed=tossed):
            return not tossed
        case ev.InspectionRequested(part=part, at=at):
            return part is not Part.ALL or at != table.day
        case ev.Signed(at=at):
            return at != table.day
        case ev.DiceChanged():
            return phase in STANDING
        case ev.TimeChecked(now=now, trust=trust, behind_last_record=behind):
            return now != table.day or trust is TimeTrust.NONE or behind
        case ev.TossPlanDrawn(at=at, trust=trust, behind_last_record=behind):
            return at != table.day or trust is TimeTrust.NONE or behind
        case ev.CoverClosed() | ev.CoverOpened():
            return phase is not (
                Phase.COVERING if type(event) is ev.CoverClosed else Phase.REVEALING
            )
        case ev.EachLampProved(areas=areas):
            return len(areas) < len(table.rules.areas)
    return isinstance(event, DISTURBS)


def main(
    steps: Annotated[int, typer.Option(help="Events that are taken, over all tables.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Where chance begins.")] = 1,
) -> None:
    """Play at random with people who err; every step is judged by every property."""
    taken = bad = 0
    for table in tables():
        one = walk(table, steps // len(tables()), seed)
        typer.echo(
            f"{one.table}: {one.steps} steps taken, {one.refused} refused, {one.rounds} rounds, "
            f"longest way home {one.longest} steps, {one.seconds:.0f} s"
        )
        for broken in one.violations:
            typer.echo(f"  {broken.property}: {broken.event} in {broken.state}")
        taken, bad = taken + one.steps, bad + len(one.violations) + one.dead_ends
    typer.echo(f"{taken} steps, {bad} violations or dead ends")
    raise typer.Exit(1 if bad else 0)


if __name__ == "__main__":
    typer.run(main)
