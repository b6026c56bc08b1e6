"""What the lamps show: values, areas, multipliers, and the phase for the public."""

from __future__ import annotations

from hil_tests.proofs.properties.case import Case, proves
from hil_tests.proofs.watch import LIGHTING, ODDS
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.layout import lines_of
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Ending, FaultKind, Notice, Purpose, ShownPhase
from shaker_ctl.view.phase_words import PHASE_WORDS

P = Phase


@proves(
    "no lamp without a verified, confirmed or entered value of this round", commands=(do.PushLamps,)
)
def _lamps_show_the_value(case: Case) -> bool | None:
    push = case.first(do.PushLamps)
    if push.occasion.purpose is not Purpose.PLAY:
        return not case.before.playing
    return (
        case.before.playing
        and case.after.stands is not None
        and sorted(push.values) == sorted(case.after.stands)
    )


@proves("a corrected result is lit as one, after the first went dark", commands=(do.PushLamps,))
def _lit_as_a_correction(case: Case) -> bool | None:
    push = case.first(do.PushLamps)
    first = case.after.first
    if push.occasion.purpose is not Purpose.PLAY or first is None:
        return not push.corrects
    # to clear the lamps takes the odds away, too; after a no roll a start may have cleared them
    clear = [do.ClearLamps] if first else []
    odds = [do.ShowMultipliers] if case.before.odds_proved else []
    wanted = [*clear, *odds, do.PushLamps]
    order = [type(each) for each in case.commands if type(each) in wanted][-len(wanted) :]
    return push.corrects == bool(first) and (case.phase is P.SETTLED_LIT or order == wanted)


@proves("the lamps lit are those that the values win", commands=(do.PushLamps,))
def _lamps_are_won(case: Case) -> bool | None:
    push = case.first(do.PushLamps)
    ones = {f"one-{value}" for value in push.values}
    total = sum(push.values)
    small_or_big = (
        "any-triple" if len(set(push.values)) == 1 else ("small" if total < 11 else "big")
    )
    return ones | {small_or_big} <= set(push.areas) <= set(case.rules.areas) and (
        {area for area in push.areas if area.startswith("one-")} == ones
    )


@proves("bets never open with lamps lit", commands=(do.Announce,))
def _dark_before_bets(case: Case) -> bool | None:
    return not case.before.lit if case.tells(Notice.BETS_OPEN) else None


@proves("lamps go out after the round, and after every restart", accepted=True)
def _lamps_go_out(case: Case) -> bool | None:
    if case.on(ev.Restarted):
        return case.orders(do.ClearLamps, do.PushLamps)
    if not case.before.lit or isinstance(
        case.event, ev.LampsDark | ev.EachLampProved | ev.LampsProvedDark
    ):
        return None
    if case.phase not in LIGHTING or case.to in LIGHTING:
        return None
    return case.orders(do.ClearLamps, do.DarkenLamps)


@proves(
    "where people attend, a result goes dark only after somebody settled and cleared it",
    commands=(do.ClearLamps,),
)
def _dark_after_settling(case: Case) -> bool | None:
    lit = (P.COLLECTING, P.PAYING, P.SETTLED_LIT)
    if case.phase not in lit or case.on(ev.Restarted, ev.LampFault, ev.CorrectionAgreed):
        return None
    if not case.expected.attended or (case.rules.autonomous and case.rules.demonstration):
        return None
    return case.on(ev.LampsOffRequested) and case.before.paid


@proves("a failed lamp is darkened at once", events=(ev.LampFault,))
def _darkened(case: Case) -> bool | None:
    if not case.is_current:
        return None
    return case.orders(do.DarkenLamps)


@proves("the state says of the lamps what was last proved, and no more", accepted=True)
def _lamps_as_proved(case: Case) -> bool | None:
    return case.next.lamps is case.after.lamps


@proves("a result is announced with its values as it stands, and after a restart", accepted=True)
def _result_told(case: Case) -> bool | None:
    """Lit, or to be settled by hand because the lamps are broken."""
    stood = case.state.values == case.next.values and not case.on(ev.Restarted)
    by_hand = case.to is P.AWAITING_PRESENCE and not stood
    lit = case.before.playing and case.orders(do.PushLamps)
    if not (lit or by_hand):
        return None
    told = [each for each in case.commands if isinstance(each, do.Announce)]
    results = [each.values for each in told if each.notice is Notice.RESULT]
    return results == [case.next.values]


def _in_the_shaker(case: Case) -> frozenset[ShownPhase] | None:
    """What must be shown while dice are tossed and read, which inspections and trials do, too."""
    if case.to not in (P.TOSSING, P.COMING_TO_REST, P.READING):
        return None
    if case.next.purpose is Purpose.TRIAL:
        return None
    if case.next.purpose is not Purpose.PLAY:
        return frozenset({ShownPhase.INSPECTION})
    if case.to is not P.TOSSING:
        return frozenset({ShownPhase.READING})
    bets_open = case.expected.nmb_before_reveal
    return frozenset({ShownPhase.BETS_OPEN if bets_open else ShownPhase.TOSSING})


