"""What an observer knows of a table, told from events, commands and, in a few places, phases.

Owns the watch and how it follows a transition. A watch never copies a decision from the state, so
a property that compares the machine with the watch compares two accounts.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from hil_tests.proofs.tables import ExploredTable
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Lamps, Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Cause,
    Condition,
    FaultKind,
    Notice,
    Part,
    Person,
    Purpose,
    Role,
    ShownPhase,
    Timer,
    TimeTrust,
    WagersDo,
)
from vision.reading import NoRoll, Verified

P = Phase


class Watch(NamedTuple):
    """What has happened, told from outside."""

    # the world
    compartment: bool = False
    estop: bool = False
    cover: bool = False
    faults: frozenset[FaultKind] = frozenset()
    # devices, as commanded and answered
    lamps: Lamps = Lamps.UNKNOWN
    """As last proved; unknown from every lamp command, fault or restart until then."""
    lit: bool = False
    """Lamps were told to light and have not been proved dark since."""
    hidden: bool = False
    """Between `LightOff` and `LightOn`."""
    energised: bool = False
    """EN is on, or may be."""
    reading: bool = False
    """The reader was started and neither finished nor stopped."""
    odds_up: bool = False
    """Multipliers were told to be shown and not to be hidden since."""
    posed: bool = False
    """Poses were noted for this toss, or could not be seen."""
    timer: Timer | None = None
    awaited: type[do.Command] | None = None
    """The last command whose answer is still to come."""
    shown: ShownPhase | None = None
    # the round in hand
    playing: bool = False
    bets_closed: bool = False
    tossed: bool = False
    """StartToss was given for this round, and not denied."""
    settled: bool = False
    verdict: str = ""
    """verified, no_roll, unreadable: the reader's word."""
    read: tuple[int, ...] | None = None
    """What the reader verified, sorted."""
    value: bool = False
    """A value of this round is verified or entered."""
    stands: tuple[int, int, int] | None = None
    """The values that may be lit: verified (auto), confirmed, entered or decided this round."""
    draws: int = 0
    odds_proved: bool = False
    lamp_failed: bool = False
    """A lamp fault since EN-on, with wagers not yet settled."""
    paid: bool = False
    named: frozenset[tuple[int, ...]] = frozenset()
    """The values that dealer and reader named in a dispute, each sorted."""
    enterer: Person | None = None
    """Who entered against the reading."""
    typed: tuple[int, ...] | None = None
    """Typed once with no reading beside it, sorted."""
    typer: Person | None = None
    """Who typed that."""
    by_eye: bool = False
    """The result is what a dealer saw of dice that the reader had not read."""
    late: bool = False
    """The reader read them after that."""
    looking: bool = False
    """The reader was told to look on, and neither read the dice nor was stopped."""
    by_person: bool = False
    """The result rests on what a person typed or decided, with no reading that agrees."""
    offered: tuple[int, ...] | None = None
    """Another result that the dealer names, sorted; empty: no roll."""
    first: tuple[int, ...] | None = None
    """What the result was before it was corrected, sorted; empty: no roll."""
    present: Person | None = None
    """In whose presence the dealer reads after an interruption, and settles, or by hand."""
    in_view: frozenset[Person] = frozenset()
    """Who has said, in this phase and since the newest restart, that the locked compartment stayed
    in view, or that the cover is off."""
    denied: Person | None = None
    """Who says that it did not, and has not taken that back."""
    overdue: bool = False
    """The reveal in hand has had its time."""
    stuck: bool = False
    """Two persons said that the cover is off, and its contact has not changed since."""
    interrupted: bool = False
    """Restarted since the toss has settled, and before any value."""
    # inspections
    entries: int = 0
    """Lamp entries that their inspector said to have seen lit; three are enough."""
    looked: bool = False
    """The entry in hand has been lit for as long as a look takes."""
    inspector: Person | None = None
    """Who asked for the inspection in hand."""
    begun: datetime | None = None
    """When the oldest part was begun that is to be signed, or was."""
    each: bool = False
    seen: bool = False
    cycles: int = 0
    good_so_far: bool = False
    """The cycle in hand was settled by tachometer, and moved."""
    valid: bool = False
    shift_due: bool = False
    shift_again: bool = False
    """Another shift began since the inspection of the last one was taken up."""
    camera_off: bool = False
    """The table came back to service with the reader broken, and it is not mended yet."""
    manual: bool = False
    """The automated shaker was retired, and did not come back yet."""
    dice: bool = False
    """Somebody recorded which dice are in the shaker in use."""
    doubt: bool = False
    """The compartment was opened since a person said which dice are in it; or it may have been,
    without power and with no flag that stands."""
    reached: bool = False
    """In doubt, and the contact or a pulse on the latch says so: no outage alone."""
    out: bool = False
    """Out of service, and nobody has returned the table since; it may be on trial."""
    untried: bool = False
    """Dice were recorded, and nothing was inspected or tried since."""
    dice_by: tuple[str, frozenset[str]] | None = None
    """Name of the first of two persons, and the serials of the other dice that they name."""


