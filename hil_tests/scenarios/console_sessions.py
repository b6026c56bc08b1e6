"""People at the consoles of a whole table on the virtual rig, through terminal programs.

Owns the sessions as a person would type them: from a jam at night to the table open again
(`picocom`), a dealer's three rounds with one disagreement (`miniterm`), and a visitor's evening
(`shaker-ctl console`). `test_consoles` plays them.
"""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pexpect

from hil_tests.report.evidence import lines_of
from hil_tests.report.story import Story
from hil_tests.table_under_test.lamps import values_of
from hil_tests.table_under_test.session import EASY_WORD, Session
from hil_tests.table_under_test.table import ENTRIES, people_at
from shaker_ctl.rules.outcome import Values

PICOCOM = ("picocom", "--quiet", "--baud", "115200")
MINITERM = (sys.executable, "-m", "serial.tools.miniterm", "--quiet")
PROMPT = r"\rDemonstration 1( \w+)?> $"
READING = r"\* Announce and confirm the values: (\d) (\d) (\d)\."
CODES = re.compile(r"faults +\d+: (\S+?),?\s")


def open_for_people(session: Session) -> None:
    """Have the table opened at the technician's port, and leave that port to people."""
    with people_at(session) as table:
        table.be_open()
        table.console("technician").ask("mode people")


START_S = 60
"""For a terminal program to start, on a busy machine."""

CYCLES = 12
"""Most cycles of one inspection: now and then a die does not lie flat, and the count restarts."""

REPAIRS = 4
"""Of one inspection. On a busy machine the rig is now and then late: its shaker fails, or its lamp
box does not answer in time."""


class TerminalUser:
    """Somebody at a terminal program; `screen` is what they saw."""

    def __init__(
        self,
        session: Session | SimpleNamespace,
        port: str,
        program: tuple[str, ...],
        story: Story | None = None,
    ) -> None:
        """`session` has the rig's addresses and everybody's passphrase. `story` is told what is
        typed and what the console answers.
        """
        self._session = session
        self._program = program
        self._story = story or Story()
        self._who = f"{port} console"
        self._seen = StringIO()
        device = session.rig["console"][port]["person"]
        self._child = pexpect.spawn(
            program[0],
            [*program[1:], device, *(("115200",) if program is MINITERM else ())],
            encoding="utf-8",
            timeout=20,
            dimensions=(40, 80),
        )
        self._child.logfile_read = self._seen
        for left in reversed(range(START_S)):  # they say nothing when they are ready
            self._child.send("\r")
            if self._child.expect([PROMPT, pexpect.TIMEOUT] if left else [PROMPT], timeout=1) == 0:
                break
        self._seen.seek(0)
        self._seen.truncate()  # what was said before they came is no part of their session
        self._seen.write(str(self._child.after))

    def type(self, line: str, *, timeout_s: float = 20) -> str:
        """Give a line; return what came until the prompt, after long work too."""
        self._story.did(self._who, line)
        self._child.send(line + "\r")
        self._expect(re.escape(line))
        self._expect(PROMPT, timeout_s=timeout_s)
        self._tell(str(self._child.before))
        return str(self._child.before) + str(self._child.after)

    def interrupt(self, line: str, *, after_s: float) -> str:
        """Begin something long, give it up by Ctrl-C, and return what the console said to that."""
        self._story.did(self._who, line)
        self._child.send(line + "\r")
        self._expect(r"\bok .*\r\n")
        time.sleep(after_s)
        self._story.did(self._who, f"Ctrl-C after {after_s:g} s")
        self._child.send("\x03")
        self._expect(PROMPT)
        self._tell(str(self._child.before))
        return str(self._child.before)

    def login(self, role: str, name: str) -> None:
        self._story.did(self._who, f"login {role} {name}")
        self._child.send(f"login {role} {name}\r")
        self._expect("Passphrase: ")
        self._child.send(self._session.passphrases[name] + "\r")
        self._expect(f"ok {name}, {role}")
        self._expect(PROMPT)
        self._who = name

    def hear(self, pattern: str, *, timeout_s: float = 30) -> re.Match[str]:
        """Wait until the console says so unasked, and draws the prompt again."""
        self._expect(pattern, timeout_s=timeout_s)
        found: re.Match[str] = self._child.match
        self._tell(found[0])
        self._expect(PROMPT)
        return found

    def wait_for(self, line: str, pattern: str, *, timeout_s: float = 30) -> str:
        """Ask until the answer shows the pattern."""
        deadline = time.monotonic() + timeout_s
        while not re.search(pattern, said := self.type(line)):
            if time.monotonic() > deadline:
                wanted = f"`{line}` shows {pattern!r} within {timeout_s:g} s"
                self._story.expect(wanted, False, _one_line(said))
            time.sleep(1.0)
        return said

    def _expect(self, pattern: str, *, timeout_s: float = 20) -> None:
        try:
            self._child.expect(pattern, timeout=timeout_s)
        except (pexpect.TIMEOUT, pexpect.EOF):
            last = _one_line(str(self._child.before)) or "nothing"
            wanted = f"the console shows {pattern!r} within {timeout_s:g} s"
            self._story.expect(wanted, False, last)

    def _tell(self, said: str) -> None:
        if text := _one_line(said):
            self._story.saw("console", text)

    @property
    def rig(self) -> dict[str, Any]:
        """The rig's addresses: its truth is what the eye sees."""
        rig: dict[str, Any] = self._session.rig
        return rig

    def another(self, port: str) -> AbstractContextManager[TerminalUser]:
        """Somebody at that port, with the same terminal program."""
        return person(self._session, port, self._program)

    def leave(self) -> None:
        self._child.close(force=True)

    @property
    def screen(self) -> str:
        return screen(self._seen.getvalue())


