"""A scripted floorperson and dealer get through a table's life by its port alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from hil_tests.table_under_test import scripted
from hil_tests.table_under_test.scripted import Dealer, Floorperson, ScriptedPersonError
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console.client import Console
from shaker_ctl.console.desk import Actor, Answer
from shaker_ctl.console.grammar import TypedCommand
from shaker_ctl.console.tests.conftest import users
from shaker_ctl.console.tests.fake_desk import FakeDesk, verb
from shaker_ctl.console.tests.support import PASSPHRASE, served
from shaker_ctl.rules.outcome import Values

__all__ = ["users"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "LOOK_S", 0.01)


def _verbs(desk: FakeDesk) -> list[str]:
    return [verb(command) for command, _ in desk.acts]


def test_floorperson_watches_the_inspection_signs_it_and_opens_the_table(users: Path) -> None:
    desk = FakeDesk("inspection due")
    with served(desk, users) as device:
        console = Console(SerialPort(device))
        console.connect()
        status = Floorperson(console, "anna", PASSPHRASE).open_table(timeout_s=20)
    assert status["life"] == "open"
    assert [name for name in _verbs(desk) if name != "time confirm"] == [
        "inspect all",
        "inspect seen",
        "sign",
        "open",
    ]
    assert [note.kind for note in desk.notes][:2] == ["login", "logout"]


class Examining(FakeDesk):
    """Asks to wait, nine times."""

    asked = 0

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        if command.name == "open" and self.asked < 9:
            self.asked += 1
            return Answer.refused("not-now", "files are being examined: wait some seconds")
        return super().submit(command, actor, deadline_s=deadline_s)


def test_floorperson_waits_longer_each_time_the_table_asks_to_wait(
    users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    with served(Examining("inspection due"), users) as device:
        console = Console(SerialPort(device))
        console.connect()
        status = Floorperson(console, "anna", PASSPHRASE).open_table(timeout_s=20)
    assert status["life"] == "open"
    pauses = [pause for pause in slept if pause >= scripted.PATIENCE_S]
    assert pauses == [n * scripted.PATIENCE_S for n in range(1, 10)]


def test_floorperson_gives_up_on_a_fault_and_says_which(users: Path) -> None:
    desk = FakeDesk()
    desk.break_down()
    with served(desk, users) as device:
        console = Console(SerialPort(device))
        console.connect()
        with pytest.raises(ScriptedPersonError, match="motor-stall"):
            Floorperson(console, "anna", PASSPHRASE).open_table(timeout_s=20)


def test_dealer_runs_rounds_in_the_order_of_the_rules(users: Path) -> None:
    desk = FakeDesk("ready")
    with served(desk, users, port="dealer") as device:
        console = Console(SerialPort(device))
        console.connect()
        dealer = Dealer(console, "dan", PASSPHRASE, betting_s=0, settling_s=0)
        assert dealer.play(2, timeout_s=20) == 2
    assert _verbs(desk) == ["bets", "nmb", "activate", "confirm", "settled", "lamps-off"] * 2


def test_dealer_who_sees_other_values_enters_them_and_waits_for_the_floorperson(
    users: Path,
) -> None:
    def eyes(_round: int, read: Values | None) -> Values | None:
        return (1, 1, 1)

    desk = FakeDesk("ready")
    with served(desk, users, port="dealer") as device:
        console = Console(SerialPort(device))
        console.connect()
        dealer = Dealer(console, "dan", PASSPHRASE, betting_s=0, settling_s=0, eyes=eyes)
        with pytest.raises(ScriptedPersonError, match="disputed"):
            dealer.play(1, timeout_s=1)
    command, actor = desk.acts[-1]
    assert verb(command) == "enter"
    assert command.arguments == {"round": 1, "values": (1, 1, 1)}
    assert actor.name == "dan"