ASKED: dict[Phase, type[do.Command]] = {
    P.OPENING: do.CheckTime,
    P.ADMITTING: do.CheckTime,
    P.LAMP_ENTRY: do.PushLamps,
    P.LAMP_ENTRY_CLEARING: do.ClearLamps,
    P.EACH_LAMP: do.ProveEachLamp,
    P.LAMP_TRIAL: do.ProveEachLamp,
    P.ODDS_TRIED: do.ShowMultipliers,
    P.JOGGING: do.Jog,
    P.PLANNING: do.DrawTossPlan,
    P.PROVING_DARK: do.ProveLampsDark,
    P.STARTING: do.StartToss,
    P.TOSSING: do.StartToss,
    P.COMING_TO_REST: do.StartReading,
    P.READING: do.StartReading,
    P.DRAWING_MULTIPLIERS: do.DrawMultipliers,
    P.SHOWING_MULTIPLIERS: do.ShowMultipliers,
    P.PUSHING: do.PushLamps,
    P.CLEARING: do.ClearLamps,
}
"""What a phase waits for must have been asked for."""

SUPERVISED = frozenset({*ASKED, P.PACING, P.LAMP_ENTRY_LIT})
"""Phases that wait for a device, and must not wait for ever."""


CONTACTS: dict[type[ev.Event], dict[str, Any]] = {
    ev.CompartmentOpened: {"compartment": True},
    ev.CompartmentClosed: {"compartment": False},
    ev.EstopPressed: {"estop": True},
    ev.EstopReleased: {"estop": False},
}
FACTS = (*CONTACTS, ev.CoverOpened, ev.CoverClosed, ev.Restarted)


FAULTS = {
    ev.ShakerFault: FaultKind.SHAKER,
    ev.LampFault: FaultKind.LAMP,
    ev.ReaderFault: FaultKind.READER,
    ev.ControllerFault: FaultKind.CONTROLLER,
}


ABANDONS = (ev.EstopPressed, ev.CoverOpened, ev.CoverClosed, ev.TossNotStarted)
"""Events that make an inspection begin again when they happen in it."""


DISTURBS = (ev.CompartmentOpened, ev.ConditionChanged, ev.Restarted)


TRIES = (
    *(ev.InspectionRequested, ev.ShiftInspectionRequested),
    *(ev.JogRequested, ev.TrialTossRequested, ev.LampTrialRequested),
)
"""Acts after which the dice on record count as used."""


WORLD = frozenset({*FACTS, *FAULTS, *DISTURBS})
"""Events that are true whether or not the machine accepts them."""


def is_current(state: TableState, event: ev.Event) -> bool:
    """True when an event belongs to no occasion, or to the present one."""
    if isinstance(event, ev.TimeChecked):
        return event.occasion == state.question
    occasion = getattr(event, "occasion", None)
    number = getattr(event, "round", None)
    return occasion in (None, state.occasion) and number in (None, state.round)


def watched(
    table: ExploredTable, w: Watch, state: TableState, event: ev.Event, step: Step
) -> Watch:
    """Return the watch after this transition."""
    table = table.in_use(manual=w.manual)
    if type(event) in WORLD:
        w = _world(table, w, state, event)
    if step.refused is not None:
        return w
    w = _heard(table, w, state, event, step)
    if w.untried and isinstance(event, TRIES):
        w = w._replace(untried=False)
    asked = P.AWAITING_DEALER, P.INTERRUPTED
    by_eye = step.state.phase in asked and state.phase is not P.INTERRUPTED
    if w.camera_off and w.playing and not w.verdict and by_eye and type(event) is not ev.Restarted:
        w = w._replace(verdict="unreadable")
    for command in step.commands:
        w = _told(w, command, step.state)
    if step.state.phase is P.OUT_OF_SERVICE and not w.out:
        w = w._replace(out=True)
    if step.state.phase is not state.phase or isinstance(event, ev.Restarted):
        return _tidied(w, state.phase, step, event)
    return w if w.awaited is None or _waits(state.phase) else w._replace(awaited=None)


def _waits(phase: Phase) -> bool:
    return phase in SUPERVISED or phase in (P.SETTLED_LIT, P.WALK_PAUSED)


