"""A floorperson and a dealer who follow a script, at a console's port like anyone else.

Owns what such a person does next, judged from `status` alone. Must not know the table in any other
way: they hold a client of the port, give a name and a passphrase, and are refused like people. The
demonstration opens its table through them, and rigs play rounds with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shaker_ctl.console.client import Console, ConsoleRefusedError, Reply
from shaker_ctl.rules.outcome import Values

LOOK_S = 0.2
"""Between two looks at the table."""

MAX_REFUSALS = 10
"""In a row. One or two are the table having moved on meanwhile; ten are a misunderstanding."""

PATIENCE_S = 0.5
"""Pause after the first refusal in a row; after the n-th, n times as long, 22 s in all. A table
asks to wait while its files are being examined: some seconds, and more where it is busy."""

TRUSTED_CLOCKS = ("rtc", "synchronised", "confirmed")


class ScriptedPersonError(Exception):
    """The table did not come to where the script leads; the text says where it stands."""


@dataclass
class _Person:
    """Someone logged in at a port, who looks, acts, and looks again."""

    console: Console
    name: str
    passphrase: str
    say: Callable[[str], None] = lambda _text: None
    """Told each act as it is done, for a screen or a log."""
    _refusals: int = field(default=0, init=False)

    def _act(self, line: str) -> bool:
        """Give a command; False when the table refused it. Too many refusals end the script."""
        try:
            reply = self.console.ask(line)
        except ConsoleRefusedError as refused:
            self._refusals += 1
            if self._refusals >= MAX_REFUSALS:
                raise ScriptedPersonError(f"`{line}` was refused: {refused}") from refused
            time.sleep(self._refusals * PATIENCE_S)
            return False
        self._refusals = 0
        self.say(f"{self.name}: {line} - {reply['text']}")
        return True

    def _look(self, deadline: float) -> Reply:
        time.sleep(LOOK_S)
        status = self.console.status()
        if time.monotonic() > deadline:
            raise ScriptedPersonError(f"too late; the table says: {status['says']}")
        return status


ENTRIES: tuple[Values, ...] = ((6, 6, 6), (2, 2, 5), (3, 4, 6))
"""What a scripted floorperson enters: a triple; a pair, Small; three different values, Big."""


@dataclass
class Floorperson(_Person):
    """Makes the opening inspection as a person does, quickly but not blindly; opens the table."""

    role: str = "floorperson"
    serials: Sequence[str] = ()
    """Recorded as the dice in the compartment where none are on record."""

    def open_table(self, *, timeout_s: float = 300.0) -> Reply:
        """Bring the table from wherever it stands after power-on to open; return its status.

        Raises `ScriptedPersonError` when a fault stops it or `timeout_s` passes.
        """
        deadline = time.monotonic() + timeout_s
        self.console.login(self.role, self.name, self.passphrase)
        try:
            self.prepare()
            while (status := self._look(deadline))["life"] != "open":
                if status["faults"] or status["life"] == "out of service":
                    faults = ", ".join(status["faults"])
                    raise ScriptedPersonError(f"{status['says']} Faults: {faults or 'none'}")
                if line := self.next_act(status):
                    self._act(line)
            return status
        finally:
            self.console.logout()

    def prepare(self) -> None:
        """Whoever is logged in confirms clock and dice, where an inspection needs it."""
        if self.console.ask("health")["health"]["clock_trust"] not in TRUSTED_CLOCKS:
            self._act("time confirm")
        if self.serials and not self.console.ask("dice")["dice"]["serials"]:
            self._act("dice changed " + " ".join(self.serials))
        if _may(self.console.status(), "dice same"):
            self._act("dice same")

    def inspect_shift(self, *, timeout_s: float = 180.0) -> bool:
        """Make the inspection of a new shift and sign it; False where the rules know none.

        Raises `ScriptedPersonError` when a fault stops it or `timeout_s` passes.
        """
        deadline = time.monotonic() + timeout_s
        self.console.login(self.role, self.name, self.passphrase)
        try:
            if "shift start" not in self.console.status()["allowed"]:
                return False
            self._act("shift start")
            while True:
                status = self._look(deadline)
                if status["faults"]:
                    raise ScriptedPersonError(f"shift inspection: {status['says']}")
                line = self._step(status)
                if line is None and status["life"] == "open" and _may(status, "inspect shift"):
                    line = "inspect shift"
                if line and self._act(line) and line == "sign":
                    return True
        finally:
            self.console.logout()

    def next_act(self, status: Reply) -> str | None:
        """The next command on the way to an open table; None where there is only to wait."""
        # Not `open` before `inspect`: from closed it only leads to the inspection that is due.
        if step := self._step(status):
            return step
        if status["life"] == "inspection due":
            return "inspect all" if _may(status, "inspect all") else None
        return "open" if _may(status, "open") else None

    def _step(self, status: Reply) -> str | None:
        """What the inspection in hand waits for this person to do."""
        match (status["pending"] or {}).get("kind"):
            case "values":
                return self._enter()
            case "seen":
                return self._look_at_lamps()
            case "on":
                return "inspect on"
            case "cycle":
                return "inspect cycle"
            case "tossed":
                return "inspect tossed"
            case "sign":
                return "sign"
        return None

    def _enter(self) -> str:
        """The next entry; the walk, once as many were seen as the profile asks for."""
        seen = self.console.ask("inspection")["inspection"]
        if seen["entries_seen"] >= seen["entries_of"]:
            return "inspect walk"
        chosen = ENTRIES[seen["entries_seen"] % len(ENTRIES)]
        return "inspect enter " + " ".join(map(str, chosen))

    def _look_at_lamps(self) -> str:
        """Compare what glows with what was asked for, and name the first lamp that differs."""
        lamps = self.console.ask("lamps")["lamps"]
        wrong = set(lamps["commanded"]) ^ set(lamps["measured"] or ())
        return f"inspect wrong {min(wrong)}" if wrong else "inspect seen"


@dataclass
class Dealer(_Person):
    """Runs rounds: bets, no more bets, activate or reveal, enter, settled, lamps off."""

    betting_s: float = 1.0
    settling_s: float = 0.5
    eyes: Callable[[int, Values | None], Values | None] = lambda _round, read: read
    """What this dealer sees, by round number and reading; None is no roll. By default they agree
    with the reader, and call no roll where it could not read."""

    def play(self, rounds: int, *, timeout_s: float | None = None) -> int:
        """Play `rounds` rounds and return how many were played before the table stopped.

        Raises `ScriptedPersonError` when nothing moves on for a minute, or after `timeout_s`.
        """
        deadline = time.monotonic() + (timeout_s or 60.0 * (rounds + 1))
        opened = 0
        self.console.login("dealer", self.name, self.passphrase)
        try:
            while True:
                status = self._look(deadline)
                line = self._next(status)
                is_between = line == "bets" or status["life"] != "open"
                if is_between and (opened == rounds or line != "bets"):
                    return opened
                if line:
                    self._wait_before(line)
                    opened += self._act(line) and line == "bets"
        finally:
            self.console.logout()

    def _next(self, status: Reply) -> str | None:
        pending, number = status["pending"] or {}, status["round"]
        if pending.get("kind") in ("confirm", "enter"):
            return self._judge(number, pending.get("values"))
        if pending.get("kind") == "in-view":  # a script has watched a console, and no compartment
            return f"in-view {number} no"
        # The order matters where a profile lets both be done: toss first, then no more bets.
        order = ("reveal", "activate", "nmb", "settled", "lamps-off", "bets")
        verb = next((verb for verb in order if _may(status, verb)), None)
        return verb if verb in (None, "bets") else f"{verb} {number}"

    def _judge(self, number: int, read: Sequence[int] | None) -> str:
        values = (read[0], read[1], read[2]) if read else None
        seen = self.eyes(number, values)
        if seen is None:
            return f"no-roll {number}"
        return f"enter {number} {seen[0]} {seen[1]} {seen[2]}"

    def _wait_before(self, line: str) -> None:
        if line.startswith("nmb"):
            time.sleep(self.betting_s)
        elif line.startswith(("settled", "lamps-off")):
            time.sleep(self.settling_s)


def _may(status: Reply, line: str) -> bool:
    return line in status["allowed"] or line.split(" ")[0] in status["allowed"]
