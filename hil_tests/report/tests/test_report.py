"""The report: limits judge, and a reader understands."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from hil_tests.report import evidence, page
from hil_tests.report.measurement import Measure, Measurement
from hil_tests.report.story import Story

# ── Measurements ──


@pytest.mark.parametrize(
    ("value", "lower", "upper", "passes"),
    [
        (5, None, None, True),
        (5, 5, 5, True),
        (4.999, 5, None, False),
        (5.001, None, 5, False),
        (0, 0, 0, True),
        (math.nan, None, None, False),
    ],
)
def test_a_value_passes_only_within_its_limits(value, lower, upper, passes):
    assert Measurement("x", value, "s", lower, upper).passed is passes


def test_every_value_is_taken_before_the_verdict():
    told: list[str] = []
    measure = Measure(lambda taken: told.append(taken.line()))
    measure("late", 12, "ms", upper=10)
    measure("in time", 8, "ms", upper=10)
    assert len(told) == 2
    assert measure.verdict() == "late: 12 ms (at most 10)"


def test_a_story_ends_with_the_words_that_stand_in_the_report():
    story = Story()
    story.did("fay", "opens the table")
    story.expect("the motor is off", True)
    with pytest.raises(AssertionError, match="the lamps are dark - but found: small big"):
        story.expect("the lamps are dark", False, "small big")
    assert [line.kind for line in story.lines] == ["did", "held", "failed"]


# ── The page ──


def toss(at: float = 100.5) -> dict[str, Any]:
    dice = [{"value": 3, "flat": True, "tilt_deg": 0.0, "kind": "flat"}] * 2
    leaning = {"value": 5, "flat": False, "tilt_deg": 31.0, "kind": "leaning"}
    return {
        "toss": 7,
        "t_start": at,
        "t_rest": at + 2.5,
        "turns": 30.1,
        "dice": [*dice, leaning],
        "picture": "",
        "reading": None,
        "signals": signals(),
    }


def signals() -> list[dict[str, Any]]:
    return [
        {"t": 100.0, "enable": 0, "duty": 0.0, "light": 1.0, "rpm": 0, "estop": 0},
        {"t": 100.5, "enable": 1, "duty": 0.8, "rpm": 780, "tach": [100, 6600, 13100]},
        {"t": 102.0, "estop": 1, "enable": 0, "rpm": 0},
    ]


def trial(outcome: str = "passed", **more: Any) -> dict[str, Any]:
    return {
        "node": "a::b",
        "title": "The emergency stop stops a toss",
        "promise": "Somebody strikes <it>.",
        "outcome": outcome,
        "reason": "expected: the motor stops - but found: it runs" if outcome == "failed" else "",
        "trace": "",
        "t0": 100.0,
        "seconds": 5.0,
        "measurements": [],
        "story": [],
        "evidence": {},
        **more,
    }


def report(*tests: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": 1,
        "rig": "virtual",
        "at": "2026-11-21T06:00:00+00:00",
        "machine": "x",
        "tests": list(tests),
    }


def test_the_page_needs_nothing_from_anywhere():
    shown = {"tosses": [toss()], "signals": signals(), "lamps": [], "events": []}
    drawn = page.draw(report(trial(evidence=shown)))
    assert not re.search(r"(?:src|href)=[\"'](?!data:|#)", drawn)
    assert not re.search(r"https?://|@import|url\(", drawn)


def test_what_failed_comes_first_with_its_reason_and_text_is_escaped():
    drawn = page.draw(report(trial("passed", title="Good"), trial("failed", title="Bad")))
    assert drawn.index("Bad") < drawn.index("Good")
    assert "expected: the motor stops - but found: it runs" in drawn
    assert "strikes &lt;it&gt;" in drawn


def test_a_toss_says_what_the_dice_truly_show_and_shows_its_lines():
    shown = {"tosses": [toss()], "signals": signals(), "lamps": [], "events": []}
    drawn = page.draw(report(trial("failed", evidence=shown)))
    assert "the dice truly show 3, 3, 5 (leaning, 31°)" in drawn
    assert "tach edges" in drawn
    assert "PRESSED" in drawn


def test_a_failure_says_what_was_to_be_what_was_and_what_came_just_before():
    told = [
        {"t": 98.0, "who": "fay", "text": "inspect all", "kind": "did"},
        {"t": 99.0, "who": "console", "text": "the lamps are read back", "kind": "saw"},
        {"t": 101.0, "who": "rig", "text": "breaks: jam", "kind": "did"},
        {"t": 101.5, "who": "journal", "text": "read afterwards", "kind": "saw"},
        {"t": 102.0, "who": "expected", "text": "the motor stops", "kind": "failed"},
    ]
    drawn = page.draw(report(trial("failed", story=told)))
    why = drawn[drawn.index('<div class="why') : drawn.index("</dl>")]
    words = re.sub(r"<[^>]*>", "|", why)
    assert re.search(r"Expected\|+the motor stops\|+Found instead\|+it runs", words)
    assert re.search(r"Last act before\|+rig: breaks: jam \(3\.00 s\)", words)
    assert re.search(r"Last seen before\|+console: the lamps are read back \(1\.00 s\)", words)


# ── Evidence ──


def test_evidence_is_cut_to_the_test_and_headed_by_the_state_before_it(tmp_path: Path):
    for name, lines in (
        ("signals", [{"t": 1.0, "enable": 1, "light": 0.5}, {"t": 11.0, "enable": 0}]),
        ("truth", [{"toss": 1, "t_start": 2.0, "t_rest": 4.0, "turns": 9, "dice": []}]),
        ("lamps", [{"t": 12.0, "round": 3, "areas": ["small"]}]),
        ("events", [{"t": 3.0, "what": "fault", "name": "jam"}]),
    ):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    rig = {name: str(tmp_path / name) for name in ("signals", "truth", "lamps", "events")}
    rig |= {"rig": "virtual", "geometry": "standard", "dice": "white", "seed": "1"}
    found = evidence.gather(rig, 10.0, 13.0, {}, {})
    assert found["signals"] == [{"t": 10.0, "enable": 1, "light": 0.5}, {"t": 11.0, "enable": 0}]
    assert found["tosses"] == []
    assert found["events"] == []
    assert [change["round"] for change in found["lamps"]] == [3]


def test_a_rig_that_was_late_says_so_where_a_story_failed(tmp_path: Path):
    lines = [
        {"t": 1.0, "rpm": 0.0},
        {"t": 1.5, "rpm": 400.0},
        {"t": 1.51, "rpm": 410.0},
        {"t": 1.63, "rpm": 800.0},
        {"t": 1.64, "rpm": 0.0},
        {"t": 2.0, "enable": 0},
    ]
    for name in ("signals", "truth", "lamps", "events"):
        (tmp_path / name).write_text("")
    (tmp_path / "signals").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rig = {name: str(tmp_path / name) for name in ("signals", "truth", "lamps", "events")}
    rig |= {"rig": "virtual", "geometry": "standard", "dice": "white", "seed": "1"}
    found = evidence.gather(rig, 1.0, 3.0, {}, {})
    assert found["late"] == [[1.51, 120.0]]
    drawn = page.draw(report(trial("failed", t0=1.0, evidence=found)))
    assert "computer was late once while the cam turned, by up to 120 ms (at 0.51 s)" in drawn
    assert "computer was late" not in page.draw(report(trial("failed")))


def test_a_half_written_line_is_left_for_later(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text('{"t": 1}\n{"t": 2')
    assert evidence.lines_of(log) == [{"t": 1}]
    assert evidence.lines_of(tmp_path / "none") == []