TOLD = 300
"""Characters of an answer that a story keeps."""


def _one_line(said: str) -> str:
    """What a terminal showed, on one line of bearable length: its end counts."""
    text = " / ".join(line.strip() for line in screen(said).splitlines() if line.strip())
    return text if len(text) <= TOLD else f"…{text[-TOLD:]}"


@contextmanager
def person(
    session: Session | SimpleNamespace,
    port: str,
    program: tuple[str, ...],
    story: Story | None = None,
) -> Iterator[TerminalUser]:
    someone = TerminalUser(session, port, program, story)
    try:
        yield someone
    finally:
        someone.leave()


def screen(raw: str) -> str:
    """Return what a terminal would have shown, scrolled lines included, without colour."""
    lines, cells, at = [], list[str](), 0
    for token in re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", raw):
        if token == "\n":
            lines.append("".join(cells).rstrip())
            cells, at = [], 0
        elif token == "\r":
            at = 0
        elif token == "\b":
            at -= 1
        elif token.isprintable():
            cells[at : at + 1] = [token]
            at += 1
    return "\n".join([*lines, "".join(cells).rstrip()]).strip() + "\n"


# ── From a jam at night to the table open again ─────────────────────────────


def inspect(fay: TerminalUser) -> None:
    """The opening inspection, step by step: what wins, every lamp, three good cycles."""
    fay.type("inspect all")
    for values in ENTRIES:
        fay.type("inspect enter {} {} {}".format(*values), timeout_s=30)
        fay.type("inspect seen")
    fay.type("inspect walk", timeout_s=120)
    fay.type("inspect seen")
    for _ in range(CYCLES):
        said = fay.type("inspect cycle", timeout_s=60)
        if "inspect tossed" in " ".join(screen(said).split()):
            said = fay.type("inspect tossed")
        shown = " ".join(screen(said).split())
        if "waits for its signature" in shown or "not-now" in shown:
            return


def jam_at_night(session: Session, story: Story | None = None) -> str:
    """The table plays, the cam jams in a toss. A technician comes, then the floorperson."""
    open_for_people(session)
    watcher = session.console("dealer")
    session.ask_rig("inject jam")
    (story or Story()).did("rig", "breaks: jam - the cam is mechanically stuck")
    watcher.wait(lambda status: status["life"] == "out of service", timeout_s=60)
    watcher.close()
    with person(session, "technician", PICOCOM, story) as tom:
        tom.type("hello")
        said = tom.type("status")
        found = CODES.search(screen(said))
        assert found, said
        code = found[1]
        tom.type("faults")
        tom.type("motor")
        tom.login("technician", "tom")
        session.ask_rig("heal jam")  # the technician's hand frees the cam
        said = tom.type(f"fault clear {code}")
        assert "ok " in said, said
        tom.type("jog 300 2")
        tom.type("motor")
        if "out of service" in tom.type("status"):
            tom.type("return-to-service")
        tom.login("floorperson", "fay")
        for _ in range(REPAIRS):
            inspect(tom)
            tom.type("inspection")
            if "out of service" not in tom.type("sign"):
                break
            _clear(tom)
            tom.login("floorperson", "fay")
        tom.type("open")
        tom.wait_for("status", ": open")
        tom.type("logout")
        return tom.screen


# ── Three rounds, one of them disputed ──────────────────────────────────────


