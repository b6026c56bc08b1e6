"""What console tests share: people with passphrases, a terminal in its own time, a line."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

from shaker_ctl.adapters.lines.serial_console import SerialConsole
from shaker_ctl.console import accounts
from shaker_ctl.console.accounts import Account, Accounts, AnyRole
from shaker_ctl.console.desk import Desk
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.console.parameters import ConsoleParameters, PortParameters
from shaker_ctl.console.session import Session
from shaker_ctl.rules.vocabulary import Role

PASSPHRASE = "Purple-Monkey-Dishwasher"
NAMES = {
    Role.DEALER: "dan",
    Role.FLOORPERSON: "anna",
    Role.SUPERVISOR: "sue",
    Role.TECHNICIAN: "tom",
}
EVERYONE = tuple(Role)


def users_file(folder: Path) -> Path:
    """Write a file with one person of each role, all with `PASSPHRASE`."""
    path = folder / "users.toml"
    hashed = accounts.hash_passphrase(PASSPHRASE)
    text = "".join(
        f'[[user]]\nname = "{name}"\nnumber = "{name}-1"\n'
        f'role = "{role.value}"\nhash = "{hashed}"\n'
        for role, name in NAMES.items()
    )
    path.write_text(text)
    accounts.accept(path)
    return path


class QuickAccounts(Accounts):
    """Anybody may log in by `PASSPHRASE`, without argon2, which would be most of the time."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"))

    def verify(self, name: str, role: AnyRole, passphrase: str) -> Account | None:
        return Account(name, role, "", f"{name}-1") if passphrase == PASSPHRASE else None

    def knows(self, name: str) -> bool:
        return True

    def stored(self) -> dict[tuple[str, AnyRole], str]:
        return {}


def session(
    desk: Desk,
    users: Path,
    *,
    port: str = "technician",
    roles: tuple[Role, ...] = EVERYONE,
    lockout: Lockout | None = None,
    idle_s: float = 600.0,
    accounts: Accounts | None = None,
) -> Session:
    return Session(
        desk,
        port,
        roles,
        accounts or Accounts(users),
        lockout or Lockout(),
        bytes_per_s=11_520,
        idle_s=idle_s,
        answer_s=2.0,
    )


class Terminal:
    """A person (or script) at a session, in a time of its own."""

    def __init__(self, desk: Desk, users: Path, **options: object) -> None:
        self.session = session(desk, users, **options)  # type: ignore[arg-type]
        self.now = 1000.0
        self.session.open(self.now)
        self.banner = self.read()

    def read(self) -> str:
        said = b""
        while piece := self.session.take_output():
            said += piece
        return said.decode()

    def send(self, data: bytes) -> str:
        """Bytes at once, and what is said before any time passes."""
        self.session.receive(data, self.now)
        return self.read()

    def wait(self, seconds: float) -> str:
        self.now += seconds
        self.session.tick(self.now)
        return self.read()

    def type(self, line: str) -> str:
        """A line and Enter, and half a second of patience."""
        return self.send(line.encode() + b"\r") + self.wait(0.5)

    def ask(self, line: str) -> dict[str, object]:
        """A line in machine mode and its reply, without the events around it."""
        said = self.type(line)
        replies = [json.loads(row) for row in said.splitlines() if row.startswith('{"status"')]
        assert len(replies) == 1, said
        return replies[0]  # type: ignore[no-any-return]

    def login(self, role: Role) -> str:
        return self.type(f"login {role.value} {NAMES[role]}") + self.type(PASSPHRASE)


@contextlib.contextmanager
def crossed_ptys() -> Iterator[tuple[str, str]]:
    """Two pseudo-terminals joined back to back: the service's device and the person's."""
    ends = [pty.openpty() for _ in range(2)]
    for _, slave in ends:
        tty.setraw(slave)
    masters = [master for master, _ in ends]
    stopping = threading.Event()

    def carry() -> None:
        while not stopping.is_set():
            ready, _, _ = select.select(masters, [], [], 0.02)
            for master in ready:
                other = masters[1 - masters.index(master)]
                os.write(other, os.read(master, 4096))

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        yield os.ttyname(ends[0][1]), os.ttyname(ends[1][1])
    finally:
        stopping.set()
        thread.join()
        for master, slave in ends:
            os.close(master)
            os.close(slave)


@contextlib.contextmanager
def served(desk: Desk, users: Path, *, port: str = "technician") -> Iterator[str]:
    """A console on its thread; yields the person's device."""
    with crossed_ptys() as (service, person):
        line = PortParameters(device=service, roles=EVERYONE)
        console = SerialConsole(port, line, desk, ConsoleParameters(users_file=users))
        console.start()
        try:
            yield person
        finally:
            console.stop()
