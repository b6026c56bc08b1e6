"""How much the dice in the compartment have been shaken: tosses, turns of the cam, time.

Owns the counters since the dice were last changed. The records are the counter: after a start they
are read backwards, in a thread of its own and in small bites, because a month of play is a million
records and nothing may wait for them. Must not know limits: the profile's is an age.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from shaker_ctl.errors import JournalError
from shaker_ctl.journal.record import Record
from shaker_ctl.rules import events
from shaker_ctl.rules.row import Step

log = logging.getLogger(__name__)

BITE = 200
"""Records between two pauses."""
PAUSE_S = 0.01
"""A bite takes about as long: the reading never has more than half of a core."""

_CHANGED = b'"DiceChanged"'
_SETTLED = b'"TossSettled"'


@dataclass(frozen=True, slots=True)
class Worn:
    """What the dice have been through since they were locked in. Tosses of play, inspections and
    trials; a jog is not counted.
    """

    tosses: int = 0
    turns: float = 0.0
    """Of the cam; one is one stroke of the plate."""
    shaken_s: float = 0.0
    """Inside the band that mixes."""

    def line(self) -> str:
        """In words, without the tosses."""
        minutes, seconds = divmod(round(self.shaken_s), 60)
        shaken = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        return f"{self.turns:.0f} strokes, {shaken} of shaking"

    def plus(self, turns: float, shaken_s: float) -> Worn:
        """One more toss."""
        return Worn(self.tosses + 1, self.turns + turns, self.shaken_s + shaken_s)


class Wear:
    """An observer of the state thread's steps, and a reader of the records before them."""

    def __init__(self, pause: Callable[[float], None] = time.sleep) -> None:
        self._pause = pause
        self._lock = threading.Lock()
        self._now = Worn()
        self._is_counted = False
        self._is_fresh = False
        """The dice were changed since the start: what the records say is of others."""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def figures(self) -> Worn | None:
        """The counters; None while the records are still being read."""
        with self._lock:
            return self._now if self._is_counted or self._is_fresh else None

    def observe(self, step: Step, event: events.Event) -> None:
        """Count a toss that settled; begin anew with other dice."""
        if isinstance(event, events.TossSettled):
            with self._lock:
                self._now = self._now.plus(event.proof.turns, event.proof.in_band_s)
        elif isinstance(event, events.DiceChanged):
            with self._lock:
                self._now, self._is_fresh = Worn(), True

    def start(self, newest_first: Iterator[Record]) -> None:
        """Read the records of before the start, in a thread of its own."""
        self._thread = threading.Thread(
            target=self.restore, args=(newest_first,), name="wear", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Give the reading up, and wait until nothing of it is left."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def restore(self, newest_first: Iterator[Record]) -> None:
        """Add what the records say since the dice were last changed."""
        before = Worn()
        try:
            for number, record in enumerate(newest_first, start=1):
                if self._ended.is_set():
                    return
                if number % BITE == 0:
                    self._pause(PAUSE_S)
                if _CHANGED in record.body and _event(record)["type"] == "DiceChanged":
                    break
                if _SETTLED in record.body and _event(record)["type"] == "TossSettled":
                    proof = _event(record)["proof"]
                    before = before.plus(proof["turns"], proof["in_band_s"])
        except JournalError as error:
            log.warning("the dice's wear is not known: %s", error.line())
            return
        with self._lock:
            if not self._is_fresh:
                self._now = Worn(
                    before.tosses + self._now.tosses,
                    before.turns + self._now.turns,
                    before.shaken_s + self._now.shaken_s,
                )
            self._is_counted = True


def _event(record: Record) -> dict[str, Any]:
    """The accepted event of a record; a refused one changed nothing."""
    plain = record.plain
    found: dict[str, Any] = plain["event"] if plain["kind"] == "step" else {"type": ""}
    return found
