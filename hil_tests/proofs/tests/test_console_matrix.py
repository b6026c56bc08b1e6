"""Consoles and rules agree on who may act when, and nothing is refused without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from hil_tests.proofs import console_matrix
from hil_tests.proofs.console_matrix import NO_EVENT, ask
from hil_tests.proofs.tables import ExploredTable, tables
from shaker_ctl import console
from shaker_ctl.console.grammar import FORMS, CommandKind, Form
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.tests.console_tables import README, filled

PAGE = Path(console.__file__).with_name("MATRIX.md")
ACTS = [form for form in FORMS if form.kind is CommandKind.ACT and form.name not in NO_EVENT]


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


def test_the_page_of_the_matrix_is_what_the_rules_say_today() -> None:
    remedy = f"run: python -m hil_tests.proofs.console_matrix > {PAGE.name}, in its folder"
    assert PAGE.read_text() == console_matrix.page(), remedy


def test_the_tables_of_the_readme_are_what_the_code_says_today() -> None:
    page = README.read_text()
    assert page == filled(page), "run: python -m shaker_ctl.tests.console_tables"
