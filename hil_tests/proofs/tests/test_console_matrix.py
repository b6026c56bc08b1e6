"""Consoles and rules agree on who may act when, and nothing is refused without a reason."""

from __future__ import annotations

import pytest

from hil_tests.proofs import console_matrix
from hil_tests.proofs.console_matrix import ask
from hil_tests.proofs.tables import ExploredTable, tables
from shaker_ctl.console.grammar import FORMS, CommandKind, Form
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.view.allowed_acts import DEVICE_ACTS

ACTS = [form for form in FORMS if form.kind is CommandKind.ACT and form.name not in DEVICE_ACTS]


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_every_act_in_every_phase_and_role_is_taken_or_refused_with_a_reason(
    table: ExploredTable,
) -> None:
    unexplained = [each for each in ask(table.rules) if not each.is_taken and not each.reason]
    assert unexplained == []


@pytest.fixture(scope="module")
def taken() -> set[tuple[str, Role]]:
    return {(a.form.name, a.role) for t in tables() for a in ask(t.rules) if a.is_taken}


@pytest.mark.parametrize("form", ACTS, ids=lambda form: form.name)
def test_no_role_is_promised_an_act_that_the_rules_never_take_from_it(
    taken: set[tuple[str, Role]], form: Form
) -> None:
    assert {role for role in form.roles if (form.name, role) not in taken} == set()


def test_the_page_says_who_gives_an_act_and_which_phases_take_it() -> None:
    page = console_matrix.page([tables()[0]]).splitlines()
    (bets,) = [line for line in page if line.startswith("| `bets` |")]
    assert bets.endswith("| dealer | ready |")
    assert any(line.startswith("| `round N` |") for line in page)
    assert {"| refusal | meaning |", "| fault | cause |"} <= set(page)
