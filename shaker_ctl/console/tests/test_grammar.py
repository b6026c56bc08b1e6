"""A typed line is one command, or a refusal that says why and repeats nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.console import codes, grammar
from shaker_ctl.console.grammar import FORMS, CommandKind, ConsoleRefusal, TypedCommand
from shaker_ctl.rules.vocabulary import RetireStep, Role


def sample(form: grammar.Form) -> str:
    return f"{form.name} {form.samples[0]}".strip()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_command_is_understood_as_written(form: grammar.Form) -> None:
    found = grammar.parse(sample(form))
    assert isinstance(found, TypedCommand)
    assert found.form is form


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("enter 12 3 4 5", {"round": 12, "values": (3, 4, 5)}),
        ("DECIDE 7 NO-ROLL", {"round": 7, "values": None}),
        ("decide 7 1 1 6", {"round": 7, "values": (1, 1, 6)}),
        ("decide 7 116", {"round": 7, "values": (1, 1, 6)}),
        ("inspect enter 6 1 1", {"values": (6, 1, 1)}),
        ("inspect WRONG total-10", {"area": "total-10"}),
        ("inspect not-tossed", {"tossed": False}),
        ("in-view 7 NO", {"round": 7, "stayed": False}),
        ("nmb", {}),
        ("nmb 9", {"round": 9}),
        ("lamp test", {"areas": ()}),
        ("lamp test pair-2-5", {"areas": ("pair-2-5",)}),
        ("light 40", {"level": 0.4}),
        ("dice changed A1, A2, A3", {"serials": ("A1", "A2", "A3")}),
        ("journal last", {"count": 10}),
        ("out-of-order dice-removed", {"steps": frozenset({RetireStep.DICE_REMOVED})}),
        ("jog 300 2.5", {"rpm": 300.0, "seconds": 2.5}),
    ],
)
def test_arguments_mean_what_they_say(line: str, arguments: dict[str, object]) -> None:
    found = grammar.parse(line)
    assert isinstance(found, TypedCommand)
    assert found.arguments == arguments


@pytest.mark.parametrize(
    "line",
    [
        "enter 12 3 4",
        "enter 12 0 4 5",
        "enter 12 7 4 5",
        "enter 0 1 1 1",
        "enter ١ 1 1 1",
        "enter 3 4",
        "enter 0 3 4 5",
        "jog 5000 1",
        "jog 300 1e3",
        "jog 300 nan",
        "jog -300 1",
        "light 101",
        "dice changed A A A",
        "lamp test pair_5",
        "inspect",
        "inspect enter 6 1",
        "inspect enter 6 1 7",
        "inspect wrong",
        "inspect wrong 7",
        "inspect seen all",
        "in-view 7",
        "in-view 7 maybe",
        "round",
        "status now",
        "login dealer",
        "login king dan",
        "login dealer dan secret",
        "journal last 100000",
        "out-of-order quickly",
        "fault clear $(reboot)",
    ],
)
def test_wrong_arguments_are_refused_with_the_usage(line: str) -> None:
    found = grammar.parse(line)
    assert isinstance(found, ConsoleRefusal)
    assert found.code == codes.SYNTAX
    assert "secret" not in found.text


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("fau", "faults"),
        ("cam", "camera"),
        ("cam sn", "camera snap"),
        ("j l 5", "journal last"),
        ("?", "help"),
        ("st", "status"),
        ("quit", "logout"),
        ("LAMPS", "lamps"),
    ],
)
def test_looks_may_be_abbreviated_while_they_are_unique(typed: str, name: str) -> None:
    found = grammar.parse(typed)
    assert isinstance(found, TypedCommand)
    assert found.form.name == name


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("sta", codes.AMBIGUOUS, "this may be status, statistics"),
        ("inspect", codes.SYNTAX, "inspect, and one of: all, lamps, shaker, shift, enter A B C"),
        ("journal last 1 2", codes.SYNTAX, "journal last [N]: at most one N may follow"),
        ("nmb 1 2", codes.SYNTAX, "nmb [ROUND]: at most one ROUND may follow"),
        ("lamp test small big", codes.SYNTAX, "lamp test [AREA]: at most one AREA may follow"),
    ],
)
def test_a_refusal_says_what_a_line_may_be(line: str, code: str, text: str) -> None:
    found = grammar.parse(line)
    assert isinstance(found, ConsoleRefusal)
    assert found.code == code
    assert found.text.startswith(text)


@pytest.mark.parametrize(
    "form", [f for f in FORMS if f.kind is CommandKind.ACT], ids=lambda f: f.name
)
def test_an_act_is_never_taken_from_an_abbreviation(form: grammar.Form) -> None:
    rest = sample(form)[len(form.name) :]
    for cut in range(1, len(form.name)):
        found = grammar.parse(form.name[:cut] + rest)
        assert (
            not isinstance(found, TypedCommand)
            or found.form.kind is not CommandKind.ACT
            or (found.form.name == form.name[:cut].strip())
        )


@given(st.text(max_size=300))
def test_only_an_empty_line_means_nothing(text: str) -> None:
    assert (grammar.parse(text) is None) == (not text.split())


@given(st.text(alphabet=st.characters(categories=("L", "N")), min_size=12, max_size=40))
def test_a_refusal_repeats_nothing_that_was_typed(word: str) -> None:
    for line in (word, f"logout {word}", f"fault clear {word} {word}", f"login dealer a {word}"):
        found = grammar.parse(line)
        assert isinstance(found, ConsoleRefusal)
        assert word not in found.text


def test_completion_offers_what_this_role_may_say() -> None:
    dealer = frozenset({Role.DEALER})
    assert grammar.complete("be", dealer) == ["bets"]
    assert grammar.complete("be", frozenset()) == []
    assert grammar.complete("journal ", dealer) == ["last"]
    assert grammar.complete("help ca", dealer) == ["camera"]


def test_every_line_of_help_and_every_command_fits_the_limit() -> None:
    longest = "dice corrected " + " ".join(letter * 32 for letter in "abc")
    assert len(longest) < grammar.MAX_LINE


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("+", "bets"),
        ("*", "nmb"),
        ("/", "activate"),
        ("//", "reveal"),
        ("000", "no-roll"),
        ("-", "settled"),
        (".", "lamps-off"),
    ],
)
def test_a_key_of_the_number_pad_is_one_act_of_the_dealer_and_names_no_round(
    typed: str, meant: str
) -> None:
    found = grammar.parse(typed)
    assert isinstance(found, TypedCommand)
    assert (found.form.name, dict(found.arguments)) == (meant, {})
    assert found.form.roles == {Role.DEALER}


@pytest.mark.parametrize("typed", ["346", "3 4 6", "enter 346", "enter 3 4 6"])
def test_three_values_alone_are_entered(typed: str) -> None:
    found = grammar.parse(typed)
    assert isinstance(found, TypedCommand)
    assert (found.form.name, dict(found.arguments)) == ("enter", {"values": (3, 4, 6)})


@pytest.mark.parametrize("typed", ["347", "34", "3466", "0", "++", "+ 1", "3 4", "7 346"])
def test_what_is_no_key_and_no_three_values_is_no_command(typed: str) -> None:
    assert isinstance(grammar.parse(typed), ConsoleRefusal)
