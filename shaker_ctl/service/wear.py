"""How much the dice in the compartment have been shaken: tosses, turns of the cam, time.

Owns the counters since the dice were last changed. After a start the counts come from the tables
beside the journal's chain, as soon as these tables reach the start. Nothing waits for the tables.
Must not know limits: the profile limits the age of dice, not their wear.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.rules import events
from shaker_ctl.rules.row import Step

AGAIN_S = 1.0
"""Time between two queries of the tables, in seconds, until the tables reach the start."""


class WearLog:
    """Counts the state thread's steps, and adds what the tables say about the time before the
    start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = PartUsage()
        self._is_counted = False
        self._is_fresh = False
        """The dice were changed since the start: the records describe other dice."""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def figures(self) -> PartUsage | None:
        """The counters; None while the tables have not reached the start."""
        with self._lock:
            return self._now if self._is_counted or self._is_fresh else None

    def observe(self, step: Step, event: events.Event) -> None:
        """Count a toss that settled. Begin anew with other dice, but not before the second of two
        persons names them.
        """
        if isinstance(event, events.TossSettled):
            with self._lock:
                self._now = self._now.plus(PartUsage(1, event.proof.turns, event.proof.in_band_s))
        elif isinstance(event, events.DiceChanged) and step.state.dice_named is None:
            with self._lock:
                self._now, self._is_fresh = PartUsage(), True

    def start(self, before: Callable[[], PartUsage | None]) -> None:
        """Ask for the wear before the start until it is known, in a thread of its own."""
        self._thread = threading.Thread(target=self._ask, args=(before,), name="wear", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Give the asking up, and wait until nothing of it is left."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _ask(self, before: Callable[[], PartUsage | None]) -> None:
        while not self._ended.is_set():
            if (worn := before()) is not None:
                self.restore(worn)
                return
            self._ended.wait(AGAIN_S)

    def restore(self, before: PartUsage) -> None:
        """Add what the records say since the dice were last changed."""
        with self._lock:
            if not self._is_fresh:
                self._now = before.plus(self._now)
            self._is_counted = True
