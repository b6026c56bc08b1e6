"""A wrong entry has a way back before wagers are settled; a verified value is never touched."""

from __future__ import annotations

from typing import Any

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, SUPERVISOR, TILTED, UNREADABLE, Playing
from shaker_ctl.rules.vocabulary import (
    Correction,
    Ending,
    FaultKind,
    Multiplied,
    Notice,
    Person,
    Role,
    Source,
    Timer,
)
from vision.reading import Verified

TYPED, TRUE = (1, 4, 5), (1, 4, 4)


def typed_wrongly(**settings: object) -> Playing:
    """A round that nobody could read, and the dealer typed 1 4 5 twice for 1 4 4: lit."""
    t = Playing(**settings).open().awaiting_dealer(UNREADABLE)
    t.do(ev.ValuesEntered(DEALER, 1, TYPED), ev.ValuesEntered(DEALER, 1, TYPED))
    return t.do(ev.LampsShown(t.state.occasion, TYPED))


def named(t: Playing, values: tuple[int, int, int] | None = TRUE) -> Playing:
    return t.do(ev.CorrectionNamed(DEALER, 1, values))


def test_dealer_and_floorperson_correct_what_was_typed():
    t = named(typed_wrongly())
    assert t.last_of(do.Announce).notice is Notice.CORRECTION
    t.do(ev.CorrectionAgreed(FLOOR, 1, (4, 4, 1)))
    order = [c for c in t.commands if c in (do.ClearLamps, do.PushLamps)]
    assert order == [do.ClearLamps, do.PushLamps], "first result dark, then the other"
    push = t.last_of(do.PushLamps)
    assert (push.occasion.number, push.corrects) == (1, True)
    t.do(ev.LampsShown(t.state.occasion, push.values)).cleared()
    record = next(s.commands for _, s in t.history if do.RecordRound in map(type, s.commands))
    ended = next(c for c in record if isinstance(c, do.RecordRound))
    assert sorted(ended.values or ()) == sorted(TRUE)
    assert ended.correction == Correction(TYPED, DEALER, FLOOR)
    assert t.state.correction is None


def test_without_a_correction_the_record_names_none():
    t = typed_wrongly().cleared()
    records = [c for _, s in t.history for c in s.commands if isinstance(c, do.RecordRound)]
    assert records[0].correction is None
    assert records[0].values == TYPED


@pytest.mark.parametrize(
    ("who", "values"),
    [
        (DEALER, TRUE),
        (Person(DEALER.name, Role.FLOORPERSON), TRUE),
        (Person(f" {DEALER.name.upper()} ", Role.FLOORPERSON), TRUE),
        (FLOOR, (6, 6, 6)),
        (FLOOR, None),
        (FLOOR, TYPED),
    ],
)
def test_it_takes_another_person_who_repeats_what_the_dealer_named(who, values):
    assert named(typed_wrongly()).tell(ev.CorrectionAgreed(who, 1, values)).refused


def test_the_floorperson_names_nothing_and_agrees_to_nothing_unnamed():
    t = typed_wrongly()
    assert t.tell(ev.CorrectionNamed(FLOOR, 1, TRUE)).refused
    assert t.tell(ev.CorrectionAgreed(FLOOR, 1, TRUE)).refused


@pytest.mark.parametrize("values", [TYPED, (5, 4, 1), (0, 1, 2)])
def test_what_stands_already_and_what_no_die_shows_is_no_correction(values):
    assert typed_wrongly().tell(ev.CorrectionNamed(DEALER, 1, values)).refused


def test_a_round_is_corrected_once():
    t = named(typed_wrongly()).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    t.do(ev.LampsShown(t.state.occasion, TRUE))
    assert t.tell(ev.CorrectionNamed(DEALER, 1, (6, 6, 6))).refused


def test_a_verified_and_confirmed_value_is_never_corrected():
    t = Playing().open().lit(TRUE)
    refused = t.tell(ev.CorrectionNamed(DEALER, 1, (6, 6, 6))).refused
    assert refused is not None
    assert "verified" in refused.reason
    entered = Playing(entry_mode="dealer_entry").open().lit(TRUE)
    assert entered.tell(ev.CorrectionNamed(DEALER, 1, (6, 6, 6))).refused, "the reader agreed"


def test_after_wagers_are_settled_nothing_is_corrected():
    t = named(typed_wrongly()).do(ev.WagersSettled(DEALER, 1))
    assert t.tell(ev.CorrectionAgreed(FLOOR, 1, TRUE)).refused
    assert t.state.named is None


