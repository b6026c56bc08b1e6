"""Who may do what, what people are told, and that what they are asked for is granted."""

from __future__ import annotations

from hil_tests.proofs.properties.case import IN_CHARGE, Case, came_out, proves
from hil_tests.proofs.properties.rounds import UNSETTLED, needs_presence
from hil_tests.proofs.watch import are_both, is_one, kept_alone, seconds_dice, why_not
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.state import Lamps, Phase
from shaker_ctl.rules.vocabulary import (
    Ending,
    FaultKind,
    Notice,
    Part,
    Person,
    Purpose,
    Role,
    ShownPhase,
)

P = Phase


MUST_BE_TOLD: dict[Phase, Notice] = {
    P.LAMP_VALUES_AWAITED: Notice.LAMP_VALUES,
    P.LAMP_ENTRY_LIT: Notice.LOOK,
    P.LAMP_ENTRY_TO_BE_SEEN: Notice.SAY_SEEN,
    P.LAMPS_TO_BE_SEEN: Notice.LAMPS_SEEN,
    P.ODDS_TO_BE_SEEN: Notice.ODDS_SEEN,
    P.CYCLE_AWAITED: Notice.CYCLE,
    P.CYCLE_TO_BE_JUDGED: Notice.CYCLE_SEEN,
    P.TO_BE_SIGNED: Notice.SIGN,
    P.INSPECTED: Notice.INSPECTED,
    P.READY: Notice.OPEN,
    P.CLOSED: Notice.CLOSED,
    P.INSPECTION_DUE: Notice.INSPECTION_DUE,
    P.OUT_OF_SERVICE: Notice.OUT_OF_SERVICE,
    P.AWAITING_PRESENCE: Notice.PRESENCE,
    P.DISPUTED: Notice.DISPUTE,
    P.REVEALING: Notice.REVEAL,
}
"""What people must hear on entering a phase."""


@proves("people are told what is asked of them", accepted=True)
def _told_what(case: Case) -> bool | None:
    phase = case.to
    if phase is case.phase and not case.on(ev.Restarted):
        return None
    if phase is P.INSPECTED and case.phase is P.OPENING:
        return None
    if phase is P.READY and case.phase is not P.OPENING:
        told = case.tells(Notice.INSPECTED) or case.tells(Notice.SHIFT_DUE)
        return told if case.phase is P.TO_BE_SIGNED else None
    notice = MUST_BE_TOLD.get(phase)
    if phase is P.INTERRUPTED:
        notice = Notice.IN_VIEW if case.after.doubt else Notice.READ_IN_PRESENCE
    if notice is None:
        return None
    if phase is P.INSPECTION_DUE and case.state.purpose is Purpose.TRIAL:
        return None
    return case.tells(notice)


@proves("who is to be covered is told, and no more bets is shown", commands=(do.Announce,))
def _told_and_shown(case: Case) -> bool | None:
    if case.tells(Notice.NO_MORE_BETS):
        shown = do.ShowPhase(ShownPhase.NO_MORE_BETS, case.rules.demonstration) in case.commands
        waits = case.to in (P.NO_MORE_BETS, P.DRAWING_MULTIPLIERS)
        if case.before.manual:
            return shown and case.to in (P.PLANNING, P.DRAWING_MULTIPLIERS)
        by_itself = case.rules.autonomous and not case.expected.player
        paced = waits != by_itself or case.to is P.DRAWING_MULTIPLIERS
        return shown and paced
    if case.tells(Notice.BETS_OPEN):
        at_once = case.rules.autonomous and case.expected.nmb_before_reveal
        return (case.to is not P.BETTING) == at_once
    return None


DEALER_ACTS = (
    *(ev.BetsRequested, ev.NoMoreBetsCalled, ev.ActivationRequested, ev.RevealRequested),
    *(ev.ValuesEntered, ev.ValuesConfirmed, ev.NoRollCalled, ev.WagersSettled),
    *(ev.LampsOffRequested, ev.CompartmentWatched),
)


CHARGE_ACTS = (
    *(ev.OpenRequested, ev.CloseRequested, ev.InspectionRequested, ev.DisputeDecided),
    *(ev.TimeConfirmed, ev.ShiftBegan, ev.LidRequested),
)


