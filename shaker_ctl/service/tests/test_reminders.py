"""What an idle table says by itself: old dice, and a shift that begins."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from shaker_ctl.journal.tests.zones import zone
from shaker_ctl.rules import events
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.vocabulary import DiceSet, TimeTrust
from shaker_ctl.service.reminders import Reminders

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DICE = DiceSet(("1", "2", "3"), NOON)


@pytest.fixture(autouse=True)
def in_utc() -> Iterator[None]:
    with zone("UTC"):
        yield


class Table:
    """What is posted and told at a table of `ma`: dice for a day, shifts."""

    def __init__(self, **settings: object) -> None:
        self.posted: list[events.Event] = []
        self.told: list[str] = []
        rules = rulebook(TableParameters.model_validate({"profile": "ma", **settings}))
        self._reminders = Reminders(rules, self.posted.append, self.told.append)

    def at(
        self, hours: float, dice: DiceSet | None = DICE, trust: TimeTrust = TimeTrust.RTC
    ) -> int:
        self._reminders.look(NOON + timedelta(hours=hours), trust, dice)
        return len(self.told)


def test_dice_are_told_once_before_their_limit_and_once_at_it() -> None:
    table = Table()
    assert [table.at(hours) for hours in (0, 22.9, 23, 23.5, 24, 30)] == [0, 0, 1, 1, 2, 2]
    assert "have others at hand" in table.told[0]
    assert "over age" in table.told[1]


def test_other_dice_have_notices_of_their_own() -> None:
    table = Table()
    table.at(24)
    assert table.at(24.1, DiceSet(("4", "5", "6"), NOON + timedelta(hours=24))) == 1
    assert table.at(48, DiceSet(("4", "5", "6"), NOON + timedelta(hours=24))) == 2


def test_without_dice_or_a_trusted_clock_nothing_is_told() -> None:
    table = Table()
    assert table.at(24, None) == 0
    assert table.at(24, trust=TimeTrust.NONE) == 0


def test_a_shift_is_posted_when_its_time_of_day_comes_and_once() -> None:
    table = Table(shifts=("14:00", "22:00"))
    for hours in (1.9, 2.0, 2.1, 9.9):
        table.at(hours, None)
    assert table.posted == [events.ShiftBegan(None)]
    table.at(10.5, None)
    assert len(table.posted) == 2


def test_a_shift_whose_time_passed_before_the_first_look_is_the_opening_s() -> None:
    table = Table(shifts=("14:00",))
    table.at(5, None)
    assert table.posted == []


def test_a_time_of_day_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no time of day"):
        Table(shifts=("25:00",))


def test_dice_of_a_manual_shaker_have_a_day_and_no_shift_inspects_it() -> None:
    told: list[str] = []
    posted: list[events.Event] = []
    rules = rulebook(TableParameters.model_validate({"profile": "ma", "shifts": ["14:00"]}))
    reminders = Reminders(rules, posted.append, told.append)
    month = rulebook(TableParameters())
    monthly = Reminders(month, posted.append, told.append)
    for hours in (1.0, 2.5, 24.0):
        now = NOON + timedelta(hours=hours)
        reminders.look(now, TimeTrust.RTC, None, manual=True)
        monthly.look(now, TimeTrust.RTC, DICE)
    assert (posted, told) == ([], [])
    monthly.look(NOON + timedelta(hours=24), TimeTrust.RTC, DICE, manual=True)
    assert "over age" in told[0]
