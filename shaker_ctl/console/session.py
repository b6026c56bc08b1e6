"""One console's conversation: bytes and time in, bytes out; everything between is decided here.

Owns who is logged in, the command being taken and the work being watched. Must not know serial
lines, threads or clocks: `receive` and `tick` are called by one thread with the time, `take_output`
yields what to send. It asks the table only through `Desk`.

Theory of operation. A line that looks is answered at once. A line that acts is held until the line
has been quiet (`paste`), then goes to the rules. It means the round, and values mean the reading,
that were on the screen when its first character was typed. A passphrase is asked for in silence
(`sign_in`) and handed to argon2 here, in this console's thread. Announcements come from any thread
into a bounded queue and are said between lines. A file leaves piece by piece, so that Ctrl-C ends
it.
"""

from __future__ import annotations

from collections import deque

from shaker_ctl import __version__
from shaker_ctl.console import assistance, codes, grammar, json_voice, permission, queries, render
from shaker_ctl.console.accounts import LOOK_AGAIN_S, Accounts
from shaker_ctl.console.desk import (
    Actor,
    Announcement,
    Desk,
    LampView,
    Note,
    Parcel,
    PendingView,
    TableView,
)
from shaker_ctl.console.editor import Interrupt, LineEditor, TypedLine
from shaker_ctl.console.grammar import CommandKind, ConsoleRefusal, TypedCommand
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.console.paste import Burst
from shaker_ctl.console.sign_in import SignIn
from shaker_ctl.console.voice import Speaker
from shaker_ctl.errors import ShakerError
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Role

GREET_AFTER_S = 60.0
"""Enter after so much silence gets the banner: somebody has just plugged in."""
PROGRESS_S = 0.5
STARTS_A_LINE = frozenset({0x1B, *range(0x21, 0x7F)})
"""Bytes that are typed on when they end a display of progress: an arrow's Esc, and what prints."""
MAX_ANNOUNCEMENTS = 64
RUNNING = frozenset({"opening inspection", "shift inspection", "trial"})