def test_a_decision_in_a_dispute_is_corrected_too():
    t = Playing().open().awaiting_dealer(Verified(TRUE)).do(ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.DisputeDecided(FLOOR, 1, TYPED), ev.LampsShown(t.state.occasion, TYPED))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    assert t.phase is Phase.PUSHING
    assert t.state.source is Source.DECIDED


def test_values_are_corrected_to_no_roll_and_the_lamps_go_dark():
    t = named(typed_wrongly(), None).do(ev.CorrectionAgreed(FLOOR, 1, None))
    assert t.phase is Phase.WITHOUT_RESULT
    assert t.state.ending is Ending.NO_ROLL
    assert do.ClearLamps in t.commands
    t.do(ev.LampsDark(t.state.occasion), ev.WagersSettled(DEALER, 1))
    record = t.last_of(do.RecordRound)
    assert (record.values, record.correction.first) == (None, TYPED)


def test_lamps_that_go_dark_after_the_wagers_were_returned_open_the_next_round():
    t = named(typed_wrongly(), None).do(ev.CorrectionAgreed(FLOOR, 1, None))
    t.do(ev.WagersSettled(DEALER, 1), ev.TimerExpired(Timer.MIN_ROUND, t.state.occasion))
    assert t.tell(ev.BetsRequested(DEALER)).refused
    t.do(ev.LampsDark(t.state.occasion), ev.BetsRequested(DEALER))


def test_a_no_roll_that_was_called_by_mistake_is_corrected_to_values():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.NoRollCalled(DEALER, 1))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    push = t.last_of(do.PushLamps)
    assert not push.corrects, "nothing was lit before"
    assert do.ClearLamps not in t.commands


def test_a_no_roll_called_by_mistake_after_the_reader_saw_one_is_corrected_by_two():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))
    assert named(t).tell(ev.CorrectionAgreed(DEALER, 1, TRUE)).refused
    t.do(ev.CorrectionAgreed(FLOOR, 1, TRUE), ev.LampsShown(t.state.occasion, TRUE))
    t.do(ev.WagersSettled(DEALER, 1), ev.LampsOffRequested(DEALER, 1))
    record = t.do(ev.LampsDark(t.state.occasion)).last_of(do.RecordRound)
    assert (record.values, record.correction) == (TRUE, Correction(None, DEALER, FLOOR))


def test_a_no_roll_that_the_table_called_itself_is_not_corrected():
    t = Playing(entry_mode="auto", approval="letter of 2026-01-15").open().awaiting_dealer(TILTED)
    assert t.phase is Phase.WITHOUT_RESULT
    assert t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused


# ── Before it is decided: whoever entered against the reading puts it right ──


def test_a_typing_error_against_a_no_roll_is_righted_before_anything_is_lit():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.ValuesEntered(DEALER, 1, TRUE))
    assert (t.phase, t.state.entered) == (Phase.DISPUTED, TRUE)
    assert t.tell(ev.DisputeDecided(FLOOR, 1, TYPED)).refused, "nobody names it any more"
    push = t.do(ev.DisputeDecided(FLOOR, 1, TRUE)).last_of(do.PushLamps)
    assert (push.values, push.corrects) == (TRUE, False)
    pushed = [c for _, s in t.history for c in s.commands if isinstance(c, do.PushLamps)]
    assert [c.values for c in pushed if c.occasion == push.occasion] == [TRUE]


def test_values_entered_by_mistake_against_a_no_roll_are_taken_back():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.NoRollCalled(DEALER, 1))
    assert (t.phase, t.state.ending) == (Phase.WITHOUT_RESULT, Ending.NO_ROLL)


@pytest.mark.parametrize("wrong", [TYPED, None])
def test_an_error_against_a_verified_reading_is_taken_back_by_entering_as_read(wrong):
    t = Playing().open().awaiting_dealer(Verified(TRUE))
    t.do(ev.ValuesEntered(DEALER, 1, wrong) if wrong else ev.NoRollCalled(DEALER, 1))
    t.do(ev.ValuesEntered(DEALER, 1, (4, 1, 4)))
    assert (t.phase, t.state.values, t.state.source) == (Phase.PUSHING, TRUE, Source.CONFIRMED)
    assert t.state.enterer is None


def test_only_who_entered_against_the_reading_puts_it_right():
    t = Playing().open().awaiting_dealer(Verified(TRUE)).do(ev.ValuesEntered(DEALER, 1, TYPED))
    other = Person("Dora", Role.DEALER)
    for who in (FLOOR, other):
        assert t.tell(ev.ValuesEntered(who, 1, TRUE)).refused
        assert t.tell(ev.ValuesEntered(who, 1, (2, 2, 2))).refused
        assert t.tell(ev.NoRollCalled(who, 1)).refused


