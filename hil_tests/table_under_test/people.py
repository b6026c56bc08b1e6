"""The people of a demonstration: a floorperson who opens the table, a dealer with eyes.

Owns their threads and what they said, a technician's repairs included. They stand at the consoles'
ports like anybody else and know the table through them only, and through the screen that says it is
out of service; the dealer looks at the dice, which on the rig means at the truth.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext

from hil_tests.report.evidence import lines_of
from hil_tests.table_under_test.lamps import values_of
from hil_tests.table_under_test.session import Session
from shaker_ctl.console.client import Console, Reply
from shaker_ctl.console.scripted import Floorperson, ScriptedPersonError
from shaker_ctl.service.status_socket import read_status

INSPECTIONS = 4
"""How often the floorperson tries: in the rough compartment 22 tosses in 100 do not end flat."""

REPAIRS = 5
"""How often a table that a fault took out of service is brought back. On a busy machine the rig or
the service is now and then late, which the rules count as a failed shaker; a table that fails more
often has something to show."""

_MAX_ACTS = 10
"""Of one repair: a fault that stands again at once is not mended by clearing it."""

_LOOK_S = 0.5

SERIALS = ("RIG-A", "RIG-B", "RIG-C")


FLOORPERSON_SAYS = {"presence": "presence {}", "in-view": "in-view {} no"}
"""What the floorperson answers to what the table asks. They watch a console: no dice."""


class People:
    """Opens the table at the technician's port, then serves the dealer's."""

    def __init__(self, session: Session, said: Callable[[str], None]) -> None:
        self._session = session
        self._said = said
        self._ended = threading.Event()
        self.failure: Exception | None = None
        self.repairs = 0
        self._is_closing = threading.Event()
        self._technicians_port = threading.Lock()
        """One person at a time stands there."""
        self._threads = [
            threading.Thread(target=self._keep_open, name="floorperson", daemon=True),
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
        self._is_closing.set()
        thread = threading.Thread(target=self._close_table, name="closing", daemon=True)
        self._threads.append(thread)
        thread.start()

    @contextmanager
    def _at(self, port: str) -> Iterator[Console]:
        """Stand at that port. Raises `ConsoleLineError` where nobody answers."""
        alone = self._technicians_port if port == "technician" else nullcontext()
        with alone, closing(self._session.console(port)) as console:
            yield console

    def _close_table(self) -> None:
        try:
            with self._at("technician") as console:
                console.login("floorperson", "fay", self._session.passphrases["fay"])
                self._said(f"fay: close - {console.ask('close')['text']}")
                console.logout()
        except Exception as error:  # noqa: BLE001 - the demonstration shows it and ends
            self.failure = self.failure or error

    def _keep_open(self) -> None:
        """Open the table, and again after each repair."""
        try:
            with self._at("technician") as console:
                self._open_table(console)
            while self.repairs < REPAIRS and not self._ended.wait(_LOOK_S):
                if self._is_closing.is_set():
                    return
                seen = read_status(self._session.runtime_dir)
                said = FLOORPERSON_SAYS.get((seen["pending"] or {}).get("kind", ""))
                if said is not None:
                    with self._at("technician") as console:
                        console.login("floorperson", "fay", self._session.passphrases["fay"])
                        self._tell("fay", console, said.format(seen["round_id"]))
                        console.logout()
                if seen["life"] == "out of service":
                    self.repairs += 1
                    with self._at("technician") as console:
                        bring_back(self._session, console, self._said)
                        self._open_table(console)
        except Exception as error:  # noqa: BLE001 - as above
            if not self._ended.is_set():
                self.failure = self.failure or error

    def _open_table(self, console: Console) -> None:
        """Then, where the rules ask for it (`ma` 5(b)): the supervisor's cycles and signature."""
        open_table(self._session, console, self._said)
        sue = Floorperson(
            console, "sue", self._session.passphrases["sue"], self._said, role="supervisor"
        )
        sue.inspect_shift()

    def _tell(self, name: str, console: Console, line: str) -> None:
        self._said(f"{name}: {line} - {console.ask(line)['text']}")

    def _deal(self) -> None:
        """Enter what the eye sees where the reader could not read: the attended way."""
        is_logged_in = False
        try:
            with self._at("dealer") as console:
                while not self._ended.wait(0.3):
                    if (line := dealers_answer(self._session, console.status())) is None:
                        continue
                    if not is_logged_in:
                        console.login("dealer", "dan", self._session.passphrases["dan"])
                        is_logged_in = True
                    self._tell("dan", console, line)
        except Exception as error:  # noqa: BLE001 - as above
            if not self._ended.is_set():
                self.failure = self.failure or error


Say = Callable[[str], None]


def dealers_answer(session: Session, status: Reply) -> str | None:
    """What the dealer types where the table asks; None where the round goes on by itself."""
    number = status["round"]
    match (status["pending"] or {}).get("kind"):
        case "enter" | "confirm":
            return entry(session, number)
        case "in-view":  # dan looks at the console, not at the dice
            return f"in-view {number} no"
    return f"settled {number}" if status["phase"] == "settling by hand" else None


def entry(session: Session, number: int) -> str:
    """What a dealer enters who looks at the dice: on the rig, at the truth of the newest toss."""
    values = values_of(lines_of(session.rig["truth"])[-1]["dice"])
    if values is None:
        return f"no-roll {number}"
    return f"enter {number} " + " ".join(map(str, values))


def open_table(session: Session, console: Console, say: Say = lambda _: None) -> None:
    """Have the floorperson inspect, sign and open; the technician brings back what stops it."""
    fay = Floorperson(console, "fay", session.passphrases["fay"], say, serials=SERIALS)
    for left in reversed(range(INSPECTIONS)):
        try:
            fay.open_table()
            return
        except ScriptedPersonError:
            # Three bad cycles in a row are a shaker fault; where dice cock often, also by
            # chance. A busy machine may fail an inspection, too.
            if not left or not console.status()["faults"]:
                raise
            bring_back(session, console, say)


def bring_back(session: Session, console: Console, say: Say = lambda _: None) -> None:
    """Have the technician clear what stands, and return the table to a new inspection."""
    console.login("technician", "tom", session.passphrases["tom"])
    for _ in range(_MAX_ACTS):
        status = console.status()
        if status["faults"]:
            line = f"fault clear {status['faults'][0]}"  # which may clear another one
        elif "return-to-service" in status["allowed"]:
            line = "return-to-service"
        else:
            break
        say(f"tom: {line} - {console.ask(line)['text']}")
    console.logout()
