"""The automated shaker is out of order: the table plays on with a manual one."""

# mypy: disable-error-code="comparison-overlap"
# The phase is asked for again after each act, which mypy takes for one and the same value.

from __future__ import annotations

from datetime import timedelta

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, NOON, SUPERVISOR, TECHNICIAN, Playing
from shaker_ctl.rules.vocabulary import (
    Cause,
    Condition,
    Ending,
    FaultKind,
    Multiplied,
    Notice,
    Part,
    RetireStep,
    Source,
    Timer,
    TimeTrust,
)

STEPS = frozenset({RetireStep.DICE_REMOVED, RetireStep.COVERED_OR_SIGNED})
REMOVED = frozenset({RetireStep.SHAKER_REMOVED})
DICE = ("m1", "m2", "m3")
EVERY = [
    ("pa-625a", {}, STEPS),
    ("pa-625b", {"as_demonstration": True}, STEPS),
    ("ma", {}, REMOVED),
    ("pa-539", {"as_demonstration": True}, REMOVED),
    ("md", {"cover_fitted": True}, STEPS),
]


def retired(steps: frozenset[RetireStep] = STEPS, **settings: object) -> Playing:
    """A table whose shaker broke between rounds, and whose procedure is done."""
    t = Playing(**settings).open().do(ev.ShakerFault(None, "motor-stall"))
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed())
    return t.do(ev.ShakerRetired(TECHNICIAN, steps))


def opened(t: Playing) -> Playing:
    """Its dice recorded, its lamps inspected and signed, the table open."""
    t.do(ev.DiceChanged(FLOOR, DICE, t.now - timedelta(hours=1)))
    t.lamps_inspected()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR))
    return t.clock()


def bets_closed(t: Playing) -> Playing:
    """A round whose bets are closed, and whose dice the clock has found young enough."""
    t.betting().do(ev.NoMoreBetsCalled(DEALER, t.state.round))
    if t.phase is Phase.DRAWING_MULTIPLIERS:
        t.do(ev.MultipliersDrawn(t.state.occasion, ()))
    return t.clock()


@pytest.mark.parametrize(("profile", "settings", "steps"), EVERY)
def test_a_step_that_is_missing_is_named(profile, settings, steps):
    t = Playing(profile=profile, **settings).open().do(ev.ShakerFault(None, "motor-stall"))
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed())
    for missing in steps:
        refused = t.tell(ev.ShakerRetired(TECHNICIAN, steps - {missing})).refused
        assert refused is not None
        assert refused.reason.endswith(f"steps, too: {missing.value.replace('_', '-')}")


@pytest.mark.parametrize(("profile", "settings", "steps"), EVERY)
def test_a_round_with_a_manual_shaker_is_entered_twice_lit_and_settled(profile, settings, steps):
    t = bets_closed(opened(retired(steps, profile=profile, **settings)))
    assert t.phase is Phase.AWAITING_DEALER
    assert Notice.BY_HAND in [each.notice for each in t.last.commands if hasattr(each, "notice")]
    t.do(ev.ValuesEntered(DEALER, 1, (1, 4, 4)))
    assert do.PushLamps not in t.commands, "typed once lights nothing"
    t.do(ev.ValuesEntered(DEALER, 1, (4, 1, 4)))
    assert t.last_of(do.PushLamps).values == (4, 1, 4)
    t.do(ev.LampsShown(t.state.occasion, (4, 1, 4))).cleared()
    moved = {do.StartToss, do.DriveCover, do.StartReading, do.NotePoses, do.LightOn}
    begun = next(n for n, (event, _) in enumerate(t.history) if isinstance(event, ev.ShakerRetired))
    since = {type(each) for _, step in t.history[begun:] for each in step.commands}
    assert not since & moved, "nothing of the retired shaker moves or looks"
    record = next(
        each
        for _, step in reversed(t.history)
        for each in step.commands
        if isinstance(each, do.RecordRound)
    )
    assert (record.manual_shaker, record.source) == (True, Source.ENTERED)
    assert t.phase is Phase.READY, "the next round may begin"


@pytest.mark.parametrize(("profile", "settings", "steps"), EVERY)
def test_a_manual_shaker_is_not_asked_for_again_before_all_is_paid(profile, settings, steps):
    """That it stays uncovered is the dealer's word; no round begins meanwhile."""
    t = bets_closed(opened(retired(steps, profile=profile, **settings)))
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 4))], ev.LampsShown(t.state.occasion, (1, 4, 4)))
    assert t.tell(ev.BetsRequested(DEALER)).refused, "wagers are not settled"
    assert t.tell(ev.LampsOffRequested(DEALER, 1)).refused, "wagers are not settled"
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.tell(ev.BetsRequested(DEALER)).refused, "the lamps are still lit"


