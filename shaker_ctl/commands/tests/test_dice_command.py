"""`shaker-ctl dice`: what it prints, and its status."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.record_tables import RecordTables
from shaker_ctl.commands import dice as command
from shaker_ctl.commands import journal as journal_command
from shaker_ctl.journal import dice_watch
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.tests.playing import FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import DiceStep

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


A = ("A1", "A2", "A3")
LIFE: list[ev.Event] = [
    ev.DiceLogged(FLOOR, DiceStep.RECEIVED, A),
    ev.DiceLogged(SUPERVISOR, DiceStep.RECEIVED, A),
    ev.DiceLogged(FLOOR, DiceStep.INSPECTED, A[:2]),
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A table with a journal in which dice were received, partly inspected, and locked in."""
    table = Playing().do(ev.Restarted(False, False, False))
    store = DiskJournal(tmp_path / "journal.jsonl")
    for event in (*LIFE, ev.DiceChanged(FLOOR, A, table.now)):
        decided = [to_record(each) for each in table.do(event).last.commands]
        entry = Entry("step", {"event": to_record(event), "rows": [], "decision": decided})
        at = "2026-03-02T12:00:00.000+00:00"
        store.write([link(store.head(), entry, monotonic_s=0.0, wall=at, digests={})])
    store.close()
    settings = tmp_path / "table.toml"
    settings.write_text(
        f'[table]\ndice_by_two = true\n[journal]\npath = "{tmp_path / "journal.jsonl"}"\n'
    )
    return settings


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
        assert "moved: received 3, inspected 2, locked in 3" in shown
        assert "locked in: 3 A1 A2 A3" in shown
        assert "LOOK: A3 was locked in, and before that received" in shown
        assert "LOOK: one person alone signed: locked in" in shown
    assert "more than 24 hours" in told
    assert "more than 24 hours" not in sheet.output