def test_what_is_settled_by_hand_is_corrected_before_it_is_settled():
    t = typed_wrongly().do(ev.LampFault(None, "bulb"))
    assert t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused, "nobody is there to agree"
    t.do(ev.PresenceGiven(SUPERVISOR, 1))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    assert t.phase is Phase.AWAITING_PRESENCE
    assert do.PushLamps not in t.commands
    t.do(ev.PresenceGiven(FLOOR, 1), ev.WagersSettled(DEALER, 1))
    record = t.last_of(do.RecordRound)
    assert (record.ending, record.correction.first) == (Ending.SETTLED_BY_HAND, TYPED)
    assert sorted(record.values) == sorted(TRUE)


def test_a_correction_survives_a_restart():
    t = named(typed_wrongly()).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    t.do(ev.Restarted(False, False, False))
    assert t.last_of(do.PushLamps).corrects
    order = [c for c in t.commands if c in (do.ClearLamps, do.PushLamps)]
    assert order == [do.ClearLamps, do.PushLamps]
    t.do(ev.LampsShown(t.state.occasion, TRUE)).do(ev.WagersSettled(DEALER, 1))


def test_dice_that_no_longer_lie_as_they_fell_are_not_read_again():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.NoRollCalled(DEALER, 1))
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed())
    refused = t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused
    assert refused is not None
    assert "opened" in refused.reason
    without_power = typed_wrongly().do(ev.Restarted(True, False, False))
    without_power.do(ev.LampsShown(without_power.state.occasion, TYPED))
    assert without_power.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused


def test_an_opening_takes_back_what_the_dealer_named():
    t = named(typed_wrongly()).do(ev.CompartmentOpened(), ev.CompartmentClosed())
    assert t.tell(ev.CorrectionAgreed(FLOOR, 1, TRUE)).refused
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.state.values == TYPED


def test_a_power_cut_takes_back_what_the_dealer_named_and_it_is_named_again():
    t = named(typed_wrongly()).do(ev.Restarted(False, False, False, True))
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    assert t.tell(ev.CorrectionAgreed(FLOOR, 1, TRUE)).refused
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))


def test_a_lid_that_is_shut_after_an_outage_proves_nothing_of_how_the_dice_lie():
    t = typed_wrongly().do(ev.Restarted(False, False, False, compartment_stayed_locked=False))
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    refused = t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused
    assert refused is not None
    assert "`in-view`" in refused.reason


def test_after_an_outage_two_who_kept_the_compartment_in_view_put_right_what_was_typed():
    t = typed_wrongly().do(ev.Restarted(False, False, False))
    t.do(ev.LampsShown(t.state.occasion, TYPED), ev.CompartmentWatched(FLOOR, 1, stayed=True))
    assert t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused, "it takes both"
    t.do(ev.CompartmentWatched(DEALER, 1, stayed=True))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    assert t.last_of(do.PushLamps).values == TRUE


def test_after_an_outage_a_word_about_the_compartment_is_taken_back():
    t = typed_wrongly().do(ev.Restarted(False, False, False))
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    t.do(*(ev.CompartmentWatched(DEALER, 1, stayed) for stayed in (True, False)))
    t.do(ev.CompartmentWatched(FLOOR, 1, stayed=True))
    assert t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused


def test_nobody_vouches_for_dice_in_a_compartment_that_was_seen_open():
    t = typed_wrongly().do(ev.CompartmentOpened(), ev.CompartmentClosed())
    t.do(ev.Restarted(False, False, False), ev.LampsShown(t.state.occasion, TYPED))
    for who in (DEALER, FLOOR):
        assert t.tell(ev.CompartmentWatched(who, 1, stayed=True)).refused


def test_who_was_present_at_the_reading_does_not_settle_after_a_correction_either():
    t = Playing().open().settled().do(ev.Restarted(False, False, False, True))
    t.do(ev.PresenceGiven(FLOOR, 1), *2 * [ev.ValuesEntered(DEALER, 1, TYPED)])
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE), ev.LampsShown(t.state.occasion, TRUE))
    assert t.tell(ev.WagersSettled(FLOOR, 1)).refused
    t.do(ev.WagersSettled(DEALER, 1))


ODDS = (Multiplied("triple-3", 300),)


def with_odds(**settings: object) -> Playing:
    t = Playing(profile="pa-625b", **settings).open().betting().no_more_bets()
    return t.do(ev.MultipliersDrawn(t.state.occasion, ODDS), ev.MultipliersShown(t.state.occasion))


