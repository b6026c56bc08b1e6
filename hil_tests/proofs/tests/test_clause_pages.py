"""Every clause of every text leads to its rows and to tests that exist, and back."""

from __future__ import annotations

import pytest

from hil_tests.proofs import clause_pages
from shaker_ctl.rules import clauses
from shaker_ctl.rules.clauses import TEXTS, Kept

WHOLE = ("ch. ", "title page", "40 Pa.B.", "49 Pa.B.", "order (2)", "4 Pa.C.S.")
"""Citations of a text as a whole, or of what put it in force."""


@pytest.mark.parametrize("text", TEXTS)
def test_the_page_of_a_text_is_what_its_clauses_rows_and_tests_say_now(text: str) -> None:
    kept = (clause_pages.PAGES / f"{text}.md").read_text(encoding="utf-8")
    assert kept == clause_pages.page(text), "run: python -m hil_tests.proofs.clause_pages"


@pytest.mark.parametrize("text", TEXTS)
def test_every_clause_that_is_kept_names_tests_that_there_are(text: str) -> None:
    for name, clause in clauses.clauses(text).items():
        unknown = set(clause.tests) - set(clause_pages.tests())
        assert not unknown, (name, unknown)
        if clause.verdict in (Kept.ENFORCED, Kept.PERSON):
            assert clause.tests, f"{name} is {clause.verdict.value}, and no test shows it"


@pytest.mark.parametrize("text", TEXTS)
def test_the_profile_cites_clauses_that_the_text_has(text: str) -> None:
    names = set(clauses.clauses(text))
    if text == "pa-625b":
        names |= set(clauses.clauses("pa-625a"))
    for key, citation in clause_pages.citations(text):
        for name in clauses.cited(citation, names):
            section = any(each.startswith((f"{name}(", f"{name}.")) for each in names)
            assert name in names or section or name.startswith(WHOLE), (key, citation)


def test_a_citation_goes_on_from_the_clause_before_it() -> None:
    names = set(clauses.clauses("pa-625a")) | set(clauses.clauses("md"))
    assert list(clauses.cited("625a.5(b)(2), (c)", names)) == ["625a.5(b)(2)", "625a.5(c)"]
    assert list(clauses.cited("625a.3(6), (7)", names)) == ["625a.3(6)", "625a.3(7)"]
    assert list(clauses.cited("5.B(2), 5.C", names)) == ["5.B(2)", "5.C"]
    assert list(clauses.cited("1.D(1)(a), (b)", names)) == ["1.D(1)(a)", "1.D(1)(b)"]
    assert list(clauses.cited("title page", names)) == ["title page"]


@pytest.mark.parametrize(
    ("clause", "row", "test"),
    [
        ("625a.5(g)", "activated by the player", "test_a_table_plays_a_round_with_its_dealer"),
        ("625a.7(a)", "no roll called", "test_no_roll_says_what_happens_to_the_wagers"),
        ("625a.5(f)", "paid: clear", "test_a_table_plays_a_round_with_its_dealer"),
    ],
)
def test_a_clause_stands_in_one_line_with_its_row_and_its_test(clause, row, test) -> None:
    lines = clause_pages.page("pa-625a").splitlines()
    (line,) = [each for each in lines if each.startswith(f"| {clause} |")]
    assert row in line
    assert test in line
