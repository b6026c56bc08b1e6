"""The other end of a console, for scripts and rigs: the scripts' voice as a Python class.

Owns the conversation in machine mode: one command, one reply, events in between. Must not know how
the line was opened: it takes a `ByteStream`, so that the same class talks through a serial port,
a pseudo-terminal or a socket. Used from one thread.

    console = Console(SerialPort("/dev/ttyUSB0"))
    console.connect()
    console.login("dealer", "dan", passphrase)
    console.ask("bets")
    console.wait(lambda status: status["pending"], timeout_s=30)
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from shaker_ctl.console import grammar
from shaker_ctl.console.desk import Parcel
from shaker_ctl.console.stream import ByteStream
from shaker_ctl.errors import ConsoleLineError, RefusedError

Reply = dict[str, Any]

MAX_EVENTS = 1000
MAX_LINE = 1_000_000


class ConsoleRefusedError(RefusedError):
    """The console answered `error`. `code` is the stable one of that answer; nothing changed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code

    def __str__(self) -> str:
        return f"{self.code}: {super().__str__()}"


class Console:
    """A console that answers in JSON. Every method may raise `ConsoleLineError`."""

    def __init__(
        self,
        stream: ByteStream,
        *,
        reply_s: float = 10.0,
        on_event: Callable[[Reply], None] = lambda _event: None,
    ) -> None:
        self._stream = stream
        self._reply_s = reply_s
        self._on_event = on_event
        self._unread = b""
        self._parts: list[str] = []
        self.events: deque[Reply] = deque(maxlen=MAX_EVENTS)
        """Unsolicited lines, oldest first, until somebody takes them."""
        self._is_in_step = False
        """Nothing that was asked before is still unanswered: the next reply is to what is asked."""

    def connect(self) -> Reply:
        """Bring the console into machine mode whatever it was doing; return its `hello`.

        Ends a half-typed line, an open passphrase prompt and a file under way, but no login.
        """
        for _attempt in range(3):
            self._interrupt()
            self._stream.write(b"\x15mode machine\r")
            try:
                self._reply("mode machine", self._reply_s / 3)
            except ConsoleLineError:
                continue
            hello = self.ask("hello")
            self._is_in_step = True
            return hello
        raise ConsoleLineError(
            "the console does not answer",
            remedy="Check that the service runs, and that this is its port and baud rate",
        )

    def leave(self, *, is_logged_out: bool) -> None:
        """Give the console back to people, whatever it was doing; never raises.

        `is_logged_out`: whoever is logged in is so no longer.
        """
        with contextlib.suppress(ConsoleLineError, RefusedError):
            self._interrupt()
            self._is_in_step = False  # what has just been interrupted may be answered still
            for line in (*(["logout"] if is_logged_out else []), "mode people"):
                self.ask(line, timeout_s=self._reply_s / 3)

    def ask(self, line: str, *, timeout_s: float | None = None) -> Reply:
        """Give one command and return its reply; raises `ConsoleRefusedError`."""
        return self._checked(self.give(line, timeout_s=timeout_s))

    def give(
        self,
        line: str,
        *,
        timeout_s: float | None = None,
        passphrase: Callable[[], str | None] | None = None,
    ) -> Reply:
        """Give one command and return its reply as it came, a refusal too.

        `passphrase` is called when the table asks for one; where it returns None, the login is
        given up.
        """
        self._parts.clear()
        self._stream.write(line.encode() + b"\r")
        patience_s = timeout_s or self._reply_s
        if passphrase is None:
            return self._reply(line, patience_s)
        answer = self._next(line, patience_s, is_wanted=_asks_passphrase)
        if not _asks_passphrase(answer):
            return answer
        said = passphrase()
        self._stream.write(b"\x15\x03" if said is None else said.encode() + b"\r")
        return self._reply(line, patience_s)

    def fetch(self, line: str, *, timeout_s: float = 600.0) -> Parcel:
        """Give a command that answers with a file, and return it, its digest checked."""
        parcel = self.parcel(self.ask(line, timeout_s=timeout_s))
        if parcel is None:
            raise ConsoleLineError(f"`{line}` came without a file", remedy="Ask for another")
        return parcel

    def parcel(self, reply: Reply) -> Parcel | None:
        """Return the file that came before this reply, if one did; raises when it is damaged."""
        if "sha256" not in reply:
            return None
        content = b"".join(map(base64.b64decode, self._parts))
        if hashlib.sha256(content).hexdigest() != reply["sha256"]:
            raise ConsoleLineError(
                f"{reply['name']} arrived damaged", remedy="Ask for it again; check the cable"
            )
        return Parcel(reply["name"], content)

    def status(self) -> Reply:
        return self.ask("status")

    def login(self, role: str, name: str, passphrase: str) -> None:
        """Say who acts. Raises `ConsoleRefusedError` (`wrong-passphrase`, `locked-out`, ...)."""
        self._checked(self.give(f"login {role} {name}", passphrase=lambda: passphrase))

    def logout(self) -> None:
        self.ask("logout")

    def wait(
        self, condition: Callable[[Reply], Any], *, timeout_s: float, every_s: float = 0.2
    ) -> Reply:
        """Ask for `status` until `condition` holds, and return it; raises `TimeoutError`."""
        deadline = time.monotonic() + timeout_s
        while True:
            status = self.status()
            if condition(status):
                return status
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {timeout_s:g} s the table says: {status['says']}")
            time.sleep(every_s)

    def close(self) -> None:
        self._stream.close()

    # ── the conversation ────────────────────────────────────────────────────

    @staticmethod
    def _checked(reply: Reply) -> Reply:
        if reply["status"] != "ok":
            raise ConsoleRefusedError(reply["code"], reply["text"])
        return reply

    def _reply(self, line: str, timeout_s: float) -> Reply:
        return self._next(line, timeout_s, is_wanted=lambda _message: False)

    def _next(self, line: str, timeout_s: float, *, is_wanted: Callable[[Reply], bool]) -> Reply:
        """Return the reply to `line`, or an event that `is_wanted`, whichever comes first."""
        deadline = time.monotonic() + timeout_s
        # A timeout, Ctrl-C or a signal may end the wait: then the reply is still to come.
        was_in_step, self._is_in_step = self._is_in_step, False
        while True:
            while message := self._message():
                if "status" in message and (was_in_step or _may_answer(message["command"], line)):
                    self._is_in_step = was_in_step
                    return message
                if "event" in message:
                    if is_wanted(message):
                        self._is_in_step = was_in_step
                        return message
                    self.events.append(message)
                    self._on_event(message)
                elif "parcel" in message:
                    self._parts.append(message["base64"])
                    deadline = max(deadline, time.monotonic() + self._reply_s)
            if time.monotonic() > deadline:
                raise ConsoleLineError(
                    f"no reply to `{line.split(' ')[0]}` within {timeout_s:g} s",
                    remedy="Check the cable, and that no other program reads this line",
                )
            self._unread += self._stream.read(0.1)

    def _message(self) -> Reply | None:
        """Return the next whole line that is JSON, if there is one; words and noise are skipped."""
        while b"\n" in self._unread:
            line, self._unread = self._unread.split(b"\n", 1)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                return message
        self._unread = self._unread[-MAX_LINE:]
        return None

    def _interrupt(self) -> None:
        # Ctrl-U first: it ends the watching of an inspection, which Ctrl-C would give up.
        self._stream.write(b"\x15\x03")
        self._drain(0.2)

    def _drain(self, quiet_s: float) -> None:
        # At most a second: a table that plays has always something to say.
        deadline = time.monotonic() + 1.0
        while self._stream.read(quiet_s) and time.monotonic() < deadline:
            pass
        self._unread = b""


def _may_answer(name: str, line: str) -> bool:
    """Whether a reply with the whole name of a command may be to `line`, which may be shortened."""
    meant = grammar.parse(line)
    if isinstance(meant, grammar.TypedCommand) and meant.form.name == name:
        return True
    return " ".join(line.lower().split()).startswith(name)


def _asks_passphrase(message: Reply) -> bool:
    return message.get("event") == "passphrase"
