"""People get through a table's life by its consoles alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hil_tests.processes import BenchError
from hil_tests.table_under_test import table as people
from hil_tests.table_under_test.table import TableUnderTest
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console.client import Console
from shaker_ctl.console.desk import Actor, Answer
from shaker_ctl.console.grammar import TypedCommand
from shaker_ctl.console.tests.conftest import users
from shaker_ctl.console.tests.fake_desk import FakeDesk, verb
from shaker_ctl.console.tests.support import PASSPHRASE, served

__all__ = ["users"]


class Examining(FakeDesk):
    """Asks to wait, nine times."""

    asked = 0

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        if command.name == "open" and self.asked < 9:
            self.asked += 1
            return Answer.refused("not-now", "files are being examined: wait some seconds")
        return super().submit(command, actor, deadline_s=deadline_s)


def open_table(desk: FakeDesk, users: Path, seconds: float) -> list[str]:
    """Have people open a table at its technician's port; return the acts that reached it."""
    words = dict.fromkeys(people.PEOPLE.values(), PASSPHRASE)
    with served(desk, users) as device:
        console = Console(SerialPort(device))
        console.connect()
        session: Any = SimpleNamespace(passphrases=words, console=lambda *_, **__: console)
        TableUnderTest(session).be_open(seconds)
    return [verb(command) for command, _ in desk.acts]


@pytest.fixture(autouse=True)
def anna_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(people.PEOPLE, "floorperson", "anna")
    monkeypatch.setattr(people, "LOOK_S", 0.01)


@pytest.mark.parametrize("kind", [FakeDesk, Examining])
def test_they_inspect_look_at_the_lamps_sign_and_open_even_where_they_must_wait(
    kind: type[FakeDesk], users: Path
) -> None:
    desk = kind("inspection due")
    acts = open_table(desk, users, 20.0)
    assert [name for name in acts if name != "time confirm"] == [
        *("dice changed", "inspect all", "inspect seen", "sign", "open")
    ]
    assert [note.kind for note in desk.notes][:2] == ["login", "logout"]


def test_a_table_that_does_not_come_is_named_with_its_fault(users: Path) -> None:
    desk = FakeDesk()
    desk.break_down()
    with pytest.raises(BenchError, match="motor-stall"):
        open_table(desk, users, -1.0)
