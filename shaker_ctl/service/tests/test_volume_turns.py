"""A volume ends with the gaming day or when it is full, and never in a round."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import JournalError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import link
from shaker_ctl.journal.tests.zones import zone
from shaker_ctl.journal.volume import began, day_of, gaming_day
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import TimeTrust
from shaker_ctl.service.last_end import LastEnd, opening
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

    def __init__(
        self, trusted: TimeTrust, at: datetime = datetime(2026, 11, 23, 18, 0, tzinfo=UTC)
    ) -> None:
        self._trusted, self._at = trusted, at

    def now(self) -> datetime:
        return self._at

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


def test_no_look_reads_the_disk() -> None:
    """A read that fails would end the thread that moves the motor and lights the lamps."""
    turned: list[str] = []
    journal = Journal("2026-11-01", 5)
    turns = VolumeTurns(journal, JournalParameters(), Time(TimeTrust.RTC), turned.append)
    journal.day = failing  # type: ignore[method-assign]
    turns.look(Phase.READY)
    assert turned == [TODAY]
    journal.volume += 1
    turns.look(Phase.READY)
    assert turned == [TODAY]


def failing() -> str:
    raise JournalError("the medium does not answer")


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


NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"


@pytest.fixture
def here(request: pytest.FixtureRequest) -> Iterator[None]:
    with zone(request.param):
        yield


@pytest.mark.parametrize("here", ["PST8", "EST5", "UTC0", "CST-8"], indirect=True)
def test_a_table_founded_at_any_hour_stays_on_its_day(here: None, tmp_path: Path) -> None:
    """So no sheet says of a clock that nobody touched that it was set back."""
    for hour in range(24):
        wall = Time(TimeTrust.RTC, datetime(2026, 11, 23, hour, 30, tzinfo=UTC))
        store = DiskJournal(tmp_path / f"{hour}.jsonl")
        turned: list[str] = []
        turns = VolumeTurns(store, JournalParameters(), wall, turned.append)
        at = wall.now().isoformat(timespec="milliseconds")
        entry = opening(LastEnd.NONE, {"day": turns.today()})
        store.write([link(store.head(), entry, monotonic_s=0.0, wall=at, digests={})])
        turns.look(Phase.READY)
        VolumeTurns(store, JournalParameters(), wall, turned.append).look(Phase.READY)
        assert turned == []
        assert store.day() == day_of(at, time(6))
        store.close()


@pytest.mark.parametrize(
    ("begins", "is_steady"),
    [(0, True), (1, True), (1.5, False), (2, False), (2.5, False), (3, True), (6, True)],
)
@pytest.mark.parametrize("here", [NEW_YORK], indirect=True)
def test_a_day_does_not_begin_inside_a_change_of_clocks(here, begins, is_steady) -> None:
    at = time(int(begins), 30 if begins % 1 else 0)
    if is_steady:
        assert JournalParameters(day_begins=at).day_begins == at
    else:
        with pytest.raises(ValidationError, match="inside a change of this machine's clocks"):
            JournalParameters(day_begins=at)


@pytest.mark.parametrize("here", [NEW_YORK, "PST8", "UTC0", "CST-8"], indirect=True)
@pytest.mark.parametrize("begins", [time(0), time(3), time(6)])
def test_table_and_floor_put_each_minute_on_the_same_day(here: None, begins: time) -> None:
    """The table asks for a record's day, the floor for a day's records; clocks change on two."""
    for month, day in ((3, 7), (6, 1), (10, 31)):
        for minute in range(0, 3 * 24 * 60, 10):
            at = datetime(2026, month, day, 5, tzinfo=UTC) + timedelta(minutes=minute)
            found = day_of(at.isoformat(), begins)
            after = (date.fromisoformat(found) + timedelta(days=1)).isoformat()
            assert began(found, begins) <= at < began(after, begins)
