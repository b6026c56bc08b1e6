"""Recorded and synced before it is released; never out of order; and a hung medium is named."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from hil_tests.waiting import seconds_until, until
from shaker_ctl.errors import JournalCorruptError, JournalError, JournalWriteError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Head, Record, genesis, walk
from shaker_ctl.journal.recovery import IN_FLIGHT
from shaker_ctl.ports import Pictures
from shaker_ctl.service import journal_thread
from shaker_ctl.service.journal_thread import BATCH, JournalThread

pytestmark = pytest.mark.timed

START = genesis("a test")


class Clock:
    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return 1.79e9


class Medium:
    """A store in memory that can refuse, hang, and be damaged."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.batches: list[int] = []
        self.refuses: JournalError | None = None
        self.free = threading.Event()
        self.free.set()
        self.tail_damage: JournalError | None = None

    def head(self) -> Head:
        last = self.records[-1] if self.records else None
        return START if last is None else Head(last.sequence, last.hash)

    def write(self, records: Sequence[Record]) -> None:
        self.free.wait()
        if self.refuses is not None:
            raise self.refuses
        self.records += records
        self.batches.append(len(records))

    def next_volume(self, day: str, run: Mapping[str, Any]) -> Entry:
        return Entry("volume", {"day": day, **run})

    def check_tail(self) -> None:
        if self.tail_damage is not None:
            raise self.tail_damage


class Album:
    """A picture store that remembers the order of things."""

    def __init__(self, medium: Medium) -> None:
        self._medium = medium
        self.saved: list[tuple[int, int, int]] = []
        self.settled = threading.Event()

    def named(self, _round: int, sequence: int, _pictures: Pictures) -> dict[str, Any]:
        return {"frame": {"file": f"{sequence}.jpg", "sha256": "ab"}}

    def save(self, round_number: int, sequence: int, pictures: Pictures) -> None:
        time.sleep(0.05)  # a card takes its time
        self.saved.append((round_number, sequence, len(self._medium.records)))

    def settle(self) -> None:
        self.settled.set()


class Bench:
    """A main copy that keeps, and a second that follows it; else as `parameters` say."""

    def __init__(self, **parameters: float) -> None:
        self.main, self.second = Medium(), Medium()
        self.album = Album(self.main)
        self.faults: list[JournalError] = []
        self.released: list[int] = []
        fast: dict[str, Any] = {
            "sync_deadline_s": 0.5, "second_lag_s": 1.0, "kept_by_either": False, **parameters
        }  # fmt: skip
        self.journal = JournalThread(
            main=self.main,
            second=self.second,
            pictures=self.album,
            clock=Clock(),
            parameters=JournalParameters(second=Path("/second"), **fast),
            digests={"model": "m1"},
            on_fault=self.faults.append,
        )
        self.journal.start()

    def append(self, n: int, **kwargs: Any) -> None:
        body = {"event": {"type": "Tick", "round": 3}, "n": n}
        self.journal.append("step", body, synced=self.released.append, **kwargs)


@pytest.fixture
def bench() -> Iterator[Bench]:
    yield from _bench()


@pytest.fixture
def either() -> Iterator[Bench]:
    """Of which the first copy that has a record keeps it."""
    yield from _bench(kept_by_either=True)


def _bench(**parameters: float) -> Iterator[Bench]:
    made = Bench(**parameters)
    yield made
    made.main.free.set()
    made.second.free.set()
    made.journal.close()


def test_records_are_released_in_order_when_they_are_on_the_medium(bench: Bench) -> None:
    for n in range(200):
        bench.append(n)
    until(lambda: len(bench.released) == 200)
    assert bench.released == list(range(1, 201))
    assert [r.plain["n"] for r in bench.main.records] == list(range(200))
    assert all(isinstance(step, Record) for step in walk(START, bench.main.records, "main"))
    until(lambda: bench.second.records == bench.main.records)


def test_a_record_says_what_was_running_and_where_it_belongs(bench: Bench) -> None:
    bench.append(0)
    until(lambda: bench.released)
    plain = bench.main.records[0].plain
    assert plain["digests"] == {"model": "m1"}
    assert (plain["sequence"], plain["kind"], plain["round"]) == (1, "step", 3)
    assert plain["wall"] == "2026-09-21T14:13:20.000+00:00"


