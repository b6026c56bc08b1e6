"""How a console speaks: words for people, JSON for scripts, and files piece by piece in both.

Owns the voice, what waits to be sent, and the form of `ok` and `error`. Must not know commands,
logins or the table.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from shaker_ctl.console import file_transfer, json_voice, render
from shaker_ctl.console.desk import NOTHING, Announcement, Parcel
from shaker_ctl.console.editor import LineEditor


class Speaker:
    """The mouth of one console. What it says waits in `take`, nothing is written here."""

    def __init__(self, editor: LineEditor) -> None:
        self._editor = editor
        self._out: deque[str] = deque()
        self._file: Iterator[str] | None = None
        self.is_machine = False

    def change(self, *, to_machine: bool) -> None:
        """What `mode` chooses: JSON for scripts, or words."""
        self.is_machine = self._editor.is_raw = to_machine

    # ── saying ──────────────────────────────────────────────────────────────

    def say(self, text: str) -> None:
        if text:
            self._out.append(text)

    def echo(self) -> None:
        """Say what the editor has to show."""
        self.say(self._editor.take_output())

    def prompt(self, prompt: str) -> None:
        """Draw `prompt` and the line being typed, for people."""
        if not self.is_machine:
            self._editor.prompt = prompt
            self._editor.show_prompt()
            self.echo()

    def print(self, lines: render.Lines) -> None:
        """Say lines for people, in place of a prompt or a line being typed."""
        self.say(self._editor.wipe())
        self.say("".join(f"{line}\r\n" for line in lines))

    def draw(self, text: str) -> None:
        """Draw one line over itself; empty wipes it."""
        self.say(f"\r{text:{render.WIDTH}}" + ("" if text else "\r"))

    def accept(self, name: str, text: str, fields: Mapping[str, object] = NOTHING) -> None:
        if self.is_machine:
            self.say(json_voice.ok(name, text, fields))
        else:
            self.print(render.paragraph(f"ok {text}"))

    def refuse(self, name: str, code: str, text: str) -> None:
        if self.is_machine:
            self.say(json_voice.error(name, code, text))
        else:
            self.print(render.paragraph(f"error {code} {text}"))

    def announce(self, said: Announcement) -> None:
        if self.is_machine:
            self.say(json_voice.event(said))
        else:
            self.print(render.paragraph(f"* {said.text}"))

    # ── files ───────────────────────────────────────────────────────────────

    @property
    def is_sending(self) -> bool:
        return self._file is not None

    def send(self, name: str, parcel: Parcel) -> None:
        """Begin to send a file; it leaves with `take`, and the reply to `name` after it."""
        self._file = self._pieces(name, parcel)

    def _pieces(self, name: str, parcel: Parcel) -> Iterator[str]:
        facts = json_voice.parcel_facts(parcel)
        if self.is_machine:
            yield from json_voice.parcel(parcel)
            reply = json_voice.ok(name, fields=facts)
        else:
            yield from file_transfer.wrap(parcel)
            reply = f"ok {parcel.name}, {facts['size']} bytes\r\n"
        # Over before the reply is out: who has read it may give the next command at once, and what
        # comes while a file is sent is dropped.
        self._file = None
        yield reply

    # ── sending ─────────────────────────────────────────────────────────────

    @property
    def has_output(self) -> bool:
        return bool(self._out) or self.is_sending

    def take(self) -> bytes:
        """Return the next bytes to send, a few kilobytes at most; empty when there are none."""
        if not self._out and self._file is not None:
            piece = next(self._file, None)
            if piece is None:
                self._file = None
            else:
                self._out.append(piece)
        text = "".join(self._out)
        self._out.clear()
        return text.encode(errors="replace")

    def drop(self) -> None:
        """Forget what waits, a file included."""
        self._out.clear()
        self._file = None
