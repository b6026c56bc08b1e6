"""Rooms that are entered: the product posts every event that is proved, and calls every port."""

from __future__ import annotations

import ast
from pathlib import Path

from hil_tests.proofs.alphabet import alphabet
from hil_tests.proofs.posted import EVENTS, is_posted, posted
from hil_tests.proofs.tables import tables
from shaker_ctl import ports
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.vocabulary import Condition, Purpose


def test_every_event_has_a_poster_outside_of_the_rules() -> None:
    assert not set(EVENTS.values()) - set(posted())


def test_the_exploration_offers_nothing_that_the_product_cannot_post() -> None:
    letters = {event for table in tables() for purpose in Purpose
               for event in alphabet(table, purpose)}  # fmt: skip
    assert [event for event in letters if not is_posted(event)] == []


def test_a_field_that_no_construction_sets_is_not_posted(monkeypatch) -> None:
    monkeypatch.setattr(
        "hil_tests.proofs.posted.posted",
        lambda: {ev.Restarted: frozenset({"compartment_open", "estop_pressed", "cover_closed"})},
    )
    judge = is_posted.__wrapped__
    assert judge(ev.Restarted(True, False, False))
    assert not judge(ev.Restarted(True, False, False, compartment_stayed_locked=True))
    assert not judge(ev.ConditionChanged(Condition.LIGHT))


def test_every_method_of_a_port_has_a_caller_outside_of_the_adapters() -> None:
    """What every adapter has, every contract tests and nobody calls is no part of a port."""
    product = Path(ports.__file__).parent
    promised = {
        act.name
        for port in ast.parse((product / "ports.py").read_text(encoding="utf-8")).body
        if isinstance(port, ast.ClassDef) and "Protocol" in map(ast.unparse, port.bases)
        for act in port.body
        if isinstance(act, ast.FunctionDef)
    }
    used = {
        node.attr
        for path in product.rglob("*.py")
        if not {"adapters", "tests"} & set(path.relative_to(product).parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert len(promised) > 20
    assert promised - used == set()