def _tidied(w: Watch, left: Phase, step: Step, event: ev.Event) -> Watch:
    """Forget what can no longer matter in the phase entered, so that fewer nodes differ."""
    phase = step.state.phase
    restarted = isinstance(event, ev.Restarted)
    closed = phase in (P.SETTLED_LIT, P.CLEARING, P.AWAITING_PRESENCE)
    if w.in_view and (w.stands is None or closed or restarted):
        w = w._replace(in_view=frozenset())
    w = w._replace(denied=None) if w.denied and phase is not P.INTERRUPTED else w
    w = w._replace(overdue=False) if w.overdue and phase is not P.REVEALING else w
    if w.enterer and phase is not P.DISPUTED:
        w = w._replace(enterer=None, named=frozenset())
    if w.typed and (phase is not P.AWAITING_DEALER or isinstance(event, ev.Restarted)):
        w = w._replace(typed=None, typer=None)
    if w.offered is not None and (closed or restarted):
        w = w._replace(offered=None)
    no_roll = phase is P.WITHOUT_RESULT and w.by_person
    if w.present and phase not in IN_PRESENCE and not no_roll:
        w = w._replace(present=None)
    if not _waits(phase):
        w = w._replace(awaited=None)
    elif w.awaited and not _awaits(step.commands):
        asked = ASKED.get(P.EACH_LAMP if phase is P.WALK_PAUSED else phase)
        w = w._replace(awaited=asked if phase in SECOND_ANSWER else None)
    if left in ODDS and _darkens(step):
        w = w._replace(odds_up=False)
    if phase not in LIGHTING and left in LIGHTING and not isinstance(event, ev.Restarted):
        w = w._replace(lit=False) if _darkens(step) else w
    if phase in (P.OUT_OF_SERVICE, P.CLOSED):
        w = _disturbed(w)._replace(posed=False, lit=False, hidden=True)
    elif phase is P.INSPECTION_DUE:
        abandons = isinstance(event, ABANDONS) and not w.manual
        w = _disturbed(w) if abandons or left is P.OPENING else w
        w = w._replace(posed=False, lit=False, good_so_far=False, hidden=True)
        if not (w.entries == 3 and w.each and w.seen):
            w = w._replace(entries=0, each=False, seen=False)
        if w.cycles < 3:
            w = w._replace(cycles=0)
        if not (w.seen or w.cycles):
            w = w._replace(inspector=None, begun=None)
    elif phase is P.WITHOUT_RESULT:
        w = w._replace(settled=False, verdict="", read=None, value=False, stands=None, draws=0)
        w = w._replace(posed=False, bets_closed=False, hidden=True)
        w = w._replace(interrupted=False, stuck=False)
    elif phase is P.REVEALING:
        w = w._replace(verdict="")
    elif phase is P.AWAITING_DEALER and isinstance(event, ev.Restarted):
        w = w if left is phase or w.verdict == "no_roll" else w._replace(verdict="unreadable")
    elif w.stands is not None:
        w = w._replace(verdict="", read=None, hidden=True, interrupted=False, stuck=False)
    return w


IN_PRESENCE = frozenset(
    {
        *(P.AWAITING_DEALER, P.DISPUTED, P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLING_BY_HAND),
    }
)
"""Phases in which somebody's presence may still matter to what is read or settled."""


def _darkens(step: Step) -> bool:
    return any(isinstance(each, do.ClearLamps | do.DarkenLamps) for each in step.commands)


ODDS = frozenset({P.ODDS_TRIED, P.ODDS_TO_BE_SEEN})
"""Phases of an inspection in which the multipliers' displays are lit. To clear the lamps, or to
darken them, darkens these, too."""

LIGHTING = frozenset(
    {
        *(P.LAMP_ENTRY, P.LAMP_ENTRY_LIT, P.LAMP_ENTRY_TO_BE_SEEN, P.LAMP_ENTRY_CLEARING),
        *(P.EACH_LAMP, P.WALK_PAUSED, P.LAMP_TRIAL),
        *(P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLED_LIT, P.CLEARING),
    }
)
"""Phases in which lamps are meant to be lit, or not yet proved dark."""


SECOND_ANSWER = frozenset({P.TOSSING, P.READING, P.EACH_LAMP, P.WALK_PAUSED})
"""Phases in which the second answer to a command is still to come."""


def _awaits(commands: tuple[do.Command, ...]) -> bool:
    return any(type(command) in ANSWERS for command in commands)


