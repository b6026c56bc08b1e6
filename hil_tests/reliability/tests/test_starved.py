"""What the starved table is told, which only a run of minutes would try otherwise."""

from __future__ import annotations

from pathlib import Path

from hil_tests.reliability import starved
from shaker_ctl import settings


def test_the_starved_table_takes_its_settings(tmp_path: Path) -> None:
    told = settings.parse(starved.settings_with(tmp_path / "journal.jsonl"), source="starved")
    assert told.motion.shake.min_s == told.motion.shake.max_s == starved.PLANNED_S
    assert told.journal.path == tmp_path / "journal.jsonl"
