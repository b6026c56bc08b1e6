"""What a screen says while no table answers."""

from __future__ import annotations

from pathlib import Path

from hil_tests.waiting import until
from shaker_ctl.service.table_watch import TableWatch


def test_a_table_that_is_not_started_is_told_without_the_systems_words(tmp_path: Path) -> None:
    watch = TableWatch(tmp_path / "run", 5.0, lambda: None)
    watch.start()
    try:
        until(lambda: watch.trouble == "no table runs here")
    finally:
        watch.stop()
    assert watch.live() is None
