"""Each beat is noted with the time since the one before, and read from outside."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hil_tests.reliability import noted_beats
from hil_tests.reliability.heartbeat import BEATS, MAX_BEATS, WatchedSession, told
from hil_tests.table_under_test.session import Plan
from shaker_ctl import main
from shaker_ctl.service.heartbeat import Heartbeat


def test_a_late_beat_is_seen_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def service() -> None:
        heart = Heartbeat(time.monotonic, 0.05)
        for wait_s in (0.0, 0.0, 0.06, 0.0):
            time.sleep(wait_s)
            heart.beat()
            assert heart.is_fresh()

    with (tmp_path / BEATS).open("wb") as file:
        file.truncate(8 * MAX_BEATS)
    monkeypatch.setenv("SHAKER_RIG_BEATS", str(tmp_path / BEATS))
    monkeypatch.setattr(main, "app", service)
    monkeypatch.setattr(Heartbeat, "beat", Heartbeat.beat)  # put back afterwards
    noted_beats.app()
    beats = WatchedSession(Plan(), tmp_path).beats(after=1)
    assert len(beats) == 3
    assert max(beats) == beats[1] >= 0.06
    assert "3 beats" in told(beats)
    assert "1 over 30 ms" in told(beats)
