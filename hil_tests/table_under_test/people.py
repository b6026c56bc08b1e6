"""The people of a demonstration: a floorperson who opens, a dealer with eyes, a technician.

Owns their thread, how often they bring a table back, and how long a table may stand still before
whoever watches it gives up. What they do next is the table's to say: see `TableUnderTest`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from hil_tests.processes import BenchError
from hil_tests.table_under_test.session import Session
from hil_tests.table_under_test.table import TableUnderTest
from shaker_ctl.console.client import ConsoleRefusedError
from shaker_ctl.errors import ShakerError
from shaker_ctl.service.status_socket import read_status

REPAIRS = 5
"""How often a table that a fault took out of service is brought back. On a busy machine the rig or
the service is now and then late, which the rules count as a failed shaker; a table that fails more
often has something to show."""

LOOK_S = 0.3

REPAIR_S = 15.0
"""Longest time out of service: the demonstration's technician clears what can be cleared, and
gives up after `REPAIRS` times."""

STUCK_S = 180.0
"""Longest time without a new round before the demonstration gives up and says so."""


class People:
    """Open the table and serve it, until they are sent home."""

    def __init__(
        self, session: Session, said: Callable[[str], None], *, are_patient: bool = False
    ) -> None:
        """`are_patient`: they bring the table back however often it fails, and come back to
        consoles that did not answer."""
        self._are_patient = are_patient
        self._table = TableUnderTest(session, said)
        self._ended = threading.Event()
        self._is_closing = threading.Event()
        self._is_asked_to_close = False
        self._life = ""
        self._thread = threading.Thread(target=self._serve, name="people", daemon=True)
        self.failure: Exception | None = None
        self.repairs = 0

    def start(self) -> None:
        """Send them to their consoles."""
        self._thread.start()

    def stop(self) -> None:
        """Send them home."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def close_after_this_round(self) -> None:
        """Have the floorperson close the table; it closes once the round in hand is over."""
        self._is_closing.set()

    def _serve(self) -> None:
        try:
            while not self._ended.is_set():
                try:
                    if self._act():
                        continue
                except ConsoleRefusedError:
                    pass  # the table has moved on meanwhile
                except (ShakerError, OSError):
                    if not self._are_patient:
                        raise
                    self._table.leave_consoles()
                self._ended.wait(LOOK_S)
        except Exception as error:  # noqa: BLE001 - the demonstration shows it and ends
            if not self._ended.is_set():
                self.failure = error
        finally:
            self._table.leave_consoles()

    def _act(self) -> bool:
        """Do what the table waits for; False where there is only to wait."""
        table = self._table
        status = table.status()
        life, self._life = self._life, status["life"]
        if self._is_closing.is_set():
            if self._is_asked_to_close:
                return table.serve(status)
            self._is_asked_to_close = table.act("floorperson", "close")
            return self._is_asked_to_close
        self.repairs += status["life"] == "out of service" != life
        if status["life"] == "open" != life:  # `ma` 5(b): the supervisor's cycles and signature
            return table.inspect_shift()
        if status["life"] == "open":
            return table.serve(status)
        is_given_up = self.repairs > REPAIRS and not self._are_patient
        return not is_given_up and table.mend_step(status)


def watched(
    session: Session, people: People | None, rounds: int | None, *, every_s: float
) -> Iterator[dict[str, Any]]:
    """Yield what the table shows, until so many rounds are over and its people have closed it.

    Raises `BenchError` where it cannot go on.
    """
    played, view = 0, dict[str, Any]()
    moved_s = well_s = time.monotonic()
    while rounds is None or played < rounds or view["life"] == "open":
        time.sleep(every_s)
        session.check()
        if people is not None and people.failure is not None:
            raise BenchError(str(people.failure), remedy=f"See {session.folder}/service.log")
        view = read_status(session.runtime_dir)
        yield view
        if people is None:
            continue
        now_s = time.monotonic()
        newest = view["rounds"][-1]["round"] if view["rounds"] else 0
        if newest != played:
            played, moved_s = newest, now_s
        if view["life"] != "out of service":
            well_s = now_s
        _require_progress(view, now_s - well_s, now_s - moved_s)
        if view["round_id"] == rounds:
            people.close_after_this_round()


def _require_progress(view: dict[str, Any], out_s: float, still_s: float) -> None:
    """Raise `BenchError` for a table that is out of service or stands still for too long."""
    if out_s > REPAIR_S:
        faults = ", ".join(f"{f['code']} ({f['cause']})" for f in view["faults"])
        raise BenchError(f"the table went out of service: {faults or view['says']}")
    if still_s > STUCK_S:
        raise BenchError(f"no round ended for {STUCK_S:g} s; the table says: {view['says']}")
