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
    DiceStep,
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


@frozen
class Answer(Event):
    """What a device or the clock says to a command of this occasion."""

    occasion: Occasion


@frozen
class Act(Event):
    """What a person does."""

    person: Person


@frozen
class ActOnRound(Act):
    """What a person does in a round."""

    round: int


# ── Starting, time ──────────────────────────────────────────────────────────


@recorded
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
class TimeChecked(Answer):
    """Wall time at this moment, answer to `CheckTime`.

    `behind_last_record` is true when the clock stands earlier than the last journal record.
    """

    now: datetime
    trust: TimeTrust
    behind_last_record: bool = False


@recorded
class TimerExpired(Event):
    """The running timer ran out. Not sent for one that was replaced or cancelled."""

    timer: Timer
    occasion: Occasion


# ── Answers: chance ─────────────────────────────────────────────────────────


@recorded
class TossPlanDrawn(Answer):
    """A shake for the toss that begins now. `at`: wall time, by which text and dice are judged
    again, and `trust` and `behind_last_record` as in `TimeChecked`.
    """

    plan: TossPlan
    at: datetime
    trust: TimeTrust = TimeTrust.RTC
    behind_last_record: bool = False


@recorded
class MultipliersDrawn(Answer):
    """Positions and odds drawn from the operating system's randomness; may be none at all."""

    multipliers: tuple[Multiplied, ...]


@recorded
class MultipliersShown(Answer):
    """Read back position by position where players see them."""


@recorded
class MultipliersNotShown(Answer):
    """The display of the multipliers could not be proved."""

    reason: str


# ── Answers and facts: shaker ───────────────────────────────────────────────


@recorded
class TossStarted(Answer):
    """EN is high: from here on the shaker is activated."""


@recorded
class TossNotStarted(Answer):
    """EN stayed low all along: an interlock denied, or the lamps' answer was older than 500 ms."""

    reason: str


@recorded
class TossSettled(Answer):
    """Properly tossed by the tachometer, motor at standstill, settling time passed."""

    proof: TossProof


@recorded
class ShakerFault(Event):
    """The shaker failed: stall, overspeed, tach silent, driver fault, health test, link lost.

    `occasion` is the toss in which it failed, or None for one noticed outside a toss. In answer to
    `StartToss` it means at or after EN-on; a failure before EN-on is `TossNotStarted`. `found`:
    what the test of the dice found, in words.
    """

    occasion: Occasion | None
    code: str
    found: str = ""


@recorded
class JogFinished(Answer):
    """The technician's jog ended and the motor stands still."""


@recorded
class CompartmentOpened(Event):
    """The compartment contact opened, or its wire broke."""


@recorded
class CompartmentClosed(Event):
    """Closed and locked again."""


@recorded
class EstopPressed(Event):
    pass


@recorded
class EstopReleased(Event):
    pass


@recorded
class CoverClosed(Event):
    """The opaque cover is over the compartment, proved by its contact."""


@recorded
class CoverOpened(Event):
    pass


# ── Answers and facts: reader ───────────────────────────────────────────────


@recorded
class AtRest(Answer):
    """The camera proved the dice at rest, and moved since before the toss.

    `compared` is false where no pose from before the toss was to be had (after a restart).
    """

    compared: bool = True


@recorded
class TossDisproved(Answer):
    """At rest, but at least one die lies where one lay before: the toss is not proved (O-12), or
    position and value of all three are unchanged (O-21)."""


@recorded
class ReadingMade(Answer):
    """The reader's word on this occasion, after its own retries.

    After an `Unreadable` one word may still come: see `commands.KeepLooking`.
    """

    verdict: Verdict


@recorded
class ReaderFault(Event):
    """Camera or reader is lost, and was not brought back within its deadline."""

    occasion: Occasion | None
    code: str


# ── Answers and facts: lamps ────────────────────────────────────────────────


@recorded
class LampsProvedDark(Answer):
    """The lamp controller answered dark and healthy. `answered_at_s` is monotonic time."""

    answered_at_s: float


@recorded
class LampsShown(Answer):
    """Exactly the areas of `values` are lit, read back and measured at the bulbs."""

    values: Values


@recorded
class LampsDark(Answer):
    """All betting-area lamps are dark, read back and measured."""


@recorded
class EachLampProved(Answer):
    """Every one of `areas` was lit alone and then dark, read back and measured both times."""

    areas: tuple[Area, ...]


@recorded
class LampFault(Event):
    """The lamp controller or the area failed. `occasion` as in `ShakerFault`."""

    occasion: Occasion | None
    code: str


# ── Facts: the controller itself ────────────────────────────────────────────


@recorded
class ControllerFault(Event):
    """Journal, disk, memory, clock or a digest failed: the round is finished, then the table stops.

    The service keeps the code in its fault queue.
    """

    code: str


@recorded
class ConditionChanged(Event):
    """Settings, light or calibration are no longer those of the last inspection."""

    what: Condition


# ── Acts of people ──────────────────────────────────────────────────────────


@recorded
class OpenRequested(Act):
    """Open the table: from closed to its inspection, from inspected to play."""


@recorded
class CloseRequested(Act):
    """Close the table, after the round in hand."""