def _world(table: ExploredTable, w: Watch, state: TableState, event: ev.Event) -> Watch:
    """Facts hold whether or not the machine wanted to hear them."""
    has_contact = table.rules.covered or table.rules.cover_must_be_absent
    if contact := CONTACTS.get(type(event)):
        w = w._replace(**contact)
        if isinstance(event, ev.CompartmentOpened) and not w.manual:
            w = w._replace(doubt=True, reached=True, offered=None, dice_by=None)
            w = w._replace(in_view=frozenset())
    elif isinstance(event, ev.CoverClosed | ev.CoverOpened) and has_contact:
        w = w._replace(cover=isinstance(event, ev.CoverClosed), stuck=False)
    elif isinstance(event, ev.Restarted):
        shut = event.compartment_stayed_locked and not event.compartment_open
        doubt = not w.manual and (w.doubt or not shut)
        w = w._replace(
            compartment=event.compartment_open,
            estop=event.estop_pressed,
            cover=event.cover_closed and has_contact,
            doubt=doubt,
            reached=doubt and (w.reached or event.compartment_open),
            dice_by=None if doubt else w.dice_by,
            interrupted=w.interrupted or (w.settled and w.stands is None),
            denied=None,
            overdue=False,
            stuck=False,
            energised=False,
            reading=False,
            looking=False,
            hidden=True,
            lamps=Lamps.UNKNOWN,
        )
    kind = FAULTS.get(type(event))
    if kind is FaultKind.READER and w.camera_off:
        return w
    if kind in NEEDS_MANUAL_SHAKER and w.manual:
        return w._replace(faults=w.faults | {kind}) if is_current(state, event) else w
    if kind is not None and is_current(state, event):
        w = _disturbed(w._replace(faults=w.faults | {kind}))
        if kind is FaultKind.LAMP and w.tossed and not w.paid:
            w = w._replace(lamp_failed=True)
        if kind is FaultKind.SHAKER:
            w = w._replace(energised=False)
        if kind is FaultKind.LAMP:
            w = w._replace(lamps=Lamps.UNKNOWN)
    if w.manual and isinstance(event, ev.CompartmentOpened):
        return w
    if (w.manual or w.camera_off) and is_of_the_camera(event):
        return w
    if isinstance(event, DISTURBS) or (w.energised and _stops_toss(table, event)):
        w = _disturbed(w)
    return w


def is_of_the_camera(event: ev.Event) -> bool:
    """True for a change that concerns nothing but what the camera sees."""
    return isinstance(event, ev.ConditionChanged) and event.what is not Condition.SETTINGS


def _stops_toss(table: ExploredTable, event: ev.Event) -> bool:
    return (
        isinstance(event, ev.EstopPressed)
        or (isinstance(event, ev.CoverOpened) and table.rules.covered)
        or (isinstance(event, ev.CoverClosed) and table.rules.cover_must_be_absent)
    )


def _disturbed(w: Watch) -> Watch:
    return w._replace(**NOTHING_INSPECTED)


