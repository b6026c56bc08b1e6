"""What must be inspected, seen, signed and checked before anything is played."""

from __future__ import annotations

from datetime import timedelta

from hil_tests.proofs.properties.case import IN_CHARGE, Case, proves
from hil_tests.proofs.watch import admits, is_old, last_look
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.state import Lamps, Phase
from shaker_ctl.rules.vocabulary import (
    Notice,
    Part,
    Purpose,
    ShownPhase,
    Timer,
    TimeTrust,
    WalkStep,
)
from vision.reading import Verified

P = Phase


@proves("no round without a valid inspection", commands=(do.Announce,))
def _inspected(case: Case) -> bool | None:
    return case.before.valid if case.tells(Notice.BETS_OPEN) else None


@proves("no round while the shift inspection is due", commands=(do.Announce,))
def _shift_inspected(case: Case) -> bool | None:
    if not case.expected.shift or not case.tells(Notice.BETS_OPEN):
        return None
    return not case.before.shift_due


@proves(
    "an inspection is signed only when all of it was seen, and by the right person",
    granted=(ev.Signed,),
)
def _signed_rightly(case: Case) -> bool | None:
    cycled = case.before.manual or case.before.cycles == 3
    looked = case.event.person == case.before.inspector and cycled
    if case.state.purpose is Purpose.SHIFT:
        return looked and case.event.person.role in case.expected.shift
    lamps = case.before.entries == 3 and case.before.each and case.before.seen
    if is_old(case.table, case.before.begun, case.event.at):
        return case.to is P.INSPECTION_DUE and not case.after.valid
    return lamps and looked and case.event.person.role in case.expected.signs


@proves(
    "a signed inspection waits to be opened, a signed shift goes on at once", granted=(ev.Signed,)
)
def _signed_leads(case: Case) -> bool | None:
    y, signed = case.next, case.event
    if case.to is P.INSPECTION_DUE:
        old = is_old(case.table, case.before.begun, signed.at)
        return old and case.state.purpose is Purpose.INSPECTION
    if y.inspector is not None or y.purpose is not Purpose.PLAY:
        return False
    if case.state.purpose is Purpose.SHIFT:
        old = is_old(case.table, case.before.begun, signed.at)
        due = y.shift_due == (old or case.before.shift_again)
        told = case.tells(Notice.SHIFT_DUE if old else Notice.INSPECTED)
        return case.to in (P.READY, P.ADMITTING) and due and told
    return case.to is P.INSPECTED and (y.signed_by, y.signed_at) == (signed.person, signed.at)


@proves("a signature stands as long as what it signed, and no longer", accepted=True)
def _signature_stands(case: Case) -> bool | None:
    if case.to in ph.STANDING:
        return case.next.signed_by is not None
    return case.next.signed_by is None if case.to in ph.SHUT | ph.STOPPED else None


@proves("a signature opens the table once", accepted=True)
def _signature_used(case: Case) -> bool | None:
    if case.next.signed_at is None:
        return None
    return case.to in (P.INSPECTED, P.OPENING)


@proves("lamps are seen by the inspecting person, who may sign", granted=(ev.LampsSeen,))
def _seen_rightly(case: Case) -> bool | None:
    who = case.event.person
    if who != case.before.inspector or who.role not in case.expected.signs:
        return False
    if case.phase not in (P.LAMPS_TO_BE_SEEN, P.ODDS_TO_BE_SEEN):
        lit = case.before.lamps is Lamps.LIT and case.before.looked
        return lit and case.to is P.LAMP_ENTRY_CLEARING
    if not (case.before.each and case.before.entries == 3):
        return False
    if case.phase is not last_look(case.table):
        return case.to is P.ODDS_TRIED
    if case.before.manual:
        return case.to is P.TO_BE_SIGNED
    if case.state.part is Part.ALL:
        return case.to is P.CYCLE_AWAITED
    return case.to is (P.TO_BE_SIGNED if case.before.cycles == 3 else P.INSPECTION_DUE)


STEPS = (
    *(ev.LampValuesEntered, ev.LampsSeen, ev.LampSeenWrong, ev.WalkRequested, ev.WalkSteered),
    *(ev.CycleRequested, ev.CycleJudged, ev.Signed),
)


