"""One table under test: a session, the people at its two consoles, the rig's door.

Owns what every bench and story does at a whole table: the consoles' lines, an act in a role, and
the way back to open bets from wherever the table stands. People know the table through the ports
only; a dealer looks at the dice, which on the rig means at the truth. What is made of a refusal is
the bench's. Must not know the service's code beyond the client of its console.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self

from hil_tests.processes import BenchError
from hil_tests.report.evidence import lines_of
from hil_tests.table_under_test.lamps import values_of
from hil_tests.table_under_test.session import COVERED, Session
from shaker_ctl.console.client import Console, ConsoleRefusedError, Reply
from shaker_ctl.errors import ShakerError
from shaker_ctl.rules.outcome import Values

PEOPLE = {"dealer": "dan", "floorperson": "fay", "technician": "tom", "supervisor": "sue"}

READY_S = 150.0
"""Longest time from whatever a fault left to a table that is open again, one failed inspection
included."""

LAMP_FAULT = "lamp-readback"
"""Mended by a technician as its remedy says: the box takes a bulb for burnt out until it has glowed
again, so that the lamps are tested before the fault is cleared."""

LOOK_S = 0.1

SHIFT_S = 180.0
"""Longest inspection of a new shift."""

SERIALS = ("RIG-A", "RIG-B", "RIG-C")
"""Of the dice that are in the rig's shaker at first."""

TRUSTED_CLOCKS = ("rtc", "synchronised", "confirmed")

ENTRIES: tuple[Values, ...] = ((6, 6, 6), (2, 2, 5), (3, 4, 6))
"""What a floorperson enters who inspects: a triple; a pair, Small; three different values, Big."""

VERBS = {"ready": "bets", "betting": "nmb", "no more bets": "activate"}
"""What a dealer does in a phase, where the table waits for nobody's word."""
UNDER_COVER = {
    "ready": "bets",
    "betting": "activate",
    "covered": "nmb",
    "no more bets": "reveal",
}
"""The same at a covered table: bets stay open until the dice lie under the cover."""


