"""The curves of tosses and the figures of weeks that the page keeps beside the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shaker_ctl.page.trends import CURVES, EVERY_S, Trends


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


def test_a_folder_that_takes_nothing_is_a_trouble_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    trends = Trends(tmp_path / "file" / "trends", Clock())
    trends.hear(view([0.0, 400.0, 0.0]))
    assert trends.trouble
    assert trends.curves() == []