def _heard(table: ExploredTable, w: Watch, state: TableState, event: ev.Event, step: Step) -> Watch:
    """Answers and acts, once accepted."""
    match event:
        case ev.LampsProvedDark() | ev.LampsDark() | ev.EachLampProved():
            w = w._replace(lit=False, lamps=Lamps.DARK)
            if isinstance(event, ev.EachLampProved):
                w = w._replace(each=set(event.areas) == set(table.rules.areas))
        case ev.LampsShown():
            w = w._replace(lamps=Lamps.LIT, looked=False)
        case ev.LampsSeen() if state.phase in (P.LAMPS_TO_BE_SEEN, P.ODDS_TO_BE_SEEN):
            w = w._replace(seen=state.phase is last_look(table))
        case ev.LampsSeen():
            w = w._replace(entries=min(w.entries + 1, 3), looked=False)
        case ev.LampSeenWrong():
            w = _disturbed(w._replace(faults=w.faults | {FaultKind.LAMP}))
        case ev.CycleJudged():
            good = w.good_so_far and event.tossed
            w = w._replace(cycles=min(w.cycles + 1, 3) if good else 0, good_so_far=False)
        case ev.TossStarted():
            w = w._replace(posed=False)
        case ev.TossNotStarted():
            w = w._replace(energised=False, tossed=False, lamp_failed=False)
        case ev.TossSettled():
            w = w._replace(energised=False, settled=w.playing, good_so_far=_unread(w))
        case ev.JogFinished():
            w = w._replace(energised=False)
        case ev.AtRest():
            w = w._replace(good_so_far=not w.playing)
        case ev.TossDisproved():
            w = w._replace(
                reading=False,
                looking=False,
                faults=w.faults | {FaultKind.SHAKER} if w.playing else w.faults,
                cycles=w.cycles if w.playing else 0,
                good_so_far=False,
            )
            if w.playing:
                w = _disturbed(w)
        case ev.ReadingMade():
            w = w._replace(reading=False, looking=False)
            if w.by_eye:
                w = w._replace(late=True)
            elif w.typed:
                w = _beside(w, event)
            elif w.playing:
                w = _verdict(table, w, event)
            else:
                good = w.good_so_far and isinstance(event.verdict, Verified)
                waits = good and state.purpose is not Purpose.TRIAL
                w = w._replace(cycles=w.cycles if waits else 0, good_so_far=waits)
        case ev.TimerExpired():
            w = w._replace(timer=None)
            if not w.playing and event.timer in (Timer.REST, Timer.READING):
                w = w._replace(cycles=0, good_so_far=False)
            elif event.timer in (Timer.REST, Timer.READING):
                w = w._replace(verdict="unreadable")
            elif event.timer is Timer.LOOK:
                w = w._replace(looked=True)
            if state.phase is P.REVEALING:
                w = w._replace(overdue=True)
            if event.timer is not Timer.COVER or table.rules.cover_driven:
                w = _silence(w, state, event.timer)
        case ev.ReaderFault() if w.playing and w.reading:
            w = w._replace(verdict="unreadable")
        case ev.PresenceGiven(person=person):
            w = w._replace(present=person, typed=None, typer=None)
            if state.phase is P.INTERRUPTED:
                w = w._replace(verdict=w.verdict or "unreadable")
        case ev.CompartmentWatched(person=person, stayed=False):
            others = frozenset(each for each in w.in_view if not is_one(each.name, person.name))
            denied = person if state.phase is P.INTERRUPTED else None
            w = w._replace(in_view=others, denied=denied)
        case ev.CompartmentWatched(person=person) if state.phase is not P.INTERRUPTED:
            both = are_both(table, w.in_view | {person})
            w = w._replace(in_view=frozenset() if both else frozenset({person}))
            if both:
                w = w._replace(doubt=False, reached=False, dice_by=None)
        case ev.NoRollCalled() | ev.ValuesEntered() | ev.ValuesConfirmed():
            w = _entered(w, event)
        case ev.CompartmentWatched(person=person, stayed=True):
            said = w.in_view | {person}
            took_back = w.denied is not None and is_one(w.denied.name, person.name)
            w = w._replace(in_view=frozenset({person}), verdict=_no_roll(w))
            w = w._replace(denied=None if took_back else w.denied)
            if are_both(table, said):
                above = (each for each in said if each.role in table.expected.presence)
                w = w._replace(verdict=_no_roll(w) or "unreadable", doubt=False, dice_by=None)
                w = w._replace(reached=False)
                w = w._replace(present=next(above))
        case ev.DisputeDecided():
            is_void = event.values is None and len(w.named) == 2
            w = w._replace(stands=event.values, by_person=not is_void)
        case ev.CorrectionNamed():
            w = w._replace(offered=_sorted(event.values))
        case ev.CorrectionAgreed():
            first = _sorted(w.stands)
            w = w._replace(first=first, stands=event.values, offered=None, value=True)
            w = w._replace(settled=True, bets_closed=True)
        case ev.MultipliersShown():
            w = w._replace(odds_proved=w.playing)
        case ev.MultipliersNotShown():
            w = _disturbed(w._replace(faults=w.faults | {FaultKind.CONTROLLER}))
        case ev.WagersSettled():
            w = w._replace(paid=True)
        case ev.InspectionRequested():
            if w.inspector != event.person or is_old(table, w.begun, event.at):
                w = _disturbed(w)
            w = w._replace(inspector=event.person, dice_by=None)
            if event.part is not Part.SHAKER:
                w = w._replace(entries=0, each=False, seen=False)
            if event.part is not Part.LAMPS:
                w = w._replace(cycles=0)
            w = w._replace(begun=w.begun if w.seen or w.cycles else event.at)
        case ev.ShiftInspectionRequested():
            w = w._replace(cycles=0, inspector=event.person, begun=event.at, dice_by=None)
        case ev.ShiftBegan():
            w = w._replace(shift_due=True, shift_again=state.purpose is Purpose.SHIFT)
        case ev.TimeChecked(now=now) if state.phase is P.OPENING:
            if admits(table, w, event) and not is_old(table, w.begun, now):
                w = w._replace(shift_due=bool(table.expected.shift), begun=None)
        case ev.TimeChecked() if w.bets_closed and admits(table, w, event):
            w = w._replace(tossed=True, settled=True, verdict="unreadable")  # by hand
        case ev.DiceKept() if kept_alone(table, w, state, event.person):
            assert state.dice is not None
            w = w._replace(dice_by=(event.person.name, frozenset(state.dice.serials)))
        case ev.DiceChanged() | ev.DiceCorrected() if named_alone(table, w, event):
            w = w._replace(dice_by=(event.person.name, frozenset(event.serials)))
        case ev.RevealRequested(person=person) if w.overdue:
            said = w.in_view | {person}
            w = w._replace(in_view=frozenset({person}))
            if are_both(table, said) or is_alone(table, person):
                w = w._replace(faults=w.faults | {FaultKind.SHAKER}, verdict="unreadable")
                w = w._replace(stuck=True)
                w = _disturbed(w)
        case ev.DiceKept():
            w = w._replace(doubt=False, reached=False, dice_by=None)
        case ev.Signed():
            if state.purpose is Purpose.SHIFT:
                due = w.shift_again or is_old(table, w.begun, event.at)
                w = w._replace(shift_due=due, shift_again=False, cycles=0, inspector=None)
                w = w._replace(begun=None)
            else:
                signs = not is_old(table, w.begun, event.at)
                w = _disturbed(w)._replace(valid=signs, begun=w.begun if signs else None)
        case ev.FaultCleared():
            faults = w.faults - {event.kind}
            w = w._replace(faults=faults, camera_off=w.camera_off and FaultKind.READER in faults)
        case ev.ReturnRequested():
            w = w._replace(camera_off=FaultKind.READER in w.faults and not w.manual, out=False)
        case ev.DiceCorrected():
            w = w._replace(dice_by=None)
        case ev.DiceChanged():
            w = _disturbed(w)._replace(dice=True, doubt=False, dice_by=None, untried=True)
            w = w._replace(reached=False)
        case ev.ShakerRetired():
            w = w._replace(doubt=False, dice_by=None, manual=True, camera_off=False)
            w = w._replace(shift_due=False, dice=False, untried=False, reached=False, out=False)
        case ev.ShakerRestored():
            w = w._replace(dice=False, doubt=False, dice_by=None, manual=False, untried=False)
            w = w._replace(reached=False)
        case ev.OutOfServiceRequested() | ev.InspectionAbandoned():
            w = _disturbed(w)
        case ev.LidRequested():
            w = _disturbed(w)
            w = w if w.manual else w._replace(doubt=True, reached=True, dice_by=None)
        case ev.JogRequested() | ev.TrialTossRequested() | ev.LampTrialRequested():
            w = _disturbed(w)
    return w


