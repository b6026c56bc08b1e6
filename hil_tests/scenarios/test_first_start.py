"""A first start on an empty machine, by the lines of the installation page, until bets are open."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pexpect
import pytest
import tomlkit

from hil_tests.processes import Program
from hil_tests.scenarios.console_sessions import TerminalUser, person, screen
from hil_tests.scenarios.test_doctor import PI
from hil_tests.table_under_test.lamps import values_of
from hil_tests.table_under_test.session import EASY_WORD, Plan, Session
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.commands import seal, setup
from shaker_ctl.tests.installed_table import install_table
from vision.calibrating.target import Target
from vision.calibrating.target_paper import png

pytestmark = [pytest.mark.rig, pytest.mark.timeout(900)]

PAGE = Path(__file__).parents[2] / "systemd" / "README.md"
PROGRAM = (sys.executable, "-c", "from shaker_ctl.main import app; app()")
UNTRUSTED = """
from pathlib import Path
from shaker_ctl.service import wall_time
wall_time.is_synchronised, wall_time.RTC = lambda: False, Path({rtc!r})
from shaker_ctl.main import app
app()
"""
"""The service on a computer without a network, whose RTC has no battery and counts from 1970."""


def lines_of_the_page() -> list[str]:
    """The commands under *Install*, in order."""
    install = PAGE.read_text("utf-8").split("## Install\n")[1]
    block = install.split("```\n")[1]
    return [command for line in block.splitlines() for command in line.split(" && ")]


@dataclass
class NewTable(Session):
    """The virtual machine, and a root folder in which nothing is yet."""

    root: Path = field(default_factory=Path)
    decided: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def follow(self, line: str) -> None:
        """Do what a line of the page says. Raises AssertionError where it is refused."""
        program, *words = shlex.split(line, comments=True)
        if program != "apt":  # the program is there
            assert (program, words) == ("shaker-ctl", ["setup"]), line
            self.know_the_rig()
            self.set_up()
            self.start_service()

    def know_the_rig(self) -> None:
        """Write what a rig needs and no person decides: ports, folders, its camera's frame."""
        known = self.settings()
        del known["journal"]["second"]  # no second medium here, which `doctor` says
        for name in setup.ASKED:
            *sections, key = name.split(".")
            inside: dict[str, Any] = known
            for section in sections:
                inside = inside.get(section, {})
            if key in inside:
                decided = inside.pop(key)
                is_list = isinstance(decided, list)
                self.decided[name] = ", ".join(decided) if is_list else str(decided)
        (self.folder / "settings.toml").write_text(tomlkit.dumps(known), "utf-8")

    def set_up(self) -> None:
        """Answer `shaker-ctl setup`, leave it once in the middle, and take it up again."""
        questions = self.questions()
        for is_left in (True, False, False):
            tools = {**os.environ, "PATH": f"{self.root}/usr/bin:{os.environ['PATH']}"}
            words = [*PROGRAM[1:], "setup", "--root", str(self.root)]
            child = pexpect.spawn(PROGRAM[0], words, encoding="utf-8", timeout=90, env=tools)
            while (found := child.expect([*questions, pexpect.EOF])) < len(questions):
                answer = list(questions.values())[found]
                if is_left and answer == self.somebody:
                    child.sendintr()
                else:
                    child.sendline(answer if isinstance(answer, str) else answer(child.match))
            said = str(child.before)
            child.close()
            if child.exitstatus == 0:
                return
            is_meant = child.exitstatus == 130 if is_left else "teach --tosses 60" in said
            assert is_meant, screen(said)
        raise AssertionError("not set up in two calls")

    def questions(self) -> dict[str, str | Callable[[re.Match[str]], str]]:
        """What `setup`, and the commands that it calls, ask, and what is answered."""
        return {
            r"([a-z_]+(?:\.[a-z_]+)+): [^\r\n]*: ": lambda key: self.decided.get(key[1], ""),
            r"Login name of a (\w+): ": self.somebody,
            r"badge: ": lambda _: f"N-{next(self.numbers)}",
            r"(?:Passphrase|Repeat for confirmation): ": EASY_WORD,
            r"seal\.pub: ": str(self.root / "seal.pub"),
            r"floor, mm: ": self.lay_the_card,
            r"raised by ([\d.]+) mm[^\r\n]*Enter: ": self.raise_the_card,
            r"lock the compartment. Enter: ": self.take_the_card,
            r"seal\.key: ": str(self.root / "approver.key"),
            r"Name of the approver: ": "Ann Approver",
            r"Teach it now\? [^\r\n]*: ": lambda _: "n" if self.teaching() else "y",
            r"Login name of who confirms: ": "fay",
            r"as on record: ": "A1 A2 A3",
            r"\nfay: ": self.what_lies,
            r"Enter tries again, Ctrl-C leaves: ": "",
            r"Enter: |\[Y/n\]: |\[y/N\]: ": "",
        }

    def somebody(self, duty: re.Match[str]) -> str:
        return {"floorperson": "fay", "technician": "tom", "dealer": "dan"}[duty[1]]

    def what_lies(self, _: object) -> str:
        last = Path(self.rig["truth"]).read_text("utf-8").splitlines()[-1]
        values = values_of(json.loads(last)["dice"])
        return "".join(map(str, values)) if values else "n"

    def lay_the_card(self, _: object) -> str:
        card = self.folder / "card.png"
        card.write_bytes(png(Target(self.rig["drawing"]["compartment_radius_mm"])))
        self._hands("force compartment")
        self._hands(f"lay card {card}")
        return str(self.rig["camera"]["ruler_mm"])

    def raise_the_card(self, height: re.Match[str]) -> str:
        self._hands(f"raise card {height[1]}")
        return ""

    def take_the_card(self, _: object) -> str:
        self._hands("take card")
        self._hands("close compartment")
        return ""

    def _started(self, name: str, command: list[str], log: str, *, nice: int) -> Program:
        if log == "service.log":
            rtc = self.folder / "since_epoch"
            rtc.write_text("31\n")
            code = UNTRUSTED.format(rtc=str(rtc))
            command = [PROGRAM[0], "-c", code, *command[command.index("run") :]]
        return super()._started(name, command, log, nice=nice)