TECHNICIAN_ACTS = (
    *(ev.FaultCleared, ev.ShakerRestored, ev.JogRequested, ev.TrialTossRequested),
    ev.LampTrialRequested,
)


EITHER_ACTS = (
    *(
        ev.InspectionAbandoned,
        ev.DiceChanged,
        ev.DiceCorrected,
        ev.OutOfServiceRequested,
        ev.ReturnRequested,
    ),
    ev.ShakerRetired,
)


@proves(
    "nobody acts outside of their role",
    granted=(
        *DEALER_ACTS,
        *CHARGE_ACTS,
        *TECHNICIAN_ACTS,
        *EITHER_ACTS,
        ev.ShiftInspectionRequested,
    ),
)
def _roles(case: Case) -> bool | None:
    if case.event.person is None:
        return case.on(ev.ShiftBegan)
    role = case.event.person.role
    if isinstance(case.event, DEALER_ACTS):
        return role is not Role.TECHNICIAN
    if isinstance(case.event, CHARGE_ACTS):
        return role in IN_CHARGE
    if isinstance(case.event, TECHNICIAN_ACTS):
        return role is Role.TECHNICIAN
    if case.on(ev.ShiftInspectionRequested):
        return role in case.expected.shift and case.before.shift_due
    return role is not Role.DEALER


ENDABLE = frozenset(
    {
        *(P.COVERING, P.PLANNING, P.PROVING_DARK, P.STARTING, P.TOSSING, P.REVEALING),
        *(P.COMING_TO_REST, P.READING, P.JOGGING, P.LAMP_TRIAL),
    }
)
"""Work that a person may give up while it goes on, where it is no round."""


def _is_free(case: Case) -> bool:
    """No contact of the shaker in use stands in the way of a round or a cycle."""
    return case.before.manual or not (
        case.before.compartment
        or case.before.estop
        or (case.rules.cover_must_be_absent and case.before.cover)
    )


def _offered(case: Case) -> dict[type[ev.Event], Role]:
    """What must be granted here, to this role, when nothing stands in the way."""
    return _awaited(case) | _possible(case)


def _vouched_by(case: Case) -> Role:
    """Who is still to say that the compartment stayed in view, or the cover is off."""
    dealer_said = any(person.role is Role.DEALER for person in case.before.in_view)
    return Role.SUPERVISOR if dealer_said else Role.DEALER


def _possible(case: Case) -> dict[type[ev.Event], Role]:
    """What nobody waits for, and a person may do all the same."""
    w = case.before
    if case.phase in (P.AWAITING_DEALER, P.SETTLING_BY_HAND) and w.present is not None:
        return {ev.PresenceGiven: Role.SUPERVISOR}
    typed_wrongly = w.by_person and w.first is None and case.phase in UNSETTLED
    if typed_wrongly and w.doubt and not w.reached:
        return {ev.CompartmentWatched: _vouched_by(case)}
    return {}


Offers = dict[type[ev.Event], Role]
D, F, S, T = Role.DEALER, Role.FLOORPERSON, Role.SUPERVISOR, Role.TECHNICIAN


def _by(role: Role, *acts: type[ev.Event]) -> Offers:
    return dict.fromkeys(acts, role)


ABANDONED = _by(F, ev.InspectionAbandoned)
LOOKS = _by(F, ev.LampsSeen) | ABANDONED
ENTERS = _by(D, ev.ValuesEntered, ev.NoRollCalled)
STANDS_OPEN = _by(F, ev.CloseRequested, ev.TimeConfirmed) | _by(T, ev.OutOfServiceRequested)

