"""One person is never both sides of a duty, and a decision is no third reading."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, SUPERVISOR, TILTED, Playing
from shaker_ctl.rules.vocabulary import Cause, Ending, Person, Role
from vision.reading import Verified

READ = Verified((1, 4, 4))


def disputed(enterer: Person = DEALER) -> Playing:
    t = Playing().open().awaiting_dealer(READ)
    return t.do(ev.ValuesEntered(enterer, 1, (1, 4, 5)))


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


def test_after_an_opening_the_dealers_typing_alone_is_not_decided():
    t = disputed().do(ev.CompartmentOpened(), ev.CompartmentClosed())
    refused = t.tell(ev.DisputeDecided(FLOOR, 1, (1, 4, 5))).refused
    assert refused is not None
    assert "opened since the toss" in refused.reason
    assert t.do(ev.DisputeDecided(FLOOR, 1, (4, 1, 4))).phase is Phase.PUSHING, "as pictured"
    none = disputed().do(ev.CompartmentOpened()).do(ev.DisputeDecided(FLOOR, 1, None))
    assert none.phase is Phase.WITHOUT_RESULT


def test_after_a_power_cut_the_refusal_speaks_of_the_power():
    t = disputed().do(ev.Restarted(False, False, False))
    refused = t.tell(ev.DisputeDecided(FLOOR, 1, (1, 4, 5))).refused
    assert refused is not None
    assert "the power was lost since the toss" in refused.reason


COVERED = {"profile": "pa-625a", "cover_fitted": True}


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
