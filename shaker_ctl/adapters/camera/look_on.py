"""When the reader looks again at dice that it has not read.

Owns the pauses between looks, and whether one is still wanted. Must not know cameras or verdicts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from shaker_ctl.rules.vocabulary import Occasion

PAUSE_S = 1.0
"""From the end of a look to the next one. A look itself takes `read_timeout_s` where it reads
nothing, so that a hand or a glare that passes costs the dealer a second or two."""
LONGEST_PAUSE_S = 10.0
"""A table may wait for its dealer for hours, and each look dips the light."""
SLOWER = 1.25
"""Each pause is longer than the one before: 10 s after ten looks."""


class LookOn:
    """One toss at a time. Thread-safe; looks come from a thread of their own."""

    def __init__(self, look: Callable[[Occasion], None]) -> None:
        """`look` begins one look at the toss of this occasion, and returns at once."""
        self._look = look
        self._lock = threading.Lock()
        self._occasion: Occasion | None = None
        self._pause_s = PAUSE_S
        self._timer: threading.Timer | None = None

    def begin(self, occasion: Occasion) -> None:
        """Look after a pause, and again after each `read_nothing`, until `end`."""
        with self._lock:
            self._occasion, self._pause_s = occasion, PAUSE_S
            self._wait()

    def read_nothing(self, occasion: Occasion) -> bool:
        """A look at this toss is over: look again. False where no look at it is wanted."""
        with self._lock:
            if self._occasion != occasion:
                return False
            self._pause_s = min(LONGEST_PAUSE_S, SLOWER * self._pause_s)
            self._wait()
            return True

    def looks_at(self, occasion: Occasion) -> bool:
        return self._occasion == occasion

    def end(self) -> None:
        """The dice are read, or nobody needs it any more."""
        with self._lock:
            self._occasion = None
            self._cancel()

    def _wait(self) -> None:
        self._cancel()
        self._timer = threading.Timer(self._pause_s, self._once, (self._occasion,))
        self._timer.daemon = True
        self._timer.start()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _once(self, occasion: Occasion) -> None:
        with self._lock:  # whoever ends the looking then ends the look that began before it
            if self._occasion == occasion:
                self._look(occasion)