AWAITED: dict[Phase, Offers] = {
    P.CLOSED: _by(F, ev.OpenRequested, ev.LidRequested, ev.TimeConfirmed)
    | _by(T, ev.OutOfServiceRequested, ev.LampTrialRequested),
    P.INSPECTION_DUE: _by(F, ev.CloseRequested, ev.OutOfServiceRequested, ev.TimeConfirmed)
    | _by(T, ev.LampTrialRequested),
    P.INSPECTED: _by(F, ev.OpenRequested) | STANDS_OPEN,
    P.READY: _by(F, ev.CloseRequested, ev.LidRequested, ev.TimeConfirmed),
    P.PACING: STANDS_OPEN,
    P.ADMITTING: STANDS_OPEN,
    P.OPENING: STANDS_OPEN,
    P.OUT_OF_SERVICE: _by(F, ev.LidRequested) | _by(T, ev.LampTrialRequested),
    **dict.fromkeys(ph.LAMP_INSPECTION, ABANDONED),
    P.LAMP_VALUES_AWAITED: _by(F, ev.LampValuesEntered) | ABANDONED,
    P.LAMP_ENTRY_TO_BE_SEEN: LOOKS,
    P.LAMPS_TO_BE_SEEN: LOOKS,
    P.ODDS_TO_BE_SEEN: LOOKS,
    P.CYCLE_AWAITED: ABANDONED,
    P.CYCLE_TO_BE_JUDGED: ABANDONED,
    P.TO_BE_SIGNED: ABANDONED,
    P.BETTING: _by(F, ev.CloseRequested),
    P.COVERED: _by(D, ev.NoMoreBetsCalled) | _by(F, ev.CloseRequested),
    P.COVERING: _by(F, ev.OutOfServiceRequested),
    P.AWAITING_DEALER: ENTERS | _by(F, ev.CloseRequested),
    P.DISPUTED: _by(F, ev.DisputeDecided),
    P.SETTLED_LIT: _by(D, ev.LampsOffRequested),
    P.AWAITING_PRESENCE: _by(S, ev.PresenceGiven),
    P.SETTLING_BY_HAND: _by(D, ev.WagersSettled),
    P.WITHOUT_RESULT: _by(D, ev.WagersSettled),
}
"""What a phase waits for in every case, and from whom."""


def _awaited(case: Case) -> Offers:
    """What the table waits for, and from whom."""
    if case.state.purpose is not Purpose.PLAY and case.phase in ENDABLE:
        return _by(T if case.state.purpose is Purpose.TRIAL else F, ev.InspectionAbandoned)
    return AWAITED.get(case.phase, {}) | _as_it_is(case)


def _as_it_is(case: Case) -> Offers:
    """What a phase waits for beside, as the table is."""
    w, order = case.before, case.expected.nmb_before_reveal
    inspector = S if case.state.purpose is Purpose.SHIFT else F
    for_show = case.rules.autonomous and case.rules.demonstration
    match case.phase:
        case P.INSPECTION_DUE if w.manual:
            return _by(T, ev.ShakerRestored) | _by(F, ev.InspectionRequested)
        case P.INSPECTION_DUE if _is_free(case):
            jogs = _by(T, ev.JogRequested) if w.cover or not case.rules.covered else {}
            return jogs | _by(F, ev.InspectionRequested) | _by(T, ev.TrialTossRequested)
        case P.READY if w.shift_due and _is_free(case):
            return _by(S, ev.ShiftInspectionRequested)
        case P.READY if _is_free(case) and w.lamps is Lamps.DARK:
            return _by(D, ev.BetsRequested)
        case P.OUT_OF_SERVICE:
            retires = case.expected.attended and came_out(case)
            shaker = ev.ShakerRestored if w.manual else ev.ShakerRetired
            alone = case.expected.attended and w.faults == {FaultKind.READER}
            return (
                (_by(T, shaker) if w.manual or retires else {})
                | (_by(F, ev.ReturnRequested) if alone or not case.broken else {})
                | (_by(T, ev.FaultCleared) if w.faults else {})
            )
        case P.LAMP_VALUES_AWAITED if w.entries == 3:
            return _by(F, ev.WalkRequested)
        case P.CYCLE_AWAITED:
            return _by(inspector, ev.CycleRequested)
        case P.CYCLE_TO_BE_JUDGED:
            return _by(inspector, ev.CycleJudged)
        case P.TO_BE_SIGNED:
            return _by(inspector, ev.Signed)
        case P.BETTING:
            return _by(D, ev.ActivationRequested if order else ev.NoMoreBetsCalled)
        case P.NO_MORE_BETS:
            player = _by(D, ev.PlayerPressed) if case.expected.player else {}
            return player | _by(D, ev.RevealRequested if order else ev.ActivationRequested)
        case P.INTERRUPTED if not w.doubt:
            return _by(S, ev.PresenceGiven)
        case P.INTERRUPTED:
            return _by(_vouched_by(case), ev.CompartmentWatched)
        case P.REVEALING if w.overdue:
            return _by(_vouched_by(case) if case.expected.attended else S, ev.RevealRequested)
        case P.DISPUTED if w.enterer is not None and w.enterer.role is D:
            return ENTERS
        case P.COLLECTING if case.expected.attended and not for_show:
            return _by(D, ev.WagersSettled)
    return {}