def test_multipliers_are_shown_again_where_a_no_roll_is_put_right_after_an_outage():
    t = with_odds().do(ev.ActivationRequested(DEALER, 1)).tossed().at_rest().read(UNREADABLE)
    t.do(ev.NoRollCalled(DEALER, 1), ev.Restarted(False, False, False, True))
    named(t, (3, 3, 3)).do(ev.CorrectionAgreed(FLOOR, 1, (3, 3, 3)))
    assert t.last_of(do.ShowMultipliers).multipliers == ODDS


def test_a_display_that_fails_when_it_is_shown_again_stops_the_table_after_the_round():
    t = with_odds().do(ev.ActivationRequested(DEALER, 1)).tossed().at_rest().read(UNREADABLE)
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, TYPED)], ev.LampsShown(t.state.occasion, TYPED))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    t.do(ev.MultipliersNotShown(t.state.occasion, "bulb"), ev.LampsShown(t.state.occasion, TRUE))
    t.do(ev.WagersSettled(DEALER, 1), ev.LampsOffRequested(DEALER, 1))
    t.do(ev.LampsDark(t.state.occasion))
    assert t.last_of(do.RecordRound).multipliers == ODDS, "players saw them"
    assert t.phase is Phase.OUT_OF_SERVICE
    assert t.state.faults == {FaultKind.CONTROLLER}


def test_two_persons_who_kept_the_lid_in_view_can_correct_what_the_dealer_read():
    t = Playing().open().settled().do(ev.Restarted(False, False, False))
    t.do(*(ev.CompartmentWatched(who, 1, stayed=True) for who in (FLOOR, DEALER)))
    t.do(ev.ValuesEntered(DEALER, 1, TYPED), ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))


def test_no_values_at_all_agree_to_nothing():
    nothing: Any = ()
    for values in (TRUE, None):
        t = named(typed_wrongly(), values)
        assert t.tell(ev.CorrectionAgreed(FLOOR, 1, nothing)).refused
        assert t.phase is Phase.COLLECTING


def test_a_lamp_fault_takes_back_what_the_dealer_named():
    t = named(typed_wrongly()).do(ev.LampFault(None, "bulb"), ev.PresenceGiven(SUPERVISOR, 1))
    assert t.tell(ev.CorrectionAgreed(FLOOR, 1, TRUE)).refused


def test_multipliers_in_force_stay_in_force_over_a_correction():
    t = Playing(profile="pa-625b").open().betting()
    t.do(ev.NoMoreBetsCalled(DEALER, 1))
    odds = (Multiplied("triple-3", 300),)
    t.do(ev.MultipliersDrawn(t.state.occasion, odds), ev.MultipliersShown(t.state.occasion))
    t.do(ev.ActivationRequested(DEALER, 1)).tossed().at_rest().read(UNREADABLE)
    t.do(ev.ValuesEntered(DEALER, 1, TYPED), ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    named(t).do(ev.CorrectionAgreed(FLOOR, 1, TRUE))
    shown = [c for c in t.commands if c in (do.ClearLamps, do.ShowMultipliers, do.PushLamps)]
    assert shown == [do.ClearLamps, do.ShowMultipliers, do.PushLamps]


# ── Typed twice ─────────────────────────────────────────────────────────────


def test_values_without_a_reading_are_typed_twice():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.ValuesEntered(DEALER, 1, TYPED))
    assert t.phase is Phase.AWAITING_DEALER
    said = t.last_of(do.Announce)
    assert (said.notice, said.values) == (Notice.ENTER_AGAIN, TYPED)
    assert t.do(ev.ValuesEntered(DEALER, 1, (5, 1, 4))).state.values == (5, 1, 4)


def test_what_is_typed_otherwise_the_second_time_counts_as_the_first_time():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.ValuesEntered(DEALER, 1, TYPED))
    assert t.do(ev.ValuesEntered(DEALER, 1, TRUE)).phase is Phase.AWAITING_DEALER
    assert t.do(ev.ValuesEntered(DEALER, 1, TYPED)).phase is Phase.AWAITING_DEALER
    assert t.do(ev.ValuesEntered(DEALER, 1, TYPED)).state.values == TYPED


def test_what_was_typed_before_an_interruption_is_typed_anew():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.Restarted(False, False, False, compartment_stayed_locked=True))
    t.do(ev.PresenceGiven(FLOOR, 1))
    assert t.do(ev.ValuesEntered(DEALER, 1, TYPED)).phase is Phase.AWAITING_DEALER


def test_a_reading_beside_it_is_the_second_witness():
    t = Playing(entry_mode="dealer_entry").open().awaiting_dealer(Verified(TRUE))
    assert t.do(ev.ValuesEntered(DEALER, 1, TRUE)).phase is Phase.PUSHING
