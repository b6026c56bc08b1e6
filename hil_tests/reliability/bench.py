"""The table under test: rig and service as two programs, and the people who stand at its consoles.

Owns their lives (also: killed and started again) and what people do there: play one round after the
other, enter what they see where the table cannot read, mend, inspect, open. Settings make people
quick and the shake the shortest approved one; no inspection is left out. Must not know faults.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hil_tests.demo.people import SERIALS
from hil_tests.demo.session import Session, merged
from hil_tests.report.evidence import lines_of
from hil_tests.rig.control import ask
from shaker_ctl.console.client import Console, ConsoleRefusedError, Reply
from shaker_ctl.console.scripted import ENTRIES
from shaker_ctl.errors import ConsoleLineError, ShakerError

SETTINGS: dict[str, Any] = {
    "table": {"entry_mode": "auto", "autonomous": False},
    "motion": {"shake": {"shortest_s": 1.8, "max_s": 1.8}},
    "journal": {"second_lag_s": 2.0},
}
"""Dealer's pace, so that every moment can be waited for; the shortest shake that is approved by
default; and a second copy that is missed soon."""

REPLY_S = 3.0
READY_S = 150.0
"""Longest time from whatever a fault left to a table that is open again, one failed inspection
included."""

COVER: dict[str, Any] = {"table": {"cover_s": 2.0}}
"""A cover that takes 0.45 s counts as stuck after two seconds, not after five."""

LAMP_FAULT = "lamp-readback"
"""Mended by a technician as its remedy says: the box takes a bulb for burnt out until it has glowed
again, so that the lamps are tested before the fault is cleared."""

CLOCK_FILE = "clock-offset"

MARK = ".made-by-hil-tests-reliability"
"""Stands in each folder of a table that was made here. A later run empties such a folder, and no
other one: `--results` may name whatever a person has."""
MARKED = "A table of `python -m hil_tests.reliability`. The next run there empties this folder.\n"

MEMORY_FILE = "meminfo"
MEMINFO = Path("/proc/meminfo")
SHOWN = 'mount --bind "$1" /proc/meminfo && shift && exec "$@"'
"""Starts a program for which another file stands at /proc/meminfo, and for nobody else (unshare(1),
mount_namespaces(7)): filling the computer's memory would fail what runs the tests first."""


class BenchError(Exception):
    """The bench itself could not go on: nothing is known about the table."""


class FolderError(Exception):
    """There is no place for a table's files. The text says where, and what to do instead."""


@dataclass
class TestedSession(Session):
    """A session with other settings, a service that may die, and a clock that can be stepped."""

    __test__ = False
    changes: Mapping[str, Any] = field(default_factory=lambda: SETTINGS)
    tree: Path | None = None
    """Where the service's packages lie; None: where this program's own lie."""
    starts: int = 0

    def settings(self) -> dict[str, Any]:
        settings = merged(super().settings(), self.changes)
        return merged(settings, COVER) if settings["table"]["cover_fitted"] else settings

    def start_service(self) -> None:
        """Start it, its clock as it stands; the log of each start is kept."""
        log = self.folder / "service.log"
        if log.exists():
            log.rename(self.folder / f"service-{self.starts}.log")
        self.starts += 1
        clock = self.folder / CLOCK_FILE
        if not clock.exists():
            clock.write_bytes(struct.pack("<d", 0.0))
        self.show_memory(None)
        super().start_service()

    def _spawn(self, command: list[str], log: str) -> subprocess.Popen[bytes]:
        if log != "service.log":
            return super()._spawn(command, log)
        places = [
            str(Path(__file__).parent / "stepped_clock"),
            str(self.tree or ""),
            os.environ.get("PYTHONPATH", ""),
        ]
        clock = [
            *("env", f"SHAKER_RIG_CLOCK={self.folder / CLOCK_FILE}"),
            *(["PYTHONSAFEPATH=1"] if self.tree else []),  # the folder of the run comes later
            f"PYTHONPATH={os.pathsep.join(filter(None, places))}",
        ]
        return super()._spawn([*clock, *self.seen_from_inside(command)], log)

    def seen_from_inside(self, command: list[str]) -> list[str]:
        """That command, started where `show_memory` is seen; as it is, where none may be shown."""
        if not _may_show_memory():
            return command
        return [*UNSHARE, "sh", "-c", SHOWN, "sh", str(self.folder / MEMORY_FILE), *command]

    def show_memory(self, available_kb: int | None) -> None:
        """Have the service's system say that so much memory is available; None: as it truly is.

        Raises BenchError where this computer allows nobody a view of their own.
        """
        if available_kb is not None and not _may_show_memory():
            raise BenchError("unshare(1) is not permitted here: the service sees the true memory")
        lines = MEMINFO.read_text("utf-8").splitlines(keepends=True)
        said = f"MemAvailable: {available_kb} kB\n"
        told = [
            said if available_kb is not None and line.startswith("MemAvailable:") else line
            for line in lines
        ]
        (self.folder / MEMORY_FILE).write_text("".join(told), "utf-8")

    @property
    def journal(self) -> Path:
        return self.folder / "journal.sqlite"

    @property
    def second(self) -> Path:
        return self.folder / "journal-second.sqlite"

    def step_clock(self, offset_s: float) -> None:
        """Have the service's wall clock stand that far from the true one."""
        with (self.folder / CLOCK_FILE).open("r+b") as file:
            file.write(struct.pack("<d", offset_s))

    def kill_service(self) -> None:
        """SIGKILL, and wait until it is gone. Idempotent."""
        if self._service is not None:
            self._service.kill()
            self._service.wait()
            self._service = None


UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount"]


@cache
def _may_show_memory() -> bool:
    test = [*UNSHARE, "mount", "--bind", "/proc/meminfo", "/proc/meminfo"]
    try:
        return subprocess.run(test, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Bench:
    """One table. A context: everything is ended at the end."""

    def __init__(self, session: TestedSession, say: Callable[[str], None] = lambda _: None) -> None:
        self.session = session
        self._say = say
        self._consoles: dict[str, Console] = {}
        self._who: dict[str, str] = {}
        self.restarts = 0
        self._tosses_before = 0
        self._lamps_tested = False

    def __enter__(self) -> Bench:
        self.session.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()
        self.session.close()

    # ── The rig's door ──────────────────────────────────────────────────────

    def rig(self, command: str) -> Any:
        """Give the rig one command; raises `BenchError` where it refuses or does not answer."""
        try:
            answer = ask(Path(self.session.rig["control"]), command)
        except (OSError, ValueError) as error:
            raise BenchError(f"the rig does not answer `{command}`: {error}") from error
        if not answer["ok"]:
            raise BenchError(f"the rig refused `{command}`: {answer['error']}")
        return answer[command.partition(" ")[0]]

    def mend_everything(self) -> None:
        """Heal every fault and put every movable part where it belongs."""
        self.rig("heal all")
        for act in ("close compartment", "open cover", "release estop", "uncover dome"):
            self.rig(f"hands {act}")
        self.rig("hands release button")

    def truth(self) -> dict[str, Any] | None:
        """The newest toss as the physics knows it: what a dealer sees."""
        return next(reversed(lines_of(self.session.rig["truth"])), None)

    def round_begins(self) -> None:
        """From now on a dealer who reads waits for dice that were tossed since, and lie still."""
        self._tosses_before = self._tosses()

    def _tosses(self) -> int:
        return Path(self.session.rig["truth"]).read_bytes().count(b"\n")

    def _dice_lie_still(self) -> bool:
        status = self.rig("status")
        return bool(self._tosses() > self._tosses_before and status["speed_rpm"] == 0.0)

    # ── People ──────────────────────────────────────────────────────────────

    def console(self, port: str) -> Console:
        """The script's end of that port. Raises `ConsoleLineError` where nobody answers."""
        if port not in self._consoles:
            self._consoles[port] = self.session.console(port, reply_s=REPLY_S)
            self._who.pop(port, None)
        return self._consoles[port]

    def _hang_up(self) -> None:
        while self._consoles:
            _, console = self._consoles.popitem()
            with suppress(ShakerError, OSError):
                console.close()
        self._who.clear()

    def reconnect(self) -> None:
        """Open the consoles anew at their next use: a line was out, or the service died."""
        self._hang_up()

    def status(self) -> Reply:
        return self.console("technician").status()

    def act(self, role: str, line: str) -> bool:
        """Have somebody in `role` give a command; False where the table refused it."""
        port = "dealer" if role == "dealer" else "technician"
        name = {"dealer": "dan", "floorperson": "fay", "technician": "tom"}[role]
        console = self.console(port)
        if self._who.get(port) != name:
            console.login(role, name, self.session.passphrases[name])
            self._who[port] = name
        try:
            console.ask(line)
        except ConsoleRefusedError as refused:
            if refused.code in ("login", "not-logged-in", "role"):
                self._who.pop(port, None)
            self._say(f"{name}: {line} - refused: {refused}")
            return False
        self._say(f"{name}: {line}")
        return True

    def restart_service(self) -> None:
        """Start the service again, whatever became of it; raises `DemoError` where it will not."""
        self._hang_up()
        self.session.kill_service()
        self.restarts += 1
        self.session.start_service()

    def prompt(self, status: Reply) -> bool:
        """Do what the table waits for in a round, as people would; True where something was done.

        A dealer enters the dice as they truly lie. Settling is the caller's: see `settle`.
        """
        pending, number = status["pending"] or {}, status["round"]
        kind = pending.get("kind")
        if kind in ("confirm", "enter"):
            if not self._dice_lie_still():
                return False
            toss = self.truth()
            assert toss is not None
            if all(die["flat"] for die in toss["dice"]):
                values = " ".join(str(die["value"]) for die in toss["dice"])
                return self.act("dealer", f"enter {number} {values}")
            return self.act("dealer", f"no-roll {number}")
        if kind == "in-view":  # these people watch a console, so they can vouch for no dice
            return self.act("floorperson", f"in-view {number} no")
        if kind == "presence":
            return self.act("floorperson", f"presence {number}")
        return False

    def settle(self, status: Reply) -> bool:
        """Settle wagers, or clear the lamps, where the table waits for it."""
        kind = (status["pending"] or {}).get("kind")
        if kind in ("settled", "lamps-off"):
            return self.act("dealer", f"{kind} {status['round']}")
        return False

    def make_ready(self, *, deadline_s: float = READY_S) -> None:
        """From wherever the table stands to open and between rounds. Raises `BenchError`."""
        self.mend_everything()
        until_s = time.monotonic() + deadline_s
        while time.monotonic() < until_s:
            try:
                if not self.session.is_serving:
                    self.restart_service()
                status = self.status()
                if status["life"] == "open" and status["phase"] == "ready":
                    return
                if self.mend_step(status):
                    continue
            except ConsoleRefusedError as refused:
                self._say(f"refused: {refused}")
                self._who.clear()
            except (ConsoleLineError, OSError):
                if self.session.is_serving:
                    self._say("the console does not answer: the service is started again")
                    self.session.kill_service()
                continue
            time.sleep(0.1)
        raise BenchError(f"the table did not become ready within {deadline_s:g} s: {self._where()}")

    def _where(self) -> str:
        try:
            status = self.status()
        except (ShakerError, OSError) as error:
            return f"its console is silent ({error})"
        return f"{status['says']} Faults: {', '.join(status['faults']) or 'none'}"

    def mend_step(self, status: Reply) -> bool:
        """One act on the way back to play; False where there is only to wait."""
        if self.prompt(status) or self.settle(status):
            return True
        if status["life"] == "out of service":
            if LAMP_FAULT in status["faults"] and not self._lamps_tested:
                self._lamps_tested = True
                return self.act("technician", "lamp test")
            if status["faults"]:
                return self.act("technician", f"fault clear {status['faults'][0]}")
            self._lamps_tested = False
            return self.act("technician", "return-to-service")
        if step := self._inspection_step((status["pending"] or {}).get("kind")):
            return self.act("floorperson", step)
        if status["life"] == "inspection due":
            self._prepare_inspection()
            return self.act("floorperson", "inspect all")
        if status["life"] in ("inspected", "closed"):
            return self.act("floorperson", "open")
        return False

    def _inspection_step(self, waits_for: str | None) -> str | None:
        """What the inspection in hand waits for: entries that show much, then the walk."""
        if waits_for == "values":
            seen = self.console("technician").ask("inspection")["inspection"]["entries_seen"]
            chosen = ENTRIES[seen % len(ENTRIES)]
            enough = seen >= len(ENTRIES)
            return "inspect walk" if enough else "inspect enter {} {} {}".format(*chosen)
        return {
            "seen": "inspect seen",
            "on": "inspect on",
            "cycle": "inspect cycle",
            "tossed": "inspect tossed",
            "sign": "sign",
        }.get(waits_for or "")

    def _prepare_inspection(self) -> None:
        self.act("floorperson", "time confirm")
        if not self.console("technician").ask("dice")["dice"]["serials"]:
            self.act("floorperson", "dice changed " + " ".join(SERIALS))
        elif "dice same" in self.status()["allowed"]:
            self.act("floorperson", "dice same")


def may_be_emptied(folder: Path) -> None:
    """Raises FolderError where somebody else's files may lie there."""
    try:
        if (folder / MARK).is_file() or not folder.exists() or not any(folder.iterdir()):
            return
    except OSError as error:
        raise FolderError(f"{folder} cannot be used: {error}; name another --results") from error
    raise FolderError(
        f"{folder} is not empty and was not made here (it has no {MARK}), so it is left as it is; "
        "name another --results, or clear it yourself"
    )


def fresh(folder: Path) -> Path:
    """A folder with nothing in it but its mark, whatever an earlier run left there.

    Raises FolderError where it was not made here, or cannot be made.
    """
    may_be_emptied(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(MARKED, "utf-8")  # before all else: it may be broken off
        for left in [path for path in folder.iterdir() if path.name != MARK]:
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()
    except OSError as error:
        raise FolderError(f"{folder} cannot be used: {error}; name another --results") from error
    return folder