@proves("an inspection is made by one person from its first step to the signature", granted=STEPS)
def _one_person(case: Case) -> bool | None:
    return case.event.person == case.before.inspector


@proves("what a person enters is lit until they have looked and said so", accepted=True)
def _stays_lit(case: Case) -> bool | None:
    """No command of the machine's own darkens an entry that is lit and proved."""
    lit = (P.LAMP_ENTRY_LIT, P.LAMP_ENTRY_TO_BE_SEEN)
    if case.phase not in lit or case.to not in (*lit, P.LAMP_ENTRY_CLEARING):
        return None
    dark = case.orders(do.ClearLamps, do.DarkenLamps)
    return dark == (case.on(ev.LampsSeen) and case.before.looked)


@proves("what a person enters is named with what it wins", granted=(ev.LampsShown,))
def _named(case: Case) -> bool | None:
    if case.event.occasion.purpose is not Purpose.INSPECTION:
        return None
    told = [each for each in case.commands if type(each) is do.Announce]
    return len(told) == 1 and told[0].values == case.event.values and bool(told[0].areas)


@proves("the walk lights every lamp, after enough entries", granted=(ev.WalkRequested,))
def _walk(case: Case) -> bool | None:
    walk = case.first(do.ProveEachLamp)
    every = set(walk.areas) == set(case.rules.areas) and walk.dwell_s >= 0.5
    return every and case.before.entries == 3


@proves(
    "each entry, walk, cycle, trial and question to the clock has a number of its own: late "
    "answers are none of it",
    commands=(do.CheckTime,),
    granted=(
        *(ev.LampValuesEntered, ev.WalkRequested, ev.WalkSteered, ev.CycleRequested),
        *(ev.JogRequested, ev.TrialTossRequested, ev.LampTrialRequested),
    ),
)
def _numbered(case: Case) -> bool | None:
    if case.on(ev.WalkSteered) and not case.orders(do.ProveEachLamp):
        return None
    return case.next.serial == case.state.serial + 1


@proves("the inspection that begins is the one asked for", granted=(ev.InspectionRequested,))
def _begins(case: Case) -> bool | None:
    part = case.event.part
    to = P.CYCLE_AWAITED if part is Part.SHAKER else P.LAMP_VALUES_AWAITED
    return case.to is to and case.next.part is part


@proves(
    "an inspection knows when its oldest part was begun, and keeps none that is too old",
    granted=(ev.InspectionRequested,),
)
def _begun(case: Case) -> bool | None:
    kept = {Part.LAMPS: case.after.seen, Part.SHAKER: case.after.cycles == 3}
    return case.next.inspected_since == case.after.begun and case.next.passed == {
        part for part, still in kept.items() if still
    }


STEERED: dict[Phase, dict[WalkStep, Phase]] = {
    P.EACH_LAMP: {
        WalkStep.PAUSE: P.WALK_PAUSED,
        WalkStep.BACK: P.EACH_LAMP,
        WalkStep.AGAIN: P.EACH_LAMP,
    },
    P.WALK_PAUSED: {
        WalkStep.ON: P.EACH_LAMP,
        WalkStep.BACK: P.WALK_PAUSED,
        WalkStep.AGAIN: P.WALK_PAUSED,
    },
    P.LAMPS_TO_BE_SEEN: {WalkStep.AGAIN: P.EACH_LAMP},
}
"""Where a person may steer the walk, and where that leads."""


@proves(
    "the inspecting person may pause the walk, go on, go back and repeat", events=(ev.WalkSteered,)
)
def _steered(case: Case) -> bool | None:
    to = STEERED.get(case.phase, {}).get(case.event.step)
    if to is None or case.event.person != case.before.inspector:
        return case.refused
    if case.phase is P.LAMPS_TO_BE_SEEN:
        told = case.orders(do.ProveEachLamp)
        return told and set(case.first(do.ProveEachLamp).areas) == set(case.rules.areas)
    return case.to is to and do.SteerWalk(case.next.occasion, case.event.step) in case.commands


@proves("in an inspection the shaker turns by its inspector's act", commands=(do.DrawTossPlan,))
def _cycle_started(case: Case) -> bool | None:
    if case.next.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    started = case.on(ev.CycleRequested) and case.event.person == case.before.inspector
    return started or case.phase is P.COVERING


