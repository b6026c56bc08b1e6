"""What the machine must hear, what it must refuse, and what it must wait for."""

from __future__ import annotations

from hil_tests.proofs.properties.case import Case, proves
from hil_tests.proofs.watch import ANSWERS, ASKED, SUPERVISED
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Timer
from vision.reading import Unreadable

P = Phase


@proves("a refused event changes nothing and commands nothing", refused=True)
def _refused_is_inert(case: Case) -> bool | None:
    return case.next is case.state and not case.commands and not case.step.rows


@proves("stale, duplicate and foreign events are refused", accepted=True)
def _stale_is_refused(case: Case) -> bool | None:
    if getattr(case.event, "occasion", None) is None and getattr(case.event, "round", None) is None:
        return None
    return case.is_current


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
def _facts_are_heard(case: Case) -> bool | None:
    return case.accepted if case.is_current else None


@proves(
    "the cover's contact is heard wherever there is one", events=(ev.CoverClosed, ev.CoverOpened)
)
def _cover_is_heard(case: Case) -> bool | None:
    wired = case.rules.covered or case.rules.cover_must_be_absent
    return case.accepted == wired


@proves("the state knows every contact as it is, and after a restart as it is read", accepted=True)
def _contacts_known(case: Case) -> bool | None:
    y = case.next
    known = (y.compartment_open, y.estop_pressed, y.cover_closed)
    told = (case.after.compartment, case.after.estop, case.after.cover)
    return known == told if any(known) or any(told) else None


@proves(
    "the awaited answer is taken",
    events=tuple(kind for kinds in ANSWERS.values() for kind in kinds),
)
def _answers_are_taken(case: Case) -> bool | None:
    if (
        case.before.awaited is None
        or type(case.event) not in ANSWERS[case.before.awaited]
        or not case.is_current
    ):
        return None
    if case.before.awaited is do.StartToss and (type(case.event) is ev.TossSettled) != (
        case.phase is P.TOSSING
    ):
        return None
    if case.before.awaited is do.StartReading:
        at_rest = case.phase is P.READING
        gives_up = case.on(ev.ReadingMade) and isinstance(case.event.verdict, Unreadable)
        if at_rest != case.on(ev.ReadingMade) and not gives_up:
            return None
    if case.on(ev.LampsShown) and case.event.values != case.state.values:
        return case.refused
    if case.on(ev.EachLampProved) and set(case.event.areas) != set(case.rules.areas):
        return None
    if case.on(ev.MultipliersDrawn) and any(m.area == "small" for m in case.event.multipliers):
        return case.refused
    if case.phase is P.SETTLED_LIT or (
        case.before.awaited is do.ClearLamps
        and case.phase not in (P.CLEARING, P.LAMP_ENTRY_CLEARING)
    ):
        return case.accepted
    return case.accepted and case.to is not case.phase


@proves("a running timer is heard, any other is not", events=(ev.TimerExpired,))
def _timers_are_heard(case: Case) -> bool | None:
    return case.accepted == (case.event.timer is case.before.timer and case.is_current)


@proves("darkness is heard of whenever it is not known", events=(ev.LampsDark,))
def _dark_is_heard(case: Case) -> bool | None:
    resting = (
        *(P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE, P.WITHOUT_RESULT),
        *(P.AWAITING_PRESENCE, P.SETTLING_BY_HAND, P.AWAITING_DEALER, P.DISPUTED, P.COVERED),
        P.INTERRUPTED,
    )
    if case.phase not in resting or not case.is_current:
        return None
    return case.accepted


@proves("who waits for a device has a deadline", accepted=True)
def _deadline(case: Case) -> bool | None:
    phase = case.to
    alone = not case.expected.attended or case.rules.demonstration
    settling = phase in (P.COLLECTING, P.PAYING, P.WITHOUT_RESULT)
    self_paced = case.rules.autonomous and alone and settling
    driven = case.rules.cover_driven and phase in (P.COVERING, P.REVEALING)
    if phase not in SUPERVISED and not self_paced and not driven:
        return None
    return case.after.timer is not None


@proves("every reveal has a time", accepted=True)
def _reveal_timed(case: Case) -> bool | None:
    if case.to is not P.REVEALING or case.phase is P.REVEALING:
        return None
    return case.after.timer is Timer.COVER


@proves("who waits for a device has asked it", accepted=True)
def _asked_for(case: Case) -> bool | None:
    command = ASKED.get(case.to)
    if case.to is P.PLANNING and case.before.manual:
        command = do.CheckTime
    return case.after.awaited is command if command is not None else None


@proves("every command belongs to the occasion in hand", accepted=True)
def _occasions(case: Case) -> bool | None:
    """The occasion before the step, or after it: a cycle's announcement may begin the next."""
    now, before, any_at_all = case.next.occasion, case.state.occasion, False
    for each in case.commands:
        occasion = getattr(each, "occasion", None)
        if occasion is None:
            continue
        any_at_all = True
        awaited = type(each) in ANSWERS or type(each) is do.StartTimer
        due = case.next.question if type(each) is do.CheckTime else now
        if occasion != due and (awaited or occasion != before):
            return False
    return True if any_at_all else None
