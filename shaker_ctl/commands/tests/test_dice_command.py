"""`shaker-ctl dice`: what it prints, and its status."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.record_tables import RecordTables
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.commands import dice as command
from shaker_ctl.commands import journal as journal_command
from shaker_ctl.commands.bench import Bench
from shaker_ctl.doctor import shaker
from shaker_ctl.errors import HardwareError
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.proof import TachProof
from shaker_ctl.motion.reports import MotionDenied, TossJudged
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.tests.playing import FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import DiceStep, Occasion, Purpose, TossPlan, TossProof
from vision.frame import Frame
from vision.reading import Kind, NoRoll, Verdict, Verified

FIRST = Occasion(Purpose.TRIAL, 1)
SETTLED = ev.TossSettled(FIRST, TossProof(3.0, 700.0, 800.0, 36.0))
UNPROVED = TossJudged(0.0, FIRST, TachProof("the cam left the band", 9, 0.1, 1.1, 1, 2, 3))


class Motion:
    """A motion thread that answers a toss so, and tells what is done with it."""

    def __init__(self, *answers: object) -> None:
        self.told: list[str] = []
        self._answers, self._is_open = answers, True

    def made(self, *, post: Callable[[Any], None], **_: object) -> Motion:
        self._post = post
        return self

    def start(self) -> None: ...

    def require_cover(self, _closed: bool | None) -> None: ...

    def close(self) -> None:
        self.told.append("off")

    def draw_plan(self) -> TossPlan:
        return TossPlan(720.0, 0.0, "steady")

    def start_toss(self, *_: object) -> None:
        self.told.append("toss")
        for each in self._answers:
            self._post(each)

    def figures(self) -> SimpleNamespace:
        return SimpleNamespace(trace=())

    def contacts(self) -> SimpleNamespace:
        return SimpleNamespace(cover_open=self._is_open)

    def cover(self, is_open: bool) -> None:
        self.told.append("open" if is_open else "close")
        self._is_open = is_open

    def take(self) -> tuple[Frame, SimpleNamespace]:
        """As `StillPictures`: three dice that nobody moves."""
        self.told.append("look")
        return Frame(np.zeros((9, 9, 3), np.uint8)), seen(Verified((1, 4, 6)))


def seen(opinion: Verdict) -> Any:
    die = SimpleNamespace(model=None, second=None, turn_deg=0.0)
    dice = [SimpleNamespace(x_mm=30.0 * n, y_mm=0.0, **vars(die)) for n in range(3)]
    return SimpleNamespace(observation=SimpleNamespace(dice=dice, opinion=opinion))


@contextmanager
def benched(motion: Motion, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(shaker, "MotionThread", motion.made)
    monkeypatch.setattr(shaker, "ANSWER_S", 0.05)
    pins: Any = SimpleNamespace(motor=None, tach=None, lines=None, link=None)
    pictures: Any = SimpleNamespace(take=motion.take, calibration=None)
    with shaker.LoneShaker(pins, MotionParameters()) as lone:
        yield Bench(lone, pictures, PinParameters().model_dump(), motion.cover)


def test_the_cover_is_closed_for_the_toss_and_dice_that_nobody_moved_are_no_new_toss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    motion = Motion(SETTLED)
    with benched(motion, monkeypatch) as bench:
        assert bench.toss()[1].observation.opinion == Verified((1, 4, 6))
        with pytest.raises(HardwareError, match="lie as they lay before"):
            bench.toss()
    assert motion.told == [*2 * ["close", "toss", "open", "look"], "off"]


@pytest.mark.parametrize(
    ("said", "why", "remedy"),
    [
        ([MotionDenied(0.0, FIRST, "it is open"), ev.TossNotStarted(FIRST, "it is open")],
         "interlock: it is open", "release the e-stop"),
        ([ev.ShakerFault(FIRST, "tach-silent")], "tach-silent", "GPIO 24"),
        ([UNPROVED, ev.ShakerFault(FIRST, "toss-not-proved")], "the cam left the band", "doctor"),
        ([], "did not answer", "doctor"),
    ],
)  # fmt: skip
def test_what_fails_ends_the_toss_and_says_why(
    said: list[object], why: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        benched(Motion(*said), monkeypatch) as bench,
        pytest.raises(HardwareError, match=why) as failed,
    ):
        bench.toss()
    assert remedy in failed.value.remedy


def test_what_is_outside_is_said_and_all_tosses_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, counted = Frame(np.zeros((90, 90, 3), np.uint8)), command.Counted(tmp_path / "out")
    monkeypatch.setattr("vision.overlay.draw_reading", lambda image, *_: image)
    for number in range(1, 31):
        assert counted.line(number, frame, seen(Verified((4, 4, 1)))).endswith("4 4 1")
    counted.line(31, frame, seen(NoRoll(0, Kind.TILTED)))
    told = [line for line in counted.summary() if isinstance(line, str)]
    assert "30 tosses read, 1 not" in told
    assert any(line.startswith("outside after") for line in told)
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("<img") == 31
    assert "31: no roll" in page


A = ("A1", "A2", "A3")
LIFE: list[ev.Event] = [
    ev.DiceLogged(FLOOR, DiceStep.RECEIVED, A),
    ev.DiceLogged(SUPERVISOR, DiceStep.RECEIVED, A),
    ev.DiceLogged(FLOOR, DiceStep.INSPECTED, A[:2]),
    ev.DiceLogged(FLOOR, DiceStep.RECEIVED, ("B1",)),
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A table with a journal in which dice were received, partly inspected, and locked in."""
    table = Playing(dice_by_two=True).do(ev.Restarted(False, False, False))
    store = DiskJournal(tmp_path / "journal.jsonl")
    for event in (*LIFE, *(ev.DiceChanged(who, A, table.now) for who in (FLOOR, SUPERVISOR))):
        decided = [to_record(each) for each in table.do(event).last.commands]
        entry = Entry("step", {"event": to_record(event), "rows": [], "decision": decided})
        at = "2026-03-02T12:00:00.000+00:00"
        store.write([link(store.head(), entry, monotonic_s=0.0, wall=at, digests={})])
    store.close()
    settings = tmp_path / "table.toml"
    settings.write_text(f'[journal]\npath = "{tmp_path / "journal.jsonl"}"\n')
    return settings


