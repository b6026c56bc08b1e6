"""Everything that the table can ask of its devices and screens. Imperative, frozen, plain.

Owns the commands that `machine.step` returns, in the order in which they are to be performed.
Must not know how any of them is performed.

The service journals a step before it performs its commands, with two exceptions that never wait:
`StopMotor`, and `DarkenLamps`. Commands about lamps and phase are keyed by occasion and may be
performed again; `StartToss` and `Jog` never are. PROTOCOL.md says what answers each.
"""

from __future__ import annotations

from shaker_ctl.frozen import frozen
from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.record import recorded
from shaker_ctl.rules.vocabulary import (
    Cause,
    Correction,
    Ending,
    FaultKind,
    Multiplied,
    Notice,
    Occasion,
    ShownPhase,
    Source,
    Timer,
    TossPlan,
    WagersDo,
    WalkStep,
)
from vision.reading import Verdict


@frozen
class Command:
    """Base of all commands."""


@frozen
class CommandFor(Command):
    """A command for one use of the devices."""

    occasion: Occasion


# ── Chance and time ─────────────────────────────────────────────────────────


@recorded
class CheckTime(CommandFor):
    """Answer with `TimeChecked`: read the wall clock now."""


@recorded
class TrustTime(Command):
    """A named person confirmed the clock: report `TimeTrust.CONFIRMED` until the next start."""


@recorded
class StartTimer(Command):
    """Start the one timer of the table, replacing any that runs. Answer `TimerExpired`.

    Length: setting `table.<timer>_s`. `MIN_ROUND` runs out that long after the round's
    `Announce(BETS_OPEN)`; where that has passed already, or was before a restart, at once or after
    its full length from now.
    """

    timer: Timer
    occasion: Occasion


@recorded
class CancelTimer(Command):
    """Stop the running timer, if any."""


@recorded
class DrawTossPlan(CommandFor):
    """Draw one shake inside the approved procedure. Answer `TossPlanDrawn`."""


@recorded
class DrawMultipliers(CommandFor):
    """Draw positions and odds (`rules.multipliers.draw`). Answer `MultipliersDrawn`."""


@recorded
class ShowMultipliers(CommandFor):
    """Show the odds position by position and read them back.

    Answer `MultipliersShown` or `MultipliersNotShown`.
    """

    multipliers: tuple[Multiplied, ...]


@recorded
class HideMultipliers(CommandFor):
    """Take the shown odds away: the round is over, or they are not in force."""


# ── Shaker ──────────────────────────────────────────────────────────────────


@recorded
class StartToss(CommandFor):
    """Energise the shaker and run the plan.

    Performed at most once. Motion keeps EN low and answers `TossNotStarted` when the lamps' answer
    (`lamps_answered_at_s`, monotonic) is older than 500 ms at that moment, or an interlock denies.
    Otherwise `TossStarted` at EN-on, then `TossSettled` or `ShakerFault`.
    """

    plan: TossPlan
    lamps_answered_at_s: float


@recorded
class StopMotor(Command):
    """EN low. Never waits, not for the journal either. Harmless when the motor stands still."""

    cause: Cause


@recorded
class Jog(CommandFor):
    """Turn the motor for the technician. Performed at most once. Answer `JogFinished`."""

    rpm: float
    seconds: float


@recorded
class ReleaseLatch(Command):
    """Release the lid's latch for one pulse. Not performed while the shaker is not at rest.

    Answered by the contact: `CompartmentOpened`, then `CompartmentClosed`.
    """


@recorded
class DriveCover(CommandFor):
    """Drive the cover open or closed where a drive is fitted; otherwise a person moves it.

    Answered by the contact: `CoverOpened` or `CoverClosed`.
    """

    open: bool


# ── Light and reader ────────────────────────────────────────────────────────


@recorded
class NotePoses(CommandFor):
    """Keep the dice's poses as they lie now, before cover and toss. No answer.

    Failing is no fault: `AtRest` then says that nothing was compared.
    """


