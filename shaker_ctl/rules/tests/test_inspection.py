"""The opening inspection is made by one person, who chooses, looks, judges and signs."""

# mypy: disable-error-code="comparison-overlap"
# The phase is asked for again after each act, which mypy takes for one and the same value.

from __future__ import annotations

from datetime import timedelta

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.multipliers import lawful, positions
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, ENTRIES, FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import (
    FaultKind,
    Multiplied,
    Notice,
    Part,
    Person,
    Role,
    Shown,
    Timer,
    WalkStep,
)
from vision.reading import Verified

ANOTHER = Person("Fiona", Role.FLOORPERSON)


def begun() -> Playing:
    return Playing().locked().do(ev.InspectionRequested(FLOOR))


def walking() -> Playing:
    t = begun()
    for values in ((6, 6, 6), (2, 2, 5), (4, 5, 6)):
        t.lit_for(values).do(ev.LampsSeen(FLOOR), ev.LampsDark(t.state.occasion))
    return t.do(ev.WalkRequested(FLOOR))


# ── Lamp entries ────────────────────────────────────────────────────────────


def test_the_floorperson_enters_values_of_their_own_choice_and_hears_what_they_win():
    t = begun().do(ev.LampValuesEntered(FLOOR, (6, 5, 6)))
    push = t.last_of(do.PushLamps)
    assert push.values == (6, 5, 6)
    t.do(ev.LampsShown(t.state.occasion, (6, 5, 6)))
    told = t.last_of(do.Announce)
    assert (told.notice, told.values, told.areas) == (Notice.LOOK, (6, 5, 6), push.areas)
    assert "big" in told.areas


def test_an_entry_stays_lit_until_the_person_has_looked_and_said_so():
    t = begun().do(ev.LampValuesEntered(FLOOR, (1, 2, 3)))
    t.do(ev.LampsShown(t.state.occasion, (1, 2, 3)))
    assert do.ClearLamps not in t.commands
    assert t.tell(ev.LampsSeen(FLOOR)).refused, "nobody has had time to look"
    t.do(ev.TimerExpired(Timer.LOOK, t.state.occasion))
    assert do.ClearLamps not in t.commands
    assert t.rules.seconds(Timer.LOOK) >= 2.0
    assert do.ClearLamps in t.do(ev.LampsSeen(FLOOR)).commands


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((6, 6, 6), {Shown.TRIPLE}),
        ((2, 2, 5), {Shown.PAIR, Shown.SMALL}),
        ((5, 5, 1), {Shown.PAIR, Shown.BIG}),
        ((1, 3, 4), {Shown.SMALL}),
    ],
)
def test_what_was_seen_is_remembered_for_the_house_s_suggestions(values, shown):
    t = begun().lit_for(values).do(ev.LampsSeen(FLOOR))
    assert t.state.shown == shown


@pytest.mark.parametrize("where", ["lit", "to be seen", "walk", "paused", "after the walk"])
def test_a_lamp_that_a_person_saw_to_be_wrong_is_a_fault_of_the_lamps(where):
    if where in ("lit", "to be seen"):
        t = begun().do(ev.LampValuesEntered(FLOOR, (1, 2, 3)))
        t.do(ev.LampsShown(t.state.occasion, (1, 2, 3)))
        if where == "to be seen":
            t.do(ev.TimerExpired(Timer.LOOK, t.state.occasion))
    else:
        t = walking()
        if where == "paused":
            t.do(ev.WalkSteered(FLOOR, WalkStep.PAUSE))
        if where == "after the walk":
            t.do(ev.EachLampProved(t.state.occasion, t.rules.areas))
    assert t.tell(ev.LampSeenWrong(ANOTHER, "small")).refused
    assert t.tell(ev.LampSeenWrong(FLOOR, "even")).refused, "this table has no such area"
    t.do(ev.LampSeenWrong(FLOOR, "small"))
    assert t.phase is Phase.OUT_OF_SERVICE
    assert t.state.faults == {FaultKind.LAMP}
    assert do.DarkenLamps in t.commands


def test_the_walk_lights_each_lamp_for_a_time_that_a_person_can_follow():
    t = walking()
    walk = t.last_of(do.ProveEachLamp)
    assert walk.areas == t.rules.areas
    assert walk.dwell_s >= 0.5
    assert t.rules.seconds(Timer.EACH_LAMP) > len(walk.areas) * walk.dwell_s


def test_a_cycle_that_the_person_saw_not_to_be_tossed_restarts_the_count():
    t = Playing().locked().lamps_inspected().cycled().cycled()
    assert t.cycled(tossed=False).state.good == 0
    assert t.phase is Phase.CYCLE_AWAITED
    t.cycled(tossed=False).cycled(tossed=False)
    assert t.phase is Phase.OUT_OF_SERVICE
    assert t.state.faults == {FaultKind.SHAKER}


# ── Persons and the signature ───────────────────────────────────────────────


def test_a_signature_ages_and_an_inspection_is_due_then():
    t = Playing(signature_h=8.0).inspected().do(ev.OpenRequested(FLOOR))
    t.now += timedelta(hours=8)
    t.clock()
    assert t.phase is Phase.INSPECTION_DUE
    assert t.state.signed_by is None
    t = Playing(signature_h=8.0).inspected().do(ev.OpenRequested(FLOOR))
    t.now += timedelta(hours=7, minutes=59)
    assert t.clock().phase is Phase.READY
    assert t.state.signed_at is None, "an open table has used its signature"


