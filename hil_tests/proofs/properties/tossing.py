"""Motor, cover, light and reader: what may move and what may be seen, and when."""

from __future__ import annotations

from hil_tests.proofs.properties.case import Case, proves
from hil_tests.proofs.watch import are_both, is_alone
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, Purpose, Role
from vision.reading import Unreadable

P = Phase


@proves(
    "motor never commanded with the compartment open, e-stop pressed or the cover wrong",
    commands=(do.StartToss, do.Jog),
)
def _motion_is_safe(case: Case) -> bool | None:
    cover_right = case.before.cover == case.rules.covered
    return not (case.before.compartment or case.before.estop) and cover_right


@proves("no toss while lamps are lit", commands=(do.StartToss,))
def _toss_in_the_dark(case: Case) -> bool | None:
    """The lamps' dark answer is the very event that starts the toss."""
    return case.on(ev.LampsProvedDark) and case.event.occasion == case.state.occasion


@proves("a toss follows its plan and its noted poses", commands=(do.StartToss,))
def _toss_is_prepared(case: Case) -> bool | None:
    return case.next.plan is not None and case.before.posed


@proves("motion is never repeated after a restart", events=(ev.Restarted,))
def _motion_not_repeated(case: Case) -> bool | None:
    return not case.orders(do.StartToss, do.Jog)


@proves("one toss a round", commands=(do.StartToss,))
def _one_toss(case: Case) -> bool | None:
    return not case.before.tossed and not case.before.energised


@proves("who leaves a turning motor stops it", accepted=True)
def _motor_is_stopped(case: Case) -> bool | None:
    if not case.before.energised or case.on(ev.Restarted, ev.ShakerFault):
        return None
    turning = (P.STARTING, P.TOSSING, P.JOGGING)
    if case.to in turning and not case.on(ev.TossNotStarted):
        return None
    ended = case.on(ev.TossSettled, ev.TossNotStarted, ev.JogFinished)
    return ended or case.orders(do.StopMotor)


@proves(
    "a shaker fault, an interlock or silence stops the motor",
    granted=(
        *(ev.ShakerFault, ev.CompartmentOpened, ev.EstopPressed, ev.CoverOpened, ev.CoverClosed),
        ev.TimerExpired,
        ev.Restarted,
    ),
)
def _interlocks_stop(case: Case) -> bool | None:
    if not case.before.energised:
        return None
    if case.on(ev.CoverOpened) and not (case.rules.covered and case.before.cover):
        return None
    if case.on(ev.CoverClosed) and not case.rules.cover_must_be_absent:
        return None
    return case.orders(do.StopMotor)


@proves("the lamps are asked once more when their answer was old", granted=(ev.TossNotStarted,))
def _once_more(case: Case) -> bool | None:
    again = case.event.reason == "lamps-stale" and not case.state.retried and not case.broken
    return (case.to is P.PROVING_DARK) == again or case.state.purpose is Purpose.TRIAL


@proves("the lamps are not asked a third time", events=(ev.TossNotStarted,))
def _not_thrice(case: Case) -> bool | None:
    again = case.accepted and case.to is P.PROVING_DARK
    return case.next.retried and not case.state.retried if again else None


@proves(
    "no frame and no value exists before no more bets, where it comes before the reveal",
    commands=(do.StartReading, do.LightOn, do.NotePoses),
)
def _nothing_seen_early(case: Case) -> bool | None:
    if not (
        case.expected.nmb_before_reveal
        and case.before.playing
        and (case.before.tossed or case.before.hidden)
    ):
        return None
    return case.before.bets_closed


@proves("light off before a covered toss, on again before reading", accepted=True)
def _light(case: Case) -> bool | None:
    kinds = [type(each) for each in case.commands]
    starts = case.on(ev.Restarted) and case.to is P.COVERED
    if starts or (case.on(ev.Restarted, ev.CompartmentWatched) and case.to is P.REVEALING):
        return do.LightOff in kinds  # a controller that starts cannot know how its light is
    if do.StartToss in kinds:
        return case.before.hidden == case.rules.covered
    if do.StartReading in kinds:
        return do.LightOn in kinds and kinds.index(do.LightOn) < kinds.index(do.StartReading)
    if case.before.manual:
        return not case.orders(do.LightOn)
    if case.to is P.AWAITING_DEALER and case.after.verdict in ("unreadable", "no_roll"):
        return not case.after.hidden
    return not case.before.hidden or do.LightOn in kinds if do.NotePoses in kinds else None