ACTS = (
    *(*DEALER_ACTS, *CHARGE_ACTS, *TECHNICIAN_ACTS, *EITHER_ACTS),
    *(ev.LampValuesEntered, ev.WalkRequested, ev.CycleRequested, ev.CycleJudged),
    *(ev.LampsSeen, ev.Signed, ev.PresenceGiven, ev.PlayerPressed, ev.ShiftInspectionRequested),
)


def _decidable(case: Case) -> frozenset[tuple[int, ...]]:
    """What dealer and reader named; after an opening only what the reader's picture shows."""
    if not case.before.doubt:
        return case.before.named
    return frozenset({case.before.read} if case.before.read else ())


def _is_both_sides(case: Case, person: Person) -> bool:
    """True where another person has to do this, or where it is no decision between the two."""
    if case.on(ev.RevealRequested) and case.phase is P.REVEALING:
        return person in case.before.in_view
    if case.on(ev.CompartmentWatched) and case.event.stayed:
        denied, both = case.before.denied, are_both(case.table, case.before.in_view | {person})
        another = denied is not None and not is_one(denied.name, person.name)
        return person in case.before.in_view or (both and another)
    if case.on(ev.CompartmentWatched):
        return False
    if case.on(ev.DisputeDecided) and needs_presence(case):
        return True
    if case.on(ev.DisputeDecided):
        values, enterer = case.event.values, case.before.enterer
        named = values is None or tuple(sorted(values)) in _decidable(case)
        return not named or (enterer is not None and is_one(enterer.name, person.name))
    present = case.before.present
    if present is None or not case.on(*IN_PRESENCE) or not case.expected.attended:
        return False
    return is_one(present.name, person.name)


IN_PRESENCE = (ev.ValuesEntered, ev.ValuesConfirmed, ev.NoRollCalled, ev.WagersSettled)
"""What one person does while another is present."""


@proves("what a person is waited for is granted to them", events=ACTS)
def _granted(case: Case) -> bool | None:
    role = _offered(case).get(type(case.event))
    person = getattr(case.event, "person", None)
    if role is None or (person is not None and person.role is not role) or not case.is_current:
        return None
    if person is not None and _is_both_sides(case, person):
        return case.refused
    if isinstance(case.event, OF_THE_INSPECTOR) and person != case.before.inspector:
        return case.refused
    if case.on(ev.CompartmentWatched) and not (case.event.stayed or case.phase is P.INTERRUPTED):
        said = any(is_one(person.name, each.name) for each in case.before.in_view if person)
        return case.accepted == said
    if case.on(ev.FaultCleared) and case.event.kind not in case.before.faults:
        return None
    if case.on(ev.ShakerRetired) and not case.event.steps:
        return case.refused
    if case.on(ev.InspectionRequested) and case.before.manual:
        return case.accepted == (case.event.part is not Part.SHAKER)
    return case.accepted


OF_THE_INSPECTOR = (
    *(ev.LampValuesEntered, ev.LampsSeen, ev.WalkRequested),
    *(ev.CycleRequested, ev.CycleJudged, ev.Signed),
)


