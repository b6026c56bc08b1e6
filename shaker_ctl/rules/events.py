"""Everything that can happen to the table. Past tense, frozen, plain.

Owns the events that `machine.step` takes: answers to commands, facts that devices notice by
themselves, acts of people, deadlines, and the restart. Must not know who observed them.

Time, chance and verdicts come in here and nowhere else. An answer repeats the `occasion` of its
command; an act of a person on a round names the `round`. The machine refuses what belongs to
another occasion, so a late or repeated message never changes anything. PROTOCOL.md beside this
file says which command is answered by which event, and by when.
"""

from __future__ import annotations

from datetime import datetime

from shaker_ctl.frozen import frozen
from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.record import recorded
from shaker_ctl.rules.vocabulary import (
    Condition,
    FaultKind,
    Multiplied,
    Occasion,
    Part,
    Person,
    RetireStep,
    Timer,
    TimeTrust,
    TossPlan,
    TossProof,
    WalkStep,
)
from vision.reading import Verdict


@frozen
class Event:
    """Base of all events."""


# ── Starting, time ──────────────────────────────────────────────────────────


@recorded
@frozen
class Restarted(Event):
    """The controller started, with the last recorded state before it. First event of every run.

    Contacts are as read now. `compartment_stayed_locked` is true only where the lid's flag is
    fitted and stands: it falls when the lid is raised, needs no power, and only a person with a
    key sets it again. That a contact is closed now proves nothing of the time between.
    """

    compartment_open: bool
    estop_pressed: bool
    cover_closed: bool
    compartment_stayed_locked: bool = False


@recorded
@frozen
class TimeChecked(Event):
    """Wall time at this moment, answer to `CheckTime`.

    `behind_last_record` is true when the clock stands earlier than the last journal record.
    """

    occasion: Occasion
    now: datetime
    trust: TimeTrust
    behind_last_record: bool = False


@recorded
@frozen
class TimerExpired(Event):
    """The running timer ran out. Not sent for one that was replaced or cancelled."""

    timer: Timer
    occasion: Occasion


# ── Answers: chance ─────────────────────────────────────────────────────────


@recorded
@frozen
class TossPlanDrawn(Event):
    """A shake for the toss that begins now. `at`: wall time, by which text and dice are judged
    again, and `trust` and `behind_last_record` as in `TimeChecked`.
    """

    occasion: Occasion
    plan: TossPlan
    at: datetime
    trust: TimeTrust = TimeTrust.RTC
    behind_last_record: bool = False


@recorded
@frozen
class MultipliersDrawn(Event):
    """Positions and odds drawn from the operating system's randomness; may be none at all."""

    occasion: Occasion
    multipliers: tuple[Multiplied, ...]


@recorded
@frozen
class MultipliersShown(Event):
    """Read back position by position where players see them."""

    occasion: Occasion


@recorded
@frozen
class MultipliersNotShown(Event):
    """The display of the multipliers could not be proved."""

    occasion: Occasion
    reason: str


# ── Answers and facts: shaker ───────────────────────────────────────────────


@recorded
@frozen
class TossStarted(Event):
    """EN is high: from here on the shaker is activated."""

    occasion: Occasion


@recorded
@frozen
class TossNotStarted(Event):
    """EN stayed low all along: an interlock denied, or the lamps' answer was older than 500 ms."""

    occasion: Occasion
    reason: str


@recorded
@frozen
class TossSettled(Event):
    """Properly tossed by the tachometer, motor at standstill, settling time passed."""

    occasion: Occasion
    proof: TossProof


@recorded
@frozen
class ShakerFault(Event):
    """The shaker failed: stall, overspeed, tach silent, driver fault, health test, link lost.

    `occasion` is the toss in which it failed, or None for one noticed outside a toss. In answer to
    `StartToss` it means at or after EN-on; a failure before EN-on is `TossNotStarted`.
    """

    occasion: Occasion | None
    code: str


@recorded
@frozen
class JogFinished(Event):
    """The technician's jog ended and the motor stands still."""

    occasion: Occasion


@recorded
@frozen
class CompartmentOpened(Event):
    """The compartment contact opened, or its wire broke."""


@recorded
@frozen
class CompartmentClosed(Event):
    """Closed and locked again."""


@recorded
@frozen
class EstopPressed(Event):
    pass


@recorded
@frozen
class EstopReleased(Event):
    pass


