"""A login: who, where, the passphrase, and the delay after wrong ones, which go on record.

Owns one console's attempt in hand. Must not know how a passphrase is asked for or typed. The check
takes tens of milliseconds in the thread that calls `finish`.
"""

from __future__ import annotations

from shaker_ctl.console import codes
from shaker_ctl.console.accounts import MAX_PASSPHRASE, Accounts
from shaker_ctl.console.desk import Actor, Desk, Note
from shaker_ctl.console.editor import TypedLine
from shaker_ctl.console.grammar import ConsoleRefusal
from shaker_ctl.console.lockout import LOCKED_AFTER, Lockout
from shaker_ctl.errors import ShakerError
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Role

PASSPHRASE_S = 60.0
"""Seconds to type a passphrase before the console takes commands again."""


@frozen
class Attempt:
    """A login whose passphrase is awaited."""

    role: Role
    name: str
    line: str
    """As typed, for the history once it has succeeded."""
    asked_at: float


class SignIn:
    """The door of one console."""

    def __init__(
        self, desk: Desk, port: str, roles: tuple[Role, ...], accounts: Accounts, lockout: Lockout
    ) -> None:
        self._desk = desk
        self._port = port
        self._roles = roles
        self._accounts = accounts
        self._lockout = lockout
        self.attempt: Attempt | None = None
        self._opened_by = ""
        """Hash of the passphrase that let in who is logged in now."""

    def begin(self, role: Role, name: str, line: str, now: float) -> ConsoleRefusal | None:
        """Await a passphrase, or return why none is asked for."""
        if role not in self._roles:
            return ConsoleRefusal(
                codes.NOT_ON_THIS_PORT, f"{role.value} logs in at the other console"
            )
        if wait := self._lockout.remaining_s(name, now):
            return ConsoleRefusal(codes.LOCKED_OUT, f"wait {wait:.0f} s")
        self.attempt = Attempt(role, name, line, now)
        return None

    def give_up(self) -> None:
        self.attempt = None

    def is_late(self, now: float) -> bool:
        """True when a passphrase is awaited for too long."""
        return self.attempt is not None and now - self.attempt.asked_at > PASSPHRASE_S

    def finish(self, line: TypedLine, now: float) -> Actor | ConsoleRefusal:
        """Judge the passphrase; a wrong one is on record when this returns."""
        attempt, self.attempt = self.attempt, None
        assert attempt is not None
        try:
            is_typed = line.is_whole and line.is_clean and len(line.text) <= MAX_PASSPHRASE
            word = line.text if is_typed else ""
            account = self._accounts.verify(attempt.name, attempt.role, word)
            is_known = self._accounts.knows(attempt.name)
        except ShakerError as error:
            return ConsoleRefusal(codes.NO_USERS, error.line())
        if account is None:
            return self._refused(attempt.name, is_known=is_known, now=now)
        self._lockout.right(attempt.name)
        self._opened_by = account.hash
        return Actor(attempt.name, attempt.role, self._port, account.number)

    def still_lets_in(self, actor: Actor) -> bool:
        """Whether who is logged in still stands in the users file, with the same passphrase.

        A file that cannot be read puts nobody out: somebody is mending it.
        """
        try:
            stored = self._accounts.stored()
        except ShakerError:
            return True
        return actor.role is not None and (
            stored.get((actor.name, actor.role), "") == self._opened_by
        )

    def _refused(self, name: str, *, is_known: bool, now: float) -> ConsoleRefusal:
        delay = self._lockout.wrong(name, now)
        failures = self._lockout.failures(name)
        kind = "login-locked" if failures >= LOCKED_AFTER else "login-refused"
        text = f"{failures} wrong in a row, next in {delay:.0f} s"
        # A name that nobody has may be a passphrase typed too early: it is not recorded.
        self._desk.note(Note(kind, Actor(name if is_known else "?", None, self._port), text))
        wait = f"; wait {delay:.0f} s" if delay else ""
        return ConsoleRefusal(
            codes.WRONG_PASSPHRASE, f"name, role and passphrase do not belong together{wait}"
        )
