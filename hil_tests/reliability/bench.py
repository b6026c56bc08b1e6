"""The people of the table under test, at its consoles and at the rig's door.

Owns what they do there: play one round after the other, enter what they see where the table cannot
read, mend, inspect, open. Must not know faults.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hil_tests.reliability.tested_session import TestedSession, TrialError
from hil_tests.rig.control import RigRefusedError
from hil_tests.table_under_test.people import SERIALS, entry
from hil_tests.table_under_test.table import TableUnderTest
from shaker_ctl.adapters.camera.dice_reader import LOST
from shaker_ctl.console.client import Console, ConsoleRefusedError, Reply
from shaker_ctl.console.scripted import Floorperson
from shaker_ctl.errors import ConsoleLineError, ShakerError
from shaker_ctl.service.status_socket import read_status

REPLY_S = 3.0

PEOPLE = {"dealer": "dan", "floorperson": "fay", "technician": "tom"}

READY_S = 150.0
"""Longest time from whatever a fault left to a table that is open again, one failed inspection
included."""

SIGHT_S = 10.0
"""Longest time in which a camera that was healed is seen to give pictures again."""

LAMP_FAULT = "lamp-readback"
"""Mended by a technician as its remedy says: the box takes a bulb for burnt out until it has glowed
again, so that the lamps are tested before the fault is cleared."""


class Bench(TableUnderTest):
    """One table. A context: everything is ended at the end."""

    session: TestedSession

    def __init__(self, session: TestedSession, say: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(session)
        self._say = say
        self._who: dict[str, str] = {}
        self.restarts = 0
        self._tosses_before = 0
        self._lamps_tested = False

    # ── The rig's door ──────────────────────────────────────────────────────

    def ask_rig(self, command: str) -> Any:
        """Give the rig one command; raises `TrialError` where it refuses or does not answer."""
        try:
            return super().ask_rig(command)
        except RigRefusedError as refused:
            raise TrialError(f"the rig refused `{command}`: {refused}") from refused
        except (OSError, ValueError) as error:
            raise TrialError(f"the rig does not answer `{command}`: {error}") from error

    def mend_everything(self) -> None:
        """Heal every fault and put every movable part where it belongs."""
        self.ask_rig("heal all")
        for act in ("close compartment", "open cover", "release estop", "uncover dome"):
            self.ask_rig(f"hands {act}")
        self.ask_rig("hands release button")

    def round_begins(self) -> None:
        """From now on a dealer who reads waits for dice that were tossed since, and lie still."""
        self._tosses_before = len(self.tosses())

    def _dice_lie_still(self) -> bool:
        status = self.ask_rig("status")
        return bool(len(self.tosses()) > self._tosses_before and status["speed_rpm"] == 0.0)

    # ── People ──────────────────────────────────────────────────────────────

    def console(self, port: str) -> Console:
        """The script's end of that port. Raises `ConsoleLineError` where nobody answers."""
        if port not in self._consoles:
            self._consoles[port] = self.session.console(port, reply_s=REPLY_S)
        return self._consoles[port]

    def leave_consoles(self) -> None:
        """They are opened anew at their next use: a line was out, or the service died."""
        super().leave_consoles()
        self._who.clear()

    def act(self, role: str, line: str) -> bool:
        """Have somebody in `role` give a command; False where the table refused it."""
        console = self._at(role)
        try:
            console.ask(line)
        except ConsoleRefusedError as refused:
            if refused.code in ("login", "not-logged-in", "role"):
                self._who.clear()
            self._say(f"{role}: {line} - refused: {refused}")
            return False
        self._say(f"{role}: {line}")
        return True

    def _at(self, role: str) -> Console:
        """The console of somebody in `role`, logged in."""
        port = "dealer" if role == "dealer" else "technician"
        console = self.console(port)
        if self._who.get(port) != role:
            name = PEOPLE[role]
            console.login(role, name, self.session.passphrases[name])
            self._who[port] = role
        return console

    def restart_service(self) -> None:
        """Start the service again, whatever became of it; raises `TrialError` where it will not."""
        self.leave_consoles()
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
            return self.act("dealer", entry(self.session, number))
        if kind == "in-view":  # these people watch a console, so they can vouch for no dice
            return self.act("floorperson", f"in-view {number} no")
        if kind == "presence":
            return self.act("floorperson", f"presence {number}")
        return False

    def play_on(self, status: Reply) -> bool:
        """Take the next step towards a toss, as the dealer; True where there was one."""
        verb = {"ready": "bets", "betting": "nmb", "no more bets": "activate"}.get(status["phase"])
        if verb == "bets":
            self.round_begins()
            self.act("dealer", verb)
        elif verb:
            self.act("dealer", f"{verb} {status['round']}")
        return verb is not None

    def settle(self, status: Reply) -> bool:
        """Settle wagers, or clear the lamps, where the table waits for it."""
        kind = (status["pending"] or {}).get("kind")
        if kind in ("settled", "lamps-off"):
            return self.act("dealer", f"{kind} {status['round']}")
        return False

    def make_ready(self, *, unless: Callable[[], bool] = lambda: False) -> None:
        """From wherever the table stands to open and between rounds, or until `unless` is so.

        Raises `TrialError`.
        """
        self.mend_everything()
        until_s = time.monotonic() + READY_S
        while time.monotonic() < until_s:
            if unless():
                return
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
        raise TrialError(f"the table did not become ready within {READY_S:g} s: {self._where()}")

    def await_sight(self) -> None:
        """Wait until the camera is back from a fault of an earlier round, which would hide the next
        one. A camera that stays lost is for the next round to show."""
        until_s = time.monotonic() + SIGHT_S
        while time.monotonic() < until_s:
            with suppress(ShakerError, OSError):
                state = read_status(self.session.runtime_dir)["camera"]["state"]
                if state.partition(":")[0] not in LOST | {"starting"}:
                    return
            time.sleep(0.1)

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
        if status["life"] == "open":
            return False
        fay = Floorperson(self._at("floorperson"), "fay", "", serials=SERIALS)
        if status["life"] == "inspection due":
            fay.prepare()
        line = fay.next_act(self.status())
        return line is not None and self.act("floorperson", line)