def test_parts_that_were_inspected_too_long_ago_are_inspected_again():
    t = Playing(signature_h=8.0).locked()
    t.do(ev.InspectionRequested(FLOOR, Part.LAMPS, t.now))
    t.lamps_seen()
    assert t.state.passed == {Part.LAMPS}
    t.now += timedelta(days=28)
    t.do(ev.InspectionRequested(FLOOR, Part.SHAKER, t.now))
    for _ in range(3):
        t.cycled()
    assert (t.phase, t.state.passed) == (Phase.INSPECTION_DUE, {Part.SHAKER})
    t.do(ev.InspectionRequested(FLOOR, Part.LAMPS, t.now))
    t.lamps_seen().do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    assert t.phase is Phase.READY
    assert t.state.inspected_since is None


def test_an_inspection_that_was_begun_too_long_ago_is_not_signed():
    t = Playing(signature_h=8.0).locked().lamps_inspected()
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now + timedelta(hours=8)))
    assert (t.phase, t.state.signed_by) == (Phase.INSPECTION_DUE, None)
    assert t.state.inspected_since is None


def test_the_age_of_a_signature_is_that_of_its_oldest_part():
    t = Playing(signature_h=8.0).locked()
    t.do(ev.InspectionRequested(FLOOR, Part.LAMPS, t.now))
    t.lamps_seen().now += timedelta(hours=5)
    t.do(ev.InspectionRequested(FLOOR, Part.SHAKER, t.now))
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR))
    t.now += timedelta(hours=3)
    assert t.clock().phase is Phase.INSPECTION_DUE


def test_what_was_inspected_by_a_clock_that_ran_ahead_is_inspected_again():
    t = Playing(signature_h=8.0).locked()
    t.do(ev.InspectionRequested(FLOOR, Part.LAMPS, t.now + timedelta(days=30)))
    t.lamps_seen().do(ev.InspectionRequested(FLOOR, Part.SHAKER, t.now))
    assert not t.state.passed


def test_a_signature_that_a_clock_ahead_has_dated_does_not_hold_for_ever():
    t = Playing(signature_h=8.0).inspected().do(ev.OpenRequested(FLOOR))
    t.now -= timedelta(days=30)
    assert t.clock().phase is Phase.INSPECTION_DUE
    t = Playing(signature_h=8.0).inspected().do(ev.OpenRequested(FLOOR))
    t.now -= timedelta(minutes=4)
    assert t.clock().phase is Phase.READY, "a clock that is set by a little"


def test_who_signed_the_opening_does_not_inspect_for_the_shift():
    """Two inspections by two persons (ma 5(a), (b)), in whatever role one of them logs in."""
    t = Playing(profile="ma").inspected(FLOOR).do(ev.OpenRequested(FLOOR)).clock()
    both = Person(f" {FLOOR.name.lower()}", Role.SUPERVISOR)
    assert t.tell(ev.ShiftInspectionRequested(both)).refused
    t.do(ev.ShiftInspectionRequested(SUPERVISOR))


@pytest.mark.parametrize("restarts", [False, True])
def test_settling_by_hand_names_the_multipliers_though_the_displays_went_dark(restarts):
    t = Playing(profile="pa-625b").open().betting().no_more_bets()
    drawn = (Multiplied("double-4", 87),)
    t.do(ev.MultipliersDrawn(t.state.occasion, drawn), ev.MultipliersShown(t.state.occasion))
    t.do(ev.ActivationRequested(DEALER, 1)).tossed().at_rest().read(Verified((1, 4, 4)))
    t.do(ev.LampFault(None, "bulb"), ev.ValuesConfirmed(DEALER, 1, (1, 4, 4)))
    if restarts:
        t.do(ev.Restarted(False, False, False))
        assert t.last_of(do.ShowMultipliers).multipliers == drawn
    t.do(ev.PresenceGiven(FLOOR, 1))
    assert t.last_of(do.Announce).multipliers == drawn
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.last_of(do.RecordRound).multipliers == drawn


# ── The multipliers' displays (625b) ────────────────────────────────────────


def displays_lit() -> Playing:
    """A table with multipliers, whose walk over the lamps was seen."""
    t = Playing(profile="pa-625b").locked().do(ev.InspectionRequested(FLOOR))
    for values in ENTRIES:
        t.lit_for(values).do(ev.LampsSeen(FLOOR), ev.LampsDark(t.state.occasion))
    t.do(ev.WalkRequested(FLOOR))
    return t.do(ev.EachLampProved(t.state.occasion, t.rules.areas), ev.LampsSeen(FLOOR))


def test_every_multiplier_display_is_seen_in_the_opening_inspection():
    t = displays_lit()
    shown = t.last_of(do.ShowMultipliers).multipliers
    ranges, areas = t.rules.profile.multipliers.ranges, t.rules.areas
    assert {(each.area, each.dice) for each in shown} == set(positions(ranges, areas))
    assert lawful(shown, ranges, areas)
    t.do(ev.MultipliersShown(t.state.occasion))
    assert t.last_of(do.Announce).notice is Notice.ODDS_SEEN
    assert t.tell(ev.LampsSeen(ANOTHER)).refused, "who inspects is who looks"
    t.do(ev.LampsSeen(FLOOR))
    assert (t.phase, do.HideMultipliers in t.commands) == (Phase.CYCLE_AWAITED, True)
