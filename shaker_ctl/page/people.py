"""Who looks: roles and what each may see, logins, and sessions that live here and not in a browser.

Owns the rights of each role, the sessions and their end, and the delays after wrong passphrases.
Must not know pages. The people are those of the consoles' users file; `viewer` and `surveillance`
are for looking alone and cannot log in at a console. A machine shows its token with each request.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from shaker_ctl.console.accounts import MAX_PASSPHRASE, ROLES, Account, Accounts, token_hash
from shaker_ctl.console.lockout import LOCKED_AFTER, MAX_DELAY_S, Lockout
from shaker_ctl.errors import SettingsError

COOKIE = "__Host-shaker"
"""Browsers keep a cookie of this name to this host, to all of it, and off plain HTTP (RFC 6265bis);
loopback counts as safe."""

MAX_LOGIN_S = 12 * 3600.0
"""A session of one shift, whatever asks meanwhile; the sign's goes on (`LOOKS_ON`)."""

MAX_SESSIONS = 200
"""Of all people; the oldest ends for one more."""

MAX_OWN_SESSIONS = 10
"""Of one person; their own oldest ends for one more, so that nobody logs others out."""

MAX_CLIENTS = 200
"""Computers whose wrong passphrases are remembered; the one not heard longest is forgotten."""


class Right(Enum):
    """What can be looked at."""

    SIGN = "sign"
    """What the room may read."""
    STAFF = "staff"
    """The sign, and what the table says to its staff: readings, remedies, commands."""
    ROUNDS = "rounds"
    """Rounds with pictures, events and people."""
    EXPORT = "export"
    DAY = "day"
    STATISTICS = "statistics"
    TECHNICIAN = "technician"
    LOOKED = "looked"
    """Who looked at what."""


_PIT = frozenset({Right.SIGN, Right.STAFF, Right.ROUNDS, Right.DAY, Right.STATISTICS})

RIGHTS: dict[str, frozenset[Right]] = {
    "viewer": frozenset({Right.SIGN}),
    "dealer": frozenset({Right.SIGN, Right.STAFF}),
    "floorperson": _PIT,
    "supervisor": _PIT | {Right.EXPORT},
    "surveillance": _PIT | {Right.EXPORT, Right.LOOKED},
    "technician": frozenset(
        {Right.SIGN, Right.STAFF, Right.ROUNDS, Right.STATISTICS, Right.TECHNICIAN}
    ),
}
"""What each role may see; a role that is not here sees nothing."""

MACHINES: dict[str, frozenset[Right]] = {
    "display": frozenset({Right.SIGN}),
    "machine": frozenset({Right.SIGN, Right.ROUNDS, Right.DAY}),
}
"""What a machine may see with its token."""

LOOKS_ON = frozenset({"viewer", *MACHINES})
"""Roles whose session an open sign keeps: nobody types there."""

ASKED_A_SECOND = 20
"""Requests of one machine; it is told to come again."""


@dataclass
class PageLogin:
    """One person who has logged in with one browser."""

    name: str
    role: str
    key: str
    """SHA-256 of the secret in the cookie: what is kept here opens nothing."""
    seen_s: float
    began_s: float = 0.0
    stored: str = ""
    """Hash of the passphrase that opened it."""
    rights: frozenset[Any] = field(default_factory=frozenset)
    is_open: bool = True
    noted: set[str] = field(default_factory=set)
    """What of a machine's looks is on record: each kind once a session, since it asks on and on."""
    asked: tuple[int, int] = (0, 0)
    """Second, and how many requests of a machine came in it."""


class UncheckedPassword(str):
    """Why a login was not even looked at. It goes on no record, or a script could fill the disk."""

    __slots__ = ()


NOBODY = PageLogin("", "", "", 0.0)
"""Whoever has not logged in."""


