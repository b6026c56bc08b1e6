"""The report that says: still here. Once a minute, so on a clock that the test turns."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from virtual_pigpiod.loop import Loop, ScheduledAction
from virtual_pigpiod.pins.board import Board, now_us
from virtual_pigpiod.reports import alerts
from virtual_pigpiod.reports.alerts import Alerts
from virtual_pigpiod.reports.handles import Handles


class Sent:
    """A sink that keeps what it is sent."""

    def __init__(self) -> None:
        self.flags: list[int] = []

    def send(self, data: bytes) -> bool:
        self.flags += [flags for _, flags, _, _ in struct.iter_unpack("<HHII", data)]
        return True

    def release(self) -> None:
        pass


class TurnedLoop(Loop):
    """Runs its timers when the test says what time it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.due: list[ScheduledAction] = []
        self._monkeypatch = monkeypatch

    def call_at(self, at_us: int, action: Callable[[], None]) -> ScheduledAction:
        self.due.append(ScheduledAction(at_us, action))
        return self.due[-1]

    def post(self, action: Callable[[], None]) -> None:
        action()

    def turn_to(self, at_us: int) -> None:
        while due := [t for t in self.due if t.at_us <= at_us and t.action is not None]:
            timer = min(due, key=lambda timer: timer.at_us)
            self.due.remove(timer)
            self._monkeypatch.setattr(alerts, "now_us", lambda now=timer.at_us: now)
            assert timer.action is not None
            timer.action()


def test_a_handle_without_reports_hears_once_a_minute_that_the_daemon_lives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loop, handles, sink = TurnedLoop(monkeypatch), Handles(tmp_path), Sent()
    Alerts(Board(), loop, handles)
    start = now_us()
    handles.open(sink)
    loop.turn_to(start + 59_000_000)
    assert sink.flags == []
    loop.turn_to(start + 61_000_000)
    assert sink.flags == [0x40]
    loop.turn_to(start + 181_000_000)
    assert sink.flags == [0x40] * 3
