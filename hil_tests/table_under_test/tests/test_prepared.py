"""A kind of table is measured and taught once, whoever asks, and never with what is of another."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hil_tests.table_under_test import prepared
from hil_tests.table_under_test.prepared import Prepared
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.reading.controls import Controls
from shaker_ctl.reading.taught_table import Bound, TaughtTable

RIG = {
    "camera": {"serial": "a1", "url": "http://127.0.0.1:1"},
    "drawing": {"compartment_radius_mm": 50.0, "die_mm": 16.0},
    "geometry": "standard", "dice": "white", "dead_lamps": 0, "faults": [], "seed": 3,
}  # fmt: skip


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree of its own, and a process that has prepared nothing yet."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "vision").mkdir()
    monkeypatch.setattr(prepared, "ROOT", tmp_path)
    forget(monkeypatch)
    return tmp_path


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process begins."""
    monkeypatch.setattr(prepared, "_known", {})
    prepared._programs.cache_clear()


def some() -> Prepared:
    bound = Bound(("A1",), "c", Controls())
    now = datetime.now(UTC)
    taught = TaughtTable(bound, now, (), 34, 1.0, True, "", b"learnt")
    return Prepared({"calibration": {"k1": 0.5}}, taught.to_bytes().decode("ascii"))


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"seed": 4}, True),
        ({"camera": {"serial": "a1", "url": "http://127.0.0.1:2"}}, True),
        ({"camera": {"serial": "a2"}}, False),
        ({"geometry": "rough"}, False),
        ({"dice": "red"}, False),
        ({"dead_lamps": 2}, False),
        ({"faults": ["camera_flicker"]}, False),
        ({"drawing": {"compartment_radius_mm": 40.0, "die_mm": 16.0}}, False),
    ],
)
def test_what_shows_in_a_picture_makes_a_kind(change: dict[str, Any], is_same: bool) -> None:
    kind = prepared.kind_of(RIG, {})
    assert (prepared.kind_of({**RIG, **change}, {}) == kind) is is_same
    assert prepared.kind_of(RIG, {"gain": 2.0}) != kind


def test_another_process_finds_it_and_a_torn_file_is_made_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prepared.found("k") is None
    prepared.keep("k", some())
    assert prepared.found("k") is not None
    forget(monkeypatch)
    known = prepared.found("k")
    assert known is not None
    assert known.camera == {"calibration": {"k1": 0.5}}
    (file,) = root.glob("build/rig-tables/*/k.json")
    file.write_text(file.read_text().replace("A1", "A2"))
    forget(monkeypatch)
    assert prepared.found("k") is None


def test_nothing_is_kept_of_former_programs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared.keep("k", some())
    (root / "vision/reader.py").write_text("changed")
    forget(monkeypatch)
    assert prepared.found("k") is None
    prepared.keep("k", some())
    assert len(list(root.glob("build/rig-tables/*"))) == 1


@pytest.mark.rig
@pytest.mark.timeout(600)
def test_a_table_of_the_rig_is_taught_once_by_dice_that_people_throw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for number in (1, 2):
        session = Session(Plan(seed=number), tmp_path / str(number))
        said: list[str] = []
        session.tell = said.append
        try:
            session.start_rig()
            session.write_settings()
            taught = session.teaching()
            assert taught is not None
            assert taught.is_enough, taught.advice
            assert not Path(session.rig["truth"]).read_text()
            assert any("toss 34" in line for line in said) is (number == 1)
        finally:
            session.close()
        files.append((session.folder / "teaching").read_bytes())
        forget(monkeypatch)
    assert files[0] == files[1]
