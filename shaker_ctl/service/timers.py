"""Deadlines of the pure machine, kept by the state thread.

Owns the order of due times. Must not know what a timer means: it returns the event that the timer
was started with.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Generic, TypeVar

Token = TypeVar("Token")
Due = TypeVar("Due")


class Timers(Generic[Token, Due]):
    """Named one-shot timers on the monotonic clock. Not thread-safe: the state thread's own."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Token]] = []
        self._live: dict[Token, tuple[int, Due]] = {}
        self._count = itertools.count()

    def start(self, token: Token, due_s: float, event: Due) -> None:
        """Deliver `event` at monotonic `due_s`; an earlier timer of the same token is replaced."""
        serial = next(self._count)
        self._live[token] = (serial, event)
        heapq.heappush(self._heap, (due_s, serial, token))

    def cancel(self, token: Token) -> None:
        """Forget a timer; unknown tokens are fine."""
        self._live.pop(token, None)

    def due(self, now_s: float) -> list[Due]:
        """Return the events that are due, oldest first, and forget them."""
        ripe: list[Due] = []
        while self._heap and self._heap[0][0] <= now_s:
            _, serial, token = heapq.heappop(self._heap)
            live = self._live.get(token)
            if live is not None and live[0] == serial:
                del self._live[token]
                ripe.append(live[1])
        return ripe

    def next_due(self) -> float | None:
        """Return when to look again, in monotonic seconds, or None."""
        while self._heap:
            due_s, serial, token = self._heap[0]
            live = self._live.get(token)
            if live is not None and live[0] == serial:
                return due_s
            heapq.heappop(self._heap)
        return None
