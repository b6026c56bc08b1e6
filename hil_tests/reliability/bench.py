"""The people of the table under test, at its consoles and at the rig's door.

Owns what they do there: play one round after the other, enter what they see where the table cannot
read, mend, inspect, open. Must not know faults.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hil_tests.demo.people import SERIALS
from hil_tests.reliability.tested_session import BenchError, TestedSession
from hil_tests.report.evidence import lines_of
from hil_tests.rig.control import ask
from shaker_ctl.console.client import Console, ConsoleRefusedError, Reply
from shaker_ctl.console.scripted import ENTRIES
from shaker_ctl.errors import ConsoleLineError, ShakerError

REPLY_S = 3.0

READY_S = 150.0
"""Longest time from whatever a fault left to a table that is open again, one failed inspection
included."""

LAMP_FAULT = "lamp-readback"
"""Mended by a technician as its remedy says: the box takes a bulb for burnt out until it has glowed
again, so that the lamps are tested before the fault is cleared."""


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
