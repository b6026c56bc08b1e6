"""What follows from faults, interlocks and interruptions, at each moment."""

from __future__ import annotations

from hil_tests.proofs.properties.case import ASIDE, IN_CHARGE, Case, came_out, proves
from hil_tests.proofs.properties.rounds import needs_presence, to_enter
from hil_tests.proofs.watch import FAULTS, are_both, is_one, why_not
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, Purpose, Role

P = Phase


@proves("nothing broken is played on: no round, no inspection before it is cleared", accepted=True)
def _broken_stops(case: Case) -> bool | None:
    if not case.broken - ({case.event.kind} if case.on(ev.FaultCleared) else set()):
        return None
    if case.before.playing or case.orders(do.RecordRound):
        return None
    trial = case.next.purpose is Purpose.TRIAL
    return trial or case.to is P.OUT_OF_SERVICE


@proves("every fault is queued, and only a technician clears it", accepted=True)
def _queued(case: Case) -> bool | None:
    kind = FAULTS.get(type(case.event))
    if kind is not None:
        return do.RaiseFault(kind, case.event.code) in case.commands and kind in case.next.faults
    if case.on(ev.FaultCleared):
        cleared = (
            do.ClearFaults(case.event.kind) in case.commands
            and case.event.kind not in case.next.faults
        )
        return (
            cleared
            and case.event.person.role is Role.TECHNICIAN
            and case.event.kind in case.before.faults
        )
    new = case.next.faults - case.state.faults
    raised = {each.kind for each in case.commands if isinstance(each, do.RaiseFault) and each.code}
    if not new <= raised:
        return False
    return case.after.faults == case.next.faults if case.after.faults or case.next.faults else None


@proves("a manual shaker only after the whole out-of-order procedure", commands=(do.Announce,))
def _retired(case: Case) -> bool | None:
    if not case.on(ev.ShakerRetired):
        return None
    done = bool(case.event.steps) and came_out(case) and case.expected.attended
    y = case.next
    asked = y.dice is not None or y.dice_in_doubt or y.stated is not None
    return done and not asked and case.tells(Notice.MANUAL_SHAKER)


MOTION = (do.StartToss, do.Jog, do.DriveCover, do.StartReading, do.NotePoses, do.LightOn)


@proves("with a manual shaker nothing of the retired one moves or looks", accepted=True)
def _nothing_of_the_retired(case: Case) -> bool | None:
    return not case.orders(*MOTION) if case.before.manual else None


@proves(
    "what is reported of a shaker or reader out of use stops and asks nothing",
    granted=(*ASIDE, ev.ConditionChanged),
)
def _aside(case: Case) -> bool | None:
    if not case.is_aside:
        return None
    stays = case.to is case.phase and case.after.valid == case.before.valid
    return stays and not case.notices


@proves(
    "the dice of a manual shaker are judged again once bets are closed", granted=(ev.TimeChecked,)
)
def _manual_dice(case: Case) -> bool | None:
    if case.phase is not P.PLANNING:
        return None
    if (why := why_not(case.table, case.event, case.event.now)) is not None:
        return case.ends(Ending.NOT_STARTED, why)
    return case.before.bets_closed and case.to is P.AWAITING_DEALER and case.tells(Notice.BY_HAND)


@proves("never void for a lamp fault after the toss", granted=(ev.LampFault, ev.TimerExpired))
def _lamp_never_voids(case: Case) -> bool | None:
    lamp = case.on(ev.LampFault) or case.phase in (P.PUSHING, P.CLEARING)
    if not lamp or not case.before.tossed:
        return None
    return case.ending is None


@proves(
    "a lamp fault after EN-on is settled by hand, then the table stops", commands=(do.RecordRound,)
)
def _lamp_by_hand(case: Case) -> bool | None:
    if not case.before.lamp_failed:
        return None
    record = case.first(do.RecordRound)
    without = record.ending in (Ending.NO_ROLL, Ending.VOID)
    by_hand = record.ending is Ending.SETTLED_BY_HAND and record.cause is Cause.LAMP
    return (without or by_hand) and case.to is P.OUT_OF_SERVICE


