"""A volume ends with the gaming day or when it is full, and never in a round."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.volume import gaming_day
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import TimeTrust
from shaker_ctl.service.volume_turns import BETWEEN_ROUNDS, VolumeTurns
from shaker_ctl.service.wall_time import WallTime


class Journal:
    volume = 1

    def __init__(self, day: str, held: int) -> None:
        self._day, self.held = day, held

    def in_open_volume(self) -> int:
        return self.held

    def day(self) -> str:
        return self._day


class Time(WallTime):
    """Always the same moment, as much believed as is said."""

    def __init__(self, trusted: TimeTrust) -> None:
        self._trusted = trusted

    def now(self) -> datetime:
        return datetime(2026, 11, 23, 18, 0, tzinfo=UTC)

    def trust(self) -> TimeTrust:
        return self._trusted


TODAY = gaming_day(Time(TimeTrust.RTC).now().astimezone(), time(6))


def looks(
    day: str, held: int, phase: Phase, trust: TimeTrust = TimeTrust.RTC, times: int = 1
) -> list[str]:
    turned: list[str] = []
    parameters = JournalParameters(volume_records=1000)
    turns = VolumeTurns(Journal(day, held), parameters, Time(trust), turned.append)
    for _ in range(times):
        turns.look(phase)
    return turned


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase in BETWEEN_ROUNDS])
def test_it_ends_with_the_day_between_rounds(phase: Phase) -> None:
    assert looks("2026-11-01", 5, phase) == [TODAY]


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in BETWEEN_ROUNDS])
def test_it_never_ends_in_a_round_however_late_it_is(phase: Phase) -> None:
    assert looks("2026-11-01", 5000, phase) == []


def test_it_ends_when_it_is_full_and_goes_on_while_it_is_not() -> None:
    assert looks(TODAY, 1000, Phase.READY) == [TODAY]
    assert looks(TODAY, 999, Phase.READY) == []


def test_a_clock_that_nobody_believes_ends_no_day() -> None:
    assert looks("2026-11-01", 5, Phase.READY, TimeTrust.NONE) == []
    assert looks("2026-11-01", 1000, Phase.READY, TimeTrust.NONE) == [TODAY]


def test_an_empty_volume_stays_and_one_that_is_ending_is_asked_once() -> None:
    assert looks("", 0, Phase.READY) == []
    assert looks("2026-11-01", 5, Phase.READY, times=3) == [TODAY]


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (datetime(2026, 11, 23, 5, 59, tzinfo=UTC), "2026-11-22"),
        (datetime(2026, 11, 23, 6, 0, tzinfo=UTC), "2026-11-23"),
        (datetime(2026, 11, 23, 23, 59, tzinfo=UTC), "2026-11-23"),
        (datetime(2026, 3, 1, 2, 0, tzinfo=UTC), "2026-02-28"),
    ],
)
def test_a_gaming_day_has_the_date_on_which_it_began(at: datetime, day: str) -> None:
    assert gaming_day(at, time(6)) == day
