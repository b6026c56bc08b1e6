"""Bytes of a terminal to finished lines, with editing and history for people.

Owns the line being typed, the history and the echo. Must not know commands, time or where bytes
go: `feed` takes what came and returns what happened; `take_output` returns what to send back.

Written for what PuTTY, minicom, picocom and miniterm send: CR, LF or both for Enter; BS or DEL;
CSI and SS3 cursor keys. What is sent back is text, CR, LF, BS and spaces alone: miniterm shows
escape sequences as letters unless told otherwise. Everything is bounded: the line, the history, an
escape sequence. A line in which any byte was not something that a keyboard sends is marked, and no
act is taken from it.
"""

from __future__ import annotations

import codecs
import os.path
from collections import deque
from collections.abc import Callable

from shaker_ctl.frozen import frozen

WIDTH = 80
HISTORY = 50
_MAX_ESCAPE = 12
BELL = "\a"


@frozen
class TypedLine:
    """Enter was pressed."""

    text: str
    is_clean: bool = True
    """False: bytes came with it that no keyboard sends."""
    is_whole: bool = True
    """False: it was longer than the limit and is cut."""


@frozen
class Interrupt:
    """Ctrl-C, or Ctrl-D on an empty line (`is_end`)."""

    is_end: bool = False


Event = TypedLine | Interrupt

# Cursor keys as terminals send them: CSI (ESC [) and SS3 (ESC O) finals, and VT220 numbers.
_FINALS = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end"}
_TILDES = {"1": "home", "7": "home", "4": "end", "8": "end", "3": "delete"}
_CONTROLS = {
    "\x01": "home",
    "\x02": "left",
    "\x05": "end",
    "\x06": "right",
    "\x08": "backspace",
    "\x7f": "backspace",
    "\x0b": "kill-right",
    "\x0c": "refresh",
    "\x0e": "down",
    "\x10": "up",
    "\x15": "kill-line",
    "\x17": "kill-word",
}


