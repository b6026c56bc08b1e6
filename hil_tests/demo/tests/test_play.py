"""A demonstration refuses what cannot work before it starts, and keeps what people must look at."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.demo import play as playing
from hil_tests.demo.play import _Folder, play
from hil_tests.demo.session import DemoError, Plan, _toml
from shaker_ctl.main import program


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> None:
        raise AssertionError("a rig was started")

    monkeypatch.setattr(playing, "Session", start)


def test_unknown_dice_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(DemoError, match="--dice nonsense") as caught:
        play(Plan(dice="nonsense"), rounds=1, report=None, plain=True)
    assert "white, ivory, red, blue, green, asian" in caught.value.line()


def test_a_seed_below_nothing_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="--seed -1"):
        play(Plan(seed=-1), rounds=1, report=tmp_path, plain=True)
    done = CliRunner().invoke(program, ["demo", "--seed", "-1"])
    assert done.exit_code == 2
    assert "'--seed'" in done.output


@pytest.mark.parametrize("where", ["file", "file/below", "loop", "y" * 300, "earlier", "n\udcff"])
def test_a_report_folder_that_cannot_be_is_refused_first(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "journal.sqlite").touch()
    with pytest.raises(DemoError) as caught:
        play(Plan(), rounds=1, report=tmp_path / where, plain=True)
    assert caught.value.remedy
    assert not (tmp_path / "n\udcff").exists()


def test_the_passing_folder_stays_where_its_log_was_named() -> None:
    with pytest.raises(DemoError), _Folder(None) as failed:
        raise DemoError("it broke", remedy=f"See {failed.path}/rig.log")
    with _Folder(None) as odd:
        odd.is_evidence = True
    with pytest.raises(KeyboardInterrupt), _Folder(None) as stopped:
        raise KeyboardInterrupt
    with _Folder(None) as good:
        pass
    stay = [folder.path.is_dir() for folder in (failed, odd, stopped, good)]
    failed.path.rmdir()
    odd.path.rmdir()
    assert stay == [True, True, False, False]


def test_the_persons_folder_always_stays(tmp_path: Path) -> None:
    with _Folder(tmp_path / "deep" / "report") as folder:
        assert folder.path.is_dir()
    assert folder.path.is_dir()


def test_any_folder_name_comes_through_the_settings_file() -> None:
    name = 'r\u00e9p \U0001f3b2 "[x]" \\ \x7f \t end'
    assert tomllib.loads("\n".join(_toml({"service": {"runtime_dir": name}}))) == {
        "service": {"runtime_dir": name}
    }
