"""The wear of the dice: counted since they were changed, over restarts, and never waited for."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.rules import events
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Person, Role, TossProof, play
from shaker_ctl.service import wear as wear_log
from shaker_ctl.service.wear import WearLog

STEP = Step(TableState(Phase.CLOSED), (), ())
CHANGED = events.DiceChanged(
    Person("fay", Role.FLOORPERSON), ("A1", "A2", "A3"), datetime(2026, 1, 1, tzinfo=UTC)
)


def settled(turns: float, in_band_s: float) -> events.TossSettled:
    return events.TossSettled(play(1), TossProof(in_band_s, 700.0, 800.0, turns))


def test_what_the_tables_say_and_what_happens_since_the_start_are_added() -> None:
    wear = WearLog()
    wear.observe(STEP, settled(30.0, 2.0))
    assert wear.figures() is None, "a part of the count is no count"
    wear.restore(PartUsage(2, 60.0, 4.0))
    assert wear.figures() == PartUsage(tosses=3, turns=90.0, shaken_s=6.0)
    wear.observe(STEP, settled(10.0, 1.0))
    assert wear.figures() == PartUsage(tosses=4, turns=100.0, shaken_s=7.0)


def test_other_dice_are_new_even_while_the_tables_are_behind() -> None:
    wear = WearLog()
    wear.observe(STEP, CHANGED)
    assert wear.figures() == PartUsage()
    wear.restore(PartUsage(1, 20.0, 1.0))
    wear.observe(STEP, settled(30.0, 2.0))
    assert wear.figures() == PartUsage(1, 30.0, 2.0)


def test_tables_that_are_behind_are_asked_again_until_they_are_not(monkeypatch) -> None:
    monkeypatch.setattr(wear_log, "AGAIN_S", 0.01)
    answers = [None, PartUsage(7, 1.0, 1.0)]
    answered = threading.Event()

    def before() -> PartUsage | None:
        answer = answers.pop(0)
        if answer is not None:
            answered.set()
        return answer

    wear = WearLog()
    wear.start(before)
    assert answered.wait(10.0)
    wear.stop()
    assert wear.figures() == PartUsage(7, 1.0, 1.0)


def test_asking_ends_when_it_is_told() -> None:
    asked = threading.Event()

    def never() -> None:
        asked.set()

    wear = WearLog()
    wear.start(never)
    assert asked.wait(10.0)
    wear.stop()
    assert wear.figures() is None
