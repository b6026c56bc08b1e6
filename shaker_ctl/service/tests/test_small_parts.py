"""Heartbeat, fault queue, wording, wall time: the small parts around the state thread."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from shaker_ctl import rules
from shaker_ctl.rules import commands
from shaker_ctl.rules.vocabulary import Cause, FaultKind, Notice, TimeTrust, WagersDo, play
from shaker_ctl.service import wall_time
from shaker_ctl.service.fault_queue import WORDS, FaultQueue
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.view import wording


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.mono_s, self.wall_s = 100.0, 1_790_000_000.0

    def monotonic(self) -> float:
        return self.mono_s

    def wall(self) -> float:
        return self.wall_s


def test_a_heartbeat_goes_stale_after_its_limit() -> None:
    clock = Clock()
    heart = Heartbeat(clock.monotonic, 0.05)
    assert heart.is_fresh()
    clock.mono_s += 0.051
    assert not heart.is_fresh()
    heart.beat()
    assert heart.is_fresh()


def test_a_fault_keeps_its_first_time_and_goes_with_its_kind() -> None:
    queue = FaultQueue()
    queue.raise_(FaultKind.SHAKER, "motor-stall", 10.0)
    queue.raise_(FaultKind.SHAKER, "motor-stall", 20.0)
    queue.raise_(FaultKind.LAMP, "lamp-timeout", 30.0)
    assert [(f.code, f.wall_s) for f in queue.standing()] == [
        ("motor-stall", 10.0),
        ("lamp-timeout", 30.0),
    ]
    assert queue.kind_of("motor-stall") is FaultKind.SHAKER
    assert queue.kind_of("lamp") is FaultKind.LAMP
    assert queue.kind_of("nothing") is None
    queue.clear(FaultKind.SHAKER)
    assert [f.code for f in queue.standing()] == ["lamp-timeout"]


def test_an_unknown_fault_code_still_has_a_cause_and_a_remedy() -> None:
    queue = FaultQueue()
    for kind in FaultKind:
        queue.raise_(kind, f"unheard-of-{kind.value}", 0.0)
    assert all(fault.cause and fault.remedy for fault in queue.standing())
    assert all(cause and remedy for cause, remedy in WORDS.values())


def test_every_fault_that_a_row_of_the_rules_raises_has_words() -> None:
    folder = Path(rules.__file__).with_name("table")
    raised = re.findall(r"fault\(\w+, ([\w-]+)\)", "".join(map(Path.read_text, folder.glob("*"))))
    assert len(raised) > 10
    assert set(raised) - set(WORDS) == set()


def test_every_notice_and_cause_has_words() -> None:
    for notice, why in product(Notice, [None, *Cause]):
        said = commands.Announce(play(3), notice, cause=why, values=(1, 2, 3))
        assert wording.announce(said).endswith("."), (notice, why)


@pytest.mark.parametrize("wagers", WagersDo)
def test_every_consequence_for_wagers_has_words(wagers: WagersDo) -> None:
    said = commands.Announce(play(3), Notice.VOID, wagers=wagers)
    assert "wagers" in wording.announce(said).lower()


def test_a_confirmed_clock_is_trusted_until_it_falls_behind_a_record() -> None:
    clock = Clock()
    wall = WallTime(clock, last_record_s=clock.wall_s - 5)
    assert wall.now() == datetime.fromtimestamp(clock.wall_s, UTC)
    wall.confirm()
    assert wall.trust() is TimeTrust.CONFIRMED
    assert not wall.is_behind_last_record()
    clock.wall_s -= 3600
    assert wall.is_behind_last_record()


@pytest.mark.parametrize(
    ("rtc_s", "trust"),
    [
        (1_790_000_002, TimeTrust.RTC),
        (31, TimeTrust.NONE),  # a Raspberry Pi 5 without a battery, half a minute after power-on
        (1_790_086_400, TimeTrust.NONE),  # the battery holds, and the clock is a day behind it
        (None, TimeTrust.NONE),
    ],
)
def test_an_rtc_is_trusted_only_if_the_clock_agrees_with_it_at_the_start(
    rtc_s: int | None, trust: TimeTrust, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wall_time, "is_synchronised", lambda: False)
    monkeypatch.setattr(wall_time, "RTC", tmp_path / "since_epoch")
    if rtc_s is not None:
        wall_time.RTC.write_text(f"{rtc_s}\n")
    clock = Clock()
    wall = WallTime(clock, last_record_s=clock.wall_s - 60)
    assert wall.trust() is trust
    wall_time.RTC.write_text(f"{rtc_s or 0}\n")
    clock.wall_s += 86_400 * 40  # the two part in use: what counts is the start
    assert wall.trust() is trust


def test_an_rtc_of_a_time_before_this_program_vouches_for_nothing() -> None:
    assert not wall_time.rtc_agrees("31", 32.0)


def test_a_clock_behind_the_last_record_is_noticed_and_can_be_confirmed() -> None:
    clock = Clock()
    wall = WallTime(clock, last_record_s=clock.wall_s + 60)
    assert wall.is_behind_last_record()
    wall.confirm()
    assert not wall.is_behind_last_record()
