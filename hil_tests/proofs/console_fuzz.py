"""Random and mutated bytes at a console, at every role.

Owns the bytes and the judgement. A session is fed pieces of whole commands, mutated commands, modem
chatter, escape sequences and noise, with silences in between as long as those that matter to it,
in a time of its own. What must hold: nothing is raised, nothing reaches the table without login or
from another role, and `status` still answers. How memory grows a story of the consoles watches.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from shaker_ctl.console.desk import Actor, Answer, Note
from shaker_ctl.console.grammar import FORMS, CommandKind, TypedCommand
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.console.session import Session
from shaker_ctl.console.tests.fake_desk import PHASES, FakeDesk
from shaker_ctl.console.tests.support import PASSPHRASE, QuickAccounts
from shaker_ctl.rules.vocabulary import Role

WORDS = [form.line.encode() for form in FORMS] + [
    *(
        b"enter 1 3 4 5",
        b"345",
        b"+",
        b"-",
        b"000",
        b"decide 1 no-roll",
        b"inspect all",
        b"jog 300 2",
    ),
    *(b"nmb", b"activate", b"settled", b"lamps-off", b"fault clear motor-stall", b"no-roll 1"),
    *(b"login dealer dan", b"login technician tom", b"light 50", b"dice changed a b c"),
    *(b"ATZ", b"AT+CGMI", b"+++", b"ATDT5551234", b"\x1b[A", b"\x1b[B\x1b[C", b"\x1bOP", b"\x1b"),
    *(
        b"mode machine",
        b"mode people",
        b"help all",
        b"camera snap",
        b"log bundle",
        b"\x03",
        b"\x04",
    ),
    *(b"\t\t", b"\x15", b"\x7f\x7f\x7f", b"\xff\xfe", b"\x00", b"x" * 300, "José ½ 骰".encode()),
]
ENDS = [b"\r", b"\n", b"\r\n", b"", b"\r\r", b"\x03", b" "]
SILENCES = [0.0, 0.0, 0.0, 0.001, 0.01, 0.031, 0.06, 0.3, 2.0, 61.0]


class WatchedDesk(FakeDesk):
    """Remembers only what must not have happened."""

    def __init__(self) -> None:
        super().__init__("ready")
        self.trespasses: list[tuple[TypedCommand, Actor]] = []
        self.taken = 0

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        if command.form.kind is not CommandKind.ACT or actor.role not in command.form.roles:
            self.trespasses.append((command, actor))
        answer = super().submit(command, actor, deadline_s=deadline_s)
        self.taken += answer.is_ok
        self.acts.clear()
        self.refused.clear()
        return answer

    def note(self, note: Note) -> None:
        """Keep none: a journal grows, and it is the console's memory that is watched."""


def pieces(chance: random.Random) -> Iterator[bytes]:
    """Yield pieces for ever: whole lines, mutated lines, noise."""
    while True:
        kind = chance.random()
        if kind < 0.3:
            yield chance.randbytes(chance.randint(1, 60))
            continue
        text = bytearray(chance.choice(WORDS))
        if kind < 0.7:
            for _ in range(chance.randint(1, 4)):
                _mutate(text, chance)
        yield bytes(text) + chance.choice(ENDS)


def _mutate(text: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(text) + 1)
    kind = chance.randrange(4)
    if kind == 0:
        text.insert(at, chance.randrange(256))
    elif kind == 1 and at < len(text):
        del text[at]
    elif kind == 2 and at < len(text):
        text[at] ^= 1 << chance.randrange(8)
    else:
        text[at:at] = text[: chance.randint(0, 20)]


def fuzz(role: Role | None, amount: int, seed: int) -> WatchedDesk:
    """Feed `amount` bytes as `role` (None: nobody); return what reached the table."""
    chance, desk, now, fed = random.Random(seed), WatchedDesk(), 1000.0, 0
    session = Session(
        *(desk, "technician", tuple(Role), QuickAccounts(), Lockout()),
        bytes_per_s=11_520,
        idle_s=1e9,
        answer_s=1.0,
    )
    session.open(now)
    desk.put(round_id=1)
    for piece in pieces(chance):
        if fed >= amount:
            break
        if chance.random() < 0.02:
            desk.go(chance.choice(list(PHASES)))
        if chance.random() < 0.1:
            now = _settle(session, role, now)
        if chance.random() < 0.2:
            # A whole act and then silence, as a person gives it: these do get through.
            now += 1.0
            session.tick(now)
            session.receive(b"\x15" + chance.choice(WORDS) + b"\r", now)
            now += 0.1
            session.tick(now)
        session.receive(piece, now)
        fed += len(piece)
        now += chance.choice(SILENCES)
        session.tick(now)
        _drain(session)
    _settle(session, role, now)
    session.close()
    return desk


def _settle(session: Session, role: Role | None, now: float) -> float:
    """Log in again as `role` (or out), and ask for the `status`."""
    log_in = [f"login {role.value} fuzz".encode(), PASSPHRASE.encode()] if role else []
    now += 1000.0  # any lockout has ended
    session.tick(now)
    for line in (b"\x03", b"\x03\x15mode people", b"logout", *log_in):
        now += 1.0
        session.receive(line + b"\r", now)
        session.tick(now + 0.5)
        _drain(session)
    session.receive(b"status\r", now + 1.0)
    said = session.take_output()
    if b"Table 7: " not in said:
        raise AssertionError(f"status no longer answers, but says {said[:200]!r}")
    return now + 2.0


def _drain(session: Session) -> None:
    while session.take_output():
        pass