def test_nothing_is_released_before_its_sync(bench: Bench) -> None:
    bench.main.free.clear()
    began_s = time.monotonic()
    bench.append(0)
    assert time.monotonic() - began_s < 0.05
    time.sleep(0.2)
    assert bench.released == []
    bench.main.free.set()
    until(lambda: bench.released == [1])


def test_what_waits_during_a_slow_sync_shares_the_next_one(bench: Bench) -> None:
    bench.main.free.clear()
    bench.append(0)
    time.sleep(0.05)
    for n in range(1, 30):
        bench.append(n)
    bench.main.free.set()
    until(lambda: len(bench.released) == 30)
    assert bench.main.batches == [1, 29]


def test_a_slow_second_medium_does_not_slow_the_table(bench: Bench) -> None:
    bench.second.free.clear()
    bench.append(0)
    assert seconds_until(lambda: bench.released) < 0.3
    assert bench.journal.health().second_behind == 1
    bench.second.free.set()
    until(lambda: bench.journal.health().second_behind == 0)


def test_a_hung_sync_is_named_within_its_deadline_and_appending_never_waits(bench: Bench) -> None:
    bench.main.free.clear()
    bench.append(0)
    took_s = seconds_until(lambda: bench.faults)
    assert 0.4 < took_s < 1.0
    assert isinstance(bench.faults[0], JournalWriteError)
    assert "longer than 0.5 s" in bench.faults[0].line()
    with pytest.raises(JournalWriteError):
        bench.append(1)
    assert bench.released == []
    bench.main.free.set()
    until(lambda: bench.released == [1])
    time.sleep(0.3)
    assert len(bench.faults) == 1, "what a late sync has written counts, and it is told once"


def test_a_medium_that_refuses_is_named_once_and_nothing_is_lost(bench: Bench) -> None:
    bench.append(0)
    until(lambda: bench.released)
    bench.main.refuses = JournalWriteError("the journal cannot be written: disk full")
    bench.append(1)
    until(lambda: bench.faults)
    assert bench.released == [1]
    assert bench.journal.health().waiting == 1
    assert "disk full" in bench.journal.health().fault
    bench.main.refuses = None
    assert bench.journal.close()
    assert [r.plain["n"] for r in bench.main.records] == [0, 1]
    assert bench.second.records == bench.main.records
    assert len(bench.faults) == 1


def test_what_people_do_while_it_refuses_is_written_with_its_time_once_it_writes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.main.refuses = JournalWriteError("the journal cannot be written: disk full")
    bench.append(0)
    until(lambda: bench.faults)
    assert bench.journal.health().is_failed
    monkeypatch.setattr(journal_thread, "MAX_WAITING", 3)
    monkeypatch.setattr(Clock, "wall", lambda _: 1.79e9 + 60)
    for number in range(5):
        bench.journal.append("console", {"note": "login", "text": f"{number}"}, waits=True)
    with pytest.raises(JournalWriteError):
        bench.journal.append("console", {"note": "meters-cleared"})
    monkeypatch.setattr(Clock, "wall", lambda _: 1.79e9 + 3600)
    bench.main.refuses = None
    assert bench.journal.close(last=Entry("closing", {"cause": "stopped"}))
    plain = [record.plain for record in bench.main.records]
    assert [one.get("text") for one in plain[1:4]] == ["0", "1", "2"]
    assert {one["wall"] for one in plain[1:4]} == {"2026-09-21T14:14:20.000+00:00"}
    assert plain[4]["text"] == "2 more records waited for the journal than it keeps"
    assert [one["kind"] for one in plain] == ["step", *["console"] * 4, "closing"]


def test_closing_says_when_something_could_not_be_written(bench: Bench) -> None:
    bench.main.refuses = JournalWriteError("the journal cannot be written: disk full")
    bench.append(0)
    until(lambda: bench.faults)
    assert not bench.journal.close(timeout_s=1.0)


def test_a_second_medium_that_refuses_is_named_and_once_mended_written_on(bench: Bench) -> None:
    """Play goes on meanwhile, and nothing is left out."""
    bench.second.refuses = JournalWriteError("the journal cannot be written: stick pulled out")
    bench.append(0)
    until(lambda: bench.faults)
    bench.append(1)
    until(lambda: bench.released == [1, 2])
    assert "stick pulled out" in bench.journal.health().fault
    bench.journal.retry_second()
    until(lambda: len(bench.faults) == 2)
    bench.second.refuses = None
    bench.journal.retry_second()
    bench.append(2)
    until(lambda: len(bench.second.records) == 3)
    assert bench.second.records == bench.main.records
    assert bench.journal.health().fault == ""
    assert len(bench.faults) == 2


