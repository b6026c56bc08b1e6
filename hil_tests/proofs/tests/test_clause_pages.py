"""Every clause of every text leads to its rows and to tests that exist, and back."""

from __future__ import annotations

import pytest

from hil_tests.proofs import clause_pages
from hil_tests.proofs.citations import PROVED, changes
from hil_tests.proofs.properties import PROPERTIES
from shaker_ctl.rules import clauses
from shaker_ctl.rules.clauses import TEXTS, Kept
from shaker_ctl.rules.machine import MACHINE, ROWS
from shaker_ctl.rules.profile_files import load

WHOLE = ("ch. ", "title page", "40 Pa.B.", "49 Pa.B.", "4 Pa.C.S.")
"""Citations of a text as a whole, or of what put it in force."""


@pytest.mark.parametrize("text", TEXTS)
def test_every_clause_that_is_kept_names_tests_that_there_are(text: str) -> None:
    for name, clause in clause_pages.kept(text).items():
        unknown = set(clause.tests) - {*clause_pages.tests(), clause_pages.THE_PROOF}
        assert not unknown, (name, unknown)
        if clause.verdict in (Kept.ENFORCED, Kept.PERSON):
            assert clause.tests, f"{name} is {clause.verdict.value}, and no test shows it"


def test_each_key_that_a_row_cites_is_shown_by_something() -> None:
    """Whoever adds a row or a key runs `python -m hil_tests.proofs.citations`."""
    shown = clause_pages.shown_by()
    assert {key for row in ROWS for key in row.may_cite} <= set(shown)
    properties = {PROVED + one.name for one in PROPERTIES}
    for key, names in shown.items():
        unknown = {*names} - {*clause_pages.tests()} - properties
        assert all(each.startswith((f"{PROVED}crash", f"{PROVED}stuck")) for each in unknown), key


def test_a_duty_is_taken_away_and_given_back() -> None:
    by_name = {each.name: each for each in changes()}
    assert len(by_name) > 900
    with by_name["the dealer clears: deleted"].made():
        assert len(MACHINE.rows) == len(ROWS) - 1
    assert MACHINE.rows == ROWS
    cover = load("md").cover.drive.value
    with by_name["cover.drive: another value"].made():
        assert load("md").cover.drive.value is not cover
    assert load("md").cover.drive.value is cover


@pytest.mark.parametrize("text", TEXTS)
def test_the_profile_cites_clauses_that_the_text_has(text: str) -> None:
    names = set(clauses.clauses(text))
    if text == "pa-625b":
        names |= set(clauses.clauses("pa-625a"))
    for key, citation in clause_pages.citations(text):
        for name in clauses.cited(citation, names):
            section = any(each.startswith((f"{name}(", f"{name}.")) for each in names)
            assert name in names or section or name.startswith(WHOLE), (key, citation)


@pytest.mark.parametrize("text", TEXTS)
def test_no_clause_is_left_out_between_two_others_or_above_one(text: str) -> None:
    """What stands after the last clause of a section only the text itself can tell."""
    names = set(clauses.clauses(text))
    for name in names:
        above, number = clauses.parent(name), name[name.rfind("(") + 1 : -1]
        if not above or name.startswith(("order", "finding", "ch. ")):
            continue
        assert above in names or above.split(".")[0] in WITHOUT_LEAD, above
        if number not in ("1", "a", "i") and name != "539.1(f)":  # the text has no 539.1(e)
            assert f"{above}({_before(number)})" in names, name


WITHOUT_LEAD = ("1", "2", "3", "4", "5", "6", "521", "528", "539", "625a", "625b")
"""Sections that begin with their first clause; below a clause nothing is without one."""


def _before(number: str) -> str:
    romans = ["", "i", "ii", "iii", "iv", "v"]
    if number in romans:
        return romans[romans.index(number) - 1]
    return str(int(number) - 1) if number.isdecimal() else chr(ord(number) - 1)


def test_a_citation_goes_on_from_the_clause_before_it() -> None:
    names = set(clauses.clauses("pa-625a")) | set(clauses.clauses("md"))
    assert list(clauses.cited("625a.5(b)(2), (c)", names)) == ["625a.5(b)(2)", "625a.5(c)"]
    assert list(clauses.cited("625a.3(6), (7)", names)) == ["625a.3(6)", "625a.3(7)"]
    assert list(clauses.cited("5.B(2), 5.C", names)) == ["5.B(2)", "5.C"]
    assert list(clauses.cited("1.D(1)(a), (b)", names)) == ["1.D(1)(a)", "1.D(1)(b)"]
    assert list(clauses.cited("title page", names)) == ["title page"]


@pytest.mark.parametrize(
    ("clause", "key"),
    [
        ("625a.5(g)", "activation.by_player"),
        ("625a.7(a)", "no_roll.wagers"),
        ("625a.5(f)", "settling.clear"),
    ],
)
def test_a_clause_stands_in_one_line_with_its_key_and_all_that_shows_it(clause, key) -> None:
    lines = clause_pages.page("pa-625a").splitlines()
    (line,) = [each for each in lines if each.startswith(f"- **{clause}** ")]
    assert f"`{key}`" in line
    tests = [each for each in clause_pages.shown_by()[key] if not each.startswith(PROVED)]
    assert tests
    assert all(f"::{each}`" in line for each in tests)


def test_neighbours_stand_together_only_if_they_are_kept_alike() -> None:
    def clause(who: str, verdict: Kept, *shown: str) -> clauses.Clause:
        return clauses.Clause(duty="a duty", who=who, verdict=verdict, tests=shown)

    told = {
        **{name: clause("the house", Kept.HOUSE) for name in ("1", "2")},
        "3": clause("the Board", Kept.HOUSE),
        "4": clause("the Board", Kept.NOT_APPLICABLE),
        "5": clause("owners", Kept.NOT_APPLICABLE),
        "6": clause("the machine", Kept.ENFORCED, "test_odds"),
        "7": clause("the machine", Kept.ENFORCED, "test_odds"),
        "8": clause("the machine", Kept.ENFORCED, "test_odds"),
        "9": clause("the machine", Kept.ENFORCED, "test_other"),
    }
    resting = {name: ["payout.tables.A." + name] for name in told} | {"8": ["no_roll.told"]}
    together = clause_pages.runs(told, resting)
    assert together == [["1", "2"], ["3"], ["4", "5"], ["6", "7"], ["8"], ["9"]]