GOES_TO: dict[type[ev.Event], frozenset[Phase]] = {
    ev.OpenRequested: frozenset({P.INSPECTION_DUE, P.OPENING}),
    ev.OutOfServiceRequested: frozenset({P.OUT_OF_SERVICE, P.WITHOUT_RESULT}),
    ev.ReturnRequested: frozenset({P.INSPECTION_DUE}),
    ev.ShakerRetired: frozenset({P.INSPECTION_DUE, P.OUT_OF_SERVICE}),
    ev.ShakerRestored: frozenset({P.OUT_OF_SERVICE}),
    ev.InspectionAbandoned: frozenset({P.INSPECTION_DUE, P.OUT_OF_SERVICE}),
    ev.BetsRequested: frozenset({P.ADMITTING}),
    ev.NoMoreBetsCalled: frozenset(
        {P.NO_MORE_BETS, P.DRAWING_MULTIPLIERS, P.PLANNING, P.COVERING, P.REVEALING}
    ),
    ev.ActivationRequested: frozenset({P.COVERING, P.PLANNING}),
    ev.PlayerPressed: frozenset({P.COVERING, P.PLANNING}),
    ev.RevealRequested: frozenset(
        {P.REVEALING, P.COMING_TO_REST, P.AWAITING_DEALER, P.INTERRUPTED, P.WITHOUT_RESULT}
    ),
    ev.LampsOffRequested: frozenset({P.CLEARING}),
    ev.CompartmentWatched: frozenset(
        {P.INTERRUPTED, P.AWAITING_DEALER, P.WITHOUT_RESULT, P.REVEALING}
        | {P.COLLECTING, P.PAYING, P.SETTLING_BY_HAND}
    ),
    ev.LidRequested: frozenset({P.INSPECTION_DUE, P.CLOSED, P.OUT_OF_SERVICE}),
    ev.JogRequested: frozenset({P.JOGGING}),
    ev.TrialTossRequested: frozenset({P.COVERING, P.PLANNING}),
    ev.LampTrialRequested: frozenset({P.LAMP_TRIAL}),
    ev.ShiftInspectionRequested: frozenset({P.CYCLE_AWAITED}),
    ev.InspectionRequested: frozenset({P.LAMP_VALUES_AWAITED, P.CYCLE_AWAITED}),
    ev.CycleRequested: frozenset({P.COVERING, P.PLANNING}),
    ev.LampValuesEntered: frozenset({P.LAMP_ENTRY}),
    ev.WalkRequested: frozenset({P.EACH_LAMP}),
    ev.WalkSteered: frozenset({P.EACH_LAMP, P.WALK_PAUSED}),
    ev.JogFinished: frozenset({P.INSPECTION_DUE, P.OUT_OF_SERVICE}),
    ev.PresenceGiven: frozenset({P.SETTLING_BY_HAND, P.AWAITING_DEALER}),
    ev.TossPlanDrawn: frozenset({P.PROVING_DARK, P.WITHOUT_RESULT}),
    ev.LampsProvedDark: frozenset({P.STARTING}),
    ev.TossStarted: frozenset({P.TOSSING}),
    ev.TossSettled: frozenset({P.COVERED, P.REVEALING, P.COMING_TO_REST}),
    ev.AtRest: frozenset({P.READING}),
}
"""Where an event leads when it is granted, whatever the state."""


@proves("what is granted leads where it should", granted=tuple(GOES_TO))
def _leads(case: Case) -> bool | None:
    to = case.to
    if case.on(ev.TossSettled):
        uncovered = not case.rules.covered
        bets_open = case.expected.nmb_before_reveal and case.before.playing
        expected = case.resting if uncovered else P.COVERED if bets_open else P.REVEALING
        return to is expected
    if case.on(ev.OpenRequested):
        return to is (P.OPENING if case.phase is P.INSPECTED else P.INSPECTION_DUE)
    return to in GOES_TO[type(case.event)]


@proves(
    "a released lid is an opening: nothing inspected holds, and people are asked for the dice",
    granted=(ev.LidRequested,),
)
def _released(case: Case) -> bool | None:
    y, w = case.next, case.before
    pulse = case.commands[0] == do.ReleaseLatch()
    if not pulse or w.playing or w.energised or case.after.valid:
        return False
    if w.manual:
        return y.dice_in_doubt == case.state.dice_in_doubt
    asked = case.tells(Notice.SAME_DICE) == (w.dice and not w.compartment)
    return asked and y.dice_in_doubt and y.stated is None


@proves(
    "a dispute is decided by another person, among what dealer and reader named",
    granted=(ev.DisputeDecided,),
)
def _decided(case: Case) -> bool | None:
    values, enterer = case.event.values, case.before.enterer
    named = values is None or tuple(sorted(values)) in _decidable(case)
    return named and enterer is not None and not is_one(enterer.name, case.event.person.name)


@proves("who is present does not settle", granted=(ev.WagersSettled,))
def _two_settle(case: Case) -> bool | None:
    if case.before.present is None or not case.expected.attended:
        return None
    return not is_one(case.before.present.name, case.event.person.name)


@proves(
    "the ledger of dice changes nothing, names no die in the shaker, and no dealer writes it",
    events=(ev.DiceLogged,),
)
def _ledger(case: Case) -> bool | None:
    dice = case.state.dice
    inside = dice is not None and set(case.event.serials) & set(dice.serials)
    if inside or case.event.person.role is Role.DEALER:
        return case.refused
    return case.accepted and case.next is case.state and not case.commands


