"""The events that the exploration offers are events that the product can post."""

from __future__ import annotations

from hil_tests.proofs.alphabet import alphabet
from hil_tests.proofs.posted import is_posted, typed
from hil_tests.proofs.tables import tables
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.vocabulary import Condition, Purpose


def test_the_exploration_offers_nothing_that_the_product_cannot_post() -> None:
    letters = {event for table in tables() for purpose in Purpose
               for event in alphabet(table, purpose)}  # fmt: skip
    assert [event for event in letters if not is_posted(event)] == []


def test_the_exploration_offers_what_every_act_of_the_consoles_makes() -> None:
    letters = {type(event) for event in alphabet(tables()[0], Purpose.PLAY)}
    assert typed() - letters == set()


def test_a_field_that_no_construction_sets_is_not_posted(monkeypatch) -> None:
    monkeypatch.setattr(
        "hil_tests.proofs.posted.posted",
        lambda: {ev.Restarted: frozenset({"compartment_open", "estop_pressed", "cover_closed"})},
    )
    judge = is_posted.__wrapped__
    assert judge(ev.Restarted(True, False, False))
    assert not judge(ev.Restarted(True, False, False, compartment_stayed_locked=True))
    assert not judge(ev.ConditionChanged(Condition.LIGHT))