@proves(
    "settled by hand only for the lamps, in the presence that the profile names",
    granted=(ev.PresenceGiven,),
)
def _presence(case: Case) -> bool | None:
    if case.phase is P.INTERRUPTED:
        return None
    may = case.event.person.role in case.expected.presence
    if case.phase is not P.AWAITING_PRESENCE:  # another is present in the place of the first
        return may and case.before.present is not None and case.to is case.phase
    return may and case.before.lamp_failed and case.tells(Notice.SETTLE_BY_HAND)


STOPS: dict[type[ev.Event], Cause] = {
    ev.ShakerFault: Cause.SHAKER,
    ev.LampFault: Cause.LAMP,
    ev.ReaderFault: Cause.READER,
    ev.ControllerFault: Cause.CONTROLLER,
    ev.ConditionChanged: Cause.CONDITION,
    ev.CompartmentOpened: Cause.COMPARTMENT,
    ev.EstopPressed: Cause.ESTOP,
    ev.Restarted: Cause.INTERRUPTED,
}
BREAKS_IN = (ev.ShakerFault, ev.CompartmentOpened, ev.EstopPressed, ev.Restarted)
"""What a toss does not outlive."""


@proves(
    "before EN-on any fault, change or restart stops the round; in the toss some void, others wait",
    granted=tuple(STOPS),
)
def _until_settled(case: Case) -> bool | None:
    if not case.in_round or case.before.settled or case.is_aside:
        return None
    cause = STOPS[type(case.event)]
    if not case.before.tossed:
        return case.ends(Ending.NOT_STARTED, cause)
    return case.ends(Ending.VOID, cause) if case.on(*BREAKS_IN) else case.to is case.phase


@proves(
    "after the toss has settled, no fault of shaker, reader or controller voids it",
    granted=(
        ev.ShakerFault,
        ev.ReaderFault,
        ev.ControllerFault,
        ev.ConditionChanged,
        ev.EstopPressed,
    ),
)
def _settled_stands(case: Case) -> bool | None:
    if not case.in_round or not case.before.settled:
        return None
    unread = case.before.reading and case.on(ev.ReaderFault)
    if unread and not case.expected.attended:
        return case.ends(Ending.VOID, Cause.READER)
    return case.ending is None and (case.to is case.phase or unread)


@proves(
    "an opened compartment voids from EN-on until a value is known, and never later",
    granted=(ev.CompartmentOpened,),
)
def _compartment(case: Case) -> bool | None:
    if not case.in_round or not case.before.tossed or case.is_aside:
        return None
    if case.before.value:
        return case.ending is None and case.to is case.phase
    return case.ends(Ending.VOID, Cause.COMPARTMENT)


@proves(
    "a cover where none may be, or off where it must be on, stops round and toss",
    granted=(ev.CoverClosed, ev.CoverOpened),
)
def _cover(case: Case) -> bool | None:
    if not case.in_round or case.is_aside:
        return None
    if case.rules.cover_must_be_absent and case.on(ev.CoverClosed):
        if case.before.settled:
            return case.ending is None
        expected = Ending.VOID if case.before.tossed else Ending.NOT_STARTED
        return case.ends(expected, Cause.COVER)
    if case.rules.covered and case.on(ev.CoverOpened) and case.before.tossed and case.before.cover:
        if case.before.energised or not case.before.bets_closed:
            return case.ends(Ending.VOID, Cause.COVER)
        return case.ending is None
    return None


@proves(
    "unmoved dice were not tossed: void, unless a result by eye stands", granted=(ev.TossDisproved,)
)
def _disproved(case: Case) -> bool | None:
    if not case.before.playing:
        return None
    broken = do.RaiseFault(FaultKind.SHAKER, "dice-unmoved") in case.commands
    if case.before.by_eye:  # the result stands, as after any fault of the shaker
        return broken and case.to is case.phase and case.ending is None
    return case.ends(Ending.VOID, Cause.NOT_TOSSED) and broken


