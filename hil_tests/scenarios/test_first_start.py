"""A first start on an empty machine, by the lines of the installation page, until bets are open."""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest
import tomlkit

from hil_tests.processes import Program
from hil_tests.scenarios.console_sessions import TerminalUser, person, screen
from hil_tests.scenarios.test_doctor import PI
from hil_tests.table_under_test.session import EASY_WORD, Plan, Session, merged
from shaker_ctl.commands import seal
from vision.calibrating.target import Target
from vision.calibrating.target_paper import png

pytestmark = [pytest.mark.rig, pytest.mark.timeout(400)]

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

    def follow(self, line: str) -> None:
        """Do what a line of the page says. Raises AssertionError where it is refused."""
        program, *words = shlex.split(line, comments=True)
        if program == "apt" or words == ["start", "shaker-pigpiod"]:
            return  # the program is there, and the rig is the daemon
        if program == "nano":
            self.fill_in()
        elif program == "systemctl":
            self.start_service()
        else:
            assert program == "shaker-ctl", line
            if words[:2] == ["calibrate", "camera"]:
                self.lay_the_card(words)
            else:
                self.call(words)

    def lay_the_card(self, words: list[str]) -> None:
        """Type `calibrate camera` with the height that the ruler shows, over the printed card."""
        card = self.folder / "card.png"
        card.write_bytes(png(Target(self.rig["drawing"]["compartment_radius_mm"])))
        self._hands("force compartment")
        self._hands(f"lay card {card}")
        at = words.index("--height") + 1
        self.call([*words[:at], str(self.rig["camera"]["ruler_mm"]), *words[at + 1 :]])
        self._hands("take card")
        self._hands("close compartment")

    def call(self, words: list[str]) -> None:
        here = [word.replace("/etc/shaker-ctl", str(self.folder)) for word in words]
        key = str(self.root / "approver.key")
        here = [word.replace("/media/approver/seal.key", key) for word in here]
        config = ["--config", str(self.folder / "settings.toml")]
        if here[0] == "install":
            # No camera and no lamp box is at a USB socket here: the page has those left out.
            public = str(self.root / "seal.pub")
            here = ["install", "--yes", "--public-key", public, "--root", str(self.root)]
        elif here[:2] == ["console", "add-user"]:
            here += ["--users", str(self.folder / "users.toml")]
        elif here[0] == "doctor":
            here += ["--yes", "--root", str(self.root), *config]
        elif here[0] == "seal":
            here += config
        tools = {**os.environ, "PATH": f"{self.root}/usr/bin:{os.environ['PATH']}"}
        words = [*PROGRAM[1:], *here]
        child = pexpect.spawn(PROGRAM[0], words, encoding="utf-8", timeout=90, env=tools)
        asked = ["(Passphrase|Repeat for confirmation): ", r"Enter: |\[Y/n\]: ", pexpect.EOF]
        while (found := child.expect(asked)) < len(asked) - 1:
            child.sendline((EASY_WORD, "")[found])
        said = str(child.before)
        child.close()
        assert child.exitstatus == 0, f"{shlex.join(here)}: {screen(said)}"

    def fill_in(self) -> None:
        """What the person who installs knows: where camera, lamps and consoles are."""
        file = self.folder / "settings.toml"
        known = self.settings()
        del known["journal"]["second"]  # no second medium here, which `doctor` says
        file.write_text(tomlkit.dumps(merged(tomlkit.parse(file.read_text()), known)), "utf-8")

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
