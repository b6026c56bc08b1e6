"""The properties that are proved, and the watch that they are proved against.

Owns both. A watch is kept from what went in and what came out: events that happened, commands that
were given. It never copies a decision from the state, so a property compares two accounts.

A property says nothing about most transitions. Where it has something to say it yields True or
False; how often it did is its non-vacuous count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hil_tests.proofs.tables import Table
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Lamps, Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Cause,
    Ending,
    FaultKind,
    NoRoll,
    Notice,
    Part,
    Purpose,
    Role,
    ShownPhase,
    Source,
    Timer,
    TimeTrust,
    Unreadable,
    Verified,
    WagersDo,
)

P = Phase
SPEAKING_ROLES = frozenset({Role.DEALER, Role.FLOORPERSON, Role.SUPERVISOR})
IN_CHARGE = frozenset({Role.FLOORPERSON, Role.SUPERVISOR})


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
    value: bool = False
    """A value of this round is verified or entered."""
    stands: tuple[int, int, int] | None = None
    """The values that may be lit: verified (auto), confirmed, entered or decided this round."""
    draws: int = 0
    odds_proved: bool = False
    lamp_failed: bool = False
    """A lamp fault since EN-on, with wagers not yet settled."""
    paid: bool = False
    # inspections
    entries: frozenset[int] = frozenset()
    """Distinct values per lamp entry seen lit: 1 triple, 2 pair, 3 all different."""
    each: bool = False
    seen: bool = False
    cycles: int = 0
    good_so_far: bool = False
    """The cycle in hand was settled by tachometer, and moved."""
    valid: bool = False
    shift_due: bool = False


class Violation(NamedTuple):
    """A transition on which a property does not hold."""

    property: str
    table: str
    state: TableState
    event: ev.Event
    step: Step


Judge = Callable[[Table, Watch, Watch, TableState, ev.Event, Step], bool | None]
"""Asked with table, watch before, watch after, state before, event, step."""


class Property(NamedTuple):
    name: str
    judge: Judge


PROPERTIES: list[Property] = []
_BY_COMMAND: dict[type, list[Property]] = {}
_BY_EVENT: dict[type, list[Property]] = {}
_ON_ACCEPTED: list[Property] = []
_ON_REFUSED: list[Property] = []


def proves(
    name: str,
    *,
    commands: tuple[type, ...] = (),
    events: tuple[type, ...] = (),
    accepted: bool = False,
    refused: bool = False,
) -> Callable[[Judge], Judge]:
    """Register a property, and on which transitions it is asked at all."""

    def register(judge: Judge) -> Judge:
        one = Property(name, judge)
        PROPERTIES.append(one)
        for kind in commands:
            _BY_COMMAND.setdefault(kind, []).append(one)
        for kind in events:
            _BY_EVENT.setdefault(kind, []).append(one)
        if accepted:
            _ON_ACCEPTED.append(one)
        if refused:
            _ON_REFUSED.append(one)
        return judge

    return register


def check(
    table: Table, watch: Watch, after: Watch, state: TableState, event: ev.Event, step: Step
) -> Iterator[tuple[str, bool]]:
    """Yield (property, holds) for every property that has something to say."""
    kind = type(event)
    for one in _asked(kind, step.refused is not None):
        verdict = one.judge(table, watch, after, state, event, step)
        if verdict is not None:
            yield one.name, verdict
    for said in {type(command) for command in step.commands}:
        for one in _BY_COMMAND.get(said, ()):
            verdict = one.judge(table, watch, after, state, event, step)
            if verdict is not None:
                yield one.name, verdict


_ASKED: dict[tuple[type, bool], tuple[Property, ...]] = {}


def _asked(kind: type, refused: bool) -> tuple[Property, ...]:
    found = _ASKED.get((kind, refused))
    if found is None:
        found = (*_BY_EVENT.get(kind, ()), *(_ON_REFUSED if refused else _ON_ACCEPTED))
        _ASKED[kind, refused] = found
    return found


SUPERVISED = frozenset(
    {
        *(P.OPENING, P.ADMITTING, P.PACING, P.LAMP_ENTRY, P.LAMP_ENTRY_CLEARING, P.EACH_LAMP),
        *(P.LAMP_TRIAL, P.JOGGING, P.PLANNING, P.PROVING_DARK, P.STARTING, P.TOSSING),
        *(P.COMING_TO_REST, P.READING, P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS),
        *(P.PUSHING, P.CLEARING),
    }
)
"""Phases that wait for a device, and must not wait for ever."""


# ── The watch ───────────────────────────────────────────────────────────────

FACTS = (
    ev.CompartmentOpened,
    ev.CompartmentClosed,
    ev.EstopPressed,
    ev.EstopReleased,
    ev.CoverOpened,
    ev.CoverClosed,
    ev.Restarted,
)
FAULTS = {
    ev.ShakerFault: FaultKind.SHAKER,
    ev.LampFault: FaultKind.LAMP,
    ev.ReaderFault: FaultKind.READER,
    ev.ControllerFault: FaultKind.CONTROLLER,
}
ABANDONS = (ev.EstopPressed, ev.CoverOpened, ev.CoverClosed, ev.TossNotStarted)
"""Events that make an inspection begin again when they happen in it."""
DISTURBS = (ev.CompartmentOpened, ev.ConditionChanged, ev.Restarted)

WORLD = frozenset({*FACTS, *FAULTS, *DISTURBS})
"""Events that are true whether or not the machine accepts them."""


def is_current(state: TableState, event: ev.Event) -> bool:
    """True when an event belongs to no occasion, or to the present one."""
    occasion = getattr(event, "occasion", None)
    number = getattr(event, "round", None)
    return occasion in (None, state.occasion) and number in (None, state.round)


def watched(table: Table, w: Watch, state: TableState, event: ev.Event, step: Step) -> Watch:
    """Return the watch after this transition."""
    if type(event) in WORLD:
        w = _world(table, w, state, event)
    if step.refused is not None:
        return w
    w = _heard(table, w, state, event, step)
    for command in step.commands:
        w = _told(table, w, command, step.state)
    if step.state.phase is not state.phase or isinstance(event, ev.Restarted):
        return _tidied(w, state.phase, step, event)
    return w if w.awaited is None or _waits(state.phase) else w._replace(awaited=None)


def _waits(phase: Phase) -> bool:
    return phase in SUPERVISED or phase is P.SETTLED_LIT


def _tidied(w: Watch, left: Phase, step: Step, event: ev.Event) -> Watch:
    """Forget what can no longer matter in the phase entered, so that fewer nodes are told apart."""
    phase = step.state.phase
    if not _waits(phase):
        w = w._replace(awaited=None)
    elif w.awaited and not _awaits(step.commands):
        w = w._replace(awaited=_STILL.get(phase))
    if phase not in LIGHTING and left in LIGHTING and not isinstance(event, ev.Restarted):
        w = w._replace(lit=False) if _darkens(step) else w
    if phase in (P.OUT_OF_SERVICE, P.SHAKER_RETIRED, P.CLOSED):
        w = _disturbed(w)._replace(posed=False, lit=False, hidden=True)
    elif phase is P.INSPECTION_DUE:
        w = _disturbed(w) if isinstance(event, ABANDONS) else w
        w = w._replace(posed=False, lit=False, good_so_far=False, hidden=True)
        if not (w.entries == {1, 2, 3} and w.each and w.seen):
            w = w._replace(entries=frozenset(), each=False, seen=False)
        if w.cycles < 3:
            w = w._replace(cycles=0)
    elif phase is P.WITHOUT_RESULT:
        w = w._replace(settled=False, verdict="", value=False, stands=None, draws=0)
        w = w._replace(posed=False, bets_closed=False, hidden=True)
    elif phase is P.AWAITING_DEALER and isinstance(event, ev.Restarted):
        w = w if left is phase else w._replace(verdict="unreadable")
    elif w.stands is not None:
        w = w._replace(verdict="", hidden=True)
    return w


def _darkens(step: Step) -> bool:
    return any(isinstance(each, do.ClearLamps | do.DarkenLamps) for each in step.commands)


LIGHTING = frozenset(
    {
        *(P.LAMP_ENTRY, P.LAMP_ENTRY_CLEARING, P.EACH_LAMP, P.LAMP_TRIAL),
        *(P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLED_LIT, P.CLEARING),
    }
)
"""Phases in which lamps are meant to be lit, or not yet proved dark."""

_STILL: dict[Phase, type[do.Command]] = {P.TOSSING: do.StartToss, P.READING: do.StartReading}
"""Phases in which the second answer to a command is still to come."""


def _awaits(commands: tuple[do.Command, ...]) -> bool:
    return any(type(command) in ANSWERS for command in commands)


def _world(table: Table, w: Watch, state: TableState, event: ev.Event) -> Watch:
    """Facts hold whether or not the machine wanted to hear them."""
    has_contact = table.rules.covered or table.rules.cover_must_be_absent
    if isinstance(event, ev.CompartmentOpened):
        w = w._replace(compartment=True)
    elif isinstance(event, ev.CompartmentClosed):
        w = w._replace(compartment=False)
    elif isinstance(event, ev.EstopPressed):
        w = w._replace(estop=True)
    elif isinstance(event, ev.EstopReleased):
        w = w._replace(estop=False)
    elif isinstance(event, ev.CoverClosed | ev.CoverOpened) and has_contact:
        w = w._replace(cover=isinstance(event, ev.CoverClosed))
    elif isinstance(event, ev.Restarted):
        w = w._replace(
            compartment=event.compartment_open,
            estop=event.estop_pressed,
            cover=event.cover_closed and has_contact,
            energised=False,
            reading=False,
            hidden=True,
            lamps=Lamps.UNKNOWN,
        )
    kind = FAULTS.get(type(event))
    if kind is not None and is_current(state, event):
        w = _disturbed(w._replace(faults=w.faults | {kind}))
        if kind is FaultKind.LAMP and w.tossed and not w.paid:
            w = w._replace(lamp_failed=True)
        if kind is FaultKind.SHAKER:
            w = w._replace(energised=False)
        if kind is FaultKind.LAMP:
            w = w._replace(lamps=Lamps.UNKNOWN)
    if isinstance(event, DISTURBS) or (w.energised and _stops_toss(table, event)):
        w = _disturbed(w)
    return w


def _stops_toss(table: Table, event: ev.Event) -> bool:
    return (
        isinstance(event, ev.EstopPressed)
        or (isinstance(event, ev.CoverOpened) and table.rules.covered)
        or (isinstance(event, ev.CoverClosed) and table.rules.cover_must_be_absent)
    )


def _disturbed(w: Watch) -> Watch:
    return w._replace(
        entries=frozenset(), each=False, seen=False, cycles=0, good_so_far=False, valid=False
    )


def _heard(table: Table, w: Watch, state: TableState, event: ev.Event, step: Step) -> Watch:
    """Answers and acts, once accepted."""
    match event:
        case ev.LampsProvedDark() | ev.LampsDark() | ev.EachLampProved():
            w = w._replace(lit=False, lamps=Lamps.DARK)
            if isinstance(event, ev.EachLampProved):
                w = w._replace(each=set(event.areas) == set(table.rules.areas))
        case ev.LampsShown():
            w = w._replace(lamps=Lamps.LIT)
            if event.occasion.purpose is Purpose.INSPECTION:
                w = w._replace(entries=w.entries | {len(set(event.values))})
        case ev.LampsSeen():
            w = w._replace(seen=True)
        case ev.TossStarted():
            w = w._replace(posed=False)
        case ev.TossNotStarted():
            w = w._replace(energised=False, tossed=False, lamp_failed=False)
        case ev.TossSettled():
            w = w._replace(energised=False, settled=w.playing)
        case ev.JogFinished():
            w = w._replace(energised=False)
        case ev.AtRest():
            w = w._replace(good_so_far=not w.playing)
        case ev.TossDisproved():
            w = w._replace(
                reading=False,
                faults=w.faults | {FaultKind.SHAKER} if w.playing else w.faults,
                cycles=w.cycles if w.playing else 0,
                good_so_far=False,
            )
            if w.playing:
                w = _disturbed(w)
        case ev.ReadingMade():
            w = w._replace(reading=False)
            if w.playing:
                w = _verdict(table, w, event)
            else:
                good = w.good_so_far and isinstance(event.verdict, Verified)
                w = w._replace(cycles=min(w.cycles + 1, 3) if good else 0, good_so_far=False)
        case ev.TimerExpired():
            w = w._replace(timer=None)
            if not w.playing and event.timer in (Timer.REST, Timer.READING):
                w = w._replace(cycles=0, good_so_far=False)
            elif event.timer in (Timer.REST, Timer.READING):
                w = w._replace(verdict="unreadable")
            w = _silence(w, state, event.timer)
        case ev.ReaderFault() if w.playing and w.reading:
            w = w._replace(verdict="unreadable")
        case ev.ValuesConfirmed() | ev.ValuesEntered():
            agreed = step.state.phase is not P.DISPUTED
            w = w._replace(value=True, stands=event.values if agreed else None)
        case ev.DisputeDecided() if event.values is not None:
            w = w._replace(stands=event.values)
        case ev.MultipliersShown():
            w = w._replace(odds_proved=True)
        case ev.WagersSettled():
            w = w._replace(paid=True)
        case ev.InspectionRequested():
            if event.part is not Part.SHAKER:
                w = w._replace(entries=frozenset(), each=False, seen=False)
            if event.part is not Part.LAMPS:
                w = w._replace(cycles=0)
        case ev.ShiftInspectionRequested():
            w = w._replace(cycles=0)
        case ev.ShiftBegan():
            w = w._replace(shift_due=True)
        case ev.Signed():
            if state.purpose is Purpose.SHIFT:
                w = w._replace(shift_due=False)
            else:
                w = _disturbed(w)._replace(valid=True)
        case ev.FaultCleared():
            w = w._replace(faults=w.faults - {event.kind})
        case ev.DiceChanged() | ev.OutOfServiceRequested() | ev.InspectionAbandoned():
            w = _disturbed(w)
        case ev.JogRequested() | ev.TrialTossRequested() | ev.LampTrialRequested():
            w = _disturbed(w)
    return w


def _verdict(table: Table, w: Watch, event: ev.ReadingMade) -> Watch:
    match event.verdict:
        case Verified(values=values):
            stands = values if table.expected.auto else None
            return w._replace(verdict="verified", value=True, stands=stands)
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
    optional = state.phase in (P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS)
    if timer is Timer.PAYOUT and state.phase is P.PAYING:
        return w._replace(paid=True)
    if kind is None or optional:
        return w
    w = _disturbed(w._replace(faults=w.faults | {kind}))
    if kind is FaultKind.LAMP and w.tossed and not w.paid:
        w = w._replace(lamp_failed=True)
    return w


def _told(table: Table, w: Watch, command: do.Command, now: TableState) -> Watch:
    if type(command) in ANSWERS:
        w = w._replace(awaited=type(command))
    match command:
        case do.StartToss(occasion=occasion):
            w = w._replace(energised=True, tossed=occasion.purpose is Purpose.PLAY)
        case do.Jog():
            w = w._replace(energised=True)
        case do.StopMotor():
            w = w._replace(energised=False)
        case do.PushLamps() | do.ProveEachLamp():
            w = w._replace(lit=True, lamps=Lamps.UNKNOWN)
        case do.ClearLamps() | do.DarkenLamps():
            # A clear command that the inspection gives for its own entry leaves proved light lit.
            kept = w.lamps is Lamps.LIT and now.phase is P.LAMP_ENTRY_CLEARING
            w = w if kept else w._replace(lamps=Lamps.UNKNOWN)
        case do.LightOff():
            w = w._replace(hidden=True)
        case do.LightOn():
            w = w._replace(hidden=False)
        case do.NotePoses():
            w = w._replace(posed=True)
        case do.DriveCover(open=False):
            w = w._replace(posed=w.posed or w.cover)
        case do.StartReading():
            w = w._replace(reading=True)
        case do.StopReading():
            w = w._replace(reading=False)
        case do.DrawMultipliers():
            w = w._replace(draws=w.draws + 1)
        case do.ShowMultipliers():
            w = w._replace(odds_up=True)
        case do.HideMultipliers():
            w = w._replace(odds_up=False)
        case do.StartTimer(timer=timer):
            w = w._replace(timer=timer)
        case do.CancelTimer():
            w = w._replace(timer=None)
        case do.ShowPhase(phase=phase):
            w = w._replace(shown=phase)
        case do.RaiseFault(kind=kind):
            w = w._replace(faults=w.faults | {kind})
        case do.Announce(notice=Notice.BETS_OPEN):
            w = _new_round(w)._replace(playing=True)
        case do.Announce(notice=Notice.NO_MORE_BETS):
            w = w._replace(bets_closed=True)
        case do.Announce(notice=Notice.CYCLE_GOOD | Notice.CYCLE_BAD):
            w = w._replace(hidden=True, posed=False)
        case do.Announce(notice=Notice.CLOSED):
            w = _disturbed(w)
        case do.RecordRound():
            w = _new_round(w)
    return w


def _new_round(w: Watch) -> Watch:
    return w._replace(
        playing=False,
        bets_closed=False,
        tossed=False,
        settled=False,
        verdict="",
        value=False,
        stands=None,
        draws=0,
        odds_proved=False,
        lamp_failed=False,
        paid=False,
    )


# ── Refusals ────────────────────────────────────────────────────────────────


@proves("a refused event changes nothing and commands nothing", refused=True)
def _refused_is_inert(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return x.state is s and not x.commands and not x.rows


@proves("stale, duplicate and foreign events are refused", accepted=True)
def _stale_is_refused(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if getattr(e, "occasion", None) is None and getattr(e, "round", None) is None:
        return None
    return is_current(s, e)


NEVER_REFUSED = (
    ev.CompartmentOpened,
    ev.CompartmentClosed,
    ev.EstopPressed,
    ev.EstopReleased,
    ev.ConditionChanged,
    ev.Restarted,
    ev.ShakerFault,
    ev.LampFault,
    ev.ReaderFault,
    ev.ControllerFault,
)


@proves("contacts, faults and restarts are heard in every state", events=NEVER_REFUSED)
def _facts_are_heard(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return x.refused is None if is_current(s, e) else None


@proves(
    "the cover's contact is heard wherever there is one", events=(ev.CoverClosed, ev.CoverOpened)
)
def _cover_is_heard(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    wired = t.rules.covered or t.rules.cover_must_be_absent
    return (x.refused is None) == wired


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


@proves(
    "the awaited answer is taken",
    events=tuple(kind for kinds in ANSWERS.values() for kind in kinds),
)
def _answers_are_taken(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if w.awaited is None or type(e) not in ANSWERS[w.awaited] or not is_current(s, e):
        return None
    if w.awaited is do.StartToss and (type(e) is ev.TossSettled) != (s.phase is P.TOSSING):
        return None
    if w.awaited is do.StartReading:
        at_rest = s.phase is P.READING
        gives_up = isinstance(e, ev.ReadingMade) and isinstance(e.verdict, Unreadable)
        if at_rest != isinstance(e, ev.ReadingMade) and not gives_up:
            return None
    if isinstance(e, ev.LampsShown) and e.values != s.values:
        return x.refused is not None
    if isinstance(e, ev.EachLampProved) and set(e.areas) != set(t.rules.areas):
        return None
    if isinstance(e, ev.MultipliersDrawn) and any(m.area == "small" for m in e.multipliers):
        return x.refused is not None
    if s.phase is P.SETTLED_LIT or (w.awaited is do.ClearLamps and not _clearing(s)):
        return x.refused is None
    return x.refused is None and x.state.phase is not s.phase


def _clearing(s: TableState) -> bool:
    return s.phase in (P.CLEARING, P.LAMP_ENTRY_CLEARING)


@proves("a running timer is heard, any other is not", events=(ev.TimerExpired,))
def _timers_are_heard(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    assert isinstance(e, ev.TimerExpired)
    return (x.refused is None) == (e.timer is w.timer and is_current(s, e))


# ── Motion ──────────────────────────────────────────────────────────────────


@proves(
    "motor never commanded with the compartment open, e-stop pressed or the cover wrong",
    commands=(do.StartToss, do.Jog),
)
def _motion_is_safe(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    cover_right = w.cover == t.rules.covered
    return not (w.compartment or w.estop) and cover_right


@proves("no toss while lamps are lit", commands=(do.StartToss,))
def _toss_in_the_dark(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    """The lamps' dark answer is the very event that starts the toss."""
    return isinstance(e, ev.LampsProvedDark) and e.occasion == s.occasion


