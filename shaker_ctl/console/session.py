"""One console's conversation: bytes and time in, bytes out; everything between is decided here.

Owns the voice, the login, the command being taken and the work being watched. Must not know serial
lines, threads or clocks: `receive` and `tick` are called by one thread with the time, `take_output`
yields what to send. It asks the table only through `Desk`.

Theory of operation. A line that looks is answered at once. A line that acts is held until the line
has been quiet (`burst`), then goes to the rules. A passphrase is asked for in silence and handed to
argon2 here, in this console's thread. Announcements come from any thread into a bounded queue and
are said between lines. A file leaves piece by piece, so that Ctrl-C ends it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from shaker_ctl import __version__
from shaker_ctl.console import (
    armour,
    assistance,
    codes,
    grammar,
    looks,
    machine,
    permission,
    render,
)
from shaker_ctl.console.accounts import LONGEST, Accounts
from shaker_ctl.console.burst import Burst
from shaker_ctl.console.desk import (
    NOTHING,
    Actor,
    Announcement,
    Answer,
    Desk,
    Note,
    Parcel,
    Request,
    TableView,
)
from shaker_ctl.console.editor import Interrupt, Line, LineEditor
from shaker_ctl.console.grammar import Command, Kind, Refusal
from shaker_ctl.console.lockout import LOCKED_AFTER, Lockout
from shaker_ctl.errors import ShakerError
from shaker_ctl.rules.vocabulary import Role

PASSPHRASE_S = 60.0
"""Seconds to type a passphrase before the console takes commands again."""
GREET_AFTER_S = 60.0
"""Enter after so much silence gets the banner: somebody has just plugged in."""
PROGRESS_S = 0.5
MOST_ANNOUNCEMENTS = 64
WITH_ROUND = frozenset({"nmb", "activate", "reveal", "settled", "lamps-off", "presence"})
"""Acts on the round in hand: where its number is not typed, the one last seen is meant."""

LONG = frozenset({"inspect", "jog", "test-toss", "lamp test"})
"""Acts that start work which goes on for a while; people watch it, Ctrl-C gives it up."""
RUNNING = frozenset({"opening inspection", "shift inspection", "trial"})


class Voice(Enum):
    """How a console speaks."""

    PEOPLE = "people"
    COLOUR = "colour"
    """With escape sequences, which not every terminal program understands."""
    PLAIN = "plain"
    """For a terminal without UTF-8."""
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class _Login:
    """A login whose passphrase is awaited."""

    role: Role
    name: str
    line: str
    asked_at: float


class Session:
    """One console for as long as its line is open."""

    def __init__(
        self,
        desk: Desk,
        port: str,
        roles: tuple[Role, ...],
        accounts: Accounts,
        lockout: Lockout,
        *,
        bytes_per_s: float,
        idle_s: float,
        answer_s: float,
    ) -> None:
        self._desk = desk
        self._port = port
        self._roles = roles
        self._accounts = accounts
        self._idle_s = idle_s
        self._answer_s = answer_s
        self._lockout = lockout
        self._burst = Burst(bytes_per_s)
        self._out: deque[str] = deque()
        self._file: Iterator[str] | None = None
        self._editor = LineEditor(grammar.MAX_LINE, self._complete)
        self._announcements: deque[Announcement] = deque(maxlen=MOST_ANNOUNCEMENTS)
        self._end_subscription = desk.subscribe(self._announcements.append)
        self._table = desk.view().table[:20]
        self._nobody = Actor("", None, port)
        self._actor = self._nobody
        self._voice = Voice.PEOPLE
        self._login: _Login | None = None
        self._held: tuple[Command, int | None] | None = None
        self._watched: str | None = None
        self._progress = ""
        self._progress_at = 0.0
        self._now = 0.0
        self._active_at = 0.0
        self._heard_at = 0.0

    # ── what the line's thread calls ────────────────────────────────────────

    def open(self, now: float) -> None:
        """The line is there: greet whoever is at the other end."""
        self._now = self._active_at = self._heard_at = now
        self._greet()
        self._prompt()

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes of the line. May wait for the table's answer and for argon2."""
        self._now = now
        if self._file is not None:
            if b"\x03" in data:
                self._abort_file()
            return
        if not self._burst.admit(data, now):
            self._held = None
            self._editor.reset()
            return
        for byte in data:
            self._byte(byte)

    def tick(self, now: float) -> None:
        """Do what time alone brings; to be called at least every `wait_s()`."""
        self._now = now
        if self._file is not None:
            return
        if dropped := self._burst.flood_ended(now):
            self._refuse("", codes.PASTE, f"{dropped} bytes ignored; one command at a time")
            self._prompt()
        if self._held and self._burst.is_quiet(now):
            self._take_held()
        if self._login is None:
            self._announce()
            self._watch()
        elif now - self._login.asked_at > PASSPHRASE_S:
            self._end_passphrase()
            self._refuse("login", codes.INTERRUPTED, "no passphrase came")
            self._prompt()
        self._log_out_the_idle()

    def wait_s(self) -> float:
        """How long the line's thread may wait for bytes before the next `tick`."""
        if self._out or self._file is not None:
            return 0.0
        return 0.01 if self._held else 0.05

    def take_output(self) -> bytes:
        """Return the next bytes to send, a few kilobytes at most; empty when there are none."""
        if not self._out and self._file is not None:
            piece = next(self._file, None)
            if piece is None:
                self._file = None
                self._prompt()
            else:
                self._out.append(piece)
        text = "".join(self._out)
        self._out.clear()
        encoding = "utf-8" if self._voice in (Voice.PEOPLE, Voice.COLOUR) else "ascii"
        return text.encode(encoding, errors="replace")

    def drop_output(self) -> None:
        """Nobody takes what is said: forget it."""
        self._out.clear()
        self._file = None

    def close(self) -> None:
        """The line is gone; whoever was logged in is not any more."""
        self._end_subscription()
        self._desk.note(Note("console-lost", self._actor))
        self._actor = self._nobody

    # ── bytes ───────────────────────────────────────────────────────────────

    def _byte(self, byte: int) -> None:
        if self._watched is not None:
            self._stop_watching(is_cancelled=byte == 0x03)
            return
        if self._held and byte not in b"\r\n":
            self._held = None
            self._refuse("", codes.PASTE, "more input came with the command; not acted on")
            self._prompt()
        events = self._editor.feed(bytes((byte,)))
        self._say(self._editor.take_output())
        for event in events:
            if isinstance(event, Interrupt):
                self._interrupted(event)
            elif self._login is not None:
                self._passphrase(event)
            else:
                self._line(event)

    def _interrupted(self, event: Interrupt) -> None:
        if self._login is not None:
            self._end_passphrase()
            self._refuse("login", codes.INTERRUPTED, "not logged in")
        self._held = None
        if event.is_end and self._actor.role is not None:
            self._log_out("logout")
        self._prompt()

    def _line(self, line: Line) -> None:
        silent_for, self._heard_at = self._now - self._heard_at, self._now
        if not line.text.strip() and line.is_clean:
            if silent_for > GREET_AFTER_S and self._voice is not Voice.MACHINE:
                self._greet()
        elif not line.is_whole:
            self._refuse("", codes.TOO_LONG, f"a command has at most {grammar.MAX_LINE} characters")
        else:
            self._take(line)
        if self._held is None and self._login is None and self._file is None:
            self._prompt()

    def _take(self, line: Line) -> None:
        command = grammar.parse(line.text)
        if command is None or isinstance(command, Refusal):
            if command is not None:
                self._refuse("", command.code, command.text)
            return
        name = command.form.name
        if not line.is_clean and command.form.kind is not Kind.LOOK:
            self._refuse(name, codes.NOISE, "bytes came with it that no keyboard sends; repeat it")
            return
        if name != "login":
            self._editor.remember(line.text.strip())
        self._active_at = self._now
        if refusal := permission.refusal(command.form, self._actor, self._roles):
            self._refuse(name, refusal.code, refusal.text)
        elif command.form.kind is Kind.ACT:
            self._held = (command, self._desk.view().round_id)
        elif command.form.kind is Kind.LOOK:
            self._look(command)
        elif name == "login":
            self._ask_passphrase(command, line.text.strip())
        else:
            self._own(command)

    # ── looking ─────────────────────────────────────────────────────────────

    def _look(self, command: Command) -> None:
        name = command.form.name
        try:
            seat = looks.Seat(self._desk, self._actor, self._roles, self._style)
            found = looks.LOOKS[name](seat, command.arguments)
        except ShakerError as error:
            self._refuse(name, error.code, error.line())
            return
        if isinstance(found, Parcel):
            if command.form.roles:
                self._desk.note(Note(name, self._actor, found.name))
            self._file = self._send(name, found)
        else:
            self._show(name, found)

    def _show(self, name: str, found: looks.Shown | Refusal) -> None:
        if isinstance(found, Refusal):
            self._refuse(name, found.code, found.text)
        elif self._voice is Voice.MACHINE:
            self._say(machine.ok(name, fields=found.fields))
        else:
            self._print(found.lines)

    def _send(self, name: str, parcel: Parcel) -> Iterator[str]:
        facts = machine.parcel_facts(parcel)
        if self._voice is Voice.MACHINE:
            yield from machine.parcel(parcel)
            yield machine.ok(name, fields=facts)
        else:
            yield from armour.wrap(parcel)
            yield f"ok {parcel.name}, {facts['size']} bytes\r\n"

    def _abort_file(self) -> None:
        self.drop_output()
        self._say("\r\n")
        self._refuse("", codes.INTERRUPTED, "the file is not complete")
        self._prompt()

    # ── this console's own commands ─────────────────────────────────────────

    def _own(self, command: Command) -> None:
        name = command.form.name
        if name == "help":
            topic = str(command.arguments["topic"])
            view = self._desk.view()
            self._show(name, assistance.assist(topic, self._actor, self._roles, view))
        elif name == "logout":
            self._log_out("logout")
            self._accept(name, "logged out")
        elif name == "whoami":
            role = self._actor.role.value if self._actor.role else None
            who = f"{self._actor.name}, {role}" if role else "nobody is logged in here"
            facts = {"name": self._actor.name, "role": role, "port": self._port}
            self._accept(name, who, facts)
        elif name == "history":
            lines = list(self._editor.history())
            self._show(name, looks.Shown(lines, {"history": lines}))
        elif name == "hello":
            self._greet()
        else:
            # Either way the script reads the answer: it asks for JSON, or still listens for it.
            if self._voice is not Voice.MACHINE:
                self._set_voice(Voice(command.arguments["mode"]))
            self._accept(name, str(command.arguments["mode"]))
            self._set_voice(Voice(command.arguments["mode"]))

    def _set_voice(self, voice: Voice) -> None:
        self._voice = voice
        self._editor.is_raw = voice is Voice.MACHINE

    # ── login ───────────────────────────────────────────────────────────────

    def _ask_passphrase(self, command: Command, line: str) -> None:
        role, name = command.arguments["role"], str(command.arguments["name"])
        assert isinstance(role, Role)
        if role not in self._roles:
            self._refuse("login", codes.NOT_ON_THIS_PORT, f"{role.value} logs in elsewhere")
            return
        if wait := self._lockout.remaining_s(self._now):
            self._refuse("login", codes.LOCKED_OUT, f"wait {wait:.0f} s")
            return
        self._login = _Login(role, name, line, self._now)
        self._editor.is_silent = True
        if self._voice is Voice.MACHINE:
            self._say(machine.event(Announcement("passphrase", "send it as one line")))
        else:
            self._editor.prompt = "Passphrase: "
            self._editor.show_prompt()
            self._say(self._editor.take_output())

    def _passphrase(self, line: Line) -> None:
        login = self._login
        assert login is not None
        self._end_passphrase()
        try:
            is_right = (
                line.is_whole
                and line.is_clean
                and len(line.text) <= LONGEST
                and self._accounts.verify(login.name, login.role, line.text)
            )
            # A name that nobody has may be a passphrase typed too early: it is not recorded.
            name = login.name if self._accounts.knows(login.name) else "?"
        except ShakerError as error:
            self._refuse("login", codes.NO_USERS, error.line())
        else:
            if is_right:
                self._logged_in(login)
            else:
                self._login_refused(name)
        self._prompt()

    def _logged_in(self, login: _Login) -> None:
        if self._actor.role is not None:
            self._log_out("logout")
        self._lockout.right(login.name)
        self._actor = Actor(login.name, login.role, self._port)
        self._active_at = self._now
        self._editor.remember(login.line)
        self._desk.note(Note("login", self._actor))
        self._accept("login", f"{login.name}, {login.role.value}", {"role": login.role})

    def _login_refused(self, name: str) -> None:
        delay = self._lockout.wrong(name, self._now)
        failures = self._lockout.failures(name)
        kind = "login-locked" if failures >= LOCKED_AFTER else "login-refused"
        actor = Actor(name, None, self._port)
        self._desk.note(Note(kind, actor, f"{failures} wrong in a row, next in {delay:.0f} s"))
        text = "name, role and passphrase do not belong together"
        if delay:
            text += f"; wait {delay:.0f} s"
        self._refuse("login", codes.WRONG_PASSPHRASE, text)

    def _end_passphrase(self) -> None:
        self._login = None
        self._editor.is_silent = False
        self._editor.reset()

    def _log_out(self, kind: str) -> None:
        if self._actor.role is not None:
            self._desk.note(Note(kind, self._actor))
        self._actor = self._nobody
        self._editor.forget()

    def _log_out_the_idle(self) -> None:
        if self._now - self._active_at < self._idle_s:
            return
        pending = self._desk.view().pending
        if self._actor.role is not None and pending and self._actor.role in pending.roles:
            # The table waits for this person: the idle time begins when it no longer does.
            self._active_at = self._now
        elif self._actor.role is not None or self._voice is Voice.MACHINE:
            self._active_at = self._now
            self._log_out("idle-logout")
            self._unasked(Announcement("logout", "logged out: nothing was typed", is_alarm=True))
            self._set_voice(Voice.PEOPLE)

    # ── acting ──────────────────────────────────────────────────────────────

    def _take_held(self) -> None:
        assert self._held is not None
        (command, round_id), self._held = self._held, None
        name, arguments = command.form.name, dict(command.arguments)
        if name in WITH_ROUND and "round" not in arguments:
            if round_id is None:
                self._refuse(name, codes.NOT_NOW, "there is no round in hand")
                self._prompt()
                return
            arguments["round"] = round_id
        answer = self._submit(Request(name, arguments))
        self._answer(name, answer)
        self._prompt()

    def _submit(self, request: Request) -> Answer:
        return self._desk.submit(request, self._actor, deadline_s=self._answer_s)

    def _answer(self, name: str, answer: Answer) -> None:
        if not answer.is_ok:
            self._refuse(name, answer.code, answer.text)
            return
        self._accept(name, answer.text, answer.details)
        if name in LONG and self._voice is not Voice.MACHINE and _runs(self._desk.view()):
            self._watched, self._progress = name, ""

    def _watch(self) -> None:
        """Draw how far the work is that this person started, over the same screen line."""
        if self._watched is None or self._now - self._progress_at < PROGRESS_S:
            return
        self._progress_at = self._now
        view = self._desk.view()
        if _runs(view):
            text = render.progress(self._watched, view)
            if text != self._progress:
                self._progress = text
                self._say(f"\r{text:{render.WIDTH}}")
            return
        name, self._watched = self._watched, None
        self._say(f"\r{'':{render.WIDTH}}\r")
        if view.faults:
            self._refuse(name, codes.FAILED, view.says)
        else:
            waits_for = view.pending.text if view.pending else ""
            self._accept(name, f"{view.says} {waits_for}".strip())
        self._prompt()

    def _stop_watching(self, *, is_cancelled: bool) -> None:
        self._watched = None
        self._say("\r\n")
        cancel = grammar.BY_NAME["cancel"]
        if is_cancelled and permission.refusal(cancel, self._actor, self._roles) is None:
            self._answer(cancel.name, self._submit(Request(cancel.name)))
        else:
            self._print(["it goes on; status shows it"])
        self._prompt()

    # ── speaking ────────────────────────────────────────────────────────────

    @property
    def _style(self) -> render.Style:
        return render.Style(
            has_colour=self._voice is Voice.COLOUR,
            has_blocks=self._voice in (Voice.PEOPLE, Voice.COLOUR),
        )

    def _say(self, text: str) -> None:
        if text:
            self._out.append(text)

    def _print(self, lines: render.Lines) -> None:
        self._say("".join(f"{line}\r\n" for line in lines))

    def _accept(self, name: str, text: str, fields: Mapping[str, object] = NOTHING) -> None:
        if self._voice is Voice.MACHINE:
            self._say(machine.ok(name, text, fields))
        else:
            self._print(render.paragraph(f"ok {text}"))

    def _refuse(self, name: str, code: str, text: str) -> None:
        if self._voice is Voice.MACHINE:
            self._say(machine.error(name, code, text))
        else:
            self._print(render.paragraph(f"error {code} {text}"))

    def _prompt(self) -> None:
        if self._voice is Voice.MACHINE or self._watched is not None:
            return
        who = f" {self._actor.name}" if self._actor.role else ""
        self._editor.prompt = f"{self._table}{who}> "
        self._editor.show_prompt()
        self._say(self._editor.take_output())

    def _greet(self) -> None:
        view = self._desk.view()
        state = " - ".join(word for word in (view.life, view.phase) if word)
        if self._voice is Voice.MACHINE:
            facts = {"product": looks.PRODUCT, "version": __version__, "table": view.table}
            self._say(machine.ok("hello", "READY", {**facts, "state": state, "port": self._port}))
            return
        self._print(
            [
                "",
                f"{looks.PRODUCT} {__version__}, controller of a Sic Bo table",
                f"{view.table}, {self._port} console: {state}",
                *(self._style.alarm(mark) for mark in view.marks),
                "type help",
                f"READY {looks.PRODUCT} {__version__} {view.table}",
            ]
        )

    def _announce(self) -> None:
        if self._held is not None:
            return
        while self._announcements:
            self._unasked(self._announcements.popleft())

    def _unasked(self, said: Announcement) -> None:
        if self._voice is Voice.MACHINE:
            self._say(machine.event(said))
        elif said.is_alarm or self._actor.role is not None:
            text = render.paragraph(f"* {said.text}")
            if said.is_alarm:
                text = [self._style.alarm(line) for line in text]
            wiped = self._editor.wipe() if self._watched is None else f"\r{'':{render.WIDTH}}\r"
            self._say(wiped)
            self._print(text)
            self._progress = ""
            self._prompt()

    def _complete(self, text: str) -> list[str]:
        roles = frozenset({self._actor.role}) if self._actor.role else frozenset()
        return grammar.complete(text, roles)


def _runs(view: TableView) -> bool:
    """True while work goes on that ends by itself; false once it waits for a person."""
    return view.life in RUNNING and view.pending is None