@pytest.mark.parametrize(("profile", "settings", "steps"), EVERY)
def test_dice_of_a_manual_shaker_are_used_for_a_day(profile, settings, steps):
    t = opened(retired(steps, profile=profile, **settings))
    t.now = NOON + timedelta(hours=23, minutes=30)
    t.do(ev.BetsRequested(DEALER)).clock()
    assert t.phase is Phase.READY
    assert t.state.barred is not None


def test_dice_that_grow_too_old_while_bets_are_open_are_not_played():
    t = opened(retired()).betting()
    t.now = NOON + timedelta(hours=24)
    t.do(ev.NoMoreBetsCalled(DEALER, 1)).clock()
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.DICE)


@pytest.mark.parametrize(("trust", "behind"), [(TimeTrust.NONE, False), (TimeTrust.RTC, True)])
def test_an_untrusted_clock_plays_no_dice_of_a_manual_shaker(trust, behind):
    """The clock was set back, and says so: the dice may be of any age."""
    t = opened(retired()).betting().do(ev.NoMoreBetsCalled(DEALER, 1))
    t.do(ev.TimeChecked(t.state.question, t.now, trust, behind_last_record=behind))
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.CLOCK)


def test_the_dice_have_come_out_of_the_compartment_before_a_manual_shaker_is_used():
    t = Playing().open().do(ev.ShakerFault(None, "motor-stall"))
    refused = t.tell(ev.ShakerRetired(TECHNICIAN, STEPS)).refused
    assert refused is not None
    assert "still in it" in refused.reason


def test_a_shaker_that_is_removed_whole_needs_no_open_compartment():
    t = Playing(profile="ma").open().do(ev.ShakerFault(None, "motor-stall"))
    assert t.tell(ev.ShakerRetired(TECHNICIAN, STEPS)).refused, "this text has it removed"
    t.do(ev.ShakerRetired(FLOOR, REMOVED))
    assert (t.phase, t.state.dice) == (Phase.INSPECTION_DUE, None)


def test_the_opening_inspection_is_that_of_the_lamps_alone():
    t = retired()
    assert t.tell(ev.InspectionRequested(FLOOR, Part.SHAKER)).refused
    t.do(ev.DiceChanged(FLOOR, DICE, t.now)).lamps_inspected()
    assert t.phase is Phase.TO_BE_SIGNED


def test_no_shift_inspects_a_shaker_that_is_out_of_use():
    t = opened(retired(REMOVED, profile="ma"))
    assert not t.state.shift_due
    assert t.tell(ev.ShiftBegan(SUPERVISOR)).refused


def test_what_the_retired_shaker_reports_stops_nothing():
    t = bets_closed(opened(retired()))
    t.do(ev.CompartmentOpened(), ev.EstopPressed(), ev.ReaderFault(None, "camera-silent"))
    t.do(ev.ShakerFault(None, "driver"), ev.CompartmentClosed())
    assert t.phase is Phase.AWAITING_DEALER
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (3, 3, 3))])
    t.do(ev.LampsShown(t.state.occasion, (3, 3, 3))).cleared().betting()
    assert t.phase is Phase.BETTING
    assert t.state.faults == {FaultKind.SHAKER, FaultKind.READER}, "noted, for its return"


def test_a_lamp_fault_stops_a_table_with_a_manual_shaker_as_ever():
    t = bets_closed(opened(retired())).do(ev.LampFault(None, "bulb"))
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 2, 3))])
    assert t.phase is Phase.AWAITING_PRESENCE
    t.do(ev.PresenceGiven(FLOOR, 1), ev.WagersSettled(DEALER, 1))
    assert (t.phase, t.state.manual) == (Phase.OUT_OF_SERVICE, True)
    assert t.tell(ev.ReturnRequested(TECHNICIAN)).refused
    t.do(ev.FaultCleared(TECHNICIAN, FaultKind.LAMP), ev.ReturnRequested(TECHNICIAN))
    assert (t.phase, t.state.manual) == (Phase.INSPECTION_DUE, True)


@pytest.mark.parametrize(
    ("profile", "settings", "steps", "present"),
    [(*each, SUPERVISOR if each[0] == "ma" else FLOOR) for each in EVERY],
)
def test_a_restart_once_the_shaker_is_uncovered_asks_for_a_presence(
    profile, settings, steps, present
):
    """The electrical device failed after the uncovering: not the dealer alone goes on."""
    t = bets_closed(opened(retired(steps, profile=profile, **settings)))
    t.do(ev.ValuesEntered(DEALER, 1, (1, 2, 3)), ev.Restarted(True, True, False))
    assert t.phase is Phase.INTERRUPTED
    assert t.tell(ev.ValuesEntered(DEALER, 1, (1, 2, 3))).refused, "nobody is present yet"
    assert t.tell(ev.PresenceGiven(DEALER, 1)).refused
    assert t.tell(ev.CompartmentWatched(DEALER, 1, stayed=True)).refused, "its dice lie open"
    t.do(ev.PresenceGiven(present, 1))
    assert do.DriveCover not in t.commands
    assert t.tell(ev.ValuesEntered(present, 1, (1, 2, 3))).refused, "who is present does not read"
    t.do(ev.ValuesEntered(DEALER, 1, (1, 2, 3)))
    assert t.phase is Phase.AWAITING_DEALER, "what was typed before the restart does not count"
    t.do(ev.ValuesEntered(DEALER, 1, (1, 2, 3)))
    assert t.phase is Phase.PUSHING
    t.do(ev.LampsShown(t.state.occasion, (1, 2, 3)))
    assert t.tell(ev.WagersSettled(present, 1)).refused, "settled in the presence of another"
    t.do(ev.WagersSettled(DEALER, 1))


