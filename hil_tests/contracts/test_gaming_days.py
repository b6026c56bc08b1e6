"""Each round of a gaming day is found, wherever a clock that was set has put its volume."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.contracts.test_volume_removal import Aged, act, aged, remove
from hil_tests.reliability.bytes_cut import volume_after
from hil_tests.reliability.large_journal import a_round
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_path
from shaker_ctl.adapters.disk.gaming_days import GamingDays
from shaker_ctl.adapters.tests.written import rewritten, saying
from shaker_ctl.commands.journal import app
from shaker_ctl.errors import JournalCorruptError, JournalError
from shaker_ctl.journal.record import Entry, Head, link
from shaker_ctl.journal.tests.zones import zone
from shaker_ctl.journal.volume import gaming_day
from shaker_ctl.page.journal import read_day

__all__ = ["aged"]

Volumes = Sequence[tuple[str, str]]
"""The day that each volume is named by, and the days of the rounds in it, in order."""

CLOCKS: dict[str, Volumes] = {
    "right": (("11-25", "11-25 11-25"), ("11-26", "11-26"), ("11-27", "11-27 11-27")),
    "five years ahead for a day": (
        ("11-25", "11-25 11-25"),
        ("2031-11-26", "2031-11-26 2031-11-26"),
        ("11-26", "11-26 11-26"),
        ("11-27", "11-27"),
    ),
    "ahead within a round, and set right within another": (
        ("11-25", "11-25 2031-11-25"),
        ("2031-11-25", "2031-11-25 11-25"),
        ("11-25", "11-25"),
        ("11-26", "11-26"),
    ),
    "set back by two days": (
        ("11-24", "11-24"),
        ("11-25", "11-25"),
        ("11-26", "11-26 11-26"),
        ("11-24", "11-24 11-24"),
        ("11-25", "11-25"),
        ("11-26", "11-26"),
        ("11-27", "11-27"),
    ),
    "ahead, and set right before the first volume ended": (
        ("2031-11-25", "2031-11-25 11-25 11-25"),
        ("11-26", "11-26"),
        ("11-27", "11-27"),
    ),
    "full volumes, and a round that goes on into the next day": (
        ("11-25", "11-25"),
        ("11-25", "11-25 11-26"),
        ("11-26", "11-26"),
        ("11-26", "11-26 11-27"),
        ("11-27", "11-27"),
    ),
    "a pause of a month": (("10-20", "10-20 11-25"), ("11-25", "11-25"), ("11-26", "11-26")),
}


def whole(day: str) -> str:
    return day if len(day) > 5 else f"2026-{day}"


@pytest.fixture(autouse=True)
def in_utc() -> Iterator[None]:
    with zone("UTC"):
        yield


def recorded(path: Path, volumes: Volumes) -> dict[str, list[int]]:
    """Write such a journal; return which rounds are of each day."""
    rounds: dict[str, list[int]] = {}
    chance, number = random.Random(28), 0
    with closing(DiskJournal(path)) as store:
        for name, days in volumes:
            if number:
                store.write([volume_after(store, whole(name))])
            for day in map(whole, days.split()):
                number += 1
                rounds.setdefault(day, []).append(number)
                head, written = store.head(), []
                for entry in a_round(number, chance):
                    wall = f"{day}T12:00:00.000+00:00"
                    written.append(link(head, entry, monotonic_s=0.0, wall=wall, digests={}))
                    head = Head(written[-1].sequence, written[-1].hash)
                store.write(written)
    return rounds


@pytest.fixture(params=CLOCKS)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, list[int]]]:
    path = tmp_path / "journal.jsonl"
    return path, recorded(path, CLOCKS[request.param])


def run(*words: str, journal: Path) -> str:
    done = CliRunner().invoke(app, [*words, "--journal", str(journal)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_each_round_of_a_day_is_on_its_sheet_and_in_its_export(
    journal: tuple[Path, dict[str, list[int]]], tmp_path: Path
) -> None:
    path, rounds = journal
    for day, expected in rounds.items():
        sheet = json.loads(run("day", day, "--json", journal=path))
        assert sheet["rounds"] == expected
        assert read_day(path, day, time(6)).rounds == expected
        told = run("events", "--day", day, "--all", "--json", journal=path)
        assert len(told.splitlines()) == sheet["records"]
        following = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        run("export", str(tmp_path / day), "--from", day, "--to", following, journal=path)
        with (tmp_path / day / "rounds.csv").open() as file:
            exported = [int(row["round"]) for row in csv.DictReader(file)]
        assert exported == list(range(expected[0], expected[-1] + 1)), "one piece of the chain"
        verified = CliRunner().invoke(app, ["verify", str(tmp_path / day)])
        assert verified.exit_code == 0, verified.output


def test_a_sheet_says_where_the_clock_was_set(tmp_path: Path) -> None:
    notes: dict[str, dict[str, list[str]]] = {}
    for clock, volumes in CLOCKS.items():
        path = tmp_path / clock / "journal.jsonl"
        path.parent.mkdir()
        rounds = recorded(path, volumes)
        notes[clock] = {
            d: json.loads(run("day", d, "--json", journal=path))["notes"] for d in rounds
        }
    for clock in ("right", "full volumes, and a round that goes on into the next day"):
        assert not any(notes[clock].values())
    assert not any(notes["a pause of a month"].values())
    ahead = notes["five years ahead for a day"]
    for day in ("2026-11-25", "2031-11-26", "2026-11-26"):
        (told,) = ahead[day]
        assert "set back at record 54, from 2031-11-26 to 2026-11-26" in told
    back = notes["set back by two days"]["2026-11-25"]
    assert "54 records between them are of other days" in back[-1]
    assert any("from 2026-11-26 to 2026-11-24" in note for note in back)
    path = tmp_path / "set back by two days" / "journal.jsonl"
    assert "set back at record" in " ".join(run("day", "2026-11-25", journal=path).split())


def test_a_day_of_another_hour_or_zone_is_found_by_the_settings_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    recorded(path, CLOCKS["right"])
    config = tmp_path / "settings.toml"
    config.write_text(f'[journal]\npath = "{path}"\nday_begins = 13:00:00\n')
    words = ["day", "2026-11-24", "--json", "--config", str(config)]
    shown = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).output)
    assert shown["rounds"] == [1, 2]
    with zone("Pacific/Kiritimati"):  # 14 hours ahead
        assert json.loads(run("day", "2026-11-26", "--json", journal=path))["rounds"] == [3]
        assert json.loads(run("day", "2026-11-28", "--json", journal=path))["rounds"] == []


def test_an_end_of_a_volume_that_was_changed_hides_no_day(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    recorded(path, CLOCKS["right"])
    second = volume_path(path, 2)
    rewritten(second, saying("2026-11-26T", "2026-11-29T"))
    for day in ("2026-11-25", "2026-11-26"):
        done = CliRunner().invoke(app, ["day", day, "--journal", str(path)])
        assert done.exit_code == 1
        assert "DO NOT SIGN" in done.output
        assert "does not continue the chain" in str(done.exception)


def test_a_time_that_is_damaged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    recorded(path, CLOCKS["right"])
    rewritten(volume_path(path, 2), saying("2026-11-26T", "2026-11-2:T"))
    with pytest.raises(JournalCorruptError, match="says no time"):
        read_day(path, "2026-11-26", time(6))
    done = CliRunner().invoke(app, ["day", "2026-11-26", "--journal", str(path)])
    assert "does not continue the chain" in str(done.exception)


# ── After a removal ─────────────────────────────────────────────────────────


def test_the_first_day_that_is_kept_has_a_sheet(aged: Aged) -> None:
    assert remove(aged).exit_code == 0
    done = act(aged, "day", "2026-11-20", "--json")
    assert done.exit_code == 0, done.output
    (note, *_) = json.loads(done.output)["notes"]
    assert "volume 3, records 82 to 122, was removed and may hold some of that time" in note
    assert act(aged, "events", "--day", "2026-11-20", "--all").exit_code == 0
    gone = act(aged, "day", "2026-09-01")
    assert isinstance(gone.exception, JournalError)
    assert "journal fetch" in gone.exception.remedy
    later = act(aged, "day", "2026-11-22", "--json")
    assert not any("removed" in note for note in json.loads(later.output)["notes"])


@pytest.mark.parametrize("here", ["PST8", "EST5", "UTC0", "CST-8"])
def test_no_sheet_accuses_the_clock_of_a_table_that_named_no_day_at_its_first_opening(
    tmp_path: Path, here: str
) -> None:
    """Its first volume is named by the date in UTC, all later ones by the gaming day."""
    with zone(here):
        for hour in range(24):
            path, at = tmp_path / f"{hour}.jsonl", datetime(2026, 11, 23, hour, 30, tzinfo=UTC)
            with closing(DiskJournal(path)) as store:
                for minutes in range(2):
                    wall = (at + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
                    day = gaming_day(at.astimezone(), time(6))
                    entry = store.next_volume(day, {}) if minutes else Entry("opening", {})
                    store.write([link(store.head(), entry, monotonic_s=0.0, wall=wall, digests={})])
                assert GamingDays(store, time(6)).notes(day) == [], hour
