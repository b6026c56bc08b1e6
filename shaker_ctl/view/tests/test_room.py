"""What the room reads: the round in hand, and nothing that only staff may know."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.commands import RecordRound
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.regulation import NmbBefore
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    Ending,
    Multiplied,
    Person,
    Purpose,
    Role,
    Source,
    WagersDo,
)
from shaker_ctl.view.room import WAGERS, room
from vision.reading import Verified

RULES = rulebook(TableParameters())
DAN = Person("dan", Role.DEALER)
OF_STAFF = TableState(
    Phase.READING,
    round=8,
    reading=Verified((4, 6, 4)),
    values=(4, 6, 4),
    source=Source.VERIFIED,
    stated=Agreement(About.VALUES, DAN, (5, 6, 4)),
)
"""Everything that a round in hand knows of readings and people."""


@pytest.mark.parametrize("phase", Phase)
def test_no_phase_tells_the_room_values_names_or_commands(phase: Phase) -> None:
    """Whatever the use of the shaker, the ending, a correction and what bars the next round."""
    said = (OF_STAFF.stated, Agreement(About.RESULT, DAN, (5, 6, 4)))
    barriers = (None, Barrier.DICE_EXPIRED)
    for purpose, ending, stated, bar in product(Purpose, Ending, said, barriers):
        state = replace(
            OF_STAFF, phase=phase, purpose=purpose, ending=ending, cause=Cause.SHAKER, stated=stated
        )
        last = RecordRound(8, ending, WagersDo.RETURNED, Cause.SHAKER, None, None, ())

        told = room(state, RULES, last, bar)

        text = f"{told.says} {told.multipliers} {told.call} {told.wagers}"
        assert not re.search(r"\d|dan\b|[`;/]|systemctl", text), text
        assert not {"inspect", "decide", "sign", "say:"} & set(text.lower().split())


@pytest.mark.parametrize(
    ("phase", "call", "shape", "wagers"),
    [
        (Phase.BETTING, "", "circle", ""),
        (Phase.DISPUTED, "dispute", "triangle", "stay"),
        (Phase.INTERRUPTED, "on hold", "triangle", "stay"),
        (Phase.AWAITING_PRESENCE, "by hand", "triangle", "settled by hand"),
        (Phase.SETTLING_BY_HAND, "by hand", "triangle", "settled by hand"),
        (Phase.WITHOUT_RESULT, "void", "cross", "returned"),
        (Phase.OUT_OF_SERVICE, "out of service", "cross", ""),
    ],
)
def test_what_is_called_is_neither_a_result_nor_green_and_says_what_becomes_of_wagers(
    phase: Phase, call: str, shape: str, wagers: str
) -> None:
    told = room(replace(OF_STAFF, phase=phase, ending=Ending.VOID), RULES, None)

    assert (told.call, told.shape) == (call, shape)
    assert wagers in told.wagers
    assert bool(told.wagers) is bool(wagers)


@pytest.mark.parametrize(
    ("ending", "call"),
    [(Ending.VOID, "void"), (Ending.NO_ROLL, "no roll"), (Ending.NOT_STARTED, "no result")],
)
def test_a_round_without_result_says_what_happens_to_wagers(ending: Ending, call: str) -> None:
    told = room(replace(OF_STAFF, phase=Phase.WITHOUT_RESULT, ending=ending), RULES, None)
    ended = RecordRound(8, ending, WagersDo.RETURNED, None, None, None, ())
    until_the_next = room(TableState(Phase.READY, round=8), RULES, ended)
    then = room(TableState(Phase.BETTING, round=9), RULES, ended)

    assert told.call == until_the_next.call == call
    assert told.wagers in WAGERS.values()
    assert told.clause
    assert (until_the_next.wagers, until_the_next.shape) == (told.wagers, "square")
    assert (then.call, then.wagers) == ("", "")


@pytest.mark.parametrize("purpose", [Purpose.INSPECTION, Purpose.SHIFT, Purpose.TRIAL])
def test_a_toss_of_no_round_asks_nobody_for_bets(purpose: Purpose) -> None:
    told = room(TableState(Phase.TOSSING, purpose=purpose), RULES, None)

    assert told.says.startswith("The table is closed")


def test_bets_that_close_before_the_reveal_are_open_during_the_toss() -> None:
    covered = rulebook(TableParameters(profile="md", cover_fitted=True))
    assert covered.nmb_before is NmbBefore.REVEAL

    said = [room(replace(OF_STAFF, phase=Phase.TOSSING), r, None).says for r in (RULES, covered)]

    assert said == ["No more bets.", "Place your bets."]


def test_multipliers_are_told_beside_the_sentence_and_make_it_no_longer() -> None:
    betting = TableState(Phase.BETTING, round=8)
    odds = (Multiplied("one-4", 7, 2),)

    told = room(replace(betting, multipliers=odds, multipliers_shown=True), RULES, None)

    assert told.says == room(betting, RULES, None).says
    assert told.multipliers == (("one-4", "2 dice: 7 to 1"),)
