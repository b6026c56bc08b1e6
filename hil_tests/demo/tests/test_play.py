"""A demonstration refuses what cannot work before it starts, and keeps what people must look at."""

from __future__ import annotations

import io
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from hil_tests.demo import play as playing
from hil_tests.demo.play import _Folder, _News, _watch, invitation, play
from hil_tests.processes import BenchError
from hil_tests.table_under_test import people
from hil_tests.table_under_test.rounds import check
from hil_tests.table_under_test.session import EASY_WORD, Plan, Session


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> None:
        raise AssertionError("a rig was started")

    monkeypatch.setattr(playing, "Session", start)


def test_unknown_dice_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(BenchError, match="--dice nonsense") as caught:
        play(Plan(dice="nonsense"), rounds=1, report=None, plain=True)
    assert "white, ivory, red, blue, green, asian" in caught.value.line()


@pytest.mark.parametrize("where", ["file", "file/below", "loop", "y" * 300, "earlier", "n\udcff"])
def test_a_report_folder_that_cannot_be_is_refused_first(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "journal.jsonl").touch()
    with pytest.raises(BenchError) as caught:
        play(Plan(), rounds=1, report=tmp_path / where, plain=True)
    assert caught.value.remedy
    assert not (tmp_path / "n\udcff").exists()


def test_the_passing_folder_stays_where_its_log_was_named() -> None:
    with pytest.raises(BenchError), _Folder(None) as failed:
        raise BenchError("it broke", remedy=f"See {failed.path}/rig.log")
    with _Folder(None) as odd:
        odd.is_evidence = True
    with pytest.raises(KeyboardInterrupt), _Folder(None) as stopped:
        raise KeyboardInterrupt
    with pytest.raises(SystemExit), _Folder(None) as unread:
        raise SystemExit
    with _Folder(None) as good:
        pass
    stay = [folder.path.is_dir() for folder in (failed, odd, stopped, unread, good)]
    failed.path.rmdir()
    odd.path.rmdir()
    assert stay == [True, True, False, False, False]


def test_the_persons_folder_always_stays(tmp_path: Path) -> None:
    with _Folder(tmp_path / "deep" / "report") as folder:
        assert folder.path.is_dir()
    assert folder.path.is_dir()


class Reader(io.StringIO):
    """Whoever reads what the demonstration prints; goes after so many lines."""

    def __init__(self, most: int = 10**6) -> None:
        super().__init__()
        self._most = most

    def write(self, text: str) -> int:
        if len(self.getvalue().splitlines()) >= self._most:
            raise BrokenPipeError
        return super().write(text)


class Screen(Console):
    """As Rich's own, but for the process's output, which is the test's."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        raise SystemExit(1)


class Talkers:
    """People who say three things as soon as they start."""

    failure = None

    def __init__(self, _session: object, said: Callable[[str], None]) -> None:
        self._said = said

    def start(self) -> None:
        for one in "abc":
            self._said(one)

    def stop(self) -> None:
        pass

    def close_after_this_round(self) -> None:
        pass


LAMPS = ["big", *(f"pair-1-{n}" for n in range(2, 7)), *(f"total-{n}" for n in range(4, 18))]


def view(life: str = "closed") -> dict[str, Any]:
    played = {"round": 1, "values": [6, 5, 4], "ending": "settled", "cause": None}
    return {
        "life": life,
        "room": {"shape": "circle"},
        "phase": "collecting",
        "marks": [f"a mark of a demonstration, {n}" for n in range(5)],
        "inspection": {"stage": "lamps", "cycles_good": 0, "cycles_of": 3},
        "round_id": 1,
        "rounds": [played],
        "lamps": {"measured": LAMPS},
    }


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setattr(playing, "People", Talkers)
    monkeypatch.setattr(playing, "LOOK_S", 0.0)
    monkeypatch.setattr(people, "read_status", lambda _folder: view())
    return SimpleNamespace(plan=Plan(), folder=tmp_path, runtime_dir=tmp_path, check=lambda: None)


def test_a_reader_who_goes_ends_the_watching(session: Any) -> None:
    with pytest.raises(SystemExit):
        _watch(session, None, Screen(file=Reader(most=2)), plain=True)


@pytest.mark.parametrize(("limit", "said"), [("REPAIR_S", "jam"), ("STUCK_S", "no round ended")])
def test_a_table_that_does_not_go_on_ends_the_watching(
    session: Any, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    out = {**view("out of service"), "says": "", "faults": [{"code": "jam", "cause": "a coin"}]}
    monkeypatch.setattr(people, "read_status", lambda _folder: out)
    monkeypatch.setattr(people, limit, -1.0)
    with pytest.raises(BenchError, match=said):
        _watch(session, 2, Console(file=io.StringIO()), plain=True)


def test_each_line_off_a_terminal_is_one_line() -> None:
    reader = Reader()
    news = _News(Console(file=reader, width=80), ["fay: " + "word " * 30])
    news.tell(view())
    said, table, ended = reader.getvalue().splitlines()
    assert said.endswith("word ")
    assert table.startswith("table closed")
    assert ended.endswith("total-17")


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_whoever_ends_it_or_reads_no_further_leaves_no_folder(
    end: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    def started(_plan: Plan, folder: Path, _console: Console) -> Any:
        folders.append(folder)
        camera, lamp = {"url": "u"}, {"device": "d"}
        pins = {"host": "h", "port": 1}
        return SimpleNamespace(
            rig={"pigpiod": pins, "camera": camera, "lamp": lamp},
            ready_after_s=1.0,
            teaching=lambda: None,
            stop_service=lambda: None,
            close=lambda: None,
        )

    def ended(*_: object) -> None:
        raise end

    monkeypatch.setattr(playing, "_started", started)
    monkeypatch.setattr(playing, "_watch", ended)
    monkeypatch.setattr(playing, "_finish", lambda *_: check([]))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert play(Plan(), rounds=1, report=None, plain=True) == 1
    assert [folder.exists() for folder in folders] == [False]


def test_who_plays_by_hand_is_told_where_to_log_in_and_what_to_type(tmp_path: Path) -> None:
    rig = {"console": {"dealer": {"person": "/d"}, "technician": {"person": "/t"}}}
    lines = "\n".join(invitation(Session(Plan(by_hand=True), tmp_path, rig=rig)))
    assert "console --port /d" in lines
    assert "console --port /t" in lines
    assert EASY_WORD in lines
    assert f"--dir {tmp_path / 'rig'} bulb_burnt" in lines


def test_by_hand_there_is_no_number_of_rounds() -> None:
    with pytest.raises(BenchError, match="as many rounds as you play"):
        play(Plan(by_hand=True), rounds=3, report=None, plain=True)