class LineEditor:
    """One terminal's line. `silent` while a passphrase is typed, `raw` in the scripts' voice."""

    def __init__(self, limit: int, complete: Callable[[str], list[str]] = lambda _text: []) -> None:
        self._limit = limit
        self._complete = complete
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._history: deque[str] = deque(maxlen=HISTORY)
        self._out: list[str] = []
        self.prompt = ""
        self.is_silent = False
        self.is_raw = False
        self._last_was_cr = False
        self._escape: str | None = None
        self._drawn = 0
        """Columns of the screen line that are written on."""
        self._clear()

    # ── what the session asks for ───────────────────────────────────────────

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes in and return the lines and interrupts that they completed."""
        return [event for char in self._decoder.decode(data) if (event := self._char(char))]

    def take_output(self) -> str:
        """Return the echo that is due since the last call."""
        text = "".join(self._out)
        self._out.clear()
        return text

    def remember(self, line: str) -> None:
        """Put a line that made sense into the history; nothing else ever gets there."""
        if not self._history or self._history[-1] != line:
            self._history.append(line)

    @property
    def is_empty(self) -> bool:
        """Nothing is typed yet."""
        return not self._line

    def history(self) -> tuple[str, ...]:
        return tuple(self._history)

    def forget(self) -> None:
        """Empty the history (at logout) and the line."""
        self._history.clear()
        self._clear()

    def reset(self) -> None:
        """Drop the line being typed, and any half character or escape sequence."""
        self._decoder.reset()
        self._escape = None
        self._clear()

    def show_prompt(self) -> None:
        """Draw prompt and line afresh, as after other text was printed."""
        if not self.is_raw:
            self._draw()

    def wipe(self) -> str:
        """Return what clears the screen line, for other text to take its place."""
        drawn, self._drawn = self._drawn, 0
        return f"\r{'':{drawn}}\r" if drawn else ""

    # ── one character ───────────────────────────────────────────────────────

    def _char(self, char: str) -> Event | None:
        after_cr, self._last_was_cr = self._last_was_cr, char == "\r"
        if self._escape is not None:
            return self._in_escape(char)
        if char in "\r\n":
            return None if char == "\n" and after_cr else self._enter()
        if char == "\x03":
            return self._interrupted()
        if char == "\x04" and not self._line:
            return Interrupt(is_end=True)
        if char == "\x1b":
            self._escape = ""
        elif char == "\t" and not self.is_raw:
            self._tab()
        elif key := _CONTROLS.get(char):
            self._key(key)
        elif char.isprintable() and char != "�":
            self._insert(char)
        else:
            self._is_clean = False
        return None

    def _in_escape(self, char: str) -> Event | None:
        assert self._escape is not None
        self._escape += char
        kind, rest = self._escape[:1], self._escape[1:]
        if kind not in "[O":
            self._escape, self._is_clean = None, False
        elif rest and "@" <= rest[-1] <= "~" and rest[-1] != "[":
            self._escape = None
            number = rest[:-1].split(";")[0]
            name = _TILDES.get(number) if rest[-1] == "~" else _FINALS.get(rest[-1])
            if name:
                self._key(name)
        elif len(self._escape) > _MAX_ESCAPE or char in "\r\n\x03":
            self._escape, self._is_clean = None, False
            return self._char(char) if char in "\r\n\x03" else None
        return None

    def _enter(self) -> TypedLine:
        line = TypedLine("".join(self._line), self._is_clean, self._is_whole)
        self._clear()
        self._echo("\r\n")
        return line

    def _interrupted(self) -> Interrupt:
        self._clear()
        self._echo("^C\r\n")
        return Interrupt()

    # ── the line ────────────────────────────────────────────────────────────

    def _clear(self) -> None:
        self._line: list[str] = []
        self._cursor = 0
        self._recalled = 0
        self._is_clean = True
        self._is_whole = True

    def _insert(self, char: str) -> None:
        if len(self._line) >= self._limit:
            self._is_whole = False
            self._echo(BELL)
            return
        self._line.insert(self._cursor, char)
        self._cursor += 1
        at_end = self._cursor == len(self._line)
        if at_end and len(self.prompt) + len(self._line) < WIDTH:
            self._echo(char)
            self._drawn += 1
        else:
            self._redraw()

    def _key(self, name: str) -> None:
        before = (self._cursor, len(self._line))
        if name == "backspace" and self._cursor:
            self._cursor -= 1
            del self._line[self._cursor]
        elif name == "delete":
            del self._line[self._cursor : self._cursor + 1]
        elif name == "kill-right":
            del self._line[self._cursor :]
        elif name == "kill-word":
            self._kill_word()
        elif name == "kill-line":
            self._clear()
        elif name in ("up", "down"):
            self._recall(1 if name == "up" else -1)
            return
        else:
            self._cursor = {
                "left": max(0, self._cursor - 1),
                "right": min(len(self._line), self._cursor + 1),
                "home": 0,
                "end": len(self._line),
            }.get(name, self._cursor)
        if name == "refresh" or before != (self._cursor, len(self._line)):
            self._redraw()

    def _kill_word(self) -> None:
        start = self._cursor
        while start and self._line[start - 1] == " ":
            start -= 1
        while start and self._line[start - 1] != " ":
            start -= 1
        del self._line[start : self._cursor]
        self._cursor = start

    def _recall(self, step: int) -> None:
        wanted = self._recalled + step
        if self.is_silent or self.is_raw or not 0 <= wanted <= len(self._history):
            self._echo(BELL)
            return
        self._line = list(self._history[-wanted]) if wanted else []
        self._cursor = len(self._line)
        self._recalled = wanted
        self._redraw()

    def _tab(self) -> None:
        if self.is_silent or self._cursor != len(self._line):
            return
        typed = "".join(self._line)
        choices = self._complete(typed)
        last = typed.split(" ")[-1]
        if not choices:
            self._echo(BELL)
        elif len(choices) == 1:
            self._extend(choices[0][len(last) :] + " ")
        elif more := os.path.commonprefix(choices)[len(last) :]:  # noqa: RUF071 - words, no paths
            self._extend(more)
        else:
            self._echo("\r\n" + "  ".join(choices) + "\r\n")
            self._redraw()

    def _extend(self, text: str) -> None:
        for char in text:
            self._insert(char)

    # ── the screen ──────────────────────────────────────────────────────────

    def _echo(self, text: str) -> None:
        if self.is_raw:
            return
        ends_line = text.endswith("\n")
        if ends_line:
            self._drawn = 0
        if ends_line or not self.is_silent:
            self._out.append(text)

    def _redraw(self) -> None:
        if not self.is_raw and not self.is_silent:
            self._draw()

    def _draw(self) -> None:
        room = WIDTH - 1 - len(self.prompt)
        # A long line slides under the prompt, so that the cursor is always on this screen line.
        start = max(0, self._cursor - room)
        visible = "" if self.is_silent else "".join(self._line[start : start + room])
        back = 0 if self.is_silent else start + len(visible) - self._cursor
        text = self.prompt + visible
        rest = max(0, self._drawn - len(text))
        self._out.append("\r" + text + " " * rest + "\b" * (rest + back))
        self._drawn = len(text)
