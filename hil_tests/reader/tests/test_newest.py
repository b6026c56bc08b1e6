"""A newer library is judged by what it changes on the very same pictures."""

from __future__ import annotations

from pathlib import Path

from hil_tests.reader import newest
from hil_tests.reader.tables import Table
from shaker_ctl.libraries import DECIDING

ROW = {"said": "right", "figures": "a"}


def test_each_library_that_decides_has_its_contracts() -> None:
    assert set(newest.CONTRACTS) == set(DECIDING)
    for files in newest.CONTRACTS.values():
        assert [name for name in files if not (newest.HERE / name).exists()] == []


def test_a_changed_verdict_and_a_changed_figure_are_counted_apart() -> None:
    after = [ROW, {**ROW, "figures": "b"}, {**ROW, "figures": "c"}, {**ROW, "said": "no roll"}]
    found = newest.differences([ROW] * 4, after)
    assert found == {"pictures": 4, "verdicts": 1, "figures": 2}


def test_the_same_libraries_read_stored_pictures_the_same(table: Table, tmp_path: Path) -> None:
    newest.store(tmp_path / "cases", table, 2)
    found = newest.differences(newest.read(tmp_path / "cases"), newest.read(tmp_path / "cases"))
    assert found == {"pictures": 2, "verdicts": 0, "figures": 0}