@proves("silence of a device in a round ends as its fault would", granted=(ev.TimerExpired,))
def _silent_device(case: Case) -> bool | None:
    if not case.before.playing:
        return None
    ending = case.ending
    if case.before.energised:
        return ending is Ending.VOID and case.next.cause is Cause.SHAKER
    if case.phase in (P.PLANNING, P.PROVING_DARK, P.COVERING):
        return ending is Ending.NOT_STARTED
    if case.phase is P.PUSHING:
        return case.to is P.AWAITING_PRESENCE
    return None


@proves(
    "a lamp fault when all is paid clears, a stuck cover is asked for again",
    granted=(ev.LampFault, ev.TimerExpired),
)
def _goes_on_after(case: Case) -> bool | None:
    if case.on(ev.LampFault):
        return case.to is P.CLEARING if case.phase is P.SETTLED_LIT else None
    stuck = case.phase is P.REVEALING and case.before.playing
    return case.tells(Notice.REVEAL) and case.to is P.REVEALING if stuck else None


def _uncovered(case: Case) -> bool:
    """The cover is told to open, where there is one, so that the dice can be read."""
    opened = do.DriveCover(case.next.occasion, open=True) in case.commands
    return opened or not case.rules.covered or case.before.manual


@proves(
    "interrupted after the toss: a presence is asked for if the lid's flag stands, else two words",
    events=(ev.Restarted,),
)
def _interrupted_after(case: Case) -> bool | None:
    if not case.in_round or not case.before.settled or case.before.value:
        return None
    if case.before.manual:
        return case.to is P.INTERRUPTED and case.tells(Notice.READ_IN_PRESENCE)
    kept = not case.after.doubt
    if case.phase is P.COVERED:
        kept = kept and case.event.cover_closed
    if not (kept and case.expected.reads_after_interruption):
        seen = case.before.bets_closed and not case.event.compartment_open
        if seen and case.expected.reads_after_interruption:
            return case.to is P.INTERRUPTED and case.tells(Notice.IN_VIEW)
        return case.ends(Ending.VOID, Cause.INTERRUPTED)
    if case.ending is not None or case.next.values is not None:
        return False
    if case.before.bets_closed and case.phase in ph.TO_BE_READ:
        if case.rules.covered and case.event.cover_closed and case.before.verdict != "no_roll":
            told = case.tells(Notice.REVEAL) and case.orders(do.ShowPhase)
            return case.to is P.REVEALING and told
        return case.to is P.INTERRUPTED and case.tells(Notice.READ_IN_PRESENCE)
    if case.phase is P.SHOWING_MULTIPLIERS and case.event.cover_closed:
        return case.to is P.SHOWING_MULTIPLIERS
    return case.to is not P.INTERRUPTED


@proves(
    "without the lid's flag the dealer reads on the word of two persons, else the round is void",
    granted=(ev.CompartmentWatched,),
)
def _in_view(case: Case) -> bool | None:
    w, who = case.before, case.event.person
    if not case.event.stayed and case.phase is not P.INTERRUPTED:
        takes_back = any(is_one(who.name, each.name) for each in w.in_view)
        return takes_back and case.to is case.phase and case.next.stated is None
    if not case.event.stayed:
        may = w.doubt or who.role in IN_CHARGE
        again = case.to is P.INTERRUPTED and case.tells(Notice.NOT_IN_VIEW)
        void = bool(w.denied) and who.role in case.expected.presence
        return may and (case.ends(Ending.VOID, Cause.INTERRUPTED) if void else again)
    if not w.doubt or w.reached:
        return False
    said = w.in_view | {who}
    if case.phase is not P.INTERRUPTED:
        both = are_both(case.table, said) and not case.next.dice_in_doubt
        first = w.by_person and w.first is None and case.tells(Notice.IN_VIEW)
        return case.to is case.phase and (both or first)
    if case.to is P.INTERRUPTED:
        return not are_both(case.table, said) and case.tells(Notice.IN_VIEW)
    if w.denied is not None and not is_one(w.denied.name, who.name):
        return False
    if case.rules.covered and w.cover and w.verdict != "no_roll":
        told = case.to is P.REVEALING and case.tells(Notice.REVEAL)
        return are_both(case.table, said) and told and not case.next.dice_in_doubt
    asked = case.to is P.AWAITING_DEALER and case.tells(Notice.ENTER)
    present = case.next.witness == case.after.present and not case.next.dice_in_doubt
    return are_both(case.table, said) and asked and present and _uncovered(case)