RECORDABLE = ph.SHUT | ph.STOPPED | ph.STANDING
FRESH = frozenset("abc")
"""Serials of the alphabet that no set had before."""


@proves(
    "other dice are three that were never used, after an opening, named by as many as it takes",
    events=(ev.DiceChanged, ev.DiceCorrected, ev.DiceKept),
)
def _dice(case: Case) -> bool | None:
    w, who = case.before, case.event.person
    opened = w.doubt and not w.compartment
    if case.on(ev.DiceKept):
        may = case.phase in ph.DOUBTED and w.dice and opened
        if not may or who.role is Role.DEALER:
            return case.refused
        if case.next.dice != case.state.dice or case.to is not case.phase:
            return False
        if kept_alone(case.table, w, case.state, who):
            return case.tells(Notice.DICE_NAMED) and case.next.dice_in_doubt
        return case.accepted and not case.next.dice_in_doubt and _named_no_more(case)
    serials = case.event.serials
    fresh = set(serials) <= FRESH or not case.state.used_dice
    right = len(serials) == len({each.lower() for each in serials}) == 3 and fresh
    if case.on(ev.DiceCorrected):
        may = w.untried and not w.doubt and case.phase in ph.SHUT | ph.STOPPED
        if not (right and may and who.role is not Role.DEALER):
            return case.refused
        dice, before = case.next.dice, case.state.dice
        kept = dice is not None and before is not None and dice.installed_at == before.installed_at
        seconded = seconds_dice(w, case.event)
        asked = case.tells(Notice.DICE_NAMED) and dice == before
        return case.accepted and kept and (_named_no_more(case) if seconded else asked)
    opened = opened or not (w.dice or w.compartment) or w.manual
    if not (case.phase in RECORDABLE and who.role is not Role.DEALER and right and opened):
        return case.refused
    if case.expected.dice_by_two and not seconds_dice(w, case.event):
        return case.accepted and case.tells(Notice.DICE_NAMED) and case.next.dice == case.state.dice
    recorded = case.next.dice is not None and case.next.dice.serials == serials
    return case.accepted and recorded and _named_no_more(case)


def _named_no_more(case: Case) -> bool:
    """What two persons named is done: nobody is waited for."""
    return case.next.stated is None and not case.tells(Notice.DICE_NAMED)


@proves(
    "once the compartment is shut again, people are asked which dice are in it",
    granted=(ev.CompartmentClosed,),
)
def _which_dice(case: Case) -> bool | None:
    if case.is_aside or case.phase not in ph.SHUT | ph.STOPPED:
        return None
    return case.tells(Notice.SAME_DICE)


@proves(
    "a shut table whose compartment may have been opened asks which dice are in it",
    events=(ev.Restarted,),
    commands=(do.RecordRound,),
)
def _asks_after_outage(case: Case) -> bool | None:
    if case.to not in ph.SHUT | ph.STOPPED or case.state.dice is None or case.after.compartment:
        return None
    return case.tells(Notice.SAME_DICE) == case.after.doubt


@proves("people are told that the table plays without its reader", granted=(ev.ReturnRequested,))
def _told_without_reader(case: Case) -> bool | None:
    return case.tells(Notice.CAMERA_OFF) == case.after.camera_off


@proves(
    "an untrusted answer, a text that ended and dice over age start no toss",
    granted=(ev.TossPlanDrawn,),
)
def _nothing_started(case: Case) -> bool | None:
    why = why_not(case.table, case.event, case.event.at)
    if case.before.playing and why is not None:
        return case.ends(Ending.NOT_STARTED, why)
    return case.to is P.PROVING_DARK


@proves("a table in doubt about its dice does not open", granted=(ev.TimeChecked,))
def _doubtful(case: Case) -> bool | None:
    if case.phase is not P.OPENING or not case.before.doubt:
        return None
    return case.to in (P.INSPECTED, P.INSPECTION_DUE)


@proves("an asked-for closing is kept", granted=(ev.CloseRequested,))
def _kept_in_mind(case: Case) -> bool | None:
    closing = case.to is P.CLOSED or case.next.after.value != "next_round"
    return closing if case.before.playing else case.to is P.CLOSED
