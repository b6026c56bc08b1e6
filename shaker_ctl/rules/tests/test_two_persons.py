"""One person is never both sides of a duty, and a decision is no third reading."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import (
    DEALER,
    FLOOR,
    SUPERVISOR,
    TECHNICIAN,
    TILTED,
    UNREADABLE,
    Playing,
)
from shaker_ctl.rules.vocabulary import Cause, Ending, Notice, Person, Role, Timer
from vision.reading import Verified

READ = Verified((1, 4, 4))


def disputed(enterer: Person = DEALER) -> Playing:
    t = Playing().open().awaiting_dealer(READ)
    return t.do(ev.ValuesEntered(enterer, 1, (1, 4, 5)))


@pytest.mark.parametrize("values", [(1, 4, 4), (4, 1, 4), (1, 4, 5), None])
def test_the_floorperson_decides_for_the_dealer_the_reader_or_no_roll(values):
    assert disputed().do(ev.DisputeDecided(FLOOR, 1, values)).phase in (
        Phase.PUSHING,
        Phase.WITHOUT_RESULT,
    )


def test_a_no_roll_that_nobody_named_is_not_decided_but_void():
    t = disputed().do(ev.DisputeDecided(FLOOR, 1, None))
    assert (t.state.ending, t.state.cause) == (Ending.VOID, Cause.UNDECIDED)
    named_by_dealer = Playing().open().awaiting_dealer(READ).do(ev.NoRollCalled(DEALER, 1))
    named_by_reader = Playing().open().awaiting_dealer(TILTED)
    named_by_reader.do(ev.ValuesEntered(DEALER, 1, (1, 4, 4)))
    for t in (named_by_dealer, named_by_reader):
        t.do(ev.DisputeDecided(FLOOR, 1, None))
        assert (t.state.ending, t.state.cause) == (Ending.NO_ROLL, Cause.NOT_FLAT)


def test_nobody_decides_on_values_that_neither_dealer_nor_reader_named():
    refused = disputed().tell(ev.DisputeDecided(FLOOR, 1, (6, 6, 6))).refused
    assert refused is not None
    assert "neither the dealer nor the reader" in refused.reason


@pytest.mark.parametrize("values", [(1, 4, 4), (1, 4, 5), None])
def test_who_entered_does_not_decide(values):
    t = disputed(FLOOR)
    assert t.tell(ev.DisputeDecided(FLOOR, 1, values)).refused
    assert t.tell(ev.DisputeDecided(Person(FLOOR.name, Role.SUPERVISOR), 1, values)).refused
    t.do(ev.DisputeDecided(SUPERVISOR, 1, values))


def test_who_called_no_roll_against_the_reading_does_not_decide():
    t = Playing().open().awaiting_dealer(READ).do(ev.NoRollCalled(FLOOR, 1))
    assert t.tell(ev.DisputeDecided(FLOOR, 1, None)).refused
    t.do(ev.DisputeDecided(SUPERVISOR, 1, (1, 4, 4)))


def test_after_an_opening_the_dealers_typing_alone_is_not_decided():
    t = disputed().do(ev.CompartmentOpened(), ev.CompartmentClosed())
    refused = t.tell(ev.DisputeDecided(FLOOR, 1, (1, 4, 5))).refused
    assert refused is not None
    assert "opened since the toss" in refused.reason
    assert t.do(ev.DisputeDecided(FLOOR, 1, (4, 1, 4))).phase is Phase.PUSHING, "as pictured"
    none = disputed().do(ev.CompartmentOpened()).do(ev.DisputeDecided(FLOOR, 1, None))
    assert none.phase is Phase.WITHOUT_RESULT


def test_who_entered_and_decides_no_roll_after_an_opening_is_refused_with_a_reason():
    t = disputed(FLOOR).do(ev.CompartmentOpened())
    refused = t.tell(ev.DisputeDecided(FLOOR, 1, None)).refused
    assert refused is not None
    assert "another person does" in refused.reason


def test_after_a_power_cut_the_refusal_speaks_of_the_power():
    t = disputed().do(ev.Restarted(False, False, False))
    refused = t.tell(ev.DisputeDecided(FLOOR, 1, (1, 4, 5))).refused
    assert refused is not None
    assert "the power was lost since the toss" in refused.reason


def test_after_an_opening_a_no_roll_of_the_reader_is_all_that_can_be_decided():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.ValuesEntered(DEALER, 1, (1, 4, 4)))
    t.do(ev.CompartmentOpened(), ev.ValuesEntered(DEALER, 1, (6, 6, 6)))
    assert t.tell(ev.DisputeDecided(FLOOR, 1, (1, 4, 4))).refused
    assert t.tell(ev.DisputeDecided(FLOOR, 1, (6, 6, 6))).refused
    assert t.do(ev.DisputeDecided(FLOOR, 1, None)).phase is Phase.WITHOUT_RESULT


@pytest.mark.parametrize("locked", [True, False])
def test_a_no_roll_that_the_reader_saw_survives_a_power_cut(locked):
    t = Playing().open().awaiting_dealer(TILTED)
    for _ in range(2):
        t.do(ev.Restarted(False, False, False, compartment_stayed_locked=locked))
    if locked:
        t.do(ev.PresenceGiven(FLOOR, 1))
    else:
        t.do(ev.CompartmentWatched(DEALER, 1, True), ev.CompartmentWatched(FLOOR, 1, True))
    assert (t.phase, t.state.reading) == (Phase.AWAITING_DEALER, TILTED)
    t.do(ev.ValuesEntered(DEALER, 1, (6, 6, 6)))
    assert t.phase is Phase.DISPUTED
    t.do(ev.DisputeDecided(SUPERVISOR, 1, None))
    assert (t.state.ending, t.state.reading) == (Ending.NO_ROLL, None)


# ── A cover whose contact is stuck ──────────────────────────────────────────

COVERED = {"profile": "pa-625a", "cover_fitted": True}


def revealing(by: Person = DEALER, **settings: object) -> Playing:
    t = Playing(**{**COVERED, **settings}).open().settled().no_more_bets()
    return t.do(ev.RevealRequested(by, 1))


def reveal_overdue(by: Person = DEALER, **settings: object) -> Playing:
    t = revealing(by, **settings)
    assert t.last_of(do.StartTimer).timer is Timer.COVER
    return t.do(ev.TimerExpired(Timer.COVER, t.state.occasion))


def test_a_double_click_on_reveal_is_no_stuck_contact():
    t = revealing(FLOOR)
    for who in (FLOOR, DEALER, SUPERVISOR):
        refused = t.tell(ev.RevealRequested(who, 1)).refused
        assert refused is not None
        assert "has its time" in refused.reason
    t.do(ev.CoverOpened())
    assert t.phase is Phase.COMING_TO_REST


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("order", [(DEALER, FLOOR), (FLOOR, DEALER)])
def test_dealer_and_floorperson_say_that_the_cover_is_off_and_its_contact_stuck(order, driven):
    t = reveal_overdue(FLOOR, cover_driven=driven)
    assert t.last_of(do.Announce).notice is Notice.REVEAL
    t.do(ev.RevealRequested(order[0], 1))
    assert t.tell(ev.RevealRequested(order[0], 1)).refused, "the same person twice is one person"
    t.do(ev.RevealRequested(order[1], 1))
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 4))])
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)), ev.WagersSettled(DEALER, 1))
    t.do(ev.LampsOffRequested(DEALER, 1), ev.LampsDark(t.state.occasion))
    assert t.phase is Phase.OUT_OF_SERVICE
    assert (t.state.reveal_overdue, t.state.said_first) == (False, None)


def test_one_of_the_two_is_the_dealer_and_they_are_two():
    both_trades = Person(DEALER.name, Role.FLOORPERSON)
    for first, second in ((FLOOR, SUPERVISOR), (DEALER, both_trades), (both_trades, DEALER)):
        t = reveal_overdue().do(ev.RevealRequested(first, 1), ev.RevealRequested(second, 1))
        assert (t.phase, t.state.said_first) == (Phase.REVEALING, second), "they make no pair"
        assert t.tell(ev.RevealRequested(TECHNICIAN, 1)).refused


def test_a_dealer_who_is_slow_to_uncover_is_told_again_and_nothing_is_broken():
    t = reveal_overdue()
    assert t.last_of(do.Announce).notice is Notice.REVEAL
    assert t.tell(ev.TimerExpired(Timer.COVER, t.state.occasion)).refused
    assert not t.state.faults
    t.do(ev.CoverOpened())
    assert (t.phase, t.state.reveal_overdue) == (Phase.COMING_TO_REST, False)
    t.do(ev.CoverClosed())
    assert t.tell(ev.RevealRequested(DEALER, 1)).refused, "the next reveal has its own time"


def test_who_is_slow_to_uncover_in_a_cycle_is_told_again_and_the_inspection_goes_on():
    t = Playing(**COVERED).locked().lamps_inspected().do(ev.CycleRequested(FLOOR)).tossed()
    t.do(ev.TimerExpired(Timer.COVER, t.state.occasion), ev.CoverOpened())
    assert t.phase is Phase.COMING_TO_REST
    assert not t.state.reveal_overdue


@pytest.mark.parametrize("driven", [False, True])
def test_a_contact_that_never_closes_is_no_dead_end(driven):
    t = Playing(**{**COVERED, "cover_driven": driven}).open().betting()
    t.do(ev.ActivationRequested(DEALER, 1))
    assert t.phase is Phase.COVERING
    assert t.tell(ev.OutOfServiceRequested(DEALER)).refused
    t.do(ev.OutOfServiceRequested(FLOOR))
    assert (t.state.ending, t.state.cause) == (Ending.NOT_STARTED, Cause.COVER)
    assert t.do(ev.WagersSettled(DEALER, 1)).phase is Phase.OUT_OF_SERVICE


def test_settling_by_hand_takes_the_one_who_settles_and_the_one_who_is_present():
    t = Playing().open().awaiting_dealer(READ).do(ev.LampFault(None, "bulb"))
    t.do(ev.ValuesConfirmed(DEALER, 1, (1, 4, 4)), ev.PresenceGiven(FLOOR, 1))
    assert t.tell(ev.WagersSettled(FLOOR, 1)).refused
    assert t.do(ev.WagersSettled(DEALER, 1)).phase is Phase.OUT_OF_SERVICE
    assert t.state.witness is None


def test_a_die_that_the_reader_saw_leaning_is_told_to_the_dealer_as_such():
    t = Playing().open().awaiting_dealer(TILTED)
    assert t.last_of(do.Announce).notice is Notice.NOT_FLAT
    t = Playing().open().awaiting_dealer(UNREADABLE)
    assert t.last_of(do.Announce).notice is Notice.ENTER
    by_eye = Playing(entry_mode="dealer_entry").open().awaiting_dealer(TILTED)
    assert by_eye.last_of(do.Announce).notice is Notice.ENTER, "there the reader only checks"


@pytest.mark.parametrize(
    ("second", "is_second"),
    [
        (Person("fay2", Role.SUPERVISOR, "F-1"), False),
        (Person("Fay", Role.SUPERVISOR, "S-1"), False),
        (Person("fay", Role.SUPERVISOR), False),
        (Person("sue", Role.SUPERVISOR, "S-1"), True),
        (Person("sue", Role.SUPERVISOR), True),
    ],
)
def test_two_persons_are_two_numbers_and_not_two_spellings(second, is_second):
    """A record of a version that knew names alone is read by its name."""
    fay = Person("fay", Role.FLOORPERSON, "F-1")
    t = disputed(fay)
    assert (t.tell(ev.DisputeDecided(second, 1, (1, 4, 4))).refused is None) == is_second