@proves(
    "with the lid's flag standing, or a manual shaker, the dealer reads in a named role's presence",
    events=(ev.PresenceGiven,),
)
def _read_in_presence(case: Case) -> bool | None:
    if case.phase is not P.INTERRUPTED or not case.is_current:
        return None
    if case.before.doubt or case.event.person.role not in case.expected.presence:
        return case.refused
    return case.to is P.AWAITING_DEALER and case.tells(Notice.ENTER) and _uncovered(case)


@proves(
    "interrupted after the toss, nobody reads by eye alone",
    granted=(ev.ValuesEntered, ev.NoRollCalled),
)
def _not_alone(case: Case) -> bool | None:
    w = case.before
    if not w.interrupted or w.verdict == "verified" or case.phase is P.DISPUTED:
        return None  # a dispute is decided by who is to be present
    return w.present is not None


@proves(
    "interrupted after the toss, who enters or who decides by eye is the person to be present",
    granted=(ev.DisputeDecided,),
)
def _decided_in_presence(case: Case) -> bool | None:
    return not needs_presence(case) if case.before.interrupted else None


@proves(
    "nobody reads by eye while the contact says that the cover is on, unless two call it stuck",
    granted=(ev.ValuesEntered, ev.NoRollCalled),
)
def _not_covered(case: Case) -> bool | None:
    w = case.before
    if not case.rules.covered or w.manual or w.verdict != "unreadable":
        return None
    return w.stuck or not w.cover


@proves("out of service until a person returns the table, whatever is tried", accepted=True)
def _returned(case: Case) -> bool | None:
    if not case.before.out or case.to not in ph.SHUT | ph.STANDING | ph.INSPECTION:
        return None
    return case.on(ev.ReturnRequested, ev.ShakerRetired)


@proves("a display in force that fails is a fault", events=(ev.MultipliersNotShown,))
def _display_fails(case: Case) -> bool | None:
    if not (case.in_round and case.before.odds_proved and case.is_current):
        return None
    return case.to is case.phase and FaultKind.CONTROLLER in case.next.faults


@proves(
    "a restart keeps a known value: confirmed, shown, settled or decided as before",
    events=(ev.Restarted,),
)
def _kept(case: Case) -> bool | None:
    if not case.in_round or not case.before.value:
        return None
    same = case.next.values == case.state.values and case.next.reading == case.state.reading
    same = same and case.next.source is case.state.source
    resumed = {
        P.COLLECTING: P.PUSHING,
        P.PAYING: P.PUSHING,
        P.SETTLING_BY_HAND: P.AWAITING_PRESENCE,
    }.get(case.phase, case.phase)
    shown = case.orders(do.PushLamps)
    lit = case.phase in (P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLED_LIT)
    return same and case.to is resumed and shown == lit


@proves("out of service stays out of service through a restart", events=(ev.Restarted,))
def _stays_out(case: Case) -> bool | None:
    if case.before.playing or not (case.broken or case.before.out):
        return None
    return case.to is P.OUT_OF_SERVICE


@proves("a verified value that waits is asked for again after a restart", events=(ev.Restarted,))
def _asked_again(case: Case) -> bool | None:
    if case.phase is not P.AWAITING_DEALER or case.to is not P.AWAITING_DEALER:
        return None
    confirms = case.rules.entry.value == "dealer_confirm" and case.before.verdict == "verified"
    return case.tells(Notice.CONFIRM if confirms else to_enter(case))


@proves("an ended round is told again after a restart", events=(ev.Restarted,))
def _told_again(case: Case) -> bool | None:
    if case.phase is not P.WITHOUT_RESULT:
        return None
    return any(isinstance(each, do.Announce) and each.wagers is not None for each in case.commands)
