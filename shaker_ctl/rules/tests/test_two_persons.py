"""One person is never both sides of a duty, and a decision is no third reading."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, SUPERVISOR, TILTED, UNREADABLE, Playing
from shaker_ctl.rules.vocabulary import Notice, Person, Role, Verified

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