@recorded
class InspectionRequested(Act):
    """Run the opening inspection, or one part of it. `at`: wall time; older records have none."""

    part: Part = Part.ALL
    at: datetime | None = None


@recorded
class InspectionAbandoned(Act):
    """Give up the inspection or the technician's trial under way: motor off, lamps dark."""


@recorded
class LampValuesEntered(Act):
    """Three values of the inspecting person's own choice, to see what they light."""

    values: Values


@recorded
class LampsSeen(Act):
    """The inspecting person saw the lamps with their own eyes: those of an entry, or each one."""


@recorded
class LampSeenWrong(Act):
    """The inspecting person saw that the lamp of this area is not as it should be."""

    area: Area


@recorded
class WalkRequested(Act):
    """The inspecting person has entered enough: every lamp is lit alone, one after the other."""


@recorded
class WalkSteered(Act):
    """The inspecting person steers the walk over every lamp."""

    step: WalkStep


@recorded
class CycleRequested(Act):
    """The inspecting person starts one cycle of the shaker."""


@recorded
class CycleJudged(Act):
    """The inspecting person looked: whether the dice were properly tossed."""

    tossed: bool


@recorded
class Signed(Act):
    """The inspecting person signs the inspection that has just passed. `at`: wall time."""

    at: datetime


@recorded
class ShiftBegan(Event):
    """A new shift starts at this table. Nobody says so where its time of day has come."""

    person: Person | None


@recorded
class ShiftInspectionRequested(Act):
    """Run the inspection of the shift that is due. `at`: wall time; older records have none."""

    at: datetime | None = None


@recorded
class TimeConfirmed(Act):
    """A named person confirmed the wall clock. The service then trusts it until the next start."""


@recorded
class DiceChanged(Act):
    """Other dice are locked in now."""

    serials: tuple[str, ...]
    at: datetime


@recorded
class DiceCorrected(Act):
    """The dice on record, not used yet, bear these serials: others were typed for them."""

    serials: tuple[str, ...]


@recorded
class DiceLogged(Act):
    """What became of dice outside of the shaker, for the ledger. Where two sign, a second person
    says the same."""

    what: DiceStep
    serials: tuple[str, ...]


@recorded
class DiceKept(Act):
    """The compartment was opened, and the dice on record are still in it."""


@recorded
class BetsRequested(Act):
    """The dealer opens the next round."""


@recorded
class NoMoreBetsCalled(ActOnRound):
    """The dealer says that no more bets are taken."""


@recorded
class ActivationRequested(ActOnRound):
    """The dealer starts the shaker (a fresh act, never a held key)."""


@recorded
class PlayerPressed(Event):
    """Fresh edge of the player's button, with the round that the button was lit for."""

    round: int


@recorded
class RevealRequested(ActOnRound):
    """The dealer has the cover opened. Once that has had its time: the cover is off, says this
    person, and its contact is stuck; it takes the dealer and a second person."""


@recorded
class ValuesEntered(ActOnRound):
    """The dealer's own reading of the three dice."""

    values: Values


@recorded
class ValuesConfirmed(ActOnRound):
    """The dealer repeats the values that were read. Other values than those are refused."""

    values: Values


@recorded
class NoRollCalled(ActOnRound):
    """The dealer sees a die that does not lie flat."""


@recorded
class CompartmentWatched(ActOnRound):
    """Dealer or floorperson: whether the locked compartment stayed in their view meanwhile."""

    stayed: bool


@recorded
class DisputeDecided(ActOnRound):
    """The floorperson's decision; `values` is None for no roll."""

    values: Values | None


@recorded
class CorrectionNamed(ActOnRound):
    """The dealer typed wrongly, and names what the dice show; `values` is None for no roll."""

    values: Values | None


@recorded
class CorrectionAgreed(ActOnRound):
    """A second person agrees to what the dealer named, and repeats it."""

    values: Values | None


@recorded
class PresenceGiven(ActOnRound):
    """The person whom the profile names is at the table, before anything is settled by hand."""


@recorded
class WagersSettled(ActOnRound):
    """Losing wagers collected, then winning paid; or, without a result, all dealt with."""


@recorded
class LampsOffRequested(ActOnRound):
    """All is paid: the dealer has the lit combinations cleared."""


@recorded
class FaultCleared(Act):
    """The technician has repaired what `kind` names. The inspection then has to prove it."""

    kind: FaultKind


@recorded
class OutOfServiceRequested(Act):
    """A person takes the table out of play."""


@recorded
class ReturnRequested(Act):
    """Return to service: on to a new opening inspection."""


@recorded
class ShakerRetired(Act):
    """The out-of-order procedure was done, so that a manual shaker may be used."""

    steps: frozenset[RetireStep]


@recorded
class ShakerRestored(Act):
    """The automated shaker stands ready at the table again; its dice must be recorded anew."""


@recorded
class LidRequested(Act):
    """Release the latch of the compartment's lid, no round in hand. It counts as an opening."""


@recorded
class JogRequested(Act):
    """Turn the motor, table closed. `rpm` and `seconds` are bounded by motion's settings."""

    rpm: float
    seconds: float


@recorded
class TrialTossRequested(Act):
    """One toss with the table closed."""


@recorded
class LampTrialRequested(Act):
    """Light these areas one after the other, table closed. Empty: every area of the layout."""

    areas: tuple[Area, ...] = ()
