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
from shaker_ctl.rules.vocabulary import Notice, RetireStep, Source

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


def test_the_dice_have_come_out_of_the_compartment_before_a_manual_shaker_is_used():
    t = Playing().open().do(ev.ShakerFault(None, "motor-stall"))
    refused = t.tell(ev.ShakerRetired(TECHNICIAN, STEPS)).refused
    assert refused is not None
    assert "still in it" in refused.reason
