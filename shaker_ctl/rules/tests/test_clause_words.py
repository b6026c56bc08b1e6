"""The words of a clause, found in a person's own file of the text."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner, Result

from shaker_ctl.commands.rules import app
from shaker_ctl.errors import RefusedError
from shaker_ctl.rules.clauses.words import words

PENNSYLVANIA = """
CHAPTER 900. KITES

Source

The provisions of this Chapter 900 adopted in May.

- 900.5. Of kites.

§ 900.5. Of kites.

(a) A kite has a tail. It is inspected:

(1) By day, in wind.
  - (i) A strong wind counts twice.

(2) By night.

(b) The line is never cut.

Authority

§ 900.6. Of string.

(a) String is paid by length.
"""
MARYLAND = """
**Chapter 5 - Of Kites.**

- A. A kite has a tail.
- (1) It is long;
  - (a) longer than the line.
- (2) It is red.

B. The line is never cut.

**Chapter 6 - Of String.**

A. String is paid by length.
"""
UNDATED = """
### **1. Kites; string**

A kite has a tail.

### **5. Flying**

- (a) The line is never cut.
- (b) A flyer shall either:
  - (1) Hold it; or
  - (2) Tie it.
"""


@pytest.mark.parametrize(
    ("text", "clause", "told"),
    [
        (PENNSYLVANIA, "900.5(a)(1)(i)", "(i) A strong wind counts twice."),
        (PENNSYLVANIA, "900.5(a)(2)", "(2) By night."),
        (PENNSYLVANIA, "900.5(b)", "(b) The line is never cut."),
        (PENNSYLVANIA, "900.6(a)", "(a) String is paid by length."),
        (PENNSYLVANIA, "900.5(c)", ""),
        (PENNSYLVANIA, "900.7(a)", ""),
        (MARYLAND, "5.A(1)(a)", "(a) longer than the line."),
        (MARYLAND, "5.A(2)", "(2) It is red."),
        (MARYLAND, "5.B", "B. The line is never cut."),
        (MARYLAND, "5.B(1)", ""),
        (UNDATED, "1", "1. Kites; string\nA kite has a tail."),
        (UNDATED, "5(b)(2)", "(2) Tie it."),
        (UNDATED, "5(a)", "(a) The line is never cut."),
        (UNDATED, "title page", ""),
        (PENNSYLVANIA, "ch. 900, Source", "The provisions of this Chapter 900 adopted in May."),
        (PENNSYLVANIA, "ch. 901, Source", ""),
    ],
)
def test_a_clause_is_found_in_each_layout_and_ends_where_the_next_begins(text, clause, told):
    assert words(text, clause) == told


def test_a_clause_holds_its_own_subclauses():
    told = words(PENNSYLVANIA, "900.5(a)").splitlines()
    assert told[0].startswith("(a) A kite")
    assert told[-1] == "(2) By night."


def run(*given: str) -> Result:
    return CliRunner().invoke(app, ["show", *given])


def test_a_clause_is_shown_with_its_duty_and_where_its_words_are():
    shown = run("--text", "625a.5(g)").output
    assert "no more bets" in shown
    assert "enforced" in shown
    assert "58 Pa. Code ch. 625a" in shown
    assert "--from FILE" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("clause", "verdict"),
    [
        ("625a.5(g)", "enforced"),
        ("625a.7(d)", "supported by a person's word"),
        ("625a.1(e)", "the house's business"),
        ("528.6", "not applicable"),
    ],
)
def test_the_verdict_is_worded_as_on_the_pages(clause, verdict):
    assert f"Here: {verdict}." in " ".join(run("--text", clause).output.split())


def test_the_words_come_from_the_file_that_is_named(tmp_path, monkeypatch):
    (tmp_path / "own.txt").write_text("§ 625a.5. Of kites.\n\n(g) Kites fly [/red] high.\n")
    assert "Kites fly [/red] high." in run("--text", "625a.5(g)", "--from", str(tmp_path)).output
    monkeypatch.setenv("SHAKER_CTL_TEXTS", str(tmp_path / "own.txt"))
    assert "Kites fly" in run("--text", "625a.5(g)").output
    other = " ".join(run("--text", "625a.5(f)").output.split())
    assert "does not hold the words of this clause. They stand in 58 Pa. Code ch. 625a" in other
    monkeypatch.setenv("SHAKER_CTL_TEXTS", str(tmp_path / "none.txt"))
    assert isinstance(run("--text", "625a.5(g)").exception, RefusedError)


@pytest.mark.parametrize(
    "given", [("--text", "625a.99"), ("house-auto", "--text", "5(d)"), ()], ids=str
)
def test_what_cannot_be_shown_is_refused_with_a_remedy(given):
    refused = run(*given).exception
    assert isinstance(refused, RefusedError)
    assert refused.remedy
