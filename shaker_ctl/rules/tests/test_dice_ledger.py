"""Which dice are locked in, since when, and on whose word."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.effects import REMEMBERED_DICE
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, NOON, PLAN, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    DiceSet,
    Ending,
    Notice,
    Part,
    Person,
    Role,
    TimeTrust,
)

OTHERS = ("4", "5", "6")


def opened_and_closed(t: Playing) -> Playing:
    return t.do(ev.CompartmentOpened(), ev.CompartmentClosed())


def test_other_dice_are_taken_after_the_compartment_was_opened_and_closed():
    t = Playing().locked()
    assert t.tell(ev.DiceChanged(FLOOR, OTHERS, t.now)).refused, "it was not opened"
    t.do(ev.CompartmentOpened())
    assert t.tell(ev.DiceChanged(FLOOR, OTHERS, t.now)).refused, "it is open"
    t.do(ev.CompartmentClosed(), ev.DiceChanged(FLOOR, OTHERS, t.now))
    assert t.state.dice == DiceSet(OTHERS, t.now)
    assert t.tell(ev.DiceChanged(FLOOR, ("7", "8", "9"), t.now)).refused, "not opened since"


def test_serials_typed_wrongly_are_put_right_by_two_before_the_dice_are_used():
    t = Playing().locked()
    before, right = t.state.dice, ("8", "1", "2")
    assert before is not None
    t.do(ev.DiceCorrected(FLOOR, right))
    assert t.last_of(do.Announce).notice is Notice.DICE_NAMED
    t.do(ev.DiceCorrected(FLOOR, right))
    assert t.state.dice == before, "one person alone changes nothing"
    t.do(ev.DiceCorrected(SUPERVISOR, right))
    assert t.state.dice == DiceSet(right, before.installed_at), "they have been in since then"
    assert set(t.state.used_dice) == set(right), "nobody locked in what was mistyped"


def test_serials_of_dice_that_were_inspected_or_taken_out_stand():
    t = Playing().locked().do(ev.InspectionRequested(FLOOR, Part.ALL))
    t.do(ev.InspectionAbandoned(FLOOR))
    assert t.tell(ev.DiceCorrected(FLOOR, ("1", "2", "8"))).refused
    opened_and_closed(t)
    assert t.tell(ev.DiceCorrected(FLOOR, ("1", "2", "8"))).refused
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now))
    refused = t.tell(ev.DiceCorrected(FLOOR, ("1", "5", "6"))).refused
    assert refused is not None
    assert "taken out" in refused.reason


@pytest.mark.parametrize(
    "serials", [(), ("4", "5"), ("4", "4", "5"), ("4", "5", "6", "7"), ("1", "5", "6")]
)
@pytest.mark.parametrize("stands", ["shut", "open", "two persons"])
def test_only_three_different_dice_that_were_never_used_are_taken(serials, stands):
    t = Playing(dice_by_two=stands == "two persons")
    t.do(ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(FLOOR, ("1", "2", "3"), t.now))
    t.tell(ev.DiceChanged(SUPERVISOR, ("1", "2", "3"), t.now))
    if stands == "open":
        t.lamps_inspected().cycled().cycled().cycled()
        t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    opened_and_closed(t)
    for person in (FLOOR, SUPERVISOR):
        assert t.tell(ev.DiceChanged(person, serials, t.now)).refused
    assert t.state.dice == DiceSet(("1", "2", "3"), t.now)


def test_dice_that_were_taken_out_stay_out_for_a_month_of_ten_changes_a_day():
    t = Playing().locked()
    for change in range(1, 311):
        fresh = tuple(f"{change}-{die}" for die in "abc")
        opened_and_closed(t).do(ev.DiceChanged(FLOOR, fresh, t.now))
    assert len(t.state.used_dice) == REMEMBERED_DICE
    opened_and_closed(t)
    assert t.tell(ev.DiceChanged(FLOOR, ("1-a", "x", "y"), t.now)).refused
    t.do(ev.DiceChanged(FLOOR, ("1", "2", "3"), t.now))


def test_after_an_opening_somebody_says_whether_the_same_dice_are_in_it():
    t = Playing().inspected()
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed())
    assert t.last_of(do.Announce).notice is Notice.SAME_DICE
    assert t.state.dice_in_doubt
    t.do(ev.DiceKept(FLOOR))
    assert t.state.dice == DiceSet(("1", "2", "3"), NOON - timedelta(hours=1)), "their age goes on"
    assert t.tell(ev.DiceChanged(FLOOR, OTHERS, t.now)).refused, "they were said to be the same"


@pytest.mark.parametrize("serials", [("4", "a1", "A1 "), ("4", "5", " b1"), ("4", "B1", "6")])
def test_a_serial_in_another_spelling_is_the_same_die(serials):
    t = Playing().do(ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(FLOOR, ("b1", "b2", "b3"), t.now))
    assert opened_and_closed(t).tell(ev.DiceChanged(FLOOR, serials, t.now)).refused


def test_dice_from_a_clock_that_stood_ahead_bar_the_round():
    t = Playing().do(ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now + timedelta(days=3650)))
    rules = t.rules
    assert rules.bars(t.now, TimeTrust.RTC, False, t.state.dice) is Barrier.DICE_AHEAD
    opened_and_closed(t).do(ev.DiceChanged(FLOOR, OTHERS, t.now))
    assert t.state.dice == DiceSet(OTHERS, t.now), "the same dice are recorded again"
    opened_and_closed(t)
    assert t.tell(ev.DiceChanged(FLOOR, OTHERS, t.now)).refused, "now their age is known"


def test_dice_that_grow_too_old_while_bets_are_open_are_not_tossed():
    t = Playing(profile="ma").open().betting()
    t.do(ev.NoMoreBetsCalled(DEALER, 1), ev.ActivationRequested(DEALER, 1))
    t.do(ev.TossPlanDrawn(t.state.occasion, PLAN, t.now + timedelta(hours=23)))
    assert t.phase is Phase.WITHOUT_RESULT
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.DICE)


@pytest.mark.parametrize(
    ("profile", "said", "cause"),
    [
        ("ma", {"trust": TimeTrust.NONE}, Cause.CLOCK),
        ("ma", {"behind_last_record": True}, Cause.CLOCK),
        ("ma", {"at": NOON - timedelta(days=40)}, Cause.DICE),
        ("pa-625b", {"at": NOON + timedelta(days=156)}, Cause.CLOCK),
    ],
)
def test_an_untrusted_clock_and_a_text_that_ended_start_no_toss(profile, said, cause):
    t = Playing(profile=profile).open().betting()
    t.do(ev.NoMoreBetsCalled(DEALER, 1))
    if profile == "pa-625b":
        t.do(ev.MultipliersDrawn(t.state.occasion, ()))
    t.do(ev.ActivationRequested(DEALER, 1))
    t.do(ev.TossPlanDrawn(t.state.occasion, PLAN, **{"at": t.now, **said}))
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, cause)


def test_dice_that_two_persons_name_are_as_old_as_the_first_word():
    t = Playing(profile="ma", dice_by_two=True).do(ev.Restarted(False, False, False))
    opened_and_closed(t)
    t.do(ev.DiceChanged(FLOOR, OTHERS, NOON))
    t.do(ev.DiceChanged(SUPERVISOR, OTHERS, NOON + timedelta(hours=20)))
    assert t.state.dice == DiceSet(OTHERS, NOON)


def test_two_persons_name_other_dice_where_the_house_has_two():
    t = opened_and_closed(Playing(dice_by_two=True).do(ev.Restarted(False, False, False)))
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now))
    assert t.state.dice is None
    assert t.last_of(do.Announce).notice is Notice.DICE_NAMED
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now))
    t.do(ev.DiceChanged(Person(" flora", Role.SUPERVISOR), OTHERS, t.now))
    assert t.state.dice is None, "the same person twice is one person"
    t.do(ev.DiceChanged(SUPERVISOR, ("4", "5", "7"), t.now))
    assert t.state.dice is None, "other serials begin anew"
    t.do(ev.DiceChanged(FLOOR, ("7", "5 ", "4"), t.now))
    assert t.state.dice is not None


def test_what_one_person_named_is_forgotten_with_the_next_round():
    t = Playing().open()
    t.state = t.state.changed({"stated": Agreement(About.DICE, FLOOR, OTHERS)})
    assert t.betting().state.stated is None