def test_a_second_medium_that_hangs_is_named_within_its_lag(bench: Bench) -> None:
    bench.second.free.clear()
    bench.append(0)
    took_s = seconds_until(lambda: bench.faults)
    assert 0.9 < took_s < 1.6
    assert "lags" in bench.faults[0].line()
    assert "rebuild" in bench.faults[0].line()


def test_pictures_are_written_before_their_record_and_named_in_it(bench: Bench) -> None:
    bench.append(0)
    bench.append(1, pictures=Pictures(b"frame", b"overlay"))
    until(lambda: len(bench.released) == 2)
    ((round_number, sequence, records_then),) = bench.album.saved
    assert (round_number, sequence) == (3, 2)
    assert records_then < 2
    assert bench.main.records[1].plain["pictures"]["frame"]["file"] == "2.jpg"
    assert bench.album.settled.wait(2.0)


@pytest.mark.parametrize("part", ["save", "settle"])
def test_pictures_on_a_card_that_stalls_delay_no_record_and_no_copy(
    either: Bench, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Also where one medium stalls at the same time."""
    free = threading.Event()
    monkeypatch.setattr(either.album, part, lambda *_: free.wait())
    either.main.free.clear()
    either.append(0)
    until(lambda: either.released == [1])
    either.append(1, pictures=Pictures(b"frame", b"overlay"))
    assert seconds_until(lambda: either.released == [1, 2]) < 0.6
    either.append(2)
    assert seconds_until(lambda: either.released == [1, 2, 3]) < 0.3
    assert either.faults == []
    free.set()


def test_a_damaged_tail_is_found_by_the_check_between_rounds(bench: Bench) -> None:
    bench.append(0)
    until(lambda: bench.released)
    bench.journal.check_soon()
    time.sleep(0.1)
    assert bench.faults == []
    bench.main.tail_damage = JournalCorruptError("record 1: its hash does not continue the chain")
    bench.journal.check_soon()
    until(lambda: bench.faults)
    assert bench.faults[0].code == "journal-corrupt"
    with pytest.raises(JournalCorruptError):
        bench.append(1)


def test_a_receiver_that_fails_does_not_end_the_writing(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: int) -> None:
        raise ZeroDivisionError

    bench.journal.append("note", {"n": 0}, synced=fail)
    bench.append(1)
    until(lambda: bench.released == [2])
    assert "record 1 released has failed" in caplog.text


def test_a_body_without_a_json_form_is_refused_at_once(bench: Bench) -> None:
    with pytest.raises(TypeError):
        bench.journal.append("step", {"event": object()})
    bench.append(1)
    until(lambda: bench.released == [1])


def test_closing_writes_everything_that_waits(bench: Bench) -> None:
    for n in range(150):
        bench.append(n)
    assert bench.journal.close()
    assert len(bench.main.records) == 150
    assert bench.second.records == bench.main.records
    assert bench.released == list(range(1, 151))


def test_no_thread_stays_behind() -> None:
    before = threading.active_count()
    made = Bench()
    made.append(0)
    assert made.journal.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("has_failed", [False, True])
def test_the_last_record_of_a_run_stands_behind_everything_that_waited(has_failed: bool) -> None:
    """Also where a failed medium came back: who was stopped is not taken for one that died."""
    bench = Bench()
    if has_failed:
        bench.main.refuses = JournalWriteError("full")
        bench.append(0)
        until(lambda: bench.faults)
        bench.main.refuses = None
    else:
        bench.append(0)
    assert bench.journal.close(last=Entry("closing", {"in_order": True}))
    assert [record.plain["kind"] for record in bench.main.records] == ["step", "closing"]
    assert bench.second.records == bench.main.records


def test_a_volume_begins_a_batch_behind_what_came_before_it(bench: Bench) -> None:
    bench.main.free.clear()
    bench.journal.know_of_run({"lamp_box": {"serial": 5}})
    for n in range(3):
        bench.append(n)
    bench.journal.turn_volume("2026-11-23")
    bench.append(3)
    bench.main.free.set()
    until(lambda: len(bench.second.records) == 5)
    assert [r.plain["kind"] for r in bench.main.records] == ["step"] * 3 + ["volume", "step"]
    assert bench.main.records[3].plain["day"] == "2026-11-23"
    assert bench.main.records[3].plain["lamp_box"] == {"serial": 5}
    assert 3 in accumulate(bench.main.batches), bench.main.batches
    assert bench.second.records == bench.main.records


def test_an_empty_journal_begins_no_second_volume(bench: Bench) -> None:
    bench.journal.turn_volume("2026-11-23")
    bench.append(0)
    until(lambda: len(bench.main.records) == 1)
    assert bench.main.records[0].plain["kind"] == "step"


# ── Kept by either of two media ─────────────────────────────────────────────


@pytest.mark.parametrize("stalled", ["main", "second"])
def test_a_stall_of_one_medium_delays_nothing_that_waits_for_a_record(
    either: Bench, stalled: str
) -> None:
    medium: Medium = getattr(either, stalled)
    medium.free.clear()
    for n in range(20):
        either.append(n)
        assert seconds_until(lambda: len(either.released) > n) < 0.3  # noqa: B023 - waits here
    time.sleep(0.6)  # longer than a sync may take where one medium keeps
    assert either.faults == []
    medium.free.set()
    until(lambda: either.main.records == either.second.records)
    assert either.released == list(range(1, 21))


def test_a_main_copy_that_lags_behind_the_second_is_named(either: Bench) -> None:
    either.main.free.clear()
    either.append(0)
    assert 0.9 < seconds_until(lambda: either.faults) < 1.6
    with pytest.raises(JournalWriteError):
        either.append(1)


def test_two_media_that_stall_together_are_named_as_one_is(either: Bench) -> None:
    either.main.free.clear()
    either.second.free.clear()
    either.append(0)
    assert 0.4 < seconds_until(lambda: either.faults) < 0.95
    assert either.released == []


def test_where_the_second_copy_has_failed_the_main_one_keeps_alone(either: Bench) -> None:
    either.second.refuses = JournalWriteError("stick pulled out")
    either.append(0)
    until(lambda: either.faults and either.released == [1])
    either.main.free.clear()
    either.append(1)
    assert seconds_until(lambda: len(either.faults) == 2) < 0.95
    assert either.released == [1]


@pytest.mark.parametrize("kept_by_either", [False, True])
@pytest.mark.parametrize("part", ["save", "next_volume", "check_tail"])
def test_what_hangs_beside_the_writing_is_named_too(part: str, kept_by_either: bool) -> None:
    """Pictures, the end of a volume and the reading back lie on media that stall."""
    bench = Bench(kept_by_either=kept_by_either)
    free = threading.Event()
    of = bench.album if part == "save" else bench.main
    before = getattr(of, part)
    setattr(of, part, lambda *args: (free.wait(), before(*args))[1])
    bench.append(0)
    until(lambda: bench.released == [1])
    if part == "next_volume":
        bench.journal.turn_volume("2026-11-23")
    bench.journal.check_soon()
    bench.append(1, pictures=Pictures(b"frame", b"overlay"))
    assert seconds_until(lambda: bench.faults) < 1.6
    free.set()
    assert bench.journal.close()
    assert [
        record.plain.get("n") for record in bench.main.records if record.plain.get("event")
    ] == [0, 1]
    assert bench.second.records == bench.main.records


def test_no_copy_runs_farther_ahead_than_a_start_catches_up(either: Bench) -> None:
    either.main.free.clear()
    for n in range(2 * IN_FLIGHT):
        either.append(n)
    time.sleep(0.3)
    assert IN_FLIGHT - BATCH < len(either.second.records) <= IN_FLIGHT
    either.main.free.set()
    until(lambda: len(either.released) == 2 * IN_FLIGHT)
    until(lambda: either.main.records == either.second.records)


def test_a_volume_waits_for_the_main_copy_that_stalls(either: Bench) -> None:
    either.main.free.clear()
    either.append(0)
    either.journal.turn_volume("2026-11-23")
    either.append(1)
    time.sleep(0.2)
    assert either.released == [1]
    either.main.free.set()
    until(lambda: either.released == [1, 3])
    until(lambda: either.main.records == either.second.records)
    assert [r.plain["kind"] for r in either.main.records] == ["step", "volume", "step"]
