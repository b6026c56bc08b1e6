"""Who paces the table is the profile's word; where people attend, people settle."""

# mypy: disable-error-code="comparison-overlap"
# The phase is asked for again after each act, which mypy takes for one and the same value.

from __future__ import annotations

import pytest

from shaker_ctl.errors import SettingsError
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.machine import initial
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.profile_files import load
from shaker_ctl.rules.regulation import Profile
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, PLAN, TECHNICIAN, Playing
from shaker_ctl.rules.vocabulary import Cause, Ending, Notice, Timer

TEXTS = ("pa-625a", "pa-625b", "ma", "pa-539", "md")


def settings(profile: str, **more: object) -> TableParameters:
    cover = {"cover_fitted": True} if profile == "md" else {}
    return TableParameters.model_validate({"profile": profile, "autonomous": True, **cover, **more})


@pytest.mark.parametrize("profile", TEXTS)
def test_a_table_that_paces_itself_is_forbidden_by_the_five_texts(profile):
    with pytest.raises(SettingsError, match="has the dealer pace the table"):
        rulebook(settings(profile))


@pytest.mark.parametrize("profile", TEXTS)
def test_with_a_named_approval_it_is_allowed_and_marked_everywhere(profile):
    approval = "BGLO 461a.4, letter of 2026-01-15"
    rules = rulebook(settings(profile, approval=approval, shifts=("06:00",)))
    assert rules.marks == ("pacing by the table by approval: BGLO 461a.4, letter of 2026-01-15",)


def test_a_demonstration_paces_itself_and_says_what_it_is():
    assert rulebook(settings("pa-625a", as_demonstration=True)).marks == ("DEMONSTRATION",)


def test_the_house_s_own_rules_let_the_table_pace_itself():
    marks = rulebook(settings("house-auto", attended=False)).marks
    assert marks == ("rests on no instrument",)


def test_a_table_with_nobody_at_it_clears_by_its_own_pace():
    t = Playing(profile="house-auto", attended=False, autonomous=True).open().lit()
    t.do(ev.TimerExpired(Timer.SETTLING, t.state.occasion))
    assert do.ClearLamps in t.do(ev.TimerExpired(Timer.PAYOUT, t.state.occasion)).commands


@pytest.mark.parametrize("profile", ["pa-625a", "ma", "pa-539", "md"])
def test_losing_wagers_are_collected_before_winning_ones_are_paid_and_lamps_clear_last(profile):
    cover = {"cover_fitted": True} if profile == "md" else {}
    show = {"autonomous": True, "as_demonstration": True}
    t = Playing(profile=profile, **show, **cover).open().lit()
    assert t.phase is Phase.COLLECTING
    assert t.tell(ev.TimerExpired(Timer.PAYOUT, t.state.occasion)).refused
    t.do(ev.TimerExpired(Timer.SETTLING, t.state.occasion))
    assert t.phase.value == "paying"
    assert do.ClearLamps not in t.commands
    assert do.ClearLamps in t.do(ev.TimerExpired(Timer.PAYOUT, t.state.occasion)).commands


@pytest.mark.parametrize(
    "settings",
    [
        {"profile": "pa-625a"},
        {"profile": "pa-625a", "player_activated": True},
        {"profile": "pa-625b", "as_demonstration": True},
        {"profile": "ma"},
        {"profile": "pa-539", "as_demonstration": True},
    ],
)
def test_where_nothing_hides_the_dice_no_shaker_runs_before_no_more_bets(settings):
    t = Playing(**settings).open().betting()
    number = t.state.round
    for early in (ev.ActivationRequested(DEALER, number), ev.PlayerPressed(number)):
        assert t.tell(early).refused
    t.no_more_bets()
    if t.phase is Phase.DRAWING_MULTIPLIERS:
        t.do(ev.MultipliersDrawn(t.state.occasion, ()))
    assert t.tell(ev.ActivationRequested(TECHNICIAN, number)).refused, "the dealer activates"
    selected = "player_activated" in settings
    assert bool(t.tell(ev.PlayerPressed(number)).refused) != selected
    if not selected:
        t.do(ev.ActivationRequested(DEALER, number))
    assert t.phase is Phase.PLANNING