@recorded
class LightOn(Command):
    pass


@recorded
class LightOff(Command):
    """Ring light off, and no frame captured, stored, read or shown until `LightOn`."""


@recorded
class StartReading(CommandFor):
    """Prove rest and movement, then read, from frames of this toss only.

    Answer `AtRest` or `TossDisproved`, then `ReadingMade`.
    """


@recorded
class KeepLooking(CommandFor):
    """Nothing was read, and the dice still lie there: look again at intervals, till `StopReading`.

    Answer `ReadingMade` once, for dice that were read, or `TossDisproved`; none for a look that
    reads nothing.
    """


@recorded
class StopReading(Command):
    """Give up the reading in hand, if any, and look no more."""


# ── Lamps ───────────────────────────────────────────────────────────────────


@recorded
class ProveLampsDark(CommandFor):
    """Answer `LampsProvedDark` from a fresh reply of the controller, or `LampFault`."""


@recorded
class PushLamps(CommandFor):
    """Light exactly `areas` (the areas of `values`), commit, read back and measure.

    Answer `LampsShown`, or `LampFault`. Keyed by occasion; performed again after a restart.
    """

    values: Values
    areas: tuple[Area, ...]
    corrects: bool = False
    """These take the place of values that the same round was lit with before; the lamps are dark.
    The lamp box does so once a round."""


@recorded
class ClearLamps(CommandFor):
    """Clear the lit combinations. Answer `LampsDark` or `LampFault`."""


@recorded
class DarkenLamps(CommandFor):
    """Darken wrong lamps at once, before anything is journalled.

    Answer `LampsDark` when it succeeded, nothing otherwise.
    """


@recorded
class ProveEachLamp(CommandFor):
    """Light each area alone for `dwell_s`, then dark, reading back and measuring both.

    Answer `EachLampProved`.
    """

    areas: tuple[Area, ...]
    dwell_s: float


@recorded
class SteerWalk(CommandFor):
    """Pause the walk with its lamp lit, go on, or light a lamp once more. No answer."""

    step: WalkStep


@recorded
class ShowPhase(Command):
    """Phase lamps and screens. `demonstration` marks play that rests on no instrument in force."""

    phase: ShownPhase
    demonstration: bool = False


# ── People and records ──────────────────────────────────────────────────────


@recorded
class Announce(CommandFor):
    """Tell dealer, screens and staff. Screens word it; `clause` says on what it rests."""

    notice: Notice
    clause: str = ""
    wagers: WagersDo | None = None
    """With no roll, void and not started: what happens to the wagers."""
    cause: Cause | None = None
    values: Values | None = None
    areas: tuple[Area, ...] = ()
    """What the values win, where people have to see it or settle by it."""
    multipliers: tuple[Multiplied, ...] = ()
    """Those in force, beside values that are settled by them."""


@recorded
class RecordRound(Command):
    """The round is over: one line for statistics, report and console. No answer."""

    round: int
    ending: Ending
    wagers: WagersDo
    cause: Cause | None
    values: Values | None
    source: Source | None
    multipliers: tuple[Multiplied, ...]
    """Those in force, proved to have been shown."""
    correction: Correction | None = None
    """Two persons put `values` in the place of what it holds; no roll where neither has values."""
    camera_off: bool = False
    """Played without the reader: no picture proves that the dice were tossed (O-21)."""
    manual_shaker: bool = False
    """The dealer shook a manual shaker."""
    by_eye: bool = False
    """The result is what a dealer saw: the reader had read nothing when it was entered."""
    late: Verdict | None = None
    """What the reader read of it after all, before wagers were settled."""


@recorded
class RaiseFault(Command):
    """Put a fault in the queue that consoles show. Raising it again changes nothing."""

    kind: FaultKind
    code: str


@recorded
class ClearFaults(Command):
    """Take every fault of this kind out of the queue."""

    kind: FaultKind