@proves("the phase lamps tell the truth, and mark a demonstration", accepted=True)
def _phase_lamps(case: Case) -> bool | None:
    expected = _in_the_shaker(case) or PHASE_WORDS[case.to].lamps
    shows = [each for each in case.commands if isinstance(each, do.ShowPhase)]
    if any(each.demonstration != case.rules.demonstration for each in shows):
        return False
    if not expected:
        return None
    shown = shows[-1].phase if shows else case.before.shown
    if case.on(ev.Restarted) and not shows:
        return False
    if shown is None:
        return None  # not started up yet
    right = shown in expected
    if case.to is P.WITHOUT_RESULT:
        no_roll = case.next.ending is Ending.NO_ROLL
        right = right and (shown is ShownPhase.NO_ROLL) == no_roll
    return right


@proves(
    "multipliers only after no more bets and before the toss or the reveal, drawn once",
    commands=(do.DrawMultipliers, do.ShowMultipliers),
)
def _multipliers(case: Case) -> bool | None:
    corrects = case.on(ev.CorrectionAgreed) and case.orders(do.PushLamps)
    if case.on(ev.Restarted) or corrects:  # the box took them away with what it showed before
        again = not case.orders(do.DrawMultipliers)
        show = next(each for each in case.commands if isinstance(each, do.ShowMultipliers))
        return again and show.multipliers == case.state.multipliers
    if case.next.purpose is not Purpose.PLAY:
        return None
    if not case.expected.multipliers or case.before.value or case.before.verdict:
        return False
    early = case.before.settled == case.expected.nmb_before_reveal and (
        not case.before.settled or case.before.cover
    )
    closed = case.before.bets_closed or case.tells(Notice.NO_MORE_BETS)
    draws = case.orders(do.DrawMultipliers)
    return early and closed and case.before.draws == (0 if draws else 1)


@proves(
    "multipliers are in force only when they were proved to be shown", commands=(do.RecordRound,)
)
def _in_force(case: Case) -> bool | None:
    if not case.expected.multipliers:
        return None
    record = case.first(do.RecordRound)
    shown = bool(record.multipliers) == case.before.odds_proved
    return shown and all(
        each.area not in ("small", "big", "even", "odd") for each in record.multipliers
    )


@proves(
    "where the profile has multipliers they are drawn, and people are told the outcome",
    accepted=True,
)
def _multipliers_drawn(case: Case) -> bool | None:
    if case.tells(Notice.NO_MORE_BETS):
        draws = case.orders(do.DrawMultipliers)
        return draws == case.expected.multipliers
    waiting = case.phase in (P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS)
    elsewhere = (P.WITHOUT_RESULT, P.SHOWING_MULTIPLIERS, P.INTERRUPTED)
    if not waiting or case.to is case.phase or case.to in elsewhere:
        return None
    proved = case.on(ev.MultipliersShown)
    notice = Notice.MULTIPLIERS if proved else Notice.NO_MULTIPLIERS
    return case.tells(notice) and case.next.multipliers_shown == proved


@proves("the multipliers that were drawn are shown", granted=(ev.MultipliersDrawn,))
def _drawn_is_shown(case: Case) -> bool | None:
    drawn = case.event.multipliers
    if not drawn:
        return None
    return do.ShowMultipliers(case.next.occasion, drawn) in case.commands


@proves("odds that were shown are taken away: not proved, or the round is over", accepted=True)
def _odds_down(case: Case) -> bool | None:
    if not case.before.odds_up:
        return None
    over = case.orders(do.RecordRound)
    if not over and not case.tells(Notice.NO_MULTIPLIERS):
        return None
    return case.orders(do.HideMultipliers)


@proves(
    "an inspection shows each multiplier display at its highest odds, and darkens it after a look",
    accepted=True,
)
def _displays(case: Case) -> bool | None:
    if case.orders(do.ShowMultipliers) and case.next.purpose is Purpose.INSPECTION:
        shown = case.first(do.ShowMultipliers).multipliers
        ranges = case.rules.profile.multipliers.ranges
        whole = {line for each in shown for line in lines_of(each.area)}
        wanted = {line for line, span in ranges.items() if span.least < span.most}
        looked = case.on(ev.LampsSeen) and case.before.each and not case.before.playing
        return (
            looked
            and wanted <= whole
            and all(
                each.odds
                == max(ranges[line].most for line in lines_of(each.area) if line in ranges)
                for each in shown
                if not each.dice
            )
        )
    if case.phase in ODDS and case.to not in ODDS and case.before.odds_up:
        return case.orders(do.HideMultipliers, do.ClearLamps, do.DarkenLamps)
    return None


@proves(
    "a display that is not proved is a fault: none in force, and the table stops after the round",
    granted=(ev.MultipliersNotShown, ev.TimerExpired),
)
def _display_broken(case: Case) -> bool | None:
    tried = (P.SHOWING_MULTIPLIERS, P.ODDS_TRIED)
    if case.phase not in tried:
        return None
    raised = do.RaiseFault(FaultKind.CONTROLLER, "odds-not-shown") in case.commands
    if case.phase is P.ODDS_TRIED:
        return raised and case.to is P.OUT_OF_SERVICE
    return raised and case.tells(Notice.NO_MULTIPLIERS) and case.ending is None


@proves("after a restart, multipliers in force are shown again", events=(ev.Restarted,))
def _odds_again(case: Case) -> bool | None:
    if not case.state.multipliers_shown or not case.before.playing or case.to is P.WITHOUT_RESULT:
        return None
    if case.phase in (P.WITHOUT_RESULT, P.CLEARING):
        return None
    return case.orders(do.ShowMultipliers)