NEEDS_MANUAL_SHAKER = frozenset({FaultKind.SHAKER, FaultKind.READER})
"""What a table with a manual shaker does not miss."""


def last_look(table: ExploredTable) -> Phase:
    """What a person looks at last before the shaker: the lamps, or the multipliers' displays."""
    return P.ODDS_TO_BE_SEEN if table.expected.multipliers else P.LAMPS_TO_BE_SEEN


def _entered(w: Watch, event: ev.NoRollCalled | ev.ValuesEntered | ev.ValuesConfirmed) -> Watch:
    """What a dealer's act amounts to beside the reader's word: a result, a dispute, or one half."""
    if isinstance(event, ev.NoRollCalled):
        values, agreed = None, w.verdict != "verified"
    else:
        values, agreed = event.values, w.verdict == "unreadable" or _sorted(event.values) == w.read
    typed = _sorted(values)
    if not agreed:
        named = frozenset(each for each in (typed, w.read) if each)
        return w._replace(enterer=event.person, named=named, value=True, stands=None)
    by_eye = w.verdict == "unreadable" and not w.manual
    if values is None:
        return w._replace(by_person=True, by_eye=by_eye)
    if w.verdict == "unreadable" and typed != w.typed:
        return w._replace(typed=typed, typer=event.person)
    by_person = w.verdict == "unreadable"
    return w._replace(value=True, stands=values, by_person=by_person, by_eye=by_eye)


def _beside(w: Watch, event: ev.ReadingMade) -> Watch:
    """What a reading amounts to beside what a dealer has typed once: confirmed, or a dispute."""
    verdict = event.verdict
    read = _sorted(verdict.three) if isinstance(verdict, Verified) else None
    named = frozenset(each for each in (w.typed, read) if each)
    w = w._replace(value=True, read=read, verdict="verified" if read else "no_roll")
    if isinstance(verdict, Verified) and read == w.typed:
        return w._replace(stands=verdict.three)
    return w._replace(enterer=w.typer, named=named, stands=None)