class Logins:
    """Sessions and logins. From any thread."""

    def __init__(
        self,
        accounts: Accounts,
        idle_s: float,
        *,
        is_open: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_open`: nobody logs in, everybody sees all."""
        self.is_open = is_open
        everything = frozenset[Any]().union(*RIGHTS.values())
        self._everybody = PageLogin("everybody", "", "", 0.0, rights=everything)
        self._checking = threading.Lock()
        self._accounts = accounts
        self._idle_s = idle_s
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, PageLogin] = {}
        self._lockouts: dict[str, Lockout] = {}
        """The lockout of each client: wrong guesses at another computer lock nobody out here."""
        self._everywhere = Lockout()
        """Counts the wrong passphrases at all clients. It delays nobody: whoever polls a page would
        hold its login shut. Guesses from many computers wait for one another (`_checking`), and
        each computer has its own delays."""
        self._stored: dict[Any, str] = {}
        self._known: object = None
        """Version of the users file that `_stored` was read from."""

    def session(self, cookie: str | None, *, keeps: bool = True) -> PageLogin:
        """Return who holds this cookie; `keeps`: this request counts as being there."""
        if self.is_open:
            return self._everybody
        if not cookie:
            return NOBODY
        now = self._clock()
        with self._lock:
            session = self._sessions.get(_key(cookie))
            if session is None:
                return NOBODY
            if not self._may_go_on(session, now):
                self._end(session)
                return NOBODY
            if keeps:
                session.seen_s = now
            return session

    def machine(self, token: str) -> PageLogin:
        """Return the session of a machine's token; NOBODY where it is no token of the users file,
        which costs one hash and goes on no record.
        """
        now, stored = self._clock(), token_hash(token)
        with self._lock:
            self._look_again()
            session = self._sessions.get(stored)
            if session is not None and not self._may_go_on(session, now):
                self._end(session)
                session = None
            if session is None:
                roles = (key for key, kept in self._stored.items() if kept == stored)
                if (found := next(roles, None)) is None:
                    return NOBODY
                name, role = found[0], found[1].value
                session = PageLogin(name, role, stored, now, now, stored, MACHINES[role])
                self._make_room(name)
                self._sessions[stored] = session
            session.seen_s = now
            return session

    def goes_on(self, session: PageLogin) -> bool:
        """Whether a stream of this session may go on; an open sign keeps a viewer logged in."""
        if self.is_open:
            return True
        now = self._clock()
        with self._lock:
            if session.role in LOOKS_ON and session.is_open:
                session.seen_s = now
            if not self._may_go_on(session, now):
                self._end(session)
            return session.is_open

    def _look_again(self) -> None:
        if (version := self._accounts.version()) != self._known:
            self._known = version
            with suppress(SettingsError):  # a file that is being mended puts nobody out
                self._stored = dict(self._accounts.stored())

    def _may_go_on(self, session: PageLogin, now: float) -> bool:
        self._look_again()
        is_over = session.role not in LOOKS_ON and now - session.began_s > MAX_LOGIN_S
        is_known = self._stored.get((session.name, ROLES[session.role])) == session.stored
        return now - session.seen_s <= self._idle_s and not is_over and is_known

    def log_in(
        self, name: str, role: str, passphrase: str, client: str
    ) -> tuple[str, PageLogin] | str:
        """Return the cookie's secret and the session, or why there is none, in words.

        `client` is the address of the computer at which somebody types.

        Takes tens of milliseconds and 19 MiB. Raises SettingsError where the users file cannot be
        used.
        """
        with self._checking:  # one after the other: guesses at once do not share a delay
            with self._lock:
                if wait := self._wait_s(name, client):
                    return UncheckedPassword(f"too many wrong passphrases; wait {wait:.0f} s")
            account = None
            if role in RIGHTS and 0 < len(passphrase) <= MAX_PASSPHRASE:
                account = self._accounts.verify(name, ROLES[role], passphrase)
            with self._lock:
                return self._judged(name, account, self._lockout(client))

    def _wait_s(self, name: str, client: str) -> float:
        return self._lockout(client).remaining_s(name, self._clock())

    def _lockout(self, client: str) -> Lockout:
        found = self._lockouts.pop(client, None) or Lockout(MAX_DELAY_S)
        self._lockouts[client] = found
        if len(self._lockouts) > MAX_CLIENTS:
            del self._lockouts[next(iter(self._lockouts))]
        return found

    def _judged(
        self, name: str, account: Account | None, lockout: Lockout
    ) -> tuple[str, PageLogin] | str:
        now = self._clock()
        if account is None:
            self._everywhere.wrong(name or "?", now)
            delay = lockout.wrong(name, now)
            wait = f"; wait {delay:.0f} s" if delay else ""
            return f"name, role and passphrase do not belong together{wait}"
        lockout.right(name)
        self._everywhere.right(name)
        secret = secrets.token_urlsafe(32)
        self._look_again()  # the file may be unreadable by the next request
        role, key = account.role.value, _key(secret)
        session = PageLogin(name, role, key, now, now, account.hash, RIGHTS[role])
        self._make_room(name)
        self._sessions[session.key] = session
        return secret, session

    def _make_room(self, name: str) -> None:
        """End this person's oldest session where they have too many, or else the oldest of all."""
        own = [session for session in self._sessions.values() if session.name == name]
        if len(own) >= MAX_OWN_SESSIONS:
            self._end(own[0])
        elif len(self._sessions) >= MAX_SESSIONS:
            self._end(next(iter(self._sessions.values())))

    def knows(self, name: str) -> bool:
        """Whether anybody has this name; False where the users file cannot be used."""
        try:
            return self._accounts.knows(name)
        except SettingsError:
            return False

    def is_locked(self, name: str, client: str) -> bool:
        """Whether the wrong passphrases of this name, here or everywhere, count as an attack."""
        with self._lock:
            here, everywhere = self._lockout(client), self._everywhere
            return max(here.failures(name), everywhere.failures(name)) >= LOCKED_AFTER

    def log_out(self, session: PageLogin) -> None:
        """End a session: its cookie opens nothing from now on, and its streams end."""
        with self._lock:
            self._end(session)

    def _end(self, session: PageLogin) -> None:
        session.is_open = False
        self._sessions.pop(session.key, None)


def _key(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
