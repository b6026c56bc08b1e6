"""A wrong entry has a way back before wagers are settled; a verified value is never touched."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, TILTED, UNREADABLE, Playing
from shaker_ctl.rules.vocabulary import Correction, Ending, Notice, Person, Role, Source
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


@pytest.mark.parametrize("values", [TYPED, (5, 4, 1), (0, 1, 2)])
def test_what_stands_already_and_what_no_die_shows_is_no_correction(values):
    assert typed_wrongly().tell(ev.CorrectionNamed(DEALER, 1, values)).refused


def test_a_verified_and_confirmed_value_is_never_corrected():
    t = Playing().open().lit(TRUE)
    refused = t.tell(ev.CorrectionNamed(DEALER, 1, (6, 6, 6))).refused
    assert refused is not None
    assert "verified" in refused.reason
    entered = Playing(entry_mode="dealer_entry").open().lit(TRUE)
    assert entered.tell(ev.CorrectionNamed(DEALER, 1, (6, 6, 6))).refused, "the reader agreed"


def test_values_are_corrected_to_no_roll_and_the_lamps_go_dark():
    t = named(typed_wrongly(), None).do(ev.CorrectionAgreed(FLOOR, 1, None))
    assert t.phase is Phase.WITHOUT_RESULT
    assert t.state.ending is Ending.NO_ROLL
    assert do.ClearLamps in t.commands
    t.do(ev.LampsDark(t.state.occasion), ev.WagersSettled(DEALER, 1))
    record = t.last_of(do.RecordRound)
    assert (record.values, record.correction.first) == (None, TYPED)


def test_a_no_roll_called_by_mistake_after_the_reader_saw_one_is_corrected_by_two():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))
    assert named(t).tell(ev.CorrectionAgreed(DEALER, 1, TRUE)).refused
    t.do(ev.CorrectionAgreed(FLOOR, 1, TRUE), ev.LampsShown(t.state.occasion, TRUE))
    t.do(ev.WagersSettled(DEALER, 1), ev.LampsOffRequested(DEALER, 1))
    record = t.do(ev.LampsDark(t.state.occasion)).last_of(do.RecordRound)
    assert (record.values, record.correction) == (TRUE, Correction(None, DEALER, FLOOR))


def test_after_an_outage_a_word_about_the_compartment_is_taken_back():
    t = typed_wrongly().do(ev.Restarted(False, False, False))
    t.do(ev.LampsShown(t.state.occasion, TYPED))
    t.do(*(ev.CompartmentWatched(DEALER, 1, stayed) for stayed in (True, False)))
    t.do(ev.CompartmentWatched(FLOOR, 1, stayed=True))
    assert t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused


# ── Before it is decided: whoever entered against the reading puts it right ──


def test_a_typing_error_against_a_no_roll_is_righted_before_anything_is_lit():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.ValuesEntered(DEALER, 1, TYPED))
    t.do(ev.ValuesEntered(DEALER, 1, TRUE))
    assert (t.phase, t.said) == (Phase.DISPUTED, TRUE)
    assert t.tell(ev.DisputeDecided(FLOOR, 1, TYPED)).refused, "nobody names it any more"
    push = t.do(ev.DisputeDecided(FLOOR, 1, TRUE)).last_of(do.PushLamps)
    assert (push.values, push.corrects) == (TRUE, False)
    pushed = [c for _, s in t.history for c in s.commands if isinstance(c, do.PushLamps)]
    assert [c.values for c in pushed if c.occasion == push.occasion] == [TRUE]


@pytest.mark.parametrize("wrong", [TYPED, None])
def test_an_error_against_a_verified_reading_is_taken_back_by_entering_as_read(wrong):
    t = Playing().open().awaiting_dealer(Verified(TRUE))
    t.do(ev.ValuesEntered(DEALER, 1, wrong) if wrong else ev.NoRollCalled(DEALER, 1))
    t.do(ev.ValuesEntered(DEALER, 1, (4, 1, 4)))
    assert (t.phase, t.state.values, t.state.source) == (Phase.PUSHING, TRUE, Source.CONFIRMED)
    assert t.state.stated is None


def test_only_who_entered_against_the_reading_puts_it_right():
    t = Playing().open().awaiting_dealer(Verified(TRUE)).do(ev.ValuesEntered(DEALER, 1, TYPED))
    other = Person("Dora", Role.DEALER)
    for who in (FLOOR, other):
        assert t.tell(ev.ValuesEntered(who, 1, TRUE)).refused
        assert t.tell(ev.ValuesEntered(who, 1, (2, 2, 2))).refused
        assert t.tell(ev.NoRollCalled(who, 1)).refused


def test_dice_that_no_longer_lie_as_they_fell_are_not_read_again():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.NoRollCalled(DEALER, 1))
    t.do(ev.CompartmentOpened(), ev.CompartmentClosed())
    refused = t.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused
    assert refused is not None
    assert "opened" in refused.reason
    without_power = typed_wrongly().do(ev.Restarted(True, False, False))
    without_power.do(ev.LampsShown(without_power.state.occasion, TYPED))
    assert without_power.tell(ev.CorrectionNamed(DEALER, 1, TRUE)).refused


def test_values_without_a_reading_are_typed_twice():
    t = Playing().open().awaiting_dealer(UNREADABLE).do(ev.ValuesEntered(DEALER, 1, TYPED))
    assert t.phase is Phase.AWAITING_DEALER
    said = t.last_of(do.Announce)
    assert (said.notice, said.values) == (Notice.ENTER_AGAIN, TYPED)
    assert t.do(ev.ValuesEntered(DEALER, 1, (5, 1, 4))).state.values == (5, 1, 4)
