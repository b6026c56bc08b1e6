"""What the tables know of the dice: asked when it may have changed, and a finding told once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shaker_ctl.journal.dice_watch import DiceSoFar, DiceWatch
from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.rules import events
from shaker_ctl.rules.commands import RecordRound
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.tests.playing import FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import Ending, FaultKind, TossProof, WagersDo, play
from shaker_ctl.service.dice_log import DiceLog

STEP = Step(TableState(Phase.CLOSED), (), ())
CHANGED = events.DiceChanged(FLOOR, ("A1", "A2", "A3"), datetime(2026, 1, 1, tzinfo=UTC))
SETTLED = events.TossSettled(play(1), TossProof(3.0, 700.0, 800.0, 36.0))
ENDED = RecordRound(1, Ending.VOID, WagersDo.RETURNED, None, None, None, ())
SOME = DiceSoFar(4, PartUsage(7, 252.0, 21.0), DiceWatch(tosses=7))


def outside(record: int) -> DiceSoFar:
    return replace(SOME, watch=DiceWatch(tosses=13, found=f"found in {record}", found_in=record))


class Tables:
    """What is answered, what the newest record is, and what was told."""

    def __init__(self) -> None:
        self.answer: DiceSoFar | None = None
        self.head = 4
        self.asked = 0
        self.told: list[str] = []
        self.odd = ""
        self.meanwhile: list[events.Event] = []
        """What happens when the head has just been looked at."""
        self.warned: list[str] = []
        self.log = DiceLog(
            self._ask, self._head, self.told.append, lambda _: self.odd, self.warned.append
        )

    def _ask(self) -> DiceSoFar | None:
        self.asked += 1
        return self.answer

    def _head(self) -> int:
        head = self.head
        while self.meanwhile:
            self.head = 5
            self.log.observe(STEP, self.meanwhile.pop())
        return head

    def shown(self) -> DiceSoFar | None:
        """What is known after one more look."""
        self.log.look()
        return self.log.figures()


@pytest.fixture
def tables() -> Tables:
    return Tables()


def test_tables_that_are_behind_are_asked_again_and_their_figures_are_not_shown(
    tables: Tables,
) -> None:
    assert tables.shown() is None
    tables.answer = replace(SOME, sequence=3)
    assert tables.shown() is None
    tables.answer = SOME
    assert tables.shown() == SOME
    assert tables.shown() == SOME
    assert tables.asked == 3, "nothing is wanted any more"


@pytest.mark.parametrize(
    ("step", "event"),
    [
        (STEP, SETTLED),
        (Step(STEP.state, (ENDED,), ()), CHANGED),
        (STEP, events.FaultCleared(FLOOR, FaultKind.SHAKER)),
        (STEP, CHANGED),
    ],
)
def test_each_step_that_bears_on_the_dice_has_the_tables_asked(
    tables: Tables, step: Step, event: events.Event
) -> None:
    tables.answer = SOME
    assert tables.shown() == SOME
    tables.answer = replace(SOME, sequence=5)
    tables.log.observe(step, event)
    assert tables.shown() == replace(SOME, sequence=5)


def test_figures_of_the_former_dice_are_not_those_of_others(tables: Tables) -> None:
    tables.answer = SOME
    assert tables.shown() == SOME
    tables.head = 5
    tables.log.observe(STEP, CHANGED)
    assert tables.shown() is None


def test_an_answer_that_came_while_the_dice_were_changed_is_not_shown(tables: Tables) -> None:
    tables.head = 5
    tables.answer = SOME
    assert tables.shown() is None
    tables.head, tables.meanwhile = 4, [CHANGED]
    assert tables.shown() is None


def test_dice_that_the_first_of_two_persons_names_change_nothing(tables: Tables) -> None:
    tables.answer = SOME
    assert tables.shown() == SOME
    tables.head = 5
    table = Playing(dice_by_two=True).do(events.Restarted(False, False, False))
    for who, shown in ((FLOOR, SOME), (SUPERVISOR, None)):
        event = events.DiceChanged(who, ("4", "5", "6"), table.now)
        tables.log.observe(table.tell(event), event)
        assert tables.log.figures() == shown


def test_a_finding_is_told_once_and_another_one_after_it(tables: Tables) -> None:
    for record in (4, 8):
        tables.answer, tables.head = replace(outside(record), sequence=record), record
        for sequence in (record, record + 1):
            tables.answer = replace(tables.answer, sequence=sequence)
            tables.log.observe(STEP, SETTLED)
            assert tables.shown() == tables.answer
    assert tables.told == ["found in 4", "found in 8"]


def test_what_the_ledger_finds_odd_is_told_when_other_dice_are_locked_in(tables: Tables) -> None:
    tables.answer, tables.odd = SOME, "A1 was not inspected"
    assert tables.shown() == SOME
    assert not tables.warned, "a start is no change of dice"
    for event in (CHANGED, SETTLED):
        tables.answer = replace(tables.answer, sequence=tables.answer.sequence + 1)
        tables.log.observe(STEP, event)
        assert tables.shown() == tables.answer
    assert tables.warned == ["A1 was not inspected"]
