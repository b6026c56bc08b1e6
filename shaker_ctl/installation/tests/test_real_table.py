"""Nothing that can stage an outcome runs on a computer that is installed as a real table (O-16)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.errors import RefusedError
from shaker_ctl.installation import real_table, told
from shaker_ctl.installation.places import Places
from shaker_ctl.main import program
from shaker_ctl.seal import place


@pytest.mark.parametrize("name", real_table.MARKS)
def test_each_mark_makes_a_real_table(tmp_path: Path, name: str):
    path = tmp_path / name.lstrip("/")
    path.parent.mkdir(parents=True)
    path.symlink_to("nowhere")
    assert real_table.mark(tmp_path) == path


def test_a_set_up_leaves_its_mark(tmp_path: Path):
    assert real_table.mark(tmp_path) is None
    told.mark_table(Places(tmp_path), PinParameters())
    assert real_table.mark(tmp_path) == tmp_path / "etc/shaker-ctl/real-table"


def test_the_seals_files_are_marks():
    for name in (place.PUBLIC_KEY, place.MANIFEST):
        assert str(place.INSTALLED / name) in real_table.MARKS


def test_no_demonstration_runs_on_a_real_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mark = tmp_path / "real-table"
    mark.touch()
    monkeypatch.setattr(real_table, "MARKS", (str(mark),))
    done = CliRunner().invoke(program, ["demo", "--rounds", "1"])
    assert isinstance(done.exception, RefusedError)
    assert str(mark) in str(done.exception)


@pytest.mark.skipif(os.geteuid() == 0, reason="root looks into every folder")
def test_a_folder_that_may_not_be_looked_into_is_a_mark(tmp_path: Path):
    closed = tmp_path / "etc/shaker-ctl"
    closed.mkdir(parents=True)
    closed.chmod(0)
    try:
        assert real_table.mark(tmp_path) == closed
    finally:
        closed.chmod(0o700)