def test_each_restart_over_a_manual_shaker_asks_anew_who_is_present():
    t = bets_closed(opened(retired())).do(ev.Restarted(True, True, False))
    t.do(ev.Restarted(True, True, False), ev.PresenceGiven(FLOOR, 1))
    assert t.phase is Phase.AWAITING_DEALER
    t.do(ev.Restarted(False, False, False))
    assert (t.phase, t.state.witness) == (Phase.INTERRUPTED, None)


def test_a_restart_before_the_manual_shaker_is_uncovered_starts_no_round():
    t = opened(retired()).betting().do(ev.NoMoreBetsCalled(DEALER, 1))
    assert t.phase is Phase.PLANNING
    t.do(ev.Restarted(True, True, False))
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.INTERRUPTED)


def test_a_wrong_entry_is_corrected_by_two_as_ever():
    t = bets_closed(opened(retired()))
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 5))])
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 5)))
    t.do(ev.CorrectionNamed(DEALER, 1, (1, 4, 4)), ev.CorrectionAgreed(FLOOR, 1, (1, 4, 4)))
    assert t.last_of(do.PushLamps).values == (1, 4, 4)


def test_multipliers_are_drawn_and_shown_before_the_entry():
    t = opened(retired(profile="pa-625b", as_demonstration=True)).betting()
    t.do(ev.NoMoreBetsCalled(DEALER, 1))
    drawn = (Multiplied("triple-6", 999),)
    t.do(ev.MultipliersDrawn(t.state.occasion, drawn), ev.MultipliersShown(t.state.occasion))
    assert t.clock().phase is Phase.AWAITING_DEALER
    assert t.state.multipliers_shown


def test_the_automated_shaker_comes_back_through_repair_and_a_whole_inspection():
    t = retired().do(ev.DiceChanged(FLOOR, DICE, NOON))
    assert t.tell(ev.ShakerRestored(FLOOR)).refused, "the technician says that it stands ready"
    t.do(ev.ShakerRestored(TECHNICIAN))
    assert (t.phase, t.state.manual, t.state.dice) == (Phase.OUT_OF_SERVICE, False, None)
    assert t.tell(ev.ReturnRequested(TECHNICIAN)).refused, "its fault was never cleared"
    t.do(ev.FaultCleared(TECHNICIAN, FaultKind.SHAKER), ev.ReturnRequested(TECHNICIAN))
    t.lamps_inspected()
    assert t.phase is Phase.CYCLE_AWAITED


def test_an_open_table_does_not_change_its_shaker():
    t = opened(retired())
    assert t.tell(ev.ShakerRestored(TECHNICIAN)).refused
    t.do(ev.CloseRequested(FLOOR), ev.ShakerRestored(TECHNICIAN))
    assert t.phase is Phase.OUT_OF_SERVICE


def test_a_table_that_nobody_attends_has_nobody_who_shakes():
    t = Playing(profile="house-auto", attended=False, autonomous=True).open()
    t.do(ev.OutOfServiceRequested(TECHNICIAN), ev.CompartmentOpened(), ev.CompartmentClosed())
    assert t.tell(ev.ShakerRetired(TECHNICIAN, STEPS)).refused


def test_a_table_that_paces_itself_is_paced_by_its_dealer_who_shakes():
    t = opened(retired(profile="house-auto", autonomous=True))
    assert t.phase is Phase.READY, "it opens no round by itself"
    t.betting()
    assert t.tell(ev.TimerExpired(Timer.BETTING, t.state.occasion)).refused


def test_a_mere_power_cycle_takes_no_dice_out_of_the_retired_shaker():
    t = Playing().open().do(ev.ShakerFault(None, "stall"), ev.Restarted(False, False, False))
    assert t.tell(ev.ShakerRetired(TECHNICIAN, STEPS)).refused
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed(), ev.ShakerRetired(TECHNICIAN, STEPS))


def test_what_the_retired_shaker_s_camera_sees_by_stops_no_round():
    t = opened(retired()).betting()
    t.do(ev.ConditionChanged(Condition.LIGHT), ev.ConditionChanged(Condition.CALIBRATION))
    assert t.phase is Phase.BETTING
    t.do(ev.ConditionChanged(Condition.SETTINGS))
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.CONDITION)