def are_both(table: ExploredTable, said: frozenset[Person]) -> bool:
    """True for two persons: the dealer, and one whose presence the text asks for."""
    two = len({each.name.strip().lower() for each in said}) == 2
    roles = {each.role for each in said}
    return two and Role.DEALER in roles and bool(roles & table.expected.presence)


def is_alone(table: ExploredTable, person: Person) -> bool:
    """True where nobody deals: then one person in charge says what else takes two."""
    return not table.expected.attended and person.role is not Role.DEALER


def admits(table: ExploredTable, w: Watch, event: ev.TimeChecked) -> bool:
    """True where the clock is trusted, the text is in force, and the dice are known and young."""
    return why_not(table, event, event.now) is None and w.dice and not w.doubt


def why_not(
    table: ExploredTable, event: ev.TimeChecked | ev.TossPlanDrawn, now: datetime
) -> Cause | None:
    """Return what keeps a round from starting by this answer of the clock; None: nothing.

    Of the alphabet's trusted moments one is a table's day; on the others the text is not in force,
    or the dice are too old, or recorded later than it.
    """
    if event.trust is TimeTrust.NONE or event.behind_last_record or now in table.bad_days:
        return Cause.CLOCK
    return None if now == table.day else Cause.DICE


def _no_roll(w: Watch) -> str:
    """A no roll that the reader saw stands beside what the dealer says, through a power cut."""
    return w.verdict if w.verdict == "no_roll" else ""


def _sorted(values: tuple[int, int, int] | None) -> tuple[int, ...]:
    """Values in order; empty for no roll."""
    return tuple(sorted(values or ()))


def _unread(w: Watch) -> bool:
    """True for a cycle whose toss no reader judges, but the person alone."""
    return w.camera_off and not w.playing


def is_one(one: str, other: str) -> bool:
    """True for two spellings of one person's name."""
    return one.strip().lower() == other.strip().lower()


def is_old(table: ExploredTable, begun: datetime | None, now: datetime | None) -> bool:
    """True for what was inspected too long ago, or under a clock that was set back since."""
    assert now is not None, "the product says when"
    if begun is None:
        return False
    hours = (now - begun).total_seconds() / 3600
    return hours >= table.rules.parameters.signature_h or hours < -5 / 60


def seconds_dice(w: Watch, event: ev.DiceChanged | ev.DiceCorrected) -> bool:
    """True where another person than the first names the same other dice."""
    return _seconds(w, event.person, event.serials)


def _seconds(w: Watch, who: Person, serials: tuple[str, ...]) -> bool:
    if w.dice_by is None:
        return False
    name, named = w.dice_by
    return not is_one(name, who.name) and named == set(serials)


def kept_alone(table: ExploredTable, w: Watch, state: TableState, who: Person) -> bool:
    """True where one of two persons says that the dice on record are still in it."""
    assert state.dice is not None
    return table.expected.dice_by_two and not _seconds(w, who, state.dice.serials)


def named_alone(table: ExploredTable, w: Watch, event: ev.DiceChanged | ev.DiceCorrected) -> bool:
    """True for serials that a second person has to repeat, and none has named before."""
    by_two = table.expected.dice_by_two or isinstance(event, ev.DiceCorrected)
    return by_two and not seconds_dice(w, event)


def _verdict(table: ExploredTable, w: Watch, event: ev.ReadingMade) -> Watch:
    match event.verdict:
        case Verified(three=values):
            stands = values if table.expected.auto else None
            return w._replace(verdict="verified", read=_sorted(values), value=True, stands=stands)
        case NoRoll():
            return w._replace(verdict="no_roll")
    return w._replace(verdict="unreadable")


def _silence(w: Watch, state: TableState, timer: Timer) -> Watch:
    """A device that did not answer in time has failed."""
    kind = {
        Timer.LAMPS: FaultKind.LAMP,
        Timer.EACH_LAMP: FaultKind.LAMP,
        Timer.TOSS: FaultKind.SHAKER,
        Timer.COVER: FaultKind.SHAKER,
        Timer.DRAW: FaultKind.CONTROLLER,
    }.get(timer)
    if state.phase in (P.SHOWING_MULTIPLIERS, P.ODDS_TRIED):
        kind = FaultKind.CONTROLLER
    optional = state.phase is P.DRAWING_MULTIPLIERS
    if timer is Timer.PAYOUT and state.phase is P.PAYING:
        return w._replace(paid=True)
    if kind is None or optional:
        return w
    w = _disturbed(w._replace(faults=w.faults | {kind}))
    if kind is FaultKind.LAMP and w.tossed and not w.paid:
        w = w._replace(lamp_failed=True)
    return w


