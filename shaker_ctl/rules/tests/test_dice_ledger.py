"""Which dice are locked in, since when, and on whose word."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.effects import REMEMBERED_DICE
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import (
    DEALER,
    FLOOR,
    NOON,
    PLAN,
    SUPERVISOR,
    TECHNICIAN,
    Playing,
)
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    DiceNamed,
    DiceSet,
    Ending,
    Notice,
    Part,
    Person,
    RetireStep,
    Role,
    TimeTrust,
)

OTHERS = ("4", "5", "6")


def notices(t: Playing) -> list[Notice]:
    return [each.notice for each in t.last.commands if isinstance(each, do.Announce)]


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


def test_the_first_dice_of_a_new_table_need_no_opening():
    t = Playing().do(ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now))


def test_dice_that_are_first_recorded_after_an_inspection_make_another_one_due():
    t = Playing().do(ev.Restarted(False, False, False)).lamps_inspected()
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now), ev.DiceChanged(FLOOR, OTHERS, t.now))
    assert t.phase is Phase.INSPECTION_DUE


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


@pytest.mark.parametrize("serials", [(), ("4", "5"), ("4", "4", "5"), ("4", "5", "6", "7")])
def test_serials_are_put_right_to_three_different_ones_only(serials):
    t = Playing().locked()
    for person in (FLOOR, SUPERVISOR):
        assert t.tell(ev.DiceCorrected(person, serials)).refused


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


def test_a_table_in_doubt_about_its_dice_opens_for_nobody():
    t = Playing().locked()
    opened_and_closed(t).lamps_inspected()
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    assert (t.phase, t.state.barred) == (Phase.INSPECTED, Barrier.DICE_IN_DOUBT)


def test_a_dealer_does_not_say_which_dice_are_in_it():
    t = opened_and_closed(Playing().locked())
    assert t.tell(ev.DiceKept(DEALER)).refused
    assert t.tell(ev.DiceChanged(DEALER, OTHERS, t.now)).refused


def test_an_opening_without_power_shows_where_the_lid_s_flag_has_fallen():
    t = Playing().locked().do(ev.Restarted(True, False, False), ev.CompartmentClosed())
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now))
    shut = Playing().locked().do(ev.Restarted(False, False, False, compartment_stayed_locked=True))
    assert shut.tell(ev.DiceChanged(FLOOR, OTHERS, shut.now)).refused, "open and close it first"


def test_without_the_lid_s_flag_an_outage_leaves_the_dice_in_doubt():
    t = Playing().inspected().do(ev.Restarted(False, False, False))
    assert t.state.dice_in_doubt
    assert t.last_of(do.Announce).notice is not Notice.SAME_DICE, "what is due comes first"
    assert Notice.SAME_DICE in notices(t)
    t.do(ev.DiceKept(FLOOR))
    stands = Playing().inspected().do(ev.Restarted(False, False, False, True))
    assert not stands.state.dice_in_doubt
    assert Notice.SAME_DICE not in notices(stands)


def test_an_outage_in_a_round_is_asked_about_after_it():
    t = Playing().open().lit().do(ev.Restarted(False, False, False))
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)), ev.WagersSettled(DEALER, 1))
    t.do(ev.LampsOffRequested(DEALER, 1), ev.LampsDark(t.state.occasion))
    assert (t.phase, t.state.dice_in_doubt) == (Phase.INSPECTION_DUE, True)
    assert Notice.SAME_DICE in notices(t)


def test_a_manual_shaker_s_dice_are_none_of_the_outage_s():
    t = Playing().locked().do(ev.OutOfServiceRequested(FLOOR), ev.CompartmentOpened())
    t.do(ev.ShakerRetired(FLOOR, frozenset(RetireStep)), ev.Restarted(False, False, False))
    assert not t.state.dice_in_doubt


def test_what_one_person_named_before_an_outage_is_named_no_longer():
    t = opened_and_closed(Playing(dice_by_two=True).do(ev.Restarted(False, False, False)))
    t.do(ev.DiceChanged(FLOOR, OTHERS, t.now), ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(SUPERVISOR, OTHERS, t.now))
    assert t.state.dice is None


def test_dice_are_recorded_with_the_lid_shut_on_a_new_table_too():
    t = Playing().do(ev.Restarted(True, False, False))
    assert t.tell(ev.DiceChanged(FLOOR, OTHERS, t.now)).refused, "it is open"
    t.do(ev.CompartmentClosed(), ev.DiceChanged(FLOOR, OTHERS, t.now))
    back = Playing().locked().do(ev.OutOfServiceRequested(FLOOR), ev.CompartmentOpened())
    back.do(ev.ShakerRetired(FLOOR, frozenset(RetireStep)), ev.ShakerRestored(TECHNICIAN))
    assert back.tell(ev.DiceChanged(FLOOR, OTHERS, back.now)).refused, "it is open"
    back.do(ev.CompartmentClosed(), ev.DiceChanged(FLOOR, OTHERS, back.now))


def test_dice_in_doubt_that_were_inspected_and_signed_are_said_to_be_the_same():
    t = Playing().locked()
    opened_and_closed(t).lamps_inspected()
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    assert t.state.barred is Barrier.DICE_IN_DOUBT
    t.do(ev.DiceKept(TECHNICIAN))
    assert t.phase is Phase.INSPECTED
    assert t.do(ev.OpenRequested(FLOOR)).clock().phase is Phase.READY


def test_where_two_name_other_dice_two_say_that_they_are_the_same():
    t = Playing(dice_by_two=True).do(ev.Restarted(False, False, False))
    t.do(*(ev.DiceChanged(who, ("1", "2", "3"), t.now) for who in (FLOOR, SUPERVISOR)))
    opened_and_closed(t).do(ev.DiceKept(TECHNICIAN))
    assert t.last_of(do.Announce).notice is Notice.DICE_NAMED
    t.do(ev.DiceKept(TECHNICIAN), ev.DiceKept(Person("TESS ", Role.FLOORPERSON)))
    assert t.state.dice_in_doubt, "one person alone"
    assert not t.do(ev.DiceKept(FLOOR)).state.dice_in_doubt
    assert t.state.dice_named is None


@pytest.mark.parametrize("serials", [("4", "a1", "A1 "), ("4", "5", " b1"), ("4", "B1", "6")])
def test_a_serial_in_another_spelling_is_the_same_die(serials):
    t = Playing().do(ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(FLOOR, ("b1", "b2", "b3"), t.now))
    assert opened_and_closed(t).tell(ev.DiceChanged(FLOOR, serials, t.now)).refused


def test_an_opening_in_a_round_is_asked_about_after_it():
    t = Playing().open().lit()
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed(), ev.WagersSettled(DEALER, 1))
    t.do(ev.LampsOffRequested(DEALER, 1), ev.LampsDark(t.state.occasion))
    assert t.phase is Phase.INSPECTION_DUE
    t.do(ev.DiceKept(FLOOR))


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


def test_the_pulse_on_the_latch_counts_as_an_opening():
    t = Playing().open().do(ev.LidRequested(FLOOR))
    assert t.state.dice_in_doubt
    assert any(getattr(each, "notice", None) is Notice.SAME_DICE for each in t.last.commands)
    assert not t.tell(ev.DiceChanged(FLOOR, OTHERS, t.now)).refused


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


def test_what_one_person_named_is_forgotten_with_the_next_inspection():
    t = Playing().locked().do(ev.DiceCorrected(FLOOR, OTHERS))
    assert t.state.dice_named is not None
    assert t.do(ev.InspectionRequested(FLOOR, Part.ALL)).state.dice_named is None


def test_what_one_person_named_is_forgotten_with_the_next_round():
    t = Playing().open()
    t.state = t.state.changed({"dice_named": DiceNamed(OTHERS, FLOOR)})
    assert t.betting().state.dice_named is None


def test_who_says_that_the_same_dice_are_in_it_takes_back_the_others_that_were_named():
    t = Playing(dice_by_two=True).do(ev.Restarted(False, False, False))
    t.do(ev.DiceChanged(FLOOR, ("1", "2", "3"), t.now))
    t.do(ev.DiceChanged(SUPERVISOR, ("1", "2", "3"), t.now))
    opened_and_closed(t).do(ev.DiceChanged(FLOOR, OTHERS, t.now), ev.DiceKept(FLOOR))
    t.do(ev.DiceKept(SUPERVISOR))
    opened_and_closed(t).do(ev.DiceChanged(SUPERVISOR, OTHERS, t.now))
    assert t.state.dice == DiceSet(("1", "2", "3"), t.now), "one person has named them"


# ── Shifts ─────────────────────────────────────


def test_each_opening_begins_a_shift():
    t = Playing(profile="ma").open()
    assert not t.state.shift_due
    t.do(ev.CloseRequested(FLOOR), ev.OpenRequested(FLOOR))
    t.lamps_inspected()
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    assert t.state.shift_due
    assert t.tell(ev.BetsRequested(DEALER)).refused
    plain = Playing().open()
    assert not plain.state.shift_due, "no other text inspects at a shift"


def test_a_shift_that_begins_while_an_inspection_awaits_its_signature_has_its_own():
    t = Playing(profile="ma").inspected().do(ev.OpenRequested(FLOOR)).clock()
    t.do(ev.ShiftInspectionRequested(SUPERVISOR))
    for _ in range(3):
        t.cycled(SUPERVISOR)
    t.do(ev.ShiftBegan(None), ev.Signed(SUPERVISOR, t.now))
    assert (t.phase, t.state.shift_due) == (Phase.READY, True)
    assert t.tell(ev.BetsRequested(DEALER)).refused
    t.do(ev.ShiftInspectionRequested(SUPERVISOR))
    for _ in range(3):
        t.cycled(SUPERVISOR)
    assert not t.do(ev.Signed(SUPERVISOR, t.now)).state.shift_due


def test_a_shift_inspection_that_is_given_up_is_due_again_when_the_table_opens():
    t = Playing(profile="ma").inspected().do(ev.OpenRequested(FLOOR)).clock()
    t.do(ev.ShiftInspectionRequested(SUPERVISOR), ev.InspectionAbandoned(FLOOR))
    t.lamps_inspected()
    for _ in range(3):
        t.cycled()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    assert t.state.shift_due


def test_a_shift_begins_at_its_time_of_day_with_nobody_saying_so():
    t = Playing(profile="ma").open().do(ev.ShiftBegan(None))
    assert t.state.shift_due
    assert Playing().open().tell(ev.ShiftBegan(None)).refused
