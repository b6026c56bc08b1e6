"""Proof that a thread still finishes its turns."""

from __future__ import annotations

from collections.abc import Callable


class Heartbeat:
    """Set by one thread after each turn, read by another. A single float: no lock is needed."""

    def __init__(self, now: Callable[[], float], limit_s: float) -> None:
        self._now = now
        self._limit_s = limit_s
        self._last_s = now()

    def beat(self) -> None:
        """Say that a turn has just ended."""
        self._last_s = self._now()

    def is_fresh(self) -> bool:
        """Return whether the last turn ended within the limit."""
        return self._now() - self._last_s <= self._limit_s
