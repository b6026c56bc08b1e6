"""People at a table, as they type at their consoles: how it must go, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Correction, Multiplied, Person, Role
from shaker_ctl.view.tests.seated import READ, Seat, Seated
from vision.reading import Unreadable

GLARE = Unreadable.of("glare")
DAN = Person("dan", Role.DEALER, "dan-1")
FAY = Person("fay", Role.FLOORPERSON, "fay-1")
COVERED = {"profile": "md", "cover_fitted": True}


def last(t: Seated, words: str) -> str:
    """The newest announcement that holds these words."""
    return next(said for said in reversed(t.heard) if words in said)


def played(seat: Seat, number: int = 1) -> dict[str, Any]:
    """What `round` shows of it."""
    found: dict[str, Any] = seat.ask(f"round {number}")["round"]  # type: ignore[assignment]
    return found


# ── Who paces the table ─────────────────────────────────────────────────────


def test_at_a_dealer_s_table_every_step_of_a_round_is_the_dealer_s_in_fourteen_keystrokes():
    t = Seated().opened()
    dan, tom = t.dan, t.tom
    keys = []

    def types(key: str) -> None:
        keys.append(f"{key}\r")
        dan.does(key)

    dan.is_refused("activate")
    types("+")
    dan.is_refused("activate")
    types("*")
    tom.is_refused("activate")
    types("/")
    assert not t.lit
    dan.is_refused("settled")
    types("144")
    assert t.lit == t.rules.layout.won(READ)
    for line in ("lamps-off", "bets"):
        dan.is_refused(line)
    types("-")
    assert t.lit, "it stays lit until it is cleared"
    types(".")
    assert not t.lit
    assert len("".join(keys)) == 14
    dan.does("bets")


# ── Interrupted after the toss ──────────────────────────────────────────────


def interrupted(profile: str = "pa-625a", *, flag: bool = False) -> tuple[Seated, Seat]:
    """A table that lost its power while dan was asked for values that nobody could read."""
    t = Seated(profile=profile).opened()
    t.read = GLARE
    dan = t.dan
    t.asked(dan).happens(ev.Restarted(False, False, False, compartment_stayed_locked=flag))
    return t, dan


@pytest.mark.parametrize("flag", [True, False])
def test_who_is_waited_for_after_an_interruption_is_who_the_text_names(flag):
    _, dan = interrupted("ma", flag=flag)
    waits = dan.ask("status")["pending"]
    assert isinstance(waits, dict)
    assert waits["roles"] == (["supervisor"] if flag else ["dealer", "supervisor"])
    assert "floorperson" not in waits["text"]


# ── A wrong entry ───────────────────────────────────────────────────────────


def typed_wrongly(t: Seated) -> None:
    """Nobody could read 1 4 4, and dan typed 1 4 5 twice."""
    t.read = GLARE
    dan = t.dan
    t.asked(dan)
    dan.does("1 4 5")
    assert not t.lit, "typed once lights nothing"
    dan.does("1 4 5")
    assert "pair-4-5" in t.lit


def test_a_typing_error_is_corrected_by_dealer_and_floorperson_and_both_values_stand():
    t = Seated().opened()
    dan, fay = t.dan, t.fay
    typed_wrongly(t)
    fay.is_refused("correct 1 4 4")
    dan.does("correct 1 4 4")
    assert "dan names 1 4 4 in the place of 1 4 5" in str(fay.ask("status")["pending"])
    dan.does("correct 1 4 4")
    t.seat(Role.FLOORPERSON, "Dan").is_refused("correct 1 4 4")
    assert "pair-4-5" in t.lit, "one person corrects nothing"
    fay.is_refused("correct 6 6 6")
    fay.does("correct 1 4 4")
    assert t.lit == t.rules.layout.won(READ)
    dan.is_refused("correct 6 6 6")
    dan.does("settled")
    dan.does("lamps-off")
    assert t.records[-1].values == READ
    assert t.records[-1].correction == Correction((1, 4, 5), DAN, FAY)
    was = {
        "from": "1 4 5",
        "named_by": "dan (dealer, dan-1)",
        "agreed_by": "fay (floorperson, fay-1)",
    }
    assert played(dan)["corrected"] == was
    said = " ".join((dan.type("mode people") + dan.type("status")).split())
    assert "settled: 1 4 4; corrected from 1 4 5 by dan and fay" in said


# ── A manual shaker, and a dead camera ──────────────────────────────────────


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, "dice-removed covered-or-signed"),
        (COVERED, "dice-removed covered-or-signed"),
        ({"profile": "ma"}, "shaker-removed"),
        ({"profile": "pa-539", "as_demonstration": True}, "shaker-removed"),
    ],
    ids=["pa-625a", "md", "ma", "pa-539"],
)
def test_with_a_broken_shaker_people_play_on_by_hand_once_they_have_done_the_text_s_steps(
    settings, steps
):
    t = Seated(**settings)
    if settings is COVERED:
        t.happens(ev.CoverClosed())
    t.fay.does("dice changed A1 A2 A3")
    t.happens(ev.ShakerFault(None, "motor-stall"))
    dan, fay, tom = t.dan, t.fay, t.tom
    words = " ".join(sorted(steps.split()))
    assert f"manual shaker, then: out-of-order {words}" in t.desk.view().next_step
    fay.is_refused("out-of-order dice-removed")
    if "dice-removed" in steps:
        assert "still in it" in fay.is_refused(f"out-of-order {steps}")
        t.happens(ev.CompartmentOpened())
    fay.does(f"out-of-order {steps}")
    fay.does("dice changed M1 M2 M3")
    t.inspected(fay)
    fay.does("open")
    assert "manual shaker" in str(dan.ask("status")["marks"])
    dan.does("bets")
    dan.does("nmb")
    assert last(t, "shaken three times at least")
    dan.does("144")
    assert not t.lit
    dan.does("144")
    assert t.lit == t.rules.layout.won(READ)
    dan.does("settled")
    dan.does("lamps-off")
    assert t.records[-1].manual_shaker
    tom.is_refused("shaker back")
    fay.does("close")
    tom.does("shaker back")
    assert t.state.phase is Phase.OUT_OF_SERVICE


# ── Multipliers ─────────────────────────────────────────────────────────────

SUPER = {"profile": "pa-625b", "as_demonstration": True}


def test_multipliers_are_told_to_who_pays_though_the_lamps_have_failed():
    t = Seated(**SUPER).opened()
    t.odds = (Multiplied("double-4", 87), Multiplied("one-4", 19, 2))
    dan, fay = t.dan, t.fay
    t.asked(dan)
    t.is_lamp_broken = True
    dan.does("144")
    assert not t.lit
    odds = "double-4 87 to 1, one-4 on 2 dice 19 to 1"
    fay.does("presence")
    told = last(t, "Settle by hand")
    assert odds in told
    assert "double-4" in told.partition("Winning areas: ")[2]
    assert odds in str(dan.ask("status")["says"])
    assert played(dan)["multipliers"] == odds
    dan.does("settled")
    assert t.records[-1].multipliers == t.odds
    assert played(dan)["multipliers"] == odds


# ── Smaller ─────────────────────────────────────────────────────────────────


def test_multipliers_that_were_not_proved_to_be_shown_stand_in_no_round():
    t = Seated(**SUPER).opened()
    t.odds, t.are_odds_shown = (Multiplied("double-4", 87),), False
    dan = t.dan
    t.asked(dan)
    dan.does("144")
    assert "multipliers" not in played(dan)
    assert last(t, "No multipliers are in force")


def test_a_text_ends_at_midnight_where_it_holds_and_not_at_an_earlier_one_in_greenwich():
    t = Seated(profile="pa-625b")
    t.now = datetime(2026, 8, 5, 3, 0, tzinfo=UTC)
    fay, dan = t.fay, t.dan
    fay.does("dice changed A1 A2 A3")
    t.inspected(fay)
    fay.does("open")
    dan.does("bets")
    for line in ("nmb", "activate", "144", "settled", "lamps-off"):
        dan.does(line)
    t.now += timedelta(hours=1)
    assert "since the end of 2026-08-04" in dan.is_refused("bets")


def test_a_refusal_says_in_plain_words_what_stands_in_the_way():
    dan = Seated(**COVERED).opened().dan
    dan.does("bets")
    dan.does("activate")
    assert (
        dan.is_refused("reveal")
        == "reveal: not now. Tossed and settled under the cover; bets are open. "
        "Next: dealer: nmb (key *)."
    )
    sue = Seated(profile="ma").opened().sue
    assert sue.is_refused("inspect shift") == (
        "inspect shift: the shift inspection is not due. Next: dealer: bets (key +)."
    )
