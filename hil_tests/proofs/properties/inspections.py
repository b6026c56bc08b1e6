"""What must be inspected, seen, signed and checked before anything is played."""

from __future__ import annotations

from hil_tests.proofs.properties.case import IN_CHARGE, Case, proves
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import (
    Notice,
    Part,
    Purpose,
    ShownPhase,
    Timer,
    TimeTrust,
    Verified,
)

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
    if case.state.purpose is Purpose.SHIFT:
        return case.before.cycles == 3 and case.event.person.role in case.expected.shift
    lamps = case.before.entries == {1, 2, 3} and case.before.each and case.before.seen
    return lamps and case.before.cycles == 3 and case.event.person.role in case.expected.signs


@proves("lamps are seen by a person who may sign", granted=(ev.LampsSeen,))
def _seen_rightly(case: Case) -> bool | None:
    if not (
        case.before.each
        and case.before.entries == {1, 2, 3}
        and case.event.person.role in case.expected.signs
    ):
        return False
    if case.state.part is Part.ALL:
        return case.to in (P.COVERING, P.PLANNING)
    return case.to is (P.TO_BE_SIGNED if case.before.cycles == 3 else P.INSPECTION_DUE)


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


@proves("a cycle's reading is told, and a trial ends with it", granted=(ev.ReadingMade,))
def _cycle_told(case: Case) -> bool | None:
    if case.before.playing:
        return None
    good = isinstance(case.event.verdict, Verified)
    told = case.tells(Notice.CYCLE_GOOD if good else Notice.CYCLE_BAD)
    over = case.to in (P.INSPECTION_DUE, P.OUT_OF_SERVICE)
    return told and (over or case.state.purpose is not Purpose.TRIAL)


@proves("an inspection is shown as one", commands=(do.DrawTossPlan, do.DriveCover))
def _inspection_shown(case: Case) -> bool | None:
    if case.next.purpose not in (Purpose.INSPECTION, Purpose.SHIFT):
        return None
    return case.after.shown is ShownPhase.INSPECTION


@proves("a beginning shift is announced", granted=(ev.ShiftBegan,))
def _shift_told(case: Case) -> bool | None:
    return bool(case.expected.shift) and case.next.shift_due and case.tells(Notice.SHIFT_DUE)


EMPTY_HANDED = frozenset({P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE, P.READY, P.PACING})


@proves("a table that is shut or between rounds holds nothing of an inspection", accepted=True)
def _nothing_left(case: Case) -> bool | None:
    y = case.next
    if y.phase not in EMPTY_HANDED:
        return None
    left = (y.entry, y.good, y.bad, y.reading, y.values, y.plan, y.retried)
    unproved = y.phase in (P.CLOSED, P.OUT_OF_SERVICE) and y.passed
    return not any(left) and not unproved


BEGUN = (P.READY, P.ADMITTING, P.BETTING, P.COVERING, P.PLANNING)
"""Open, and as far as a table that paces itself goes on at once."""


@proves(
    "no opening and no round with untrusted time, a text not in force, or old dice",
    granted=(ev.TimeChecked,),
)
def _clock_admits(case: Case) -> bool | None:
    trusted = case.event.trust is not TimeTrust.NONE and not case.event.behind_last_record
    good = trusted and case.event.now == case.table.day and case.state.dice is not None
    if good and case.phase is P.ADMITTING and (case.before.estop or case.before.shift_due):
        return case.to is P.READY
    starts = case.to in BEGUN and case.next.barred is None
    told = (case.next.barred is not None) and case.tells(Notice.BARRED)
    return starts if good else told


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
    if (
        case.before.playing
        or case.before.faults
        or case.phase in (P.OUT_OF_SERVICE, P.SHAKER_RETIRED)
    ):
        return None
    return case.to is P.INSPECTION_DUE and not case.next.passed


@proves("an interrupted round is followed by an inspection", events=(ev.Restarted,))
def _inspected_after(case: Case) -> bool | None:
    return case.next.after.value == "inspection" if case.before.playing else None
