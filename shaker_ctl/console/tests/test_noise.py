"""Random and mutated input at every role, with silences as long as those that matter.

Nothing is raised, nothing reaches the table without login or from another role, and `status` still
answers.
"""

from __future__ import annotations

import random

import pytest

from shaker_ctl.console.desk import Actor, Answer
from shaker_ctl.console.grammar import CommandKind, TypedCommand
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.console.session import Session
from shaker_ctl.console.tests.fake_desk import PHASES, FakeDesk
from shaker_ctl.console.tests.noise import WORDS, pieces
from shaker_ctl.console.tests.support import PASSPHRASE, QuickAccounts
from shaker_ctl.rules.vocabulary import Role

SILENCES = [0.0, 0.0, 0.0, 0.001, 0.01, 0.031, 0.06, 0.3, 2.0, 61.0]
AMOUNT = 12_000


class WatchedDesk(FakeDesk):
    """Remembers what must not have happened, and how many acts were taken."""

    def __init__(self) -> None:
        super().__init__("ready")
        self.trespasses: list[tuple[TypedCommand, Actor]] = []
        self.taken = 0

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        if command.form.kind is not CommandKind.ACT or actor.role not in command.form.roles:
            self.trespasses.append((command, actor))
        answer = super().submit(command, actor, deadline_s=deadline_s)
        self.taken += answer.is_ok
        return answer


@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_noise_neither_crashes_nor_trespasses(role: Role | None) -> None:
    chance, desk, now, fed = random.Random(7), WatchedDesk(), 1000.0, 0
    session = Session(
        *(desk, "technician", tuple(Role), QuickAccounts(), Lockout()),
        bytes_per_s=11_520,
        idle_s=1e9,
        answer_s=1.0,
    )
    session.open(now)
    desk.put(round_id=1)
    for piece in pieces(chance):
        if fed >= AMOUNT:
            break
        if chance.random() < 0.02:
            desk.go(chance.choice(list(PHASES)))
        if chance.random() < 0.1:
            now = settled(session, role, now)
        if chance.random() < 0.2:
            # A whole act and then silence, as a person gives it: these do get through.
            now = said(session, b"\x15" + chance.choice(WORDS), now)
        session.receive(piece, now)
        fed += len(piece)
        now += chance.choice(SILENCES)
        session.tick(now)
        session.take_output()
    settled(session, role, now)
    session.close()
    assert desk.trespasses == []
    assert role is not None or not desk.taken


def said(session: Session, line: bytes, now: float) -> float:
    """Say a line between two silences."""
    session.tick(now + 1.0)
    session.receive(line + b"\r", now + 1.0)
    session.tick(now + 1.5)
    return now + 1.5


def settled(session: Session, role: Role | None, now: float) -> float:
    """Log in again as `role` (or out), and ask for the `status`."""
    log_in = [f"login {role.value} fuzz".encode(), PASSPHRASE.encode()] if role else []
    now += 1000.0  # any lockout has ended
    for line in (b"\x03", b"\x03\x15mode people", b"logout", *log_in):
        now = said(session, line, now)
    while session.take_output():
        pass
    session.receive(b"status\r", now + 1.0)
    answer = session.take_output()
    assert b"Table 7: " in answer, "status answers no more"
    return now + 2.0