LOOKED_AT = ph.ENTRY_LIT | ph.WALK | ph.phases(P.LAMPS_TO_BE_SEEN, P.ODDS_TO_BE_SEEN)


@proves("a lamp that a person saw to be wrong is a fault", events=(ev.LampSeenWrong,))
def _seen_wrong(case: Case) -> bool | None:
    looks = case.phase in LOOKED_AT and case.event.person == case.before.inspector
    if not looks or case.event.area not in case.rules.areas:
        return case.refused
    return case.to is P.OUT_OF_SERVICE and case.orders(do.DarkenLamps)


@proves("no table opens on a signature that has aged", granted=(ev.TimeChecked,))
def _aged(case: Case) -> bool | None:
    signed_at = case.state.signed_at
    if case.phase is not P.OPENING or signed_at is None:
        return None
    age = case.event.now - signed_at  # below zero under a clock that was set back since
    end = timedelta(hours=case.rules.parameters.signature_h)
    old = age >= end or age < -timedelta(minutes=5)
    old = old or is_old(case.table, case.before.begun, case.event.now)
    return case.to in (P.INSPECTION_DUE, P.INSPECTED) if old else case.to is not P.INSPECTION_DUE


@proves("three bad cycles in a row are a shaker fault, fewer are not", accepted=True)
def _bad_cycles(case: Case) -> bool | None:
    if case.state.purpose not in (Purpose.INSPECTION, Purpose.SHIFT) or not case.tells(
        Notice.CYCLE_BAD
    ):
        return None
    faulty = case.orders(do.RaiseFault)
    if case.on(ev.ReaderFault):
        return None
    return faulty == (case.state.bad == 2) and (case.to is P.OUT_OF_SERVICE) == faulty


@proves("a good cycle counts, a bad one restarts the count", accepted=True)
def _count(case: Case) -> bool | None:
    if case.state.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    if case.tells(Notice.CYCLE_SEEN):
        return case.to is P.CYCLE_TO_BE_JUDGED and case.next.good == case.before.cycles
    if case.tells(Notice.CYCLE_GOOD):
        signing = case.to in (P.TO_BE_SIGNED, P.INSPECTION_DUE)
        lamps = (case.before.seen and case.before.each) or case.state.purpose is Purpose.SHIFT
        if signing and lamps and case.to is not P.TO_BE_SIGNED:
            return False
        return (
            case.after.cycles == 3
            if signing
            else case.next.good == case.after.cycles and not case.next.bad
        )
    if case.tells(Notice.CYCLE_BAD):
        return case.next.good == 0 and case.after.cycles == 0
    return None


@proves("a judged cycle leaves nothing behind for the next", accepted=True)
def _cycle_forgotten(case: Case) -> bool | None:
    y = case.next
    return not (y.reading or y.plan or y.retried) if y.phase is P.CYCLE_AWAITED else None


@proves("how a cycle went is told as soon as it is known", accepted=True)
def _cycle_outcome_told(case: Case) -> bool | None:
    if case.state.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    if case.on(ev.CycleJudged):
        return case.tells(Notice.CYCLE_GOOD if case.event.tossed else Notice.CYCLE_BAD)
    late = case.on(ev.TimerExpired) and case.event.timer in (Timer.REST, Timer.READING)
    return case.tells(Notice.CYCLE_BAD) if late or case.on(ev.TossDisproved) else None


@proves("a cycle's reading is told, and a trial ends with it", granted=(ev.ReadingMade,))
def _cycle_told(case: Case) -> bool | None:
    if case.before.playing:
        return None
    good = isinstance(case.event.verdict, Verified)
    is_trial = case.state.purpose is Purpose.TRIAL
    asked = Notice.CYCLE_GOOD if is_trial else Notice.CYCLE_SEEN
    told = case.tells(asked if good else Notice.CYCLE_BAD)
    over = case.to in (P.INSPECTION_DUE, P.OUT_OF_SERVICE)
    return told and (over or case.state.purpose is not Purpose.TRIAL)


@proves("an inspection is shown as one", commands=(do.DrawTossPlan, do.DriveCover))
def _inspection_shown(case: Case) -> bool | None:
    if case.next.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    return case.after.shown is ShownPhase.INSPECTION


