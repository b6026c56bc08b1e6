"""`shaker-ctl dice`: what it prints, and its status."""

from __future__ import annotations

import queue
import time
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.record_tables import RecordTables
from shaker_ctl.commands import dice as command
from shaker_ctl.commands import dice_bench
from shaker_ctl.commands import journal as journal_command
from shaker_ctl.commands.dice_bench import DiceBench, Said
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal import dice_watch
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.motion.reports import DriveEnded
from shaker_ctl.ports import Interlocks, Pictures
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.tests.playing import FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import DiceStep, Occasion, Purpose, TossPlan, TossProof
from vision.reading import Kind, NoRoll, Verified

QUICK = ["simulate", "--runs", "2", "--tosses", "60", "--behaving", "3", "--long", "50"]


def test_each_fault_has_a_row_and_the_promise_stands_below() -> None:
    shown = CliRunner().invoke(command.app, QUICK, env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    rows = {line.split("│")[1].strip(): line.split("│")[4].strip()
            for line in shown.output.splitlines() if line.startswith("│")}  # fmt: skip
    assert rows["a carried die"] == "2"
    assert rows["behaving"] == "0"
    assert "at most 1 of 1,000 sets that behave" in shown.output


def test_a_test_that_alarms_too_often_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dice_watch, "PROMISE", 0.5)
    assert CliRunner().invoke(command.app, QUICK).exit_code == 1


class Devices:
    """Motion thread, camera reader and cover of a bench; what each is told, and what they say."""

    def __init__(self, *answers: object) -> None:
        self.told: list[str] = []
        self.said: queue.SimpleQueue[Said] = queue.SimpleQueue()
        self._answers, self._is_open = answers, True

    def draw_plan(self) -> TossPlan:
        return TossPlan(720.0, 3.0, "steady")

    def start_toss(self, occasion: Occasion, _plan: TossPlan, _answered_at_s: float) -> None:
        self.told.append("toss")
        for each in self._answers:
            self.said.put(Said(cast(Any, each), Pictures(b"frame", b"overlay")))

    def contacts(self) -> Interlocks:
        return Interlocks(
            compartment_open=False,
            cover_open=self._is_open,
            estop_pressed=False,
            driver_fault=False,
            button_pressed=False,
        )

    def perform(self, command: object) -> None:
        self.told.append(type(command).__name__)

    def settle(self, _occasion: Occasion) -> None:
        self.told.append("settle")

    def cover(self, is_open: bool) -> None:
        self.told.append("open" if is_open else "close")
        self._is_open = is_open

    def bench(self, *, covered: bool = False) -> DiceBench:
        one: Any = self
        return DiceBench(one, one, self.said, self.cover if covered else None)


FIRST = Occasion(Purpose.TRIAL, 1)
SETTLED = ev.TossSettled(FIRST, TossProof(3.0, 700.0, 800.0, 36.0))
READ = ev.ReadingMade(FIRST, Verified((1, 4, 6)))


def test_under_a_cover_the_dice_are_seen_before_and_after_and_never_between() -> None:
    devices = Devices(DriveEnded(0.0, FIRST), SETTLED, READ)
    assert devices.bench(covered=True).toss(1) == (READ.verdict, b"overlay")
    assert devices.told == [
        *("LightOn", "NotePoses", "LightOff", "close", "toss", "settle"),
        *("open", "LightOn", "StartReading", "StopReading"),
    ]


def test_a_late_answer_to_another_toss_is_no_answer_to_this_one() -> None:
    late = ev.ReadingMade(Occasion(Purpose.TRIAL, 7), Verified((6, 6, 6)))
    assert Devices(late, SETTLED, READ).bench().toss(1)[0] == READ.verdict


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (ev.TossNotStarted(FIRST, "the compartment is open"), "the compartment is open"),
        (ev.ShakerFault(FIRST, "motor-stall"), "motor-stall"),
        (ev.ReaderFault(None, "camera-silent"), "camera-silent"),
        (ev.TossDisproved(FIRST), "lies as it lay"),
        (None, "nothing was read in time"),
    ],
)
def test_what_fails_ends_the_bench_and_says_why(
    said: object, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dice_bench, "ANSWER_S", 0.05)
    devices = Devices(*([] if said is None else [said]))
    with pytest.raises(RefusedError, match=why):
        devices.bench().toss(1)
    assert devices.told[-1] == "StopReading"


def test_what_is_outside_is_said_and_all_tosses_are_counted(tmp_path: Path) -> None:
    counted = command.Counted(tmp_path / "out")
    for number in range(1, 31):
        assert counted.line(number, Verified((4, 4, 1)), b"jpeg").endswith("4 4 1")
    counted.line(31, NoRoll(0, Kind.TILTED), None)
    told = [line for line in counted.summary() if isinstance(line, str)]
    assert "30 tosses read, 1 not" in told
    assert any(line.startswith("outside after") for line in told)
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("<img") == 30
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