STEPS = (
    (r"time confirm", "time confirm"),
    (r"dice changed SERIAL", "dice changed A1 A2 A3"),
    (r"inspect all", "inspect all"),
    (r"[012] seen; after three", ""),
    (r"3 seen; after three: inspect walk", "inspect walk"),
    (r"inspect seen", "inspect seen"),
    (r"inspect cycle", "inspect cycle"),
    (r"inspect tossed", "inspect tossed"),
    (r": sign", "sign"),
    (r": open", "open"),
)
"""What `next` says, and what somebody types who follows it."""
VALUES = ["inspect enter 6 6 6", "inspect enter 2 2 5", "inspect enter 1 3 4"]
MAX_LOOKS = 40
ONCE = ("time confirm", "dice changed A1 A2 A3", "inspect all", "inspect walk", "sign", "open")


def open_by_next(fay: TerminalUser) -> list[str]:
    """Type what `next` names, until it names the dealer; return what was typed."""
    typed: list[str] = []
    values = iter(VALUES)
    for _ in range(MAX_LOOKS):
        said = " ".join(screen(fay.type("next")).split())
        told = re.search(r"(?:next|waits for) (.*?) faults ", said)
        assert told, f"`next` names nothing: {said}"
        if "dealer: bets" in told[1]:
            return typed
        line = next((line for words, line in STEPS if re.search(words, told[1])), None)
        assert line is not None, f"`next` names no step: {told[1]}"
        typed.append(line or next(values))
        answer = fay.type(typed[-1], timeout_s=120)
        assert re.search(r"^ok ", answer, re.MULTILINE), f"{typed[-1]}: {answer}"
        assert "error" not in answer, f"{typed[-1]}: {answer}"
    raise AssertionError(f"not open after {typed}")


def test_who_follows_the_page_and_next_is_never_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name, text in PI.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    install_table(root, PinParameters())  # what the package brings
    seal.keys(root / "approver.key", root / "seal.pub", unguarded=True)
    table = NewTable(Plan(by_hand=True, seed=5), root / "etc" / "shaker-ctl", root=root)
    table.passphrases = dict.fromkeys(("fay", "tom", "dan"), EASY_WORD)
    try:
        table.start_rig()
        for line in lines_of_the_page():
            table.follow(line)
        program = (str(Path(sys.executable).with_name("shaker-ctl")), "console", "--port")
        with person(table, "technician", program) as fay:
            fay.login("floorperson", "fay")
            typed = open_by_next(fay)
        with person(table, "dealer", program) as dan:
            dan.login("dealer", "dan")
            assert re.search(r"^ok ", dan.type("+"), re.MULTILINE)
            dan.wait_for("status", "Bets are open")
    finally:
        table.close()
    assert [line for line in typed if line in ONCE] == list(ONCE)
    print(*typed, sep="\n")  # noqa: T201 - shown with -s