@recorded
@frozen
class CoverClosed(Event):
    """The opaque cover is over the compartment, proved by its contact."""


@recorded
@frozen
class CoverOpened(Event):
    pass


# ── Answers and facts: reader ───────────────────────────────────────────────


@recorded
@frozen
class AtRest(Event):
    """The camera proved the dice at rest, and moved since before the toss.

    `compared` is false where no pose from before the toss was to be had (after a restart).
    """

    occasion: Occasion
    compared: bool = True


@recorded
@frozen
class TossDisproved(Event):
    """At rest, but at least one die lies where one lay before: the toss is not proved (O-12), or
    position and value of all three are unchanged (O-21)."""

    occasion: Occasion


@recorded
@frozen
class ReadingMade(Event):
    """The reader's word on this occasion, after its own retries.

    After an `Unreadable` one word may still come: see `commands.KeepLooking`.
    """

    occasion: Occasion
    verdict: Verdict


@recorded
@frozen
class ReaderFault(Event):
    """Camera or reader is lost, and was not brought back within its deadline."""

    occasion: Occasion | None
    code: str


# ── Answers and facts: lamps ────────────────────────────────────────────────


@recorded
@frozen
class LampsProvedDark(Event):
    """The lamp controller answered dark and healthy. `answered_at_s` is monotonic time."""

    occasion: Occasion
    answered_at_s: float


@recorded
@frozen
class LampsShown(Event):
    """Exactly the areas of `values` are lit, read back and measured at the bulbs."""

    occasion: Occasion
    values: Values


@recorded
@frozen
class LampsDark(Event):
    """All betting-area lamps are dark, read back and measured."""

    occasion: Occasion


@recorded
@frozen
class EachLampProved(Event):
    """Every one of `areas` was lit alone and then dark, read back and measured both times."""

    occasion: Occasion
    areas: tuple[Area, ...]


@recorded
@frozen
class LampFault(Event):
    """The lamp controller or the area failed. `occasion` as in `ShakerFault`."""

    occasion: Occasion | None
    code: str


# ── Facts: the controller itself ────────────────────────────────────────────


@recorded
@frozen
class ControllerFault(Event):
    """Journal, disk, memory, clock or a digest failed: the round is finished, then the table stops.

    The service keeps the code in its fault queue.
    """

    code: str


@recorded
@frozen
class ConditionChanged(Event):
    """Settings, light or calibration are no longer those of the last inspection."""

    what: Condition


# ── Acts of people ──────────────────────────────────────────────────────────


@recorded
@frozen
class OpenRequested(Event):
    """Open the table: from closed to its inspection, from inspected to play."""

    person: Person


@recorded
@frozen
class CloseRequested(Event):
    """Close the table, after the round in hand."""

    person: Person


@recorded
@frozen
class InspectionRequested(Event):
    """Run the opening inspection, or one part of it. `at`: wall time; older records have none."""

    person: Person
    part: Part = Part.ALL
    at: datetime | None = None


@recorded
@frozen
class InspectionAbandoned(Event):
    """Give up the inspection or the technician's trial under way: motor off, lamps dark."""

    person: Person


@recorded
@frozen
class LampValuesEntered(Event):
    """Three values of the inspecting person's own choice, to see what they light."""

    person: Person
    values: Values


@recorded
@frozen
class LampsSeen(Event):
    """The inspecting person saw the lamps with their own eyes: those of an entry, or each one."""

    person: Person


@recorded
@frozen
class LampSeenWrong(Event):
    """The inspecting person saw that the lamp of this area is not as it should be."""

    person: Person
    area: Area


@recorded
@frozen
class WalkRequested(Event):
    """The inspecting person has entered enough: every lamp is lit alone, one after the other."""

    person: Person


@recorded
@frozen
class WalkSteered(Event):
    """The inspecting person steers the walk over every lamp."""

    person: Person
    step: WalkStep


@recorded
@frozen
class CycleRequested(Event):
    """The inspecting person starts one cycle of the shaker."""

    person: Person


@recorded
@frozen
class CycleJudged(Event):
    """The inspecting person looked: whether the dice were properly tossed."""

    person: Person
    tossed: bool


@recorded
@frozen
class Signed(Event):
    """The inspecting person signs the inspection that has just passed. `at`: wall time."""

    person: Person
    at: datetime


@recorded
@frozen
class ShiftBegan(Event):
    """A new shift starts at this table. Nobody says so where its time of day has come."""

    person: Person | None