@proves("each opening begins a shift, where a text inspects at one", granted=(ev.TimeChecked,))
def _opening_is_a_shift(case: Case) -> bool | None:
    if case.phase is not P.OPENING or case.to not in (P.READY, P.ADMITTING):
        return None
    return case.next.shift_due == bool(case.expected.shift)


@proves("a beginning shift is heard and announced", events=(ev.ShiftBegan,))
def _shift_told(case: Case) -> bool | None:
    who = case.event.person
    if not case.expected.shift or not (who is None or who.role in IN_CHARGE):
        return case.refused
    return case.next.shift_due and case.tells(Notice.SHIFT_DUE)


@proves(
    "an inspection for a shift takes up the one that is due, and holds nothing of another",
    granted=(ev.ShiftInspectionRequested,),
)
def _shift_taken_up(case: Case) -> bool | None:
    y = case.next
    return not y.shift_due and not y.passed and y.inspected_since == case.event.at


EMPTY_HANDED = frozenset({P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE, P.READY, P.PACING})


@proves("a table that is shut or between rounds holds nothing of an inspection", accepted=True)
def _nothing_left(case: Case) -> bool | None:
    y = case.next
    if y.phase not in EMPTY_HANDED:
        return None
    left = (y.entry, y.shown, y.good, y.bad, y.reading, y.values, y.plan, y.retried)
    unproved = y.phase in (P.CLOSED, P.OUT_OF_SERVICE) and y.passed
    return not any(left) and not unproved


BEGUN = (P.READY, P.ADMITTING, P.BETTING, P.COVERING, P.PLANNING)
"""Open, and as far as a table that paces itself goes on at once."""


@proves(
    "no opening and no round with untrusted time, a text not in force, or old dice",
    granted=(ev.TimeChecked,),
)
def _clock_admits(case: Case) -> bool | None:
    if case.phase is P.PLANNING:
        return None  # a manual shaker's dice: judged by tossing's own property
    trusted = case.event.trust is not TimeTrust.NONE and not case.event.behind_last_record
    if case.to is P.INSPECTION_DUE:
        return trusted and case.phase is P.OPENING and case.tells(Notice.INSPECTION_DUE)
    good = admits(case.table, case.before, case.event)
    denied = (case.before.estop and not case.before.manual) or case.before.shift_due
    if good and case.phase is P.ADMITTING and denied:
        return case.to is P.READY and case.next.barred is None and not case.tells(Notice.BARRED)
    starts = case.to in BEGUN and case.next.barred is None
    told = (case.next.barred is not None) and case.tells(Notice.BARRED)
    return starts if good else told


@proves(
    "what disturbs an inspected table makes an inspection due at once",
    granted=(ev.CompartmentOpened, ev.ConditionChanged),
)
def _due_at_once(case: Case) -> bool | None:
    if case.is_aside or case.phase not in ph.STANDING:
        return None
    return case.to is P.INSPECTION_DUE


@proves("a silent clock bars", granted=(ev.TimerExpired,))
def _silent_clock(case: Case) -> bool | None:
    if case.event.timer is not Timer.TIME_CHECK:
        return None
    return case.next.barred is not None and case.tells(Notice.BARRED)


@proves("a confirmed clock is trusted", granted=(ev.TimeConfirmed,))
def _trusted(case: Case) -> bool | None:
    unbarred = (
        case.state.barred is None
        or case.state.barred.value != "time_untrusted"
        or case.next.barred is None
    )
    return case.event.person.role in IN_CHARGE and do.TrustTime() in case.commands and unbarred


@proves("what disturbs a round makes an inspection due after it", commands=(do.RecordRound,))
def _due_after(case: Case) -> bool | None:
    if case.before.valid:
        return None
    return case.to in (P.INSPECTION_DUE, P.OUT_OF_SERVICE)


@proves("after a power-up an inspection is due", events=(ev.Restarted,))
def _due_after_power_up(case: Case) -> bool | None:
    if case.before.playing or case.broken or case.before.out:
        return None
    return case.to is P.INSPECTION_DUE and not case.next.passed


@proves("an interrupted round is followed by an inspection", events=(ev.Restarted,))
def _inspected_after(case: Case) -> bool | None:
    return case.next.after.value == "inspection" if case.before.playing else None