class TableUnderTest:
    """Use as a context: everything is ended at the end. At a session of somebody else's, only the
    consoles are held."""

    reply_s = 10.0
    """Longest wait for a console's answer."""

    def __init__(self, session: Session, say: Callable[[str], None] = lambda _: None) -> None:
        """`say` is told each act, and what the table answered."""
        self.session = session
        self._say = say
        self._consoles: dict[str, Console] = {}
        self._who: dict[str, str] = {}
        """Who is logged in at a port, by role."""
        self._lamps_tested = False
        self._tosses_before = 0

    def __enter__(self) -> Self:
        self.session.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave_consoles()
        self.session.close()

    @property
    def rig(self) -> Mapping[str, Any]:
        """The rig's addresses."""
        return self.session.rig

    def ask_rig(self, command: str) -> Any:
        """Give the rig one command. Raises `RigRefusedError`, or OSError without a rig."""
        return self.session.ask_rig(command)

    def tosses(self) -> list[dict[str, Any]]:
        """Every toss so far, as the physics knows it."""
        return lines_of(self.rig["truth"])

    # ── Consoles ────────────────────────────────────────────────────────────

    def console(self, port: str) -> Console:
        """A script's end of the `technician` or the `dealer` line, kept until all are left.

        Raises `ConsoleLineError` where nobody answers.
        """
        if port not in self._consoles:
            self._consoles[port] = self.session.console(port, reply_s=self.reply_s)
        return self._consoles[port]

    def leave_consoles(self) -> None:
        """Let go of both lines; they are opened anew at their next use."""
        self._who.clear()
        while self._consoles:
            _, console = self._consoles.popitem()
            with suppress(ShakerError, OSError):
                console.close()

    def status(self) -> Reply:
        """What any console says of the table."""
        return self.console("technician").status()

    def act(self, role: str, line: str) -> bool:
        """Have somebody in `role` give a command; False where the table refused it."""
        try:
            reply = self._at(role).ask(line)
        except ConsoleRefusedError as refused:
            if refused.code in ("login", "not-logged-in", "role"):
                self._who.clear()
            self._say(f"{PEOPLE[role]}: {line} - refused: {refused}")
            return False
        self._say(f"{PEOPLE[role]}: {line} - {reply['text']}")
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

    def _leave(self) -> None:
        """Log out whoever is logged in."""
        while self._who:
            port, _ = self._who.popitem()
            with suppress(ConsoleRefusedError):  # nobody is logged in any more
                self.console(port).logout()

    # ── What people do next, by what the table says ─────────────────────────

    def round_begins(self) -> None:
        """From now on a dealer who reads waits for dice that were tossed since, and lie still."""
        self._tosses_before = len(self.tosses())

    def _dice_lie_still(self) -> bool:
        status = self.ask_rig("status")
        return bool(len(self.tosses()) > self._tosses_before and status["speed_rpm"] == 0.0)

    def prompt(self, status: Reply) -> bool:
        """Do what the table waits for in a round, as people would; True where something was done.

        A dealer enters the dice as they truly lie. Settling is the caller's: see `settle`.
        """
        pending, number = status["pending"] or {}, status["round"]
        kind = pending.get("kind")
        if kind in ("confirm", "enter"):
            return self._dice_lie_still() and self.act("dealer", self.entry(number))
        if kind == "in-view":  # these people watch a console, so they can vouch for no dice
            return self.act("floorperson", f"in-view {number} no")
        if kind == "presence":
            return self.act("floorperson", f"presence {number}")
        return False

    def entry(self, number: int) -> str:
        """What a dealer enters who looks at the dice: the truth of the newest toss."""
        values = values_of(self.tosses()[-1]["dice"])
        if values is None:
            return f"no-roll {number}"
        return f"enter {number} " + " ".join(map(str, values))

    def settle(self, status: Reply) -> bool:
        """Settle wagers, or clear the lamps, where the table waits for it."""
        kind = (status["pending"] or {}).get("kind")
        if kind in ("settled", "lamps-off"):
            return self.act("dealer", f"{kind} {status['round']}")
        return False

    def play_step(self, status: Reply) -> bool:
        """Take the next step of a round, as its people do; True where there was one."""
        if self.prompt(status) or self.settle(status):
            return True
        verbs = UNDER_COVER if self.session.plan.profile in COVERED else VERBS
        verb = verbs.get(status["phase"])
        if verb == "bets":
            self.round_begins()
            return self.act("dealer", verb)
        return verb is not None and self.act("dealer", f"{verb} {status['round']}")

    def serve(self, status: Reply) -> bool:
        """Do what an open table waits for that paces itself: wagers are settled by hand only where
        its lamps failed."""
        is_by_hand = status["phase"] == "settling by hand"
        return self.prompt(status) or (is_by_hand and self.settle(status))

    def mend_step(self, status: Reply) -> bool:
        """One act on the way to open bets; False where there is only to wait."""
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
        self._at("floorperson")
        if status["life"] == "inspection due":
            self._prepare()
        line = self._next_act(self.status())
        return line is not None and self.act("floorperson", line)

    def be_open(self, seconds: float = READY_S) -> None:
        """From wherever the table stands to open; then they log out.

        Raises `BenchError` where it does not come.
        """
        until_s = time.monotonic() + seconds
        while (status := self.status())["life"] != "open":
            if time.monotonic() > until_s:
                said = f"{status['says']} Faults: {status['faults']}"
                raise BenchError(f"the table is not open within {seconds:g} s: {said}")
            with suppress(ConsoleRefusedError):
                if self.mend_step(status):
                    continue
            time.sleep(LOOK_S)
        self._leave()

    # ── Inspections ─────────────────────────────────────────────────────────

    def inspect_shift(self) -> bool:
        """Have the supervisor make the inspection of a new shift and sign it; False where the rules
        know none.

        Raises `BenchError` where a fault stops it, or it takes too long.
        """
        self._at("supervisor")
        if "shift start" not in self.status()["allowed"]:
            self._leave()
            return False
        self.act("supervisor", "shift start")
        until_s = time.monotonic() + SHIFT_S
        line: str | None = None
        while line != "sign":
            status = self.status()
            if status["faults"] or time.monotonic() > until_s:
                raise BenchError(f"shift inspection: {status['says']} Faults: {status['faults']}")
            line = self._step(status)
            if line is None and status["life"] == "open" and _may(status, "inspect shift"):
                line = "inspect shift"
            if line is None or not self.act("supervisor", line):
                line = None
                time.sleep(LOOK_S)
        self._leave()
        return True

    def _prepare(self) -> None:
        """The floorperson confirms clock and dice, where an inspection needs it."""
        console = self.console("technician")
        if console.ask("health")["health"]["clock_trust"] not in TRUSTED_CLOCKS:
            self.act("floorperson", "time confirm")
        if not console.ask("dice")["dice"]["serials"]:
            self.act("floorperson", "dice changed " + " ".join(SERIALS))
        if _may(self.status(), "dice same"):
            self.act("floorperson", "dice same")

    def _next_act(self, status: Reply) -> str | None:
        """The next command on the way to an open table; None where there is only to wait."""
        # Not `open` before `inspect`: from closed it only leads to the inspection that is due.
        if step := self._step(status):
            return step
        line = "inspect all" if status["life"] == "inspection due" else "open"
        return line if _may(status, line) else None

    def _step(self, status: Reply) -> str | None:
        """What the inspection in hand waits for a person to do."""
        match (status["pending"] or {}).get("kind"):
            case "values":
                return self._next_entry()
            case "seen":
                return self._look_at_lamps()
            case "on" | "cycle" | "tossed" as kind:
                return f"inspect {kind}"
            case "sign":
                return "sign"
        return None

    def _next_entry(self) -> str:
        """The next entry; the walk, once as many were seen as the profile asks for."""
        seen = self.console("technician").ask("inspection")["inspection"]
        if seen["entries_seen"] >= seen["entries_of"]:
            return "inspect walk"
        chosen = ENTRIES[seen["entries_seen"] % len(ENTRIES)]
        return "inspect enter " + " ".join(map(str, chosen))

    def _look_at_lamps(self) -> str:
        """Compare what glows with what was asked for, and name the first lamp that differs."""
        lamps = self.console("technician").ask("lamps")["lamps"]
        wrong = set(lamps["commanded"]) ^ set(lamps["measured"] or ())
        return f"inspect wrong {min(wrong)}" if wrong else "inspect seen"


@contextmanager
def people_at(session: Session) -> Iterator[TableUnderTest]:
    """People at the consoles of a session of somebody else's, who leave them again."""
    table = TableUnderTest(session)
    try:
        yield table
    finally:
        table.leave_consoles()


def _may(status: Reply, line: str) -> bool:
    return line in status["allowed"] or line.split(" ")[0] in status["allowed"]