@recorded
@frozen
class ShiftInspectionRequested(Event):
    """Run the inspection of the shift that is due. `at`: wall time; older records have none."""

    person: Person
    at: datetime | None = None


@recorded
@frozen
class TimeConfirmed(Event):
    """A named person confirmed the wall clock. The service then trusts it until the next start."""

    person: Person


@recorded
@frozen
class DiceChanged(Event):
    """Other dice are locked in now."""

    person: Person
    serials: tuple[str, ...]
    at: datetime


@recorded
@frozen
class DiceCorrected(Event):
    """The dice on record, not used yet, bear these serials: others were typed for them."""

    person: Person
    serials: tuple[str, ...]


@recorded
@frozen
class DiceKept(Event):
    """The compartment was opened, and the dice on record are still in it."""

    person: Person


@recorded
@frozen
class BetsRequested(Event):
    """The dealer opens the next round."""

    person: Person


@recorded
@frozen
class NoMoreBetsCalled(Event):
    person: Person
    round: int


@recorded
@frozen
class ActivationRequested(Event):
    """The dealer starts the shaker (a fresh act, never a held key)."""

    person: Person
    round: int


@recorded
@frozen
class PlayerPressed(Event):
    """Fresh edge of the player's button, with the round that the button was lit for."""

    round: int


@recorded
@frozen
class RevealRequested(Event):
    """The dealer has the cover opened. Once that has had its time: the cover is off, says this
    person, and its contact is stuck; it takes the dealer and a second person."""

    person: Person
    round: int


@recorded
@frozen
class ValuesEntered(Event):
    """The dealer's own reading of the three dice."""

    person: Person
    round: int
    values: Values


@recorded
@frozen
class ValuesConfirmed(Event):
    """The dealer repeats the values that were read. Other values than those are refused."""

    person: Person
    round: int
    values: Values


@recorded
@frozen
class NoRollCalled(Event):
    person: Person
    round: int


@recorded
@frozen
class CompartmentWatched(Event):
    """Dealer or floorperson: whether the locked compartment stayed in their view meanwhile."""

    person: Person
    round: int
    stayed: bool


@recorded
@frozen
class DisputeDecided(Event):
    """The floorperson's decision; `values` is None for no roll."""

    person: Person
    round: int
    values: Values | None


@recorded
@frozen
class CorrectionNamed(Event):
    """The dealer typed wrongly, and names what the dice show; `values` is None for no roll."""

    person: Person
    round: int
    values: Values | None


@recorded
@frozen
class CorrectionAgreed(Event):
    """A second person agrees to what the dealer named, and repeats it."""

    person: Person
    round: int
    values: Values | None


@recorded
@frozen
class PresenceGiven(Event):
    """The person whom the profile names is at the table, before anything is settled by hand."""

    person: Person
    round: int


@recorded
@frozen
class WagersSettled(Event):
    """Losing wagers collected, then winning paid; or, without a result, all dealt with."""

    person: Person
    round: int


@recorded
@frozen
class LampsOffRequested(Event):
    person: Person
    round: int


@recorded
@frozen
class FaultCleared(Event):
    """The technician has repaired what `kind` names. The inspection then has to prove it."""

    person: Person
    kind: FaultKind


@recorded
@frozen
class OutOfServiceRequested(Event):
    person: Person


@recorded
@frozen
class ReturnRequested(Event):
    """Return to service: on to a new opening inspection."""

    person: Person


@recorded
@frozen
class ShakerRetired(Event):
    """The out-of-order procedure was done, so that a manual shaker may be used."""

    person: Person
    steps: frozenset[RetireStep]


@recorded
@frozen
class ShakerRestored(Event):
    """The automated shaker stands ready at the table again; its dice must be recorded anew."""

    person: Person


@recorded
@frozen
class LidRequested(Event):
    """Release the latch of the compartment's lid, no round in hand. It counts as an opening."""

    person: Person


@recorded
@frozen
class JogRequested(Event):
    """Turn the motor, table closed. `rpm` and `seconds` are bounded by motion's settings."""

    person: Person
    rpm: float
    seconds: float


@recorded
@frozen
class TrialTossRequested(Event):
    person: Person


@recorded
@frozen
class LampTrialRequested(Event):
    """Light these areas one after the other, table closed. Empty: every area of the layout."""

    person: Person
    areas: tuple[Area, ...] = ()
