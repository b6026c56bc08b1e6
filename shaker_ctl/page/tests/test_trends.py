"""The curves of tosses and the figures of weeks that the page keeps beside the table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from shaker_ctl.page.trends import COLUMNS, CURVES, EVERY_S, POINTS, Trends


class Clock:
    """The time, as set."""

    now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


def view(speeds: list[float], *, is_over: bool = True, number: int = 7) -> dict[str, Any]:
    """What the page takes of a table's view, with the speeds of the last run."""
    return {
        "round_id": number,
        "motor": {
            "rpm": 4.0,
            "last_toss_s": len(speeds) / 10,
            "last_toss_rpm": speeds,
            "last_toss_is_over": is_over,
            "last_toss_verdict": "proved",
        },
        "camera": {"sharpness": 0.4, "brightness": 90.0, "fps": 21.0, "late_frames": 3},
        "health": {"temperature_c": 51.0, "disk_free_b": 8e9, "memory_free_b": 2e9},
        "lamps": {"reply_ms": 9.5, "repeats": 0},
        "journal": {"second_copy": "12 behind"},
    }


def test_a_toss_is_kept_once_and_only_when_the_dice_stand(tmp_path: Path) -> None:
    trends = Trends(tmp_path / "trends", Clock())
    trends.hear(view([0.0], is_over=False))
    trends.hear(view([0.0, 400.0], is_over=False))
    assert trends.curves() == []
    for _ in range(3):
        trends.hear(view([0.0, 400.0, 0.0]))
    (kept,) = trends.curves()
    assert (kept["round"], kept["seconds"], kept["speeds"]) == (7, 0.3, [0.0, 400.0, 0.0])


def test_a_page_that_starts_again_does_not_keep_the_last_toss_twice(tmp_path: Path) -> None:
    clock = Clock()
    Trends(tmp_path / "trends", clock).hear(view([0.0, 400.0, 0.0]))
    again = Trends(tmp_path / "trends", clock)
    again.hear(view([0.0, 400.0, 0.0]))
    clock.now_s += 1.0
    again.hear(view([0.0, 500.0, 0.0], number=8))
    assert [each["round"] for each in again.curves()] == [7, 8]


def test_the_last_hundred_tosses_are_kept(tmp_path: Path) -> None:
    clock = Clock()
    trends = Trends(tmp_path / "trends", clock)
    for number in range(CURVES + 5):
        clock.now_s += 1.0
        trends.hear(view([0.0, 400.0 + number, 0.0], number=number))
    assert [each["round"] for each in trends.curves()] == list(range(5, CURVES + 5))


def test_figures_are_sampled_now_and_then_also_when_the_clock_goes_back(tmp_path: Path) -> None:
    clock = Clock()
    trends = Trends(tmp_path / "trends", clock)
    for step_s in (0.0, 1.0, EVERY_S, -7200.0):
        clock.now_s += step_s
        trends.hear(view([]))
    found = trends.samples(0.0)
    assert len(found["at_s"]) == 3
    assert found["second_behind"] == [12, 12, 12]
    assert found["temperature_c"] == [51.0, 51.0, 51.0]


def test_weeks_of_figures_are_shown_as_means_of_equal_times(tmp_path: Path) -> None:
    clock = Clock()
    trends = Trends(tmp_path / "trends", clock)
    trends.hear(view([]))
    row = ("51.0", *["NULL"] * (len(COLUMNS) - 1))
    many = ", ".join(f"({clock.now_s + EVERY_S * n}, {', '.join(row)})" for n in range(1, 4001))
    with closing(sqlite3.connect(tmp_path / "trends")) as db, db:
        db.execute(f"INSERT INTO figure VALUES {many}")
    found = trends.samples(0.0)
    assert POINTS <= len(found["at_s"]) <= POINTS + 1
    assert found["at_s"] == sorted(found["at_s"])
    assert {*found["sharpness"][1:]} == {51.0}
    assert len(trends.samples(clock.now_s + EVERY_S * 3991)["at_s"]) == 10


def test_a_folder_that_takes_nothing_is_a_trouble_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    trends = Trends(tmp_path / "file" / "trends", Clock())
    trends.hear(view([0.0, 400.0, 0.0]))
    assert trends.trouble
    assert trends.curves() == []


def _flipped(data: bytes) -> Iterator[bytes]:
    """The file with each of many bytes changed, and cut at each of its pages."""
    for at in range(0, len(data), 97):
        yield data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
    for size in range(1, len(data), 4096):
        yield data[:size]


def test_a_damaged_file_is_never_an_error_and_figures_are_kept_again(tmp_path: Path) -> None:
    path, clock = tmp_path / "trends.sqlite", Clock()
    for number in range(3):
        clock.now_s += EVERY_S
        Trends(path, clock).hear(view([0.0, 400.0 + number, 0.0], number=number))
    whole, lost = path.read_bytes(), 0
    for data in _flipped(whole):
        path.write_bytes(data)
        trends = Trends(path, clock)
        clock.now_s += EVERY_S
        trends.curves(), trends.samples(0.0)
        for _ in range(2):  # what is damaged may first be seen by who keeps more
            trends.hear(view([0.0, 500.0, 0.0], number=9))
        clock.now_s += EVERY_S
        trends.hear(view([0.0, 600.0, 0.0], number=10))
        assert trends.trouble == ""
        assert trends.curves()[-1]["round"] == 10
        lost += bool(trends.lost)
    assert lost > 10


def test_a_file_of_another_version_is_made_anew_and_said(tmp_path: Path) -> None:
    path, clock = tmp_path / "trends.sqlite", Clock()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE figure (at_s REAL PRIMARY KEY, sharpness)")
        db.execute("INSERT INTO figure VALUES (1.0, 2.0)")
    trends = Trends(path, clock)
    trends.hear(view([]))
    assert "version 0" in trends.lost
    clock.now_s += 1.0
    trends.hear(view([]))
    assert (trends.trouble, len(trends.samples(0.0)["at_s"])) == ("", 1)
    assert Trends(path, clock).lost == ""


def test_a_trouble_stays_until_something_is_kept_again(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("")
    clock = Clock()
    trends = Trends(tmp_path / "folder" / "trends", clock)
    for _ in range(3):
        trends.hear(view([]))
        assert trends.trouble
    (tmp_path / "folder").unlink()
    clock.now_s += EVERY_S
    trends.hear(view([]))
    assert (trends.trouble, trends.lost) == ("", "")
