"""Random and mutated bytes at a console, at every role: `python -m hil_tests.proofs.console_fuzz`.

Owns the bytes and the judgement. A session is fed pieces of whole commands, mutated commands, modem
chatter, escape sequences and noise, with silences in between as long as those that matter to it,
in a time of its own. What must hold: nothing is raised, nothing reaches the table without login or
from another role, memory does not grow, and `status` still answers.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from shaker_ctl.console.desk import Actor, Answer, Note
from shaker_ctl.console.grammar import FORMS, CommandKind, TypedCommand
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.console.session import Session
from shaker_ctl.console.tests.fake_desk import PHASES, FakeDesk
from shaker_ctl.console.tests.support import PASSPHRASE, QuickAccounts
from shaker_ctl.rules.vocabulary import Role

STATUS_S = 0.2
GROWTH_B = 100_000
"""Allowed between the first tenth and the end: a history of fifty lines, a full lockout list."""

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


@dataclass(slots=True)
class FuzzFinding:
    """What one role's share came to."""

    role: str
    fed_b: int = 0
    acts: int = 0
    said_b: int = 0
    slowest_status_s: float = 0.0
    growth_b: int = 0
    trespasses: int = 0

    @property
    def is_fine(self) -> bool:
        return (
            not self.trespasses
            and self.slowest_status_s <= STATUS_S
            and self.growth_b <= GROWTH_B
            and (self.role != "nobody" or not self.acts)
        )

    def line(self) -> str:
        return (
            f"{self.role:<12} {self.fed_b:>8} bytes in, {self.said_b:>9} out, {self.acts:>5} acts"
            f" taken, {self.trespasses} trespasses, slowest status"
            f" {self.slowest_status_s * 1000:.1f} ms, memory {self.growth_b:+d} bytes"
        )


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


def fuzz(role: Role | None, amount: int, seed: int) -> FuzzFinding:
    """Feed `amount` bytes as `role` (None: nobody) and judge what came of it."""
    chance = random.Random(seed)
    finding = FuzzFinding(role.value if role else "nobody")
    desk = WatchedDesk()
    session = Session(
        desk,
        "technician",
        tuple(Role),
        QuickAccounts(),
        Lockout(),
        bytes_per_s=11_520,
        idle_s=1e9,
        answer_s=1.0,
    )
    now = 1000.0
    session.open(now)
    desk.put(round_id=1)
    base = 0
    was_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    for piece in pieces(chance):
        if finding.fed_b >= amount:
            break
        if chance.random() < 0.02:
            desk.go(chance.choice(list(PHASES)))
        if chance.random() < 0.1:
            now = _settle(session, role, now, finding)
        if chance.random() < 0.2:
            # A whole act and then silence, as a person gives it: these do get through.
            now += 1.0
            session.tick(now)
            session.receive(b"\x15" + chance.choice(WORDS) + b"\r", now)
            now += 0.1
            session.tick(now)
        if not base and finding.fed_b > amount // 10:
            base = _held_b()
        session.receive(piece, now)
        finding.fed_b += len(piece)
        now += chance.choice(SILENCES)
        session.tick(now)
        finding.said_b += _drain(session)
    _settle(session, role, now, finding)
    finding.growth_b = _held_b() - base
    if not was_tracing:
        tracemalloc.stop()
    finding.acts, finding.trespasses = desk.taken, len(desk.trespasses)
    session.close()
    return finding


def _settle(session: Session, role: Role | None, now: float, finding: FuzzFinding) -> float:
    """Log in again as `role` (or out), and time a `status`."""
    log_in = [f"login {role.value} fuzz".encode(), PASSPHRASE.encode()] if role else []
    now += 1000.0  # any lockout has ended
    session.tick(now)
    for line in (b"\x03", b"\x03\x15mode plain", b"logout", *log_in):
        now += 1.0
        session.receive(line + b"\r", now)
        session.tick(now + 0.5)
        _drain(session)
    began = time.perf_counter()
    session.receive(b"status\r", now + 1.0)
    said = session.take_output()
    finding.slowest_status_s = max(finding.slowest_status_s, time.perf_counter() - began)
    if b"Table 7: " not in said:
        raise AssertionError(f"status no longer answers, but says {said[:200]!r}")
    return now + 2.0


def _held_b() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _drain(session: Session) -> int:
    said = 0
    while piece := session.take_output():
        said += len(piece)
    return said


def main(
    amount: Annotated[int, typer.Option("--bytes", min=1, help="How many.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of the bytes.")] = 1,
) -> None:
    """Share the bytes among nobody and all roles; status 1 when anything must not have been."""
    everyone = [None, *Role]
    began = time.monotonic()
    findings = [fuzz(role, amount // len(everyone), seed) for role in everyone]
    for finding in findings:
        typer.echo(finding.line())
    typer.echo(f"seed {seed}, {time.monotonic() - began:.0f} s")
    if not all(finding.is_fine for finding in findings):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
