"""The people of a demonstration: a floorperson who opens the table, a dealer with eyes.

Owns their threads and what they said. They stand at the consoles' ports like anybody else and know
the table through them only; the dealer looks at the dice, which on the rig means at the truth.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hil_tests.demo.session import Session
from shaker_ctl.adapters.serial_port import SerialPort
from shaker_ctl.console.client import Console, Reply
from shaker_ctl.console.scripted import Floorperson, ScriptedPersonError
from shaker_ctl.errors import ShakerError

INSPECTIONS = 4
"""How often the floorperson tries: in the rough compartment one toss in four does not end flat."""

SERIALS = ("RIG-A", "RIG-B", "RIG-C")


class People:
    """Opens the table at the technician's port, then serves the dealer's."""

    def __init__(self, session: Session, said: Callable[[str], None]) -> None:
        self._session = session
        self._said = said
        self._ended = threading.Event()
        self.failure: Exception | None = None
        self.is_open = threading.Event()
        self._threads = [
            threading.Thread(target=self._open_table, name="floorperson", daemon=True),
            threading.Thread(target=self._deal, name="dealer", daemon=True),
        ]

    def start(self) -> None:
        """Send both to their consoles."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Send both home."""
        self._ended.set()
        for thread in self._threads:
            thread.join(timeout=5)

    def close_after_this_round(self) -> None:
        """Send the floorperson to close the table; it closes once the round in hand is over."""
        thread = threading.Thread(target=self._close_table, name="closing", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _close_table(self) -> None:
        try:
            console = self._at("technician")
            try:
                console.login("floorperson", "fay", self._session.passphrases["fay"])
                self._said(f"fay: close - {console.ask('close')['text']}")
                console.logout()
            finally:
                console.close()
        except Exception as error:  # noqa: BLE001 - the demonstration shows it and ends
            self.failure = self.failure or error

    def _at(self, port: str) -> Console:
        console = Console(SerialPort(self._session.rig["console"][port]["person"]))
        console.connect()
        return console

    def _open_table(self) -> None:
        try:
            console = self._at("technician")
            try:
                passphrase = self._session.passphrases["fay"]
                fay = Floorperson(console, "fay", passphrase, self._said, serials=SERIALS)
                for attempt in range(INSPECTIONS):
                    try:
                        fay.open_table()
                        break
                    except ScriptedPersonError:
                        if attempt == INSPECTIONS - 1 or not self._cleared_by_technician(console):
                            raise
                self._inspect_shift(console)
                self.is_open.set()
            finally:
                console.close()
        except Exception as error:  # noqa: BLE001 - the demonstration shows it and ends
            self.failure = error

    def _cleared_by_technician(self, console: Console) -> bool:
        """Three bad cycles in a row are a shaker fault; where dice cock often, also by chance.

        The technician looks, clears it, and returns the table to a new inspection.
        """
        if console.status()["faults"] != ["inspection-cycles"]:
            return False
        console.login("technician", "tom", self._session.passphrases["tom"])
        for line in ("fault clear inspection-cycles", "return-to-service"):
            self._said(f"tom: {line} - {console.ask(line)['text']}")
        console.logout()
        return True

    def _inspect_shift(self, console: Console) -> None:
        """Where the rules ask for it (`ma` 5(b)): the supervisor's three cycles and signature."""
        console.login("supervisor", "sue", self._session.passphrases["sue"])
        if "shift start" not in console.status()["allowed"]:
            console.logout()
            return
        for line in ("shift start", "inspect shift", "sign"):
            verb = line.split()[0] if line != "shift start" else line
            status = console.wait(partial(_may_or_faults, verb), timeout_s=60)
            if status["faults"]:
                raise ScriptedPersonError(f"shift inspection: {status['says']}")
            self._said(f"sue: {line} - {console.ask(line)['text']}")
        console.logout()

    def _deal(self) -> None:
        """Enter what the eye sees where the reader could not read: the attended way."""
        try:
            console = self._at("dealer")
        except ShakerError as error:
            self.failure = self.failure or error
            return
        is_logged_in = False
        try:
            while not self._ended.wait(0.3):
                status = console.status()
                pending = status["pending"] or {}
                if pending.get("kind") not in ("enter", "confirm"):
                    continue
                if not is_logged_in:
                    console.login("dealer", "dan", self._session.passphrases["dan"])
                    is_logged_in = True
                self._act(console, status["round"])
        except Exception as error:  # noqa: BLE001 - as above
            if not self._ended.is_set():
                self.failure = self.failure or error
        finally:
            console.close()

    def _act(self, console: Console, number: int) -> None:
        dice = json.loads(last_line(Path(self._session.rig["truth"])))["dice"]
        if all(die["flat"] for die in dice):
            line = f"enter {number} " + " ".join(str(die["value"]) for die in dice)
        else:
            line = f"no-roll {number}"
        reply = console.ask(line)
        self._said(f"dan: {line} - {reply['text']}")


def _may_or_faults(verb: str, status: Reply) -> bool:
    return verb in status["allowed"] or bool(status["faults"])


def last_line(path: Path) -> str:
    """The last complete line of a growing file."""
    return path.read_text("utf-8").rstrip("\n").rsplit("\n", 1)[-1]