@pytest.mark.parametrize(
    "settings", [{"profile": "ma"}, {"profile": "pa-539", "as_demonstration": True}]
)
def test_where_no_cover_may_be_one_that_is_on_starts_no_round_and_voids_a_toss(settings):
    t = Playing(**settings).open().do(ev.CoverClosed())
    assert t.tell(ev.BetsRequested(DEALER)).refused
    t.do(ev.CoverOpened()).betting().no_more_bets().do(ev.CoverClosed())
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.COVER)
    t = Playing(**settings).open().betting().no_more_bets()
    o = t.do(ev.ActivationRequested(DEALER, t.state.round)).state.occasion
    t.do(ev.TossPlanDrawn(o, PLAN, t.now), ev.LampsProvedDark(o, 0.0), ev.TossStarted(o))
    t.do(ev.CoverClosed())
    assert (t.state.ending, t.state.cause) == (Ending.VOID, Cause.COVER)
    assert do.StopMotor in t.commands


BY_PLAYER = {"profile": "pa-625a", "cover_fitted": True, "player_activated": True}
ITSELF = {"autonomous": True, "approval": "letter of 2026-01-15", "entry_mode": "auto"}


@pytest.mark.parametrize("who", ["dealer", "player", "time"])
def test_a_fitted_cover_is_closed_before_the_shaker_turns_whoever_activates_it(who):
    t = Playing(**BY_PLAYER, **(ITSELF if who == "time" else {})).open().betting().no_more_bets()
    if who == "dealer":
        assert t.tell(ev.ActivationRequested(TECHNICIAN, 1)).refused
        t.do(ev.ActivationRequested(DEALER, 1))
    elif who == "player":
        t.do(ev.PlayerPressed(1))
    else:
        t.do(ev.TimerExpired(Timer.ACTIVATION, t.state.occasion))
    assert t.phase is Phase.COVERING
    assert do.DriveCover in t.commands


def test_a_table_that_paces_itself_closes_the_cover_before_its_shaker_turns():
    told = load("ma").model_dump()
    told["cover"]["use"]["value"] = "required"
    told["cover"]["interlock"]["value"] = "must_be_closed"
    t = Playing()
    parameters = settings("ma", cover_fitted=True, as_demonstration=True, shifts=("06:00",))
    t.rules = rulebook(parameters, Profile.model_validate(told))
    t.state = initial(t.rules)
    t.open().betting().no_more_bets()
    assert t.phase is Phase.COVERING


def test_uncovered_by_hand_the_dice_are_revealed():
    t = Playing(profile="pa-625a", cover_fitted=True).open().settled().no_more_bets()
    assert t.phase is Phase.NO_MORE_BETS
    assert t.do(ev.CoverOpened()).phase is Phase.COMING_TO_REST


def test_multipliers_that_were_not_drawn_before_a_restart_are_in_force_for_nobody():
    t = Playing(profile="pa-625b", cover_fitted=True).open().settled().no_more_bets()
    assert t.phase is Phase.DRAWING_MULTIPLIERS
    t.do(ev.Restarted(False, False, cover_closed=True, compartment_stayed_locked=True))
    assert t.phase is Phase.NO_MORE_BETS
    assert t.last_of(do.Announce).notice is Notice.NO_MULTIPLIERS


def test_a_dealer_who_is_slow_to_uncover_is_told_again_and_nothing_is_broken():
    t = Playing(profile="pa-625a", cover_fitted=True).open().settled().no_more_bets()
    t.do(ev.RevealRequested(DEALER, 1))
    assert t.last_of(do.StartTimer).timer is Timer.COVER
    t.do(ev.TimerExpired(Timer.COVER, t.state.occasion))
    assert t.last_of(do.Announce).notice is Notice.REVEAL
    assert t.tell(ev.TimerExpired(Timer.COVER, t.state.occasion)).refused
    assert not t.state.faults
    t.do(ev.CoverOpened())
    assert (t.phase, t.state.reveal_overdue) == (Phase.COMING_TO_REST, False)
    t.do(ev.CoverClosed())
    assert t.tell(ev.RevealRequested(DEALER, 1)).refused, "the next reveal has its own time"
