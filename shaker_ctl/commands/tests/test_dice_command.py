"""`shaker-ctl dice`: what it prints, and its status."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from shaker_ctl.commands import dice as command
from shaker_ctl.journal import dice_watch

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