def test_tables_that_follow_the_journal_by_a_second_are_waited_for(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = RecordTables(config.with_name("journal.jsonl"))
    monkeypatch.setattr(time, "sleep", lambda _: tables.keep_up())
    shown = CliRunner().invoke(command.app, ["ledger", "--config", str(config)])
    tables.close()
    assert "received: A1 A2 A3" in shown.output


def test_sheet_and_ledger_follow_dice_from_the_box(config: Path) -> None:
    ask = (command.app, ["ledger", "--config", str(config)])
    assert "tables up to date" in str(CliRunner().invoke(*ask).exception)
    tables = RecordTables(config.with_name("journal.jsonl"))
    tables.keep_up()
    tables.close()
    sheet = CliRunner().invoke(journal_command.app, ["day", "2026-03-02", "--config", str(config)])
    told = " ".join(CliRunner().invoke(*ask).output.split())
    for shown in (" ".join(sheet.output.split()), told):
        assert f"received: A1 A2 A3 {FLOOR.name} (floorperson), {SUPERVISOR.name} (super" in shown
        assert "moved: received 4, inspected 2, locked in 3" in shown
        assert "locked in: 3 A1 A2 A3" in shown
        assert "LOOK: A3 was locked in, and before that received" in shown
        assert "LOOK: one person alone signed: received: B1" in shown
    assert "more than 24 hours" in told
    assert "more than 24 hours" not in sheet.output