def three_rounds(session: Session, story: Story | None = None) -> None:
    """A dealer at the table's own terminal; in the second round they misread a die."""
    open_for_people(session)
    with person(session, "dealer", MINITERM, story) as dan:
        dan.login("dealer", "dan")
        for number in (1, 2, 3):
            dan.wait_for("bets", "ok ")
            dan.type("nmb")
            dan.type("activate")
            found = dan.hear(READING)
            read: Values = (int(found[1]), int(found[2]), int(found[3]))
            values = " ".join(map(str, read))
            if number == 2:
                dan.type(f"enter {number} {read[0]} {read[1]} {1 + read[2] % 6}")
                dan.type("status")
                dan.login("floorperson", "fay")
                dan.type(f"decide {values}")
                dan.login("dealer", "dan")
            else:
                dan.type("".join(map(str, read)))
            dan.wait_for("status", "settled")
            if number == 1:
                dan.type("lamps")
            dan.type("settled")
            dan.type("lamps-off")
        dan.type("round 2")
        dan.type("logout")


# ── Rounds by hand, as the README says ──────────────────────────────────────

ASKED = r"\* (?:Announce and confirm the values: \d \d \d\.|[^*]*call no\s+roll)"
VOID = r"The\s+round\s+is\s+void"
MAX_ROUNDS = 12
"""In which two are to be read."""


def by_hand(folder: Path) -> int:
    """Play `shaker-ctl demo --by-hand` from its own lines; return its status."""
    table = Path(sys.executable).with_name("shaker-ctl")
    words = ["demo", "--by-hand", "--pace", "brisk", "--plain", "--report", str(folder)]
    demo = pexpect.spawn(str(table), words, encoding="utf-8", timeout=120, dimensions=(40, 120))
    try:
        demo.expect(r"dealer's console: +(.*?) (\S+)\r\n")
        program = tuple(shlex.split(demo.match[1]))
        demo.expect(r"break something: .*\r\n")
        rig = json.loads((folder / "rig" / "rig.json").read_text("utf-8"))
        at = SimpleNamespace(rig=rig, passphrases=dict.fromkeys(("fay", "dan", "tom"), EASY_WORD))
        with person(at, "dealer", program) as dan:
            _open(dan)
            dan.login("dealer", "dan")
            ends: list[str] = []
            while ends.count("read") < 2 and len(ends) < MAX_ROUNDS:
                ends.append(_play(dan))
            dan.type("logout")
    finally:
        demo.kill(signal.SIGTERM)  # as Ctrl-C, which a shell's background jobs do not hear
        demo.expect(pexpect.EOF)
        demo.close()
    return int(demo.exitstatus)


def _open(dan: TerminalUser) -> None:
    dan.login("floorperson", "fay")
    while True:
        said = screen(dan.type("next"))
        if "time confirm" in said:
            dan.type("time confirm")
        elif "dice changed" in said:
            dan.type("dice changed A1 A2 A3")
        else:
            break
    _inspect_and_open(dan)


def _inspect_and_open(dan: TerminalUser) -> None:
    for _ in range(REPAIRS):
        if "out of service" in dan.type("next"):
            _repair(dan)
        inspect(dan)
        if "out of service" not in dan.type("next"):
            break
    dan.type("sign")
    dan.type("open")


def _repair(dan: TerminalUser) -> None:
    """The technician clears what stands at a console of their own, and brings the table back."""
    with dan.another("technician") as tom:
        _clear(tom)
        tom.type("logout")


def _clear(tom: TerminalUser) -> None:
    tom.login("technician", "tom")
    while found := CODES.search(screen(tom.type("status"))):
        tom.type(f"fault clear {found[1]}")
    if "out of service" in tom.type("status"):
        tom.type("return-to-service")


def _begin(dan: TerminalUser) -> None:
    """Open and close the bets; where the machine was late, the table is brought back before."""
    for _ in range(REPAIRS):
        said = dan.wait_for("+", r"ok |out\s+of\s+service|inspect")
        if "ok " in said:
            break
        dan.login("floorperson", "fay")
        _inspect_and_open(dan)
        dan.login("dealer", "dan")
    dan.type("*")


def _toss(dan: TerminalUser) -> str:
    """Start the shaker, and say how the dice lie to the eye; return `read`, `no roll` or `void`."""
    dan.type("/")
    if "void" in dan.hear(f"{ASKED}|{VOID}", timeout_s=60)[0]:
        return "void"
    dan.type("next")
    values = values_of(lines_of(dan.rig["truth"])[-1]["dice"])
    line = "".join(map(str, values or (0, 0, 0)))
    if "second time" in " ".join(screen(dan.type(line)).split()):
        dan.type(line)
    return "read" if values else "no roll"


def _play(dan: TerminalUser) -> str:
    """A round on the number pad; return what it came to."""
    _begin(dan)
    said = _toss(dan)
    dan.wait_for("next", r"key -|key \+")
    dan.type("-")
    if said == "read":
        dan.wait_for(".", "ok |not-now")
    return said