@frozen
class OnScreen:
    """What the table showed when the line in hand was begun."""

    round_id: int | None = None
    pending: PendingView | None = None


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
        self._idle_s = idle_s
        self._answer_s = answer_s
        self._burst = Burst(bytes_per_s)
        self._editor = LineEditor(grammar.MAX_LINE, self._complete)
        self._speaker = Speaker(self._editor)
        self._sign_in = SignIn(desk, port, roles, accounts, lockout)
        self._announcements: deque[Announcement] = deque(maxlen=MAX_ANNOUNCEMENTS)
        self._end_subscription = desk.subscribe(self._announcements.append)
        self._table = desk.view().table[:20]
        self._nobody = Actor("", None, port)
        self._actor = self._nobody
        self._held: tuple[TypedCommand, OnScreen] | None = None
        self._on_screen = OnScreen()
        self._watched: str | None = None
        self._faults_before: frozenset[str] = frozenset()
        self._progress = ""
        self._progress_at = 0.0
        self._now = 0.0
        self._active_at = 0.0
        self._heard_at = 0.0
        self._looked_at = 0.0

    # ── what the line's thread calls ────────────────────────────────────────

    def open(self, now: float) -> None:
        """The line is there: greet whoever is at the other end."""
        self._now = self._active_at = self._heard_at = now
        self._greet()
        self._prompt()

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes of the line. May wait for the table's answer and for argon2."""
        self._now = now
        if self._speaker.is_sending:
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
        if self._speaker.is_sending:
            return
        if dropped := self._burst.flood_ended(now):
            self._speaker.refuse("", codes.PASTE, f"{dropped} bytes ignored; one command at a time")
            self._prompt()
        if self._held and self._burst.is_quiet(now):
            self._take_held()
        if self._sign_in.attempt is None:
            self._announce()
            self._watch()
        elif self._sign_in.is_late(now):
            self._end_passphrase()
            self._speaker.refuse("login", codes.INTERRUPTED, "no passphrase came")
            self._prompt()
        if now - self._looked_at >= LOOK_AGAIN_S:
            self._log_out_the_removed()
        self._log_out_the_idle()

    def wait_s(self) -> float:
        """How long the line's thread may wait for bytes before the next `tick`."""
        if self._speaker.has_output:
            return 0.0
        return 0.01 if self._held else 0.05

    def take_output(self) -> bytes:
        """Return the next bytes to send, a few kilobytes at most; empty when there are none."""
        was_sending = self._speaker.is_sending
        output = self._speaker.take()
        if was_sending and not self._speaker.is_sending:
            self._prompt()
            output += self._speaker.take()
        return output

    def drop_output(self) -> None:
        """Nobody takes what is said: forget it."""
        self._speaker.drop()

    def close(self) -> None:
        """The line is gone; whoever was logged in is not any more."""
        self._end_subscription()
        self._desk.note(Note("console-lost", self._actor))
        self._actor = self._nobody

    # ── bytes ───────────────────────────────────────────────────────────────

    def _byte(self, byte: int) -> None:
        if self._watched is not None:
            self._stop_watching(is_cancelled=byte == 0x03)
            if byte not in STARTS_A_LINE:
                return
        if self._held and byte not in b"\r\n":
            self._held = None
            self._speaker.refuse("", codes.PASTE, "more input came with the command; not acted on")
            self._prompt()
        if self._editor.is_empty:
            view = self._desk.view()
            self._on_screen = OnScreen(view.round_id, view.pending)
        events = self._editor.feed(bytes((byte,)))
        self._speaker.echo()
        for event in events:
            if isinstance(event, Interrupt):
                self._interrupted(event)
            elif self._sign_in.attempt is not None:
                self._passphrase(event)
            else:
                self._line(event)

    def _interrupted(self, event: Interrupt) -> None:
        if self._sign_in.attempt is not None:
            self._end_passphrase()
            self._speaker.refuse("login", codes.INTERRUPTED, "not logged in")
        self._held = None
        if event.is_end and self._actor.role is not None:
            self._log_out("logout")
        self._prompt()

    def _line(self, line: TypedLine) -> None:
        silent_for, self._heard_at = self._now - self._heard_at, self._now
        if not line.text.strip() and line.is_clean:
            if silent_for > GREET_AFTER_S and not self._speaker.is_machine:
                self._greet()
        elif not line.is_whole:
            self._speaker.refuse(
                "", codes.TOO_LONG, f"a command has at most {grammar.MAX_LINE} characters"
            )
        else:
            self._take(line)
        if self._held is None and self._sign_in.attempt is None and not self._speaker.is_sending:
            self._prompt()

    def _take(self, line: TypedLine) -> None:
        command = grammar.parse(line.text)
        if command is None or isinstance(command, ConsoleRefusal):
            if command is not None:
                self._speaker.refuse("", command.code, command.text)
            return
        name = command.form.name
        if not line.is_clean and command.form.kind is not CommandKind.LOOK:
            self._speaker.refuse(
                name, codes.NOISE, "bytes came with it that no keyboard sends; repeat it"
            )
            return
        if name != "login" and not command.form.is_verdict:
            self._editor.remember(line.text.strip())
        self._active_at = self._now
        if refusal := permission.refusal(command.form, self._actor, self._roles):
            self._speaker.refuse(name, refusal.code, refusal.text)
        elif command.form.kind is CommandKind.ACT:
            self._held = (command, self._on_screen)
        elif command.form.kind is CommandKind.LOOK:
            self._look(command)
        elif name == "login":
            self._ask_passphrase(command, line.text.strip())
        else:
            self._own(command)

    # ── looking ─────────────────────────────────────────────────────────────

    def _look(self, command: TypedCommand) -> None:
        name = command.form.name
        try:
            found = queries.LOOKS[name](self._viewer(), command.arguments)
        except ShakerError as error:
            self._speaker.refuse(name, error.code, error.line())
            return
        if isinstance(found, Parcel):
            if command.form.roles:
                self._desk.note(Note(name, self._actor, found.name))
            self._speaker.send(name, found)
        else:
            self._show(name, found)

    def _viewer(self) -> queries.Viewer:
        return queries.Viewer(self._desk, self._actor, self._roles)

    def _show(self, name: str, found: queries.LookAnswer | ConsoleRefusal) -> None:
        if isinstance(found, ConsoleRefusal):
            self._speaker.refuse(name, found.code, found.text)
        elif self._speaker.is_machine:
            self._speaker.say(json_voice.ok(name, fields=found.fields))
        else:
            self._speaker.print(found.lines)

    def _abort_file(self) -> None:
        self._speaker.drop()
        self._speaker.say("\r\n")
        self._speaker.refuse("", codes.INTERRUPTED, "the file is not complete")
        self._prompt()

    # ── this console's own commands ─────────────────────────────────────────

    def _own(self, command: TypedCommand) -> None:
        name = command.form.name
        if name == "help":
            self._show(name, assistance.assist(str(command.arguments["topic"]), self._viewer()))
        elif name == "logout":
            self._log_out("logout")
            self._speaker.accept(name, "logged out")
        elif name == "whoami":
            role = self._actor.role.value if self._actor.role else None
            who = f"{self._actor.name}, {role}" if role else "nobody is logged in here"
            facts = {"name": self._actor.name, "role": role, "port": self._port}
            self._speaker.accept(name, who, facts)
        elif name == "history":
            lines = list(self._editor.history())
            self._show(name, queries.LookAnswer(lines, {"history": lines}))
        elif name == "hello":
            self._greet()
        else:
            # Either way the script reads the answer: it asks for JSON, or still listens for it.
            mode = str(command.arguments["mode"])
            if not self._speaker.is_machine:
                self._speaker.change(to_machine=mode == grammar.MACHINE)
            self._speaker.accept(name, mode)
            self._speaker.change(to_machine=mode == grammar.MACHINE)

    # ── login ───────────────────────────────────────────────────────────────

    def _ask_passphrase(self, command: TypedCommand, line: str) -> None:
        role, name = command.arguments["role"], str(command.arguments["name"])
        assert isinstance(role, Role)
        if refusal := self._sign_in.begin(role, name, line, self._now):
            self._speaker.refuse("login", refusal.code, refusal.text)
            return
        self._editor.is_silent = True
        if self._speaker.is_machine:
            self._speaker.announce(Announcement("passphrase", "send it as one line"))
        else:
            self._speaker.prompt("Passphrase: ")

    def _passphrase(self, line: TypedLine) -> None:
        attempt = self._sign_in.attempt
        assert attempt is not None
        found = self._sign_in.finish(line, self._now)
        self._end_passphrase()
        if isinstance(found, ConsoleRefusal):
            self._speaker.refuse("login", found.code, found.text)
        else:
            if self._actor.role is not None:
                self._log_out("logout")
            self._desk.note(Note("login", found))
            self._actor, self._active_at = found, self._now
            self._editor.remember(attempt.line)
            text = f"{attempt.name}, {attempt.role.value}"
            self._speaker.accept("login", text, {"role": attempt.role})
        self._prompt()

    def _end_passphrase(self) -> None:
        self._sign_in.give_up()
        self._editor.is_silent = False
        self._editor.reset()

    def _log_out(self, kind: str) -> None:
        if self._actor.role is not None:
            self._desk.note(Note(kind, self._actor))
        self._actor = self._nobody
        self._editor.forget()

    def _log_out_the_removed(self) -> None:
        self._looked_at = self._now
        if self._actor.role is None or self._sign_in.still_lets_in(self._actor):
            return
        self._log_out("logout")
        said = "logged out: the users file no longer has you as you logged in"
        self._unasked(Announcement("logout", said, is_alarm=True))

    def _log_out_the_idle(self) -> None:
        if self._now - self._active_at < self._idle_s:
            return
        pending = self._desk.view().pending
        if self._actor.role is not None and pending and self._actor.role in pending.roles:
            # The table waits for this person: the idle time begins when it no longer does.
            self._active_at = self._now
        elif self._actor.role is not None or self._speaker.is_machine:
            self._active_at = self._now
            self._log_out("idle-logout")
            self._unasked(Announcement("logout", "logged out: nothing was typed", is_alarm=True))
            self._speaker.change(to_machine=False)

    # ── acting ──────────────────────────────────────────────────────────────

    def _take_held(self) -> None:
        assert self._held is not None
        (command, seen), self._held = self._held, None
        self._log_out_the_removed()
        if refusal := permission.refusal(command.form, self._actor, self._roles):
            self._speaker.refuse(command.form.name, refusal.code, refusal.text)
            self._prompt()
            return
        view = self._desk.view()
        self._faults_before = _faults(view)
        command = _meant(command, seen)
        if command.form.is_of_a_round and command.arguments["round"] is None:
            self._speaker.refuse(command.name, codes.NOT_NOW, "there is no round in hand")
        elif command.form.is_verdict and view.pending != seen.pending:
            self._speaker.refuse(
                command.name,
                codes.NOT_NOW,
                "what the table shows has changed since you began to type: look at `status`, then "
                "type it again",
            )
        else:
            self._submit(command)
        self._prompt()

    def _submit(self, command: TypedCommand) -> None:
        answer = self._desk.submit(command, self._actor, deadline_s=self._answer_s)
        if not answer.is_ok:
            self._speaker.refuse(command.name, answer.code, answer.text)
            return
        self._speaker.accept(command.name, answer.text, answer.details)
        is_watched = command.form.is_long and not self._speaker.is_machine
        if is_watched and _runs(self._desk.view()):
            self._watched, self._progress = command.name, ""

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
                self._speaker.draw(text)
            return
        name, self._watched = self._watched, None
        self._speaker.draw("")
        new = [f for f in view.faults if f.code not in self._faults_before]
        if name == "lamp test" and view.lamps.failed:
            self._speaker.refuse(name, codes.FAILED, f"{name}: {view.lamps.failed}")
        elif new:
            self._speaker.refuse(name, codes.FAILED, f"{name}: {new[0].code}, {new[0].cause}")
        elif name == "lamp test" and view.lamps.tried:
            self._speaker.accept(name, f"{_lamps_proved(view.lamps)} {view.says}")
        elif view.pending:
            self._speaker.accept(name, view.says)
        else:
            self._speaker.accept(name, f"{name} is over. {view.says}")
        self._prompt()

    def _stop_watching(self, *, is_cancelled: bool) -> None:
        self._watched = None
        self._speaker.say("\r\n")
        cancel = grammar.BY_NAME["cancel"]
        if is_cancelled and permission.refusal(cancel, self._actor, self._roles) is None:
            self._submit(TypedCommand(cancel, {}))
        else:
            self._speaker.print(["it goes on; status shows it"])
        self._prompt()

    # ── speaking ────────────────────────────────────────────────────────────

    def _prompt(self) -> None:
        if self._watched is None:
            who = f" {self._actor.name}" if self._actor.role else ""
            self._speaker.prompt(f"{self._table}{who}> ")

    def _greet(self) -> None:
        view = self._desk.view()
        state = " - ".join(word for word in (view.life, view.phase) if word)
        if self._speaker.is_machine:
            facts = {"product": queries.PRODUCT, "version": __version__, "table": view.table}
            facts |= {"state": state, "port": self._port}
            self._speaker.accept("hello", "READY", facts)
            return
        self._speaker.print(
            [
                "",
                f"{queries.PRODUCT} {__version__}, controller of a Sic Bo table",
                f"{view.table}, {self._port} console: {state}",
                *view.marks,
                "type help",
                f"READY {queries.PRODUCT} {__version__} {view.table}",
            ]
        )

    def _announce(self) -> None:
        if self._held is not None:
            return
        while self._announcements:
            self._unasked(self._announcements.popleft())

    def _unasked(self, said: Announcement) -> None:
        if self._speaker.is_machine:
            self._speaker.announce(said)
        elif said.is_alarm or self._actor.role is not None:
            if self._watched is not None:
                self._speaker.draw("")
                self._progress = ""
            self._speaker.announce(said)
            self._prompt()

    def _complete(self, text: str) -> list[str]:
        roles = frozenset({self._actor.role}) if self._actor.role else frozenset()
        return grammar.complete(text, roles)


def _meant(command: TypedCommand, seen: OnScreen) -> TypedCommand:
    """The act that a line means, in the round that was on the screen where it names none."""
    form, arguments = command.form, dict(command.arguments)
    if form.is_of_a_round:
        arguments.setdefault("round", seen.round_id)
    read = seen.pending if seen.pending and seen.pending.kind == "confirm" else None
    if form is grammar.BY_NAME["enter"] and read and arguments["values"] == read.values:
        form = grammar.CONFIRM
    return TypedCommand(form, arguments)


def _faults(view: TableView) -> frozenset[str]:
    return frozenset(fault.code for fault in view.faults)


def _runs(view: TableView) -> bool:
    """True while work goes on that ends by itself; false once it waits for a person."""
    return view.life in RUNNING and view.pending is None


def _lamps_proved(lamps: LampView) -> str:
    """What a test of lamps came to, in numbers of those that were asked for."""
    asked = "lamp was" if lamps.to_try == 1 else "lamps were"
    return f"{lamps.tried} of {lamps.to_try} {asked} lit alone and dark again."