@proves("values are read only when settled, at rest and revealed", granted=(ev.ReadingMade,))
def _read_at_rest(case: Case) -> bool | None:
    if not case.before.playing:
        return None
    gives_up = isinstance(case.event.verdict, Unreadable)
    at_rest = case.phase is P.READING or gives_up or case.before.verdict == "unreadable"
    seen = not case.before.cover or case.rules.cover_must_be_absent
    if case.before.by_eye:
        return seen  # the result stands, so that they were at rest when it was entered
    return case.before.settled and case.before.bets_closed and at_rest and seen


@proves("the reader is stopped when nobody waits for it", accepted=True)
def _reader_is_stopped(case: Case) -> bool | None:
    if not case.before.reading or case.on(ev.ReadingMade, ev.Restarted):
        return None
    if case.to in (P.COMING_TO_REST, P.READING):
        return None
    return case.orders(do.StopReading)


@proves("covers are driven and asked for when they are to move", accepted=True)
def _cover_driven(case: Case) -> bool | None:
    entered = case.to is not case.phase and case.to in (P.COVERING, P.REVEALING)
    if not entered:
        return None
    opening = case.to is P.REVEALING
    return any(isinstance(each, do.DriveCover) and each.open == opening for each in case.commands)


@proves(
    "a cover's contact counts as stuck only after the reveal's time, on two persons' word",
    events=(ev.RevealRequested,),
)
def _stuck(case: Case) -> bool | None:
    if case.phase is not P.REVEALING or not case.is_current:
        return None
    before, who = case.before.in_view, case.event.person
    if not (case.before.overdue and case.before.playing):
        return case.refused
    may = who.role is Role.DEALER or who.role in case.expected.presence
    if may and (are_both(case.table, before | {who}) or is_alone(case.table, who)):
        raised = do.RaiseFault(FaultKind.SHAKER, "cover-stuck") in case.commands
        return raised and case.to in (P.AWAITING_DEALER, P.INTERRUPTED, P.WITHOUT_RESULT)
    if may and who not in before:
        return case.to is P.REVEALING and case.tells(Notice.REVEAL)
    return case.refused


@proves(
    "a cover that cannot be closed: the round does not start", granted=(ev.OutOfServiceRequested,)
)
def _cannot_cover(case: Case) -> bool | None:
    if not case.before.playing:
        return None
    raised = do.RaiseFault(FaultKind.SHAKER, "cover-stuck") in case.commands
    return raised and case.phase is P.COVERING and case.ends(Ending.NOT_STARTED, Cause.COVER)


@proves("what is asked for in a cover's table happens under it", commands=(do.DrawTossPlan,))
def _drawn_under_cover(case: Case) -> bool | None:
    return case.rules.covered == case.next.cover_closed


@proves("a cover that moves as asked lets the toss go on", events=(ev.CoverClosed, ev.CoverOpened))
def _cover_moves(case: Case) -> bool | None:
    if case.phase is P.COVERING and case.on(ev.CoverClosed):
        return case.to is P.PLANNING
    if case.phase is P.REVEALING and case.on(ev.CoverOpened):
        return case.to is case.resting
    return None


@proves("in play, people are told to cover the dice", commands=(do.DriveCover,))
def _told_to_cover(case: Case) -> bool | None:
    closes = any(isinstance(each, do.DriveCover) and not each.open for each in case.commands)
    return case.tells(Notice.COVER) if closes and case.after.playing else None


@proves("the light goes out whenever the dice are covered to be revealed", events=(ev.CoverClosed,))
def _dark_again(case: Case) -> bool | None:
    return case.after.hidden if case.to is P.REVEALING and case.phase is not P.REVEALING else None


@proves("bets closed and cover opened by hand: that is the reveal", events=(ev.CoverOpened,))
def _revealed(case: Case) -> bool | None:
    if (
        not (case.before.settled and case.before.bets_closed and not case.before.verdict)
        or not case.rules.covered
    ):
        return None
    waiting = (P.NO_MORE_BETS, P.REVEALING, P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS)
    return case.to is case.resting if case.phase in waiting else None