@proves("a toss follows its plan and its noted poses", commands=(do.StartToss,))
def _toss_is_prepared(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return x.state.plan is not None and w.posed


@proves("motion is never repeated after a restart", events=(ev.Restarted,))
def _motion_not_repeated(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return not any(isinstance(each, do.StartToss | do.Jog) for each in x.commands)


@proves("one toss a round", commands=(do.StartToss,))
def _one_toss(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    return not w.tossed and not w.energised


@proves("who leaves a turning motor stops it", accepted=True)
def _motor_is_stopped(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if not w.energised or isinstance(e, ev.Restarted | ev.ShakerFault):
        return None
    turning = (P.STARTING, P.TOSSING, P.JOGGING)
    if x.state.phase in turning and not isinstance(e, ev.TossNotStarted):
        return None
    ended = isinstance(e, ev.TossSettled | ev.TossNotStarted | ev.JogFinished)
    return ended or any(isinstance(each, do.StopMotor) for each in x.commands)


@proves(
    "a shaker fault, an interlock or silence stops the motor",
    events=(
        *(ev.ShakerFault, ev.CompartmentOpened, ev.EstopPressed, ev.CoverOpened, ev.CoverClosed),
        ev.TimerExpired,
        ev.Restarted,
    ),
)
def _interlocks_stop(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if not w.energised or x.refused is not None:
        return None
    if isinstance(e, ev.CoverOpened) and not (t.rules.covered and w.cover):
        return None
    if isinstance(e, ev.CoverClosed) and not t.rules.cover_must_be_absent:
        return None
    return any(isinstance(each, do.StopMotor) for each in x.commands)


# ── Lamps ───────────────────────────────────────────────────────────────────


@proves(
    "no lamp without a verified, confirmed or entered value of this round",
    commands=(do.PushLamps,),
)
def _lamps_show_the_value(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    push = next(each for each in x.commands if isinstance(each, do.PushLamps))
    if push.occasion.purpose is not Purpose.PLAY:
        return not w.playing
    return w.playing and n.stands is not None and sorted(push.values) == sorted(n.stands)


@proves("the lamps lit are those that the values win", commands=(do.PushLamps,))
def _lamps_are_won(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    push = next(each for each in x.commands if isinstance(each, do.PushLamps))
    ones = {f"one-{value}" for value in push.values}
    total = sum(push.values)
    small_or_big = (
        "any-triple" if len(set(push.values)) == 1 else ("small" if total < 11 else "big")
    )
    return ones | {small_or_big} <= set(push.areas) <= set(t.rules.areas) and (
        {area for area in push.areas if area.startswith("one-")} == ones
    )


@proves("bets never open with lamps lit", commands=(do.Announce,))
def _dark_before_bets(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return not w.lit if _notices(x, Notice.BETS_OPEN) else None


@proves("lamps go out after the round, and after every restart", accepted=True)
def _lamps_go_out(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if isinstance(e, ev.Restarted):
        return any(isinstance(each, do.ClearLamps | do.PushLamps) for each in x.commands)
    if not w.lit or isinstance(e, ev.LampsDark | ev.EachLampProved | ev.LampsProvedDark):
        return None
    if s.phase not in LIGHTING or x.state.phase in LIGHTING:
        return None
    return any(isinstance(each, do.ClearLamps | do.DarkenLamps) for each in x.commands)


@proves("a failed lamp is darkened at once", events=(ev.LampFault,))
def _darkened(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not is_current(s, e):
        return None
    return any(isinstance(each, do.DarkenLamps) for each in x.commands)


@proves("the state says of the lamps what was last proved, and no more", accepted=True)
def _lamps_as_proved(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return x.state.lamps is n.lamps


# ── What nobody may see too early ───────────────────────────────────────────


@proves(
    "no frame and no value exists before no more bets, where it comes before the reveal",
    commands=(do.StartReading, do.LightOn, do.NotePoses),
)
def _nothing_seen_early(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if not (t.expected.nmb_before_reveal and w.playing and (w.tossed or w.hidden)):
        return None
    return w.bets_closed or (w.tossed and not _looks(x))


def _looks(x: Step) -> bool:
    return any(isinstance(each, do.StartReading | do.LightOn | do.NotePoses) for each in x.commands)


@proves("light off before a covered toss, on again before reading", accepted=True)
def _light(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    kinds = [type(each) for each in x.commands]
    if do.StartToss in kinds:
        return w.hidden == t.rules.covered
    if do.StartReading in kinds:
        return do.LightOn in kinds and kinds.index(do.LightOn) < kinds.index(do.StartReading)
    if x.state.phase is P.AWAITING_DEALER and n.verdict == "unreadable":
        return not n.hidden
    return not w.hidden or do.LightOn in kinds if do.NotePoses in kinds else None


@proves("values are read only when settled, at rest and revealed", events=(ev.ReadingMade,))
def _read_late(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.ReadingMade)
    if x.refused is not None or not w.playing:
        return None
    at_rest = s.phase is P.READING or isinstance(e.verdict, Unreadable)
    seen = not w.cover or t.rules.cover_must_be_absent
    return w.settled and w.bets_closed and at_rest and seen


@proves("the reader is stopped when nobody waits for it", accepted=True)
def _reader_is_stopped(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if not w.reading or isinstance(e, ev.ReadingMade | ev.Restarted):
        return None
    if x.state.phase in (P.COMING_TO_REST, P.READING):
        return None
    return any(isinstance(each, do.StopReading) for each in x.commands)


# ── Inspections ─────────────────────────────────────────────────────────────


@proves("no round without a valid inspection", commands=(do.Announce,))
def _inspected(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    return w.valid if _notices(x, Notice.BETS_OPEN) else None


@proves("no round while the shift inspection is due", commands=(do.Announce,))
def _shift_inspected(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if not t.expected.shift or not _notices(x, Notice.BETS_OPEN):
        return None
    return not w.shift_due


@proves(
    "an inspection is signed only when all of it was seen, and by the right person",
    events=(ev.Signed,),
)
def _signed_rightly(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    assert isinstance(e, ev.Signed)
    if x.refused is not None:
        return None
    if s.purpose is Purpose.SHIFT:
        return w.cycles == 3 and e.person.role in t.expected.shift
    lamps = w.entries == {1, 2, 3} and w.each and w.seen
    return lamps and w.cycles == 3 and e.person.role in t.expected.signs


@proves("lamps are seen by a person who may sign", events=(ev.LampsSeen,))
def _seen_rightly(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.LampsSeen)
    if x.refused is not None:
        return None
    if not (w.each and w.entries == {1, 2, 3} and e.person.role in t.expected.signs):
        return False
    if s.part is Part.ALL:
        return x.state.phase in (P.COVERING, P.PLANNING)
    return x.state.phase is (P.TO_BE_SIGNED if w.cycles == 3 else P.INSPECTION_DUE)


@proves("three bad cycles in a row are a shaker fault, fewer are not", accepted=True)
def _bad_cycles(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if s.purpose not in (Purpose.INSPECTION, Purpose.SHIFT) or not _notices(x, Notice.CYCLE_BAD):
        return None
    faulty = any(isinstance(each, do.RaiseFault) for each in x.commands)
    if isinstance(e, ev.ReaderFault):
        return None
    return faulty == (s.bad == 2) and (x.state.phase is P.OUT_OF_SERVICE) == faulty


@proves("a good cycle counts, a bad one restarts the count", accepted=True)
def _count(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if s.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    if _notices(x, Notice.CYCLE_GOOD):
        signing = x.state.phase in (P.TO_BE_SIGNED, P.INSPECTION_DUE)
        lamps = (w.seen and w.each) or s.purpose is Purpose.SHIFT
        if signing and lamps and x.state.phase is not P.TO_BE_SIGNED:
            return False
        return n.cycles == 3 if signing else x.state.good == n.cycles and not x.state.bad
    if _notices(x, Notice.CYCLE_BAD):
        return x.state.good == 0 and n.cycles == 0
    return None


# ── The clock, the dice, the faults ─────────────────────────────────────────


BEGUN = (P.READY, P.ADMITTING, P.BETTING, P.COVERING, P.PLANNING)
"""Open, and as far as a table that paces itself goes on at once."""


@proves(
    "no opening and no round with untrusted time, a text not in force, or old dice",
    events=(ev.TimeChecked,),
)
def _clock_admits(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.TimeChecked)
    if x.refused is not None:
        return None
    trusted = e.trust is not TimeTrust.NONE and not e.behind_last_record
    good = trusted and e.now == t.day and s.dice is not None
    if good and s.phase is P.ADMITTING and (w.estop or w.shift_due):
        return x.state.phase is P.READY
    starts = x.state.phase in BEGUN and x.state.barred is None
    told = (x.state.barred is not None) and _notices(x, Notice.BARRED)
    return starts if good else told


@proves("nothing broken is played on: no round, no inspection before it is cleared", accepted=True)
def _broken_stops(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not w.faults - ({e.kind} if isinstance(e, ev.FaultCleared) else set()):
        return None
    if w.playing or any(isinstance(each, do.RecordRound) for each in x.commands):
        return None
    trial = x.state.purpose is Purpose.TRIAL
    return trial or x.state.phase in (P.OUT_OF_SERVICE, P.SHAKER_RETIRED)


@proves("every fault is queued, and only a technician clears it", accepted=True)
def _queued(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    kind = FAULTS.get(type(e))
    if kind is not None:
        return do.RaiseFault(kind, e.code) in x.commands and kind in x.state.faults  # type: ignore[attr-defined]
    if isinstance(e, ev.FaultCleared):
        cleared = do.ClearFaults(e.kind) in x.commands and e.kind not in x.state.faults
        return cleared and e.person.role is Role.TECHNICIAN and e.kind in w.faults
    new = x.state.faults - s.faults
    raised = {each.kind for each in x.commands if isinstance(each, do.RaiseFault) and each.code}
    if not new <= raised:
        return False
    return n.faults == x.state.faults if n.faults or x.state.faults else None


@proves("a manual shaker only after the whole out-of-order procedure", commands=(do.Announce,))
def _retired(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not isinstance(e, ev.ShakerRetired):
        return None
    return bool(e.steps) and x.state.dice is None and _notices(x, Notice.MANUAL_SHAKER)


# ── Irregularities ──────────────────────────────────────────────────────────


def _ended(s: TableState, x: Step) -> Ending | None:
    """How the round ended on this transition, if it did so now."""
    fresh = x.state.phase is P.WITHOUT_RESULT and s.phase is not P.WITHOUT_RESULT
    return x.state.ending if fresh else None


def _round_of(w: Watch, s: TableState) -> bool:
    return w.playing and s.phase is not P.WITHOUT_RESULT


@proves("never void for a lamp fault after the toss", events=(ev.LampFault, ev.TimerExpired))
def _lamp_never_voids(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    lamp = isinstance(e, ev.LampFault) or s.phase in (P.PUSHING, P.CLEARING)
    if x.refused is not None or not lamp or not w.tossed:
        return None
    return _ended(s, x) is None


@proves("a lamp fault before EN-on: the round does not start", events=(ev.LampFault,))
def _lamp_before(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None or not _round_of(w, s) or w.tossed:
        return None
    return _ended(s, x) is Ending.NOT_STARTED and x.state.cause is Cause.LAMP


@proves(
    "a lamp fault after EN-on is settled by hand, then the table stops", commands=(do.RecordRound,)
)
def _lamp_by_hand(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not w.lamp_failed:
        return None
    record = _record(x)
    without = record.ending in (Ending.NO_ROLL, Ending.VOID)
    by_hand = record.ending is Ending.SETTLED_BY_HAND and record.cause is Cause.LAMP
    return (without or by_hand) and x.state.phase is P.OUT_OF_SERVICE


@proves(
    "settled by hand only for the lamps, in the presence that the profile names",
    events=(ev.PresenceGiven,),
)
def _presence(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.PresenceGiven)
    if x.refused is not None:
        return None
    told = _notices(x, Notice.SETTLE_BY_HAND)
    return w.lamp_failed and told and e.person.role in t.expected.presence


@proves(
    "a shaker fault in the toss voids, before EN-on the round does not start",
    events=(ev.ShakerFault,),
)
def _shaker_fault(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None or not _round_of(w, s) or w.settled:
        return None
    expected = Ending.VOID if w.tossed else Ending.NOT_STARTED
    return _ended(s, x) is expected and x.state.cause is Cause.SHAKER


@proves(
    "after the toss has settled, no fault of shaker, reader or controller voids it",
    events=(
        ev.ShakerFault,
        ev.ReaderFault,
        ev.ControllerFault,
        ev.ConditionChanged,
        ev.EstopPressed,
    ),
)
def _settled_stands(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if x.refused is not None or not _round_of(w, s) or not w.settled:
        return None
    unread = w.reading and isinstance(e, ev.ReaderFault)
    if unread and not t.expected.attended:
        return _ended(s, x) is Ending.VOID and x.state.cause is Cause.READER
    return _ended(s, x) is None and (x.state.phase is s.phase or unread)


@proves(
    "in the toss, only the shaker and its interlocks void",
    events=(ev.ReaderFault, ev.ControllerFault, ev.ConditionChanged, ev.LampFault),
)
def _toss_finishes(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if x.refused is not None or not (w.playing and w.energised):
        return None
    return x.state.phase is s.phase


@proves(
    "before EN-on, any fault or change stops the round from starting",
    events=(
        ev.ReaderFault,
        ev.ControllerFault,
        ev.ConditionChanged,
        ev.CompartmentOpened,
        ev.EstopPressed,
    ),
)
def _not_started(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None or not _round_of(w, s) or w.tossed:
        return None
    cause = {
        ev.ReaderFault: Cause.READER,
        ev.ControllerFault: Cause.CONTROLLER,
        ev.ConditionChanged: Cause.CONDITION,
        ev.CompartmentOpened: Cause.COMPARTMENT,
        ev.EstopPressed: Cause.ESTOP,
    }[type(e)]
    return _ended(s, x) is Ending.NOT_STARTED and x.state.cause is cause


@proves(
    "an opened compartment voids from EN-on until a value is known, and never later",
    events=(ev.CompartmentOpened,),
)
def _compartment(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None or not _round_of(w, s) or not w.tossed:
        return None
    if w.value:
        return _ended(s, x) is None and x.state.phase is s.phase
    return _ended(s, x) is Ending.VOID and x.state.cause is Cause.COMPARTMENT


@proves("e-stop in the toss voids", events=(ev.EstopPressed,))
def _estop(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not (w.playing and w.energised):
        return None
    return _ended(s, x) is Ending.VOID and x.state.cause is Cause.ESTOP


@proves(
    "a cover where none may be, or off where it must be on, stops round and toss",
    events=(ev.CoverClosed, ev.CoverOpened),
)
def _cover(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None or not _round_of(w, s):
        return None
    if t.rules.cover_must_be_absent and isinstance(e, ev.CoverClosed):
        if w.settled:
            return _ended(s, x) is None
        expected = Ending.VOID if w.tossed else Ending.NOT_STARTED
        return _ended(s, x) is expected and x.state.cause is Cause.COVER
    if t.rules.covered and isinstance(e, ev.CoverOpened) and w.tossed and w.cover:
        if w.energised or not w.bets_closed:
            return _ended(s, x) is Ending.VOID and x.state.cause is Cause.COVER
        return _ended(s, x) is None
    return None


@proves("what disturbs a round makes an inspection due after it", commands=(do.RecordRound,))
def _due_after(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if w.valid:
        return None
    return x.state.phase in (P.INSPECTION_DUE, P.OUT_OF_SERVICE)


@proves("unmoved dice were not tossed: void", events=(ev.TossDisproved,))
def _disproved(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None or not w.playing:
        return None
    broken = do.RaiseFault(FaultKind.SHAKER, "dice-unmoved") in x.commands
    return _ended(s, x) is Ending.VOID and x.state.cause is Cause.NOT_TOSSED and broken


@proves("silence of a device in a round ends as its fault would", events=(ev.TimerExpired,))
def _silent_device(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if x.refused is not None or not w.playing:
        return None
    ending = _ended(s, x)
    if w.energised:
        return ending is Ending.VOID and x.state.cause is Cause.SHAKER
    if s.phase in (P.PLANNING, P.PROVING_DARK, P.COVERING):
        return ending is Ending.NOT_STARTED
    if s.phase is P.PUSHING:
        return x.state.phase is P.AWAITING_PRESENCE
    return None


@proves(
    "not flat is no roll: called by the table where it enters, else by the dealer",
    events=(ev.ReadingMade,),
)
def _no_roll(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.ReadingMade)
    if x.refused is not None or not w.playing or not isinstance(e.verdict, NoRoll):
        return None
    if t.expected.auto:
        return _ended(s, x) is Ending.NO_ROLL and x.state.cause is Cause.NOT_FLAT
    return x.state.phase is P.AWAITING_DEALER


@proves("unreadable is not void where a dealer can read", accepted=True)
def _unreadable(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not w.playing or n.verdict != "unreadable" or w.verdict:
        return None
    if t.expected.attended:
        return x.state.phase is P.AWAITING_DEALER and _notices(x, Notice.ENTER)
    return _ended(s, x) is Ending.VOID and x.state.cause is Cause.READER


@proves(
    "a verified value goes to the lamps where the table enters, else to the dealer",
    events=(ev.ReadingMade,),
)
def _verified(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.ReadingMade)
    if x.refused is not None or not w.playing or not isinstance(e.verdict, Verified):
        return None
    if not t.expected.auto:
        confirms = t.rules.entry.value == "dealer_confirm"
        asked = _notices(x, Notice.CONFIRM if confirms else Notice.ENTER)
        return asked and x.state.phase is P.AWAITING_DEALER
    if w.lamp_failed:
        return x.state.phase is P.AWAITING_PRESENCE
    return x.state.phase is P.PUSHING and x.state.source is Source.VERIFIED


DEALERS = (ev.ValuesEntered, ev.ValuesConfirmed, ev.NoRollCalled)


@proves("dealer and reader agree, or the floorperson decides", events=DEALERS)
def _dealer_and_reader(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if s.phase is not P.AWAITING_DEALER or not is_current(s, e):
        return None
    if e.person.role not in SPEAKING_ROLES:  # type: ignore[attr-defined]
        return x.refused is not None
    read = s.reading.values if isinstance(s.reading, Verified) else None
    if isinstance(e, ev.ValuesConfirmed):
        asked = t.rules.entry.value == "dealer_confirm" and w.verdict == "verified"
        may = asked and sorted(e.values) == sorted(read or ())
        return (x.refused is None) == may and (not may or x.state.source is Source.CONFIRMED)
    if isinstance(e, ev.NoRollCalled):
        if w.verdict == "verified":
            return x.state.phase is P.DISPUTED
        return _ended(s, x) is Ending.NO_ROLL
    assert isinstance(e, ev.ValuesEntered)
    agrees = w.verdict == "unreadable" or (read is not None and sorted(e.values) == sorted(read))
    if agrees:
        lit = P.AWAITING_PRESENCE if w.lamp_failed else P.PUSHING
        return x.state.phase is lit and x.state.source is Source.ENTERED
    return x.state.phase is P.DISPUTED and x.state.entered == e.values


@proves("only the floorperson or above decides a dispute", events=(ev.DisputeDecided,))
def _dispute(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.DisputeDecided)
    if s.phase is not P.DISPUTED or not is_current(s, e):
        return x.refused is not None
    if e.person.role not in IN_CHARGE:
        return x.refused is not None
    if e.values is None:
        return _ended(s, x) is Ending.NO_ROLL
    stands = x.state.phase in (P.PUSHING, P.AWAITING_PRESENCE)
    return stands and x.state.values == e.values and x.state.source is Source.DECIDED


@proves("interrupted before EN-on: not started; in the toss: void", events=(ev.Restarted,))
def _interrupted(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not _round_of(w, s) or w.settled:
        return None
    expected = Ending.VOID if w.tossed else Ending.NOT_STARTED
    return _ended(s, x) is expected and x.state.cause is Cause.INTERRUPTED


@proves(
    "interrupted after the toss: the dealer reads if the compartment stayed locked, else void",
    events=(ev.Restarted,),
)
def _interrupted_after(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    assert isinstance(e, ev.Restarted)
    if not _round_of(w, s) or not w.settled or w.value:
        return None
    kept = e.compartment_stayed_locked and not e.compartment_open
    if s.phase is P.COVERED:
        kept = kept and e.cover_closed
    if not (kept and t.expected.reads_after_interruption):
        return _ended(s, x) is Ending.VOID and x.state.cause is Cause.INTERRUPTED
    if _ended(s, x) is not None or x.state.values is not None:
        return False
    if w.bets_closed and s.phase in (P.REVEALING, P.COMING_TO_REST, P.READING):
        uncovered = not t.rules.covered or any(
            isinstance(each, do.DriveCover) and each.open for each in x.commands
        )
        asked = _notices(x, Notice.ENTER)
        return x.state.phase is P.AWAITING_DEALER and asked and uncovered
    if s.phase is P.SHOWING_MULTIPLIERS and e.cover_closed:
        return x.state.phase is P.SHOWING_MULTIPLIERS
    return True


@proves(
    "a restart keeps a known value: confirmed, shown, settled or decided as before",
    events=(ev.Restarted,),
)
def _kept(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not _round_of(w, s) or not w.value:
        return None
    same = x.state.values == s.values and x.state.reading == s.reading
    same = same and x.state.source is s.source
    resumed = {
        P.COLLECTING: P.PUSHING,
        P.PAYING: P.PUSHING,
        P.SETTLING_BY_HAND: P.AWAITING_PRESENCE,
    }.get(s.phase, s.phase)
    shown = any(isinstance(each, do.PushLamps) for each in x.commands)
    lit = s.phase in (P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLED_LIT)
    return same and x.state.phase is resumed and shown == lit


@proves("out of service stays out of service through a restart", events=(ev.Restarted,))
def _stays_out(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if w.playing or not (w.faults or s.phase in (P.OUT_OF_SERVICE, P.SHAKER_RETIRED)):
        return None
    return x.state.phase in (P.OUT_OF_SERVICE, P.SHAKER_RETIRED)


@proves("after a restart the contacts are as they are read now", events=(ev.Restarted,))
def _contacts(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    y = x.state
    return (y.compartment_open, y.estop_pressed, y.cover_closed) == (
        n.compartment,
        n.estop,
        n.cover,
    )


@proves("the state knows every contact as it is", accepted=True)
def _contacts_known(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    y = x.state
    known = (y.compartment_open, y.estop_pressed, y.cover_closed)
    return known == (n.compartment, n.estop, n.cover) if any(known) or n.cover else None


@proves("after a power-up an inspection is due", events=(ev.Restarted,))
def _due_after_power_up(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if w.playing or w.faults or s.phase in (P.OUT_OF_SERVICE, P.SHAKER_RETIRED):
        return None
    return x.state.phase is P.INSPECTION_DUE and not x.state.passed


# ── Wagers, records, announcements ──────────────────────────────────────────


def _notices(x: Step, notice: Notice) -> bool:
    return any(type(each) is do.Announce and each.notice is notice for each in x.commands)


def _record(x: Step) -> do.RecordRound:
    return next(each for each in x.commands if isinstance(each, do.RecordRound))


def _wagers(t: Table, ending: Ending) -> WagersDo:
    if ending in (Ending.SETTLED, Ending.SETTLED_BY_HAND):
        return WagersDo.SETTLED
    if ending is Ending.NOT_STARTED:
        return WagersDo.RETURNED
    return t.expected.wagers_without_result


@proves("wagers are returned exactly where the profile says so", commands=(do.RecordRound,))
def _wagers_recorded(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    record = _record(x)
    return record.wagers is _wagers(t, record.ending)


@proves("the fate of the wagers is told when a round ends without a result", accepted=True)
def _wagers_told(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    ending = _ended(s, x)
    if ending is None:
        return None
    notice = {
        Ending.NO_ROLL: Notice.NO_ROLL,
        Ending.VOID: Notice.VOID,
        Ending.NOT_STARTED: Notice.NOT_STARTED,
    }[ending]
    told = [each for each in x.commands if isinstance(each, do.Announce) and each.notice is notice]
    return len(told) == 1 and told[0].wagers is _wagers(t, ending) and bool(told[0].clause)


@proves("every round is recorded once, with the values that stood", accepted=True)
def _recorded(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    records = [each for each in x.commands if isinstance(each, do.RecordRound)]
    opens = _notices(x, Notice.BETS_OPEN)
    if not records and not opens:
        return None
    if opens:
        return not w.playing and x.state.round == s.round + 1
    record = records[0]
    settled = record.ending in (Ending.SETTLED, Ending.SETTLED_BY_HAND)
    values = sorted(record.values or ()) == (sorted(w.stands or ()) if settled else [])
    source = (record.source is not None) == settled
    paid = w.paid or record.ending is not Ending.SETTLED
    return (
        len(records) == 1 and w.playing and record.round == s.round and values and source and paid
    )


@proves("a round leaves nothing behind for the next", commands=(do.RecordRound,))
def _forgotten(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    y = x.state
    left = (y.plan, y.reading, y.entered, y.values, y.source, y.ending, y.cause)
    clean = not any(left) and not y.multipliers and not y.multipliers_shown and not y.retried
    return clean and y.after.value == "next_round"


@proves(
    "closing is granted after the round, unless an inspection or a repair is due",
    commands=(do.RecordRound,),
)
def _closing(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not w.valid or w.faults or x.state.faults:
        return None
    open_phases = (P.PACING, P.READY, P.ADMITTING)
    return x.state.phase is P.CLOSED if s.after.value == "close" else x.state.phase in open_phases


@proves(
    "multipliers only after no more bets and before the toss or the reveal, drawn once",
    commands=(do.DrawMultipliers, do.ShowMultipliers),
)
def _multipliers(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if isinstance(e, ev.Restarted):
        again = not any(isinstance(each, do.DrawMultipliers) for each in x.commands)
        show = next(each for each in x.commands if isinstance(each, do.ShowMultipliers))
        return again and show.multipliers == s.multipliers
    if not t.expected.multipliers or w.value or w.verdict:
        return False
    early = w.settled == t.expected.nmb_before_reveal and (not w.settled or w.cover)
    closed = w.bets_closed or _notices(x, Notice.NO_MORE_BETS)
    draws = any(isinstance(each, do.DrawMultipliers) for each in x.commands)
    return early and closed and w.draws == (0 if draws else 1)


@proves(
    "multipliers are in force only when they were proved to be shown", commands=(do.RecordRound,)
)
def _in_force(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not t.expected.multipliers:
        return None
    record = _record(x)
    shown = bool(record.multipliers) == w.odds_proved
    return shown and all(
        each.area not in ("small", "big", "even", "odd") for each in record.multipliers
    )


@proves(
    "where the profile has multipliers they are drawn, and people are told the outcome",
    accepted=True,
)
def _multipliers_drawn(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if _notices(x, Notice.NO_MORE_BETS):
        draws = any(isinstance(each, do.DrawMultipliers) for each in x.commands)
        return draws == t.expected.multipliers
    waiting = s.phase in (P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS)
    if not waiting or x.state.phase is s.phase or isinstance(e, ev.Restarted):
        return None
    if x.state.phase in (P.WITHOUT_RESULT, P.SHOWING_MULTIPLIERS):
        return None
    proved = isinstance(e, ev.MultipliersShown)
    notice = Notice.MULTIPLIERS if proved else Notice.NO_MULTIPLIERS
    return _notices(x, notice) and x.state.multipliers_shown == proved


@proves("odds that were shown are taken away: not proved, or the round is over", accepted=True)
def _odds_down(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not w.odds_up:
        return None
    over = any(isinstance(each, do.RecordRound) for each in x.commands)
    if not over and not _notices(x, Notice.NO_MULTIPLIERS):
        return None
    return any(isinstance(each, do.HideMultipliers) for each in x.commands)


@proves("after a restart, multipliers in force are shown again", events=(ev.Restarted,))
def _odds_again(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not s.multipliers_shown or not w.playing or x.state.phase is P.WITHOUT_RESULT:
        return None
    if s.phase in (P.WITHOUT_RESULT, P.SETTLED_LIT, P.CLEARING):
        return None
    return any(isinstance(each, do.ShowMultipliers) for each in x.commands)


@proves("every command belongs to the occasion in hand", accepted=True)
def _occasions(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    """The occasion before the step, or after it: a cycle's announcement may begin the next."""
    now, before, any_at_all = x.state.occasion, s.occasion, False
    for each in x.commands:
        occasion = getattr(each, "occasion", None)
        if occasion is None:
            continue
        any_at_all = True
        awaited = type(each) in ANSWERS or type(each) is do.StartTimer
        if occasion != now and (awaited or occasion != before):
            return False
    return True if any_at_all else None


PUBLIC: dict[Phase, frozenset[ShownPhase]] = {
    P.BETTING: frozenset({ShownPhase.BETS_OPEN}),
    P.COVERED: frozenset({ShownPhase.BETS_OPEN}),
    P.NO_MORE_BETS: frozenset({ShownPhase.NO_MORE_BETS}),
    P.DRAWING_MULTIPLIERS: frozenset({ShownPhase.NO_MORE_BETS}),
    P.SHOWING_MULTIPLIERS: frozenset({ShownPhase.NO_MORE_BETS}),
    P.PUSHING: frozenset({ShownPhase.RESULT}),
    P.COLLECTING: frozenset({ShownPhase.RESULT}),
    P.PAYING: frozenset({ShownPhase.RESULT}),
    P.SETTLED_LIT: frozenset({ShownPhase.RESULT}),
    P.AWAITING_PRESENCE: frozenset({ShownPhase.FAULT}),
    P.SETTLING_BY_HAND: frozenset({ShownPhase.FAULT}),
    P.WITHOUT_RESULT: frozenset({ShownPhase.NO_ROLL, ShownPhase.VOID}),
    P.OUT_OF_SERVICE: frozenset({ShownPhase.OUT_OF_SERVICE}),
    P.SHAKER_RETIRED: frozenset({ShownPhase.OUT_OF_SERVICE}),
    P.CLOSED: frozenset({ShownPhase.CLOSED}),
    P.INSPECTION_DUE: frozenset({ShownPhase.CLOSED}),
    P.INSPECTED: frozenset({ShownPhase.CLOSED}),
    P.LAMP_ENTRY: frozenset({ShownPhase.INSPECTION}),
    P.EACH_LAMP: frozenset({ShownPhase.INSPECTION}),
    P.TO_BE_SIGNED: frozenset({ShownPhase.INSPECTION}),
}
"""What the public must be shown in which phase."""


@proves("the phase lamps tell the truth, and mark a demonstration", accepted=True)
def _phase_lamps(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    expected = PUBLIC.get(x.state.phase)
    shows = [each for each in x.commands if isinstance(each, do.ShowPhase)]
    if any(each.demonstration != t.rules.demonstration for each in shows):
        return False
    if expected is None:
        return None
    shown = shows[-1].phase if shows else w.shown
    if isinstance(e, ev.Restarted) and not shows:
        return False
    if shown is None:
        return None  # not started up yet
    right = shown in expected
    if x.state.phase is P.WITHOUT_RESULT:
        no_roll = x.state.ending is Ending.NO_ROLL
        right = right and (shown is ShownPhase.NO_ROLL) == no_roll
    return right


MUST_BE_TOLD: dict[Phase, Notice] = {
    P.LAMPS_TO_BE_SEEN: Notice.LAMPS_SEEN,
    P.TO_BE_SIGNED: Notice.SIGN,
    P.INSPECTED: Notice.INSPECTED,
    P.READY: Notice.OPEN,
    P.CLOSED: Notice.CLOSED,
    P.INSPECTION_DUE: Notice.INSPECTION_DUE,
    P.OUT_OF_SERVICE: Notice.OUT_OF_SERVICE,
    P.SHAKER_RETIRED: Notice.MANUAL_SHAKER,
    P.AWAITING_PRESENCE: Notice.PRESENCE,
    P.DISPUTED: Notice.DISPUTE,
    P.REVEALING: Notice.REVEAL,
}
"""What people must hear on entering a phase."""


@proves("people are told what is asked of them", accepted=True)
def _told_what(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    phase = x.state.phase
    if phase is s.phase and not isinstance(e, ev.Restarted):
        return None
    if phase is P.INSPECTED and s.phase is P.OPENING:
        return None
    if phase is P.READY and s.phase is not P.OPENING:
        return _notices(x, Notice.INSPECTED) if s.phase is P.TO_BE_SIGNED else None
    if s.purpose is Purpose.TRIAL and phase is P.INSPECTION_DUE and x.state.serial == s.serial:
        return None
    notice = MUST_BE_TOLD.get(phase)
    if notice is None:
        return None
    if phase is P.INSPECTION_DUE and s.purpose is Purpose.TRIAL:
        return None
    return _notices(x, notice)


@proves("a beginning shift is announced", events=(ev.ShiftBegan,))
def _shift_told(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None:
        return None
    return bool(t.expected.shift) and x.state.shift_due and _notices(x, Notice.SHIFT_DUE)


EMPTY_HANDED = frozenset({P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE, P.READY, P.PACING})


@proves("a table that is shut or between rounds holds nothing of an inspection", accepted=True)
def _nothing_left(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    y = x.state
    if y.phase not in EMPTY_HANDED:
        return None
    left = (y.entry, y.good, y.bad, y.reading, y.values, y.plan, y.retried)
    unproved = y.phase in (P.CLOSED, P.OUT_OF_SERVICE) and y.passed
    return not any(left) and not unproved


@proves("a result is announced with its values", commands=(do.PushLamps, do.RecordRound))
def _result_told(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    told = [
        each
        for each in x.commands
        if isinstance(each, do.Announce) and each.notice is Notice.RESULT
    ]
    pushes = [each for each in x.commands if isinstance(each, do.PushLamps)]
    if not pushes or pushes[0].occasion.purpose is not Purpose.PLAY:
        return None
    return len(told) == 1 and told[0].values == pushes[0].values


@proves("covers are driven and asked for when they are to move", accepted=True)
def _cover_driven(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    entered = x.state.phase is not s.phase and x.state.phase in (P.COVERING, P.REVEALING)
    if not entered:
        return None
    opening = x.state.phase is P.REVEALING
    return any(isinstance(each, do.DriveCover) and each.open == opening for each in x.commands)


@proves("a confirmed clock is trusted", events=(ev.TimeConfirmed,))
def _trusted(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.TimeConfirmed)
    if x.refused is not None:
        return None
    unbarred = s.barred is None or s.barred.value != "time_untrusted" or x.state.barred is None
    return e.person.role in IN_CHARGE and do.TrustTime() in x.commands and unbarred


# ── Who may do what ─────────────────────────────────────────────────────────

DEALER_ACTS = (
    *(ev.BetsRequested, ev.NoMoreBetsCalled, ev.ActivationRequested, ev.RevealRequested),
    *(ev.ValuesEntered, ev.ValuesConfirmed, ev.NoRollCalled, ev.WagersSettled),
    ev.LampsOffRequested,
)
CHARGE_ACTS = (
    *(ev.OpenRequested, ev.CloseRequested, ev.InspectionRequested, ev.DisputeDecided),
    *(ev.TimeConfirmed, ev.ShiftBegan),
)
TECHNICIAN_ACTS = (
    *(ev.FaultCleared, ev.ShakerRestored, ev.JogRequested, ev.TrialTossRequested),
    ev.LampTrialRequested,
)
EITHER_ACTS = (
    *(ev.InspectionAbandoned, ev.DiceChanged, ev.OutOfServiceRequested, ev.ReturnRequested),
    ev.ShakerRetired,
)


@proves(
    "nobody acts outside of their role",
    events=(
        *DEALER_ACTS,
        *CHARGE_ACTS,
        *TECHNICIAN_ACTS,
        *EITHER_ACTS,
        ev.ShiftInspectionRequested,
    ),
)
def _roles(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None:
        return None
    role = e.person.role  # type: ignore[attr-defined]
    if isinstance(e, DEALER_ACTS):
        return role is not Role.TECHNICIAN
    if isinstance(e, CHARGE_ACTS):
        return role in IN_CHARGE
    if isinstance(e, TECHNICIAN_ACTS):
        return role is Role.TECHNICIAN
    if isinstance(e, ev.ShiftInspectionRequested):
        return role in t.expected.shift and w.shift_due
    return role is not Role.DEALER


ENDABLE = frozenset(
    {
        *(P.COVERING, P.PLANNING, P.PROVING_DARK, P.STARTING, P.TOSSING, P.REVEALING),
        *(P.COMING_TO_REST, P.READING, P.JOGGING, P.LAMP_TRIAL),
    }
)
"""Work that a person may give up while it goes on, where it is no round."""


def _offered(t: Table, w: Watch, s: TableState) -> dict[type[ev.Event], Role]:
    """What must be granted here, to this role, when nothing stands in the way."""
    order = t.expected.nmb_before_reveal
    free = not (w.compartment or w.estop or (t.rules.cover_must_be_absent and w.cover))
    d, f, tech = Role.DEALER, Role.FLOORPERSON, Role.TECHNICIAN
    dealt = not t.rules.autonomous
    if s.purpose is not Purpose.PLAY and s.phase in ENDABLE:
        return {ev.InspectionAbandoned: tech if s.purpose is Purpose.TRIAL else f}
    match s.phase:
        case P.CLOSED:
            return {
                ev.OpenRequested: f,
                ev.OutOfServiceRequested: tech,
                ev.DiceChanged: tech,
                ev.LampTrialRequested: tech,
                ev.TimeConfirmed: f,
            }
        case P.INSPECTION_DUE:
            always = {
                ev.CloseRequested: f,
                ev.OutOfServiceRequested: f,
                ev.DiceChanged: f,
                ev.LampTrialRequested: tech,
                ev.TimeConfirmed: f,
            }
            if free and (w.cover or not t.rules.covered):
                always |= {ev.JogRequested: tech}
            more = {ev.InspectionRequested: f, ev.TrialTossRequested: tech}
            return always | (more if free else {})
        case P.INSPECTED:
            return {
                ev.OpenRequested: f,
                ev.CloseRequested: f,
                ev.DiceChanged: tech,
                ev.OutOfServiceRequested: tech,
                ev.TimeConfirmed: f,
            }
        case P.READY:
            ready = {ev.CloseRequested: f, ev.DiceChanged: tech, ev.TimeConfirmed: f}
            if free and not w.shift_due:
                ready |= {ev.BetsRequested: d}
            if free and w.shift_due:
                ready |= {ev.ShiftInspectionRequested: Role.SUPERVISOR}
            return ready
        case P.PACING | P.ADMITTING | P.OPENING:
            return {ev.CloseRequested: f, ev.OutOfServiceRequested: tech, ev.TimeConfirmed: f}
        case P.OUT_OF_SERVICE:
            out = {ev.ShakerRetired: tech, ev.DiceChanged: tech, ev.LampTrialRequested: tech}
            return out | ({ev.FaultCleared: tech} if w.faults else {ev.ReturnRequested: f})
        case P.SHAKER_RETIRED:
            return {ev.ShakerRestored: tech} | ({ev.FaultCleared: tech} if w.faults else {})
        case P.LAMP_ENTRY | P.LAMP_ENTRY_CLEARING | P.EACH_LAMP:
            return {ev.InspectionAbandoned: f}
        case P.LAMPS_TO_BE_SEEN:
            return {ev.LampsSeen: f, ev.InspectionAbandoned: f}
        case P.TO_BE_SIGNED if s.purpose is Purpose.SHIFT:
            return {ev.Signed: Role.SUPERVISOR, ev.InspectionAbandoned: f}
        case P.TO_BE_SIGNED:
            return {ev.Signed: f, ev.InspectionAbandoned: f}
        case P.BETTING:
            return {ev.ActivationRequested if order else ev.NoMoreBetsCalled: d} | {
                ev.CloseRequested: f
            }
        case P.COVERED:
            return {ev.NoMoreBetsCalled: d, ev.CloseRequested: f}
        case P.NO_MORE_BETS:
            return {ev.RevealRequested if order else ev.ActivationRequested: d} | (
                {ev.PlayerPressed: d} if t.expected.player else {}
            )
        case P.AWAITING_DEALER:
            return {ev.ValuesEntered: d, ev.NoRollCalled: d, ev.CloseRequested: f}
        case P.DISPUTED:
            return {ev.DisputeDecided: f}
        case P.COLLECTING if dealt:
            return {ev.WagersSettled: d}
        case P.SETTLED_LIT:
            return {ev.LampsOffRequested: d}
        case P.AWAITING_PRESENCE:
            return {ev.PresenceGiven: Role.SUPERVISOR}
        case P.SETTLING_BY_HAND | P.WITHOUT_RESULT:
            return {ev.WagersSettled: d}
    return {}


ACTS = (
    *(*DEALER_ACTS, *CHARGE_ACTS, *TECHNICIAN_ACTS, *EITHER_ACTS),
    *(ev.LampsSeen, ev.Signed, ev.PresenceGiven, ev.PlayerPressed, ev.ShiftInspectionRequested),
)


@proves("what a person is waited for is granted to them", events=ACTS)
def _granted(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    role = _offered(t, w, s).get(type(e))
    person = getattr(e, "person", None)
    if role is None or (person is not None and person.role is not role) or not is_current(s, e):
        return None
    if isinstance(e, ev.FaultCleared) and e.kind not in w.faults:
        return None
    if isinstance(e, ev.ShakerRetired) and not e.steps:
        return x.refused is not None
    return x.refused is None


GOES_TO: dict[type[ev.Event], frozenset[Phase]] = {
    ev.OpenRequested: frozenset({P.INSPECTION_DUE, P.OPENING}),
    ev.OutOfServiceRequested: frozenset({P.OUT_OF_SERVICE}),
    ev.ReturnRequested: frozenset({P.INSPECTION_DUE}),
    ev.ShakerRetired: frozenset({P.SHAKER_RETIRED}),
    ev.ShakerRestored: frozenset({P.OUT_OF_SERVICE}),
    ev.InspectionAbandoned: frozenset({P.INSPECTION_DUE, P.OUT_OF_SERVICE}),
    ev.BetsRequested: frozenset({P.ADMITTING}),
    ev.NoMoreBetsCalled: frozenset(
        {P.NO_MORE_BETS, P.DRAWING_MULTIPLIERS, P.PLANNING, P.COVERING, P.REVEALING}
    ),
    ev.ActivationRequested: frozenset({P.COVERING, P.PLANNING}),
    ev.PlayerPressed: frozenset({P.COVERING, P.PLANNING}),
    ev.RevealRequested: frozenset({P.REVEALING, P.COMING_TO_REST}),
    ev.LampsOffRequested: frozenset({P.CLEARING}),
    ev.JogRequested: frozenset({P.JOGGING}),
    ev.TrialTossRequested: frozenset({P.COVERING, P.PLANNING}),
    ev.LampTrialRequested: frozenset({P.LAMP_TRIAL}),
    ev.ShiftInspectionRequested: frozenset({P.COVERING, P.PLANNING}),
    ev.JogFinished: frozenset({P.INSPECTION_DUE, P.OUT_OF_SERVICE}),
    ev.PresenceGiven: frozenset({P.SETTLING_BY_HAND}),
    ev.TossPlanDrawn: frozenset({P.PROVING_DARK}),
    ev.LampsProvedDark: frozenset({P.STARTING}),
    ev.TossStarted: frozenset({P.TOSSING}),
    ev.TossSettled: frozenset({P.COVERED, P.REVEALING, P.COMING_TO_REST}),
    ev.AtRest: frozenset({P.READING}),
}
"""Where an event leads when it is granted, whatever the state."""


@proves("what is granted leads where it should", events=tuple(GOES_TO))
def _leads(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None:
        return None
    to = x.state.phase
    if isinstance(e, ev.TossSettled):
        uncovered = not t.rules.covered
        bets_open = t.expected.nmb_before_reveal and w.playing
        expected = P.COMING_TO_REST if uncovered else P.COVERED if bets_open else P.REVEALING
        return to is expected
    if isinstance(e, ev.OpenRequested):
        return to is (P.OPENING if s.phase is P.INSPECTED else P.INSPECTION_DUE)
    return to in GOES_TO[type(e)]


@proves("what is asked for in a cover's table happens under it", commands=(do.DrawTossPlan,))
def _drawn_under_cover(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return t.rules.covered == x.state.cover_closed


@proves(
    "pace: bets, settling and payout follow each other, and the next round comes",
    events=(ev.TimerExpired, ev.LampsShown, ev.LampsDark, ev.WagersSettled),
)
def _pace(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None:
        return None
    to = x.state.phase
    match s.phase, e:
        case ((P.BETTING | P.COVERED), ev.TimerExpired()):
            return _notices(x, Notice.NO_MORE_BETS)
        case P.COLLECTING, ev.TimerExpired():
            return to is P.PAYING
        case P.PAYING, ev.TimerExpired():
            return to is P.CLEARING
        case P.PACING, ev.TimerExpired():
            return to in (P.READY, P.ADMITTING)
        case P.NO_MORE_BETS, ev.TimerExpired():
            return to in (P.COVERING, P.PLANNING)
        case P.PUSHING, ev.LampsShown():
            return to is P.COLLECTING
        case P.COLLECTING, ev.WagersSettled():
            return to is P.SETTLED_LIT
        case ((P.SETTLING_BY_HAND | P.WITHOUT_RESULT), (ev.WagersSettled() | ev.TimerExpired())):
            return any(isinstance(each, do.RecordRound) for each in x.commands)
        case P.CLEARING, ev.LampsDark():
            return _record(x).ending is Ending.SETTLED
        case P.LAMP_ENTRY, ev.LampsShown():
            return to is P.LAMP_ENTRY_CLEARING
        case P.LAMP_ENTRY_CLEARING, ev.LampsDark():
            return to is (P.EACH_LAMP if len(w.entries) == 3 else P.LAMP_ENTRY)
    return None


@proves("who waits for a device has a deadline", accepted=True)
def _deadline(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    phase = x.state.phase
    self_paced = t.rules.autonomous and phase in (P.COLLECTING, P.PAYING, P.WITHOUT_RESULT)
    driven = t.rules.cover_driven and phase in (P.COVERING, P.REVEALING)
    if phase not in SUPERVISED and not self_paced and not driven:
        return None
    return n.timer is not None


ASKED: dict[Phase, type[do.Command]] = {
    P.OPENING: do.CheckTime,
    P.ADMITTING: do.CheckTime,
    P.LAMP_ENTRY: do.PushLamps,
    P.LAMP_ENTRY_CLEARING: do.ClearLamps,
    P.EACH_LAMP: do.ProveEachLamp,
    P.LAMP_TRIAL: do.ProveEachLamp,
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


@proves("who waits for a device has asked it", accepted=True)
def _asked_for(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    command = ASKED.get(x.state.phase)
    return n.awaited is command if command is not None else None


@proves("an interrupted round is followed by an inspection", events=(ev.Restarted,))
def _inspected_after(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    return x.state.after.value == "inspection" if w.playing else None


@proves("a verified value that waits is asked for again after a restart", events=(ev.Restarted,))
def _asked_again(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if s.phase is not P.AWAITING_DEALER or x.state.phase is not P.AWAITING_DEALER:
        return None
    confirms = t.rules.entry.value == "dealer_confirm" and isinstance(s.reading, Verified)
    return _notices(x, Notice.CONFIRM if confirms else Notice.ENTER)


@proves("a cover that moves as asked lets the toss go on", events=(ev.CoverClosed, ev.CoverOpened))
def _cover_moves(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if s.phase is P.COVERING and isinstance(e, ev.CoverClosed):
        return x.state.phase is P.PLANNING
    if s.phase is P.REVEALING and isinstance(e, ev.CoverOpened):
        return x.state.phase is P.COMING_TO_REST
    return None


@proves("who is to be covered is told, and no more bets is shown", commands=(do.Announce,))
def _told_and_shown(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if _notices(x, Notice.NO_MORE_BETS):
        shown = do.ShowPhase(ShownPhase.NO_MORE_BETS, t.rules.demonstration) in x.commands
        waits = x.state.phase in (P.NO_MORE_BETS, P.DRAWING_MULTIPLIERS)
        by_itself = t.rules.autonomous and not t.expected.player
        paced = waits != by_itself or x.state.phase is P.DRAWING_MULTIPLIERS
        return shown and paced
    if _notices(x, Notice.BETS_OPEN):
        at_once = t.rules.autonomous and t.expected.nmb_before_reveal
        return (x.state.phase is not P.BETTING) == at_once
    return None


@proves("in play, people are told to cover the dice", commands=(do.DriveCover,))
def _told_to_cover(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    closes = any(isinstance(each, do.DriveCover) and not each.open for each in x.commands)
    return _notices(x, Notice.COVER) if closes and n.playing else None


@proves("a table that paces itself goes on unless something stands in the way", accepted=True)
def _goes_on(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not t.rules.autonomous or x.state.phase is not P.READY:
        return None
    y = x.state
    wrong_cover = t.rules.cover_must_be_absent and n.cover
    return bool(y.barred or n.compartment or n.estop or wrong_cover or y.shift_due)


@proves("darkness is heard of whenever it is not known", events=(ev.LampsDark,))
def _dark_is_heard(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    resting = (
        *(P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE, P.SHAKER_RETIRED, P.WITHOUT_RESULT),
        *(P.AWAITING_PRESENCE, P.SETTLING_BY_HAND, P.AWAITING_DEALER, P.DISPUTED, P.COVERED),
    )
    if s.phase not in resting or not is_current(s, e):
        return None
    return x.refused is None


@proves("a cycle's reading is told, and a trial ends with it", events=(ev.ReadingMade,))
def _cycle_told(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.ReadingMade)
    if x.refused is not None or w.playing:
        return None
    good = isinstance(e.verdict, Verified)
    told = _notices(x, Notice.CYCLE_GOOD if good else Notice.CYCLE_BAD)
    over = x.state.phase in (P.INSPECTION_DUE, P.OUT_OF_SERVICE)
    return told and (over or s.purpose is not Purpose.TRIAL)


@proves("the lamps are asked once more when their answer was old", events=(ev.TossNotStarted,))
def _once_more(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.TossNotStarted)
    if x.refused is not None:
        return None
    again = e.reason == "lamps-stale" and not s.retried and not w.faults
    return (x.state.phase is P.PROVING_DARK) == again or s.purpose is Purpose.TRIAL


@proves("a silent clock bars", events=(ev.TimerExpired,))
def _silent_clock(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    assert isinstance(e, ev.TimerExpired)
    if x.refused is not None or e.timer is not Timer.TIME_CHECK:
        return None
    return x.state.barred is not None and _notices(x, Notice.BARRED)


@proves("an inspection is shown as one", commands=(do.DrawTossPlan, do.DriveCover))
def _inspection_shown(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if x.state.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    return n.shown is ShownPhase.INSPECTION


@proves("what people record is kept", events=(ev.DiceChanged, ev.CloseRequested))
def _kept_in_mind(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if x.refused is not None:
        return None
    if isinstance(e, ev.DiceChanged):
        return x.state.dice is not None and x.state.dice.serials == e.serials
    closing = x.state.phase is P.CLOSED or x.state.after.value != "next_round"
    return closing if w.playing else x.state.phase is P.CLOSED


@proves("an ended round is told again after a restart", events=(ev.Restarted,))
def _told_again(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if s.phase is not P.WITHOUT_RESULT:
        return None
    return any(isinstance(each, do.Announce) and each.wagers is not None for each in x.commands)


@proves("the light goes out whenever the dice are covered to be revealed", events=(ev.CoverClosed,))
def _dark_again(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    return n.hidden if x.state.phase is P.REVEALING and s.phase is not P.REVEALING else None


@proves("bets closed and cover opened by hand: that is the reveal", events=(ev.CoverOpened,))
def _revealed(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    if not (w.settled and w.bets_closed and not w.verdict) or not t.rules.covered:
        return None
    waiting = (P.NO_MORE_BETS, P.REVEALING, P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS)
    return x.state.phase is P.COMING_TO_REST if s.phase in waiting else None


@proves(
    "a lamp fault when all is paid clears, a stuck cover is asked for again",
    events=(ev.LampFault, ev.TimerExpired),
)
def _goes_on_after(
    t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step
) -> bool | None:
    if x.refused is not None:
        return None
    if isinstance(e, ev.LampFault):
        return x.state.phase is P.CLEARING if s.phase is P.SETTLED_LIT else None
    stuck = s.phase is P.REVEALING and w.playing
    return _notices(x, Notice.REVEAL) and x.state.phase is P.REVEALING if stuck else None


@proves("the lamps are not asked a third time", events=(ev.TossNotStarted,))
def _not_thrice(t: Table, w: Watch, n: Watch, s: TableState, e: ev.Event, x: Step) -> bool | None:
    again = x.refused is None and x.state.phase is P.PROVING_DARK
    return x.state.retried and not s.retried if again else None