TELLS: dict[type[do.Command], dict[str, Any]] = {
    do.Jog: {"energised": True},
    do.StopMotor: {"energised": False},
    do.PushLamps: {"lit": True, "lamps": Lamps.UNKNOWN},
    do.ProveEachLamp: {"lit": True, "lamps": Lamps.UNKNOWN},
    do.DarkenLamps: {"lamps": Lamps.UNKNOWN},
    do.LightOff: {"hidden": True},
    do.LightOn: {"hidden": False},
    do.NotePoses: {"posed": True},
    do.StartReading: {"reading": True},
    do.StopReading: {"reading": False, "looking": False},
    do.KeepLooking: {"looking": True},
    do.ShowMultipliers: {"odds_up": True},
    do.HideMultipliers: {"odds_up": False},
    do.CancelTimer: {"timer": None},
}
"""What is so once a command was given, whatever the command holds."""


def _told(w: Watch, command: do.Command, now: TableState) -> Watch:
    kind = type(command)
    changes = TELLS.get(kind, {})
    match command:
        case do.StartToss(occasion=occasion):
            changes = {"energised": True, "tossed": occasion.purpose is Purpose.PLAY}
        case do.ClearLamps() if w.lamps is Lamps.LIT and now.phase is P.LAMP_ENTRY_CLEARING:
            pass  # the inspection clears its own entry: the light stays proved until it is dark
        case do.ClearLamps():
            changes = {"lamps": Lamps.UNKNOWN}
        case do.DriveCover(open=False):
            changes = {"posed": w.posed or w.cover}
        case do.DrawMultipliers():
            changes = {"draws": w.draws + 1}
        case do.StartTimer(timer=timer):
            changes = {"timer": timer}
        case do.ShowPhase(phase=phase):
            changes = {"shown": phase}
        case do.RaiseFault(kind=fault):
            changes = {"faults": w.faults | {fault}}
        case do.Announce(notice=Notice.BETS_OPEN):
            changes = NO_ROUND | {"playing": True, "dice_by": None}
        case do.Announce(notice=Notice.NO_MORE_BETS):
            changes = {"bets_closed": True}
        case do.Announce(wagers=WagersDo.STAND):
            changes = NO_TOSS
        case do.Announce(notice=Notice.CYCLE_GOOD | Notice.CYCLE_BAD):
            changes = {"hidden": True, "posed": False}
        case do.Announce(notice=Notice.CLOSED):
            changes = NOTHING_INSPECTED
        case do.RecordRound():
            changes = NO_ROUND
    if kind in ANSWERS:
        changes = changes | {"awaited": kind}
    return w._replace(**changes) if changes else w


NO_TOSS: dict[str, Any] = {
    name: Watch._field_defaults[name]
    for name in (
        *("tossed", "settled", "verdict", "read", "value", "stands", "lamp_failed", "paid"),
        *("typed", "by_person", "offered", "first", "typer", "by_eye", "late"),
        *("interrupted", "stuck"),
    )
}
"""The dice are shaken again: nothing is known but bets and multipliers."""

NO_ROUND: dict[str, Any] = NO_TOSS | {
    name: Watch._field_defaults[name] for name in ("playing", "bets_closed", "draws", "odds_proved")
}
"""Nothing is known of a round any more."""

NOTHING_INSPECTED: dict[str, Any] = {
    name: Watch._field_defaults[name]
    for name in (
        *("entries", "looked", "each", "seen", "inspector", "begun", "cycles", "good_so_far"),
        *("valid", "shift_again"),
    )
}
"""Whatever was inspected has to be inspected again."""


ANSWERS: dict[type[do.Command], tuple[type[ev.Event], ...]] = {
    do.CheckTime: (ev.TimeChecked,),
    do.DrawTossPlan: (ev.TossPlanDrawn,),
    do.ProveLampsDark: (ev.LampsProvedDark,),
    do.StartToss: (ev.TossStarted, ev.TossNotStarted, ev.TossSettled),
    do.Jog: (ev.JogFinished,),
    do.StartReading: (ev.AtRest, ev.TossDisproved, ev.ReadingMade),
    do.PushLamps: (ev.LampsShown,),
    do.ClearLamps: (ev.LampsDark,),
    do.ProveEachLamp: (ev.EachLampProved,),
    do.DrawMultipliers: (ev.MultipliersDrawn,),
    do.ShowMultipliers: (ev.MultipliersShown, ev.MultipliersNotShown),
}
