"""One thread for everything the daemon does: sockets, timers, and work posted by other threads.

Built on select(), because its timeout has microseconds where epoll's has milliseconds: scripts and
notifications are timed to a fraction of a millisecond. Must not know: what it runs.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from virtual_pigpiod.pins.board import now_us

Action = Callable[[], None]


class HasFileno(Protocol):
    """A socket or anything else that select() takes."""

    def fileno(self) -> int:
        """File descriptor."""


class ScheduledAction:
    """An action to be run once at a time; `cancel` it any time before."""

    __slots__ = ("action", "at_us")

    def __init__(self, at_us: int, action: Action) -> None:
        self.at_us = at_us
        self.action: Action | None = action

    def cancel(self) -> None:
        """Do not run it."""
        self.action = None


class Loop:
    """Runs in the thread that calls `run`. Only `post` and `stop` may be called from others."""

    def __init__(self) -> None:
        self._timers: list[tuple[int, int, ScheduledAction]] = []
        self._order = itertools.count()
        self._readers: dict[int, Action] = {}
        self._writers: dict[int, Action] = {}
        self._posted: deque[Action] = deque()
        self._wake_in, self._wake_out = os.pipe()
        os.set_blocking(self._wake_in, False)
        os.set_blocking(self._wake_out, False)
        self._thread: int | None = None
        self._running = False
        self._pipe_lock = threading.Lock()  # nobody may write to a number that is no longer ours
        self._is_closed = False

    def call_at(self, at_us: int, action: Action) -> ScheduledAction:
        """Run `action` at `at_us` (CLOCK_MONOTONIC) or as soon after as possible."""
        timer = ScheduledAction(at_us, action)
        heapq.heappush(self._timers, (at_us, next(self._order), timer))
        return timer

    def post(self, action: Action) -> None:
        """Run `action` soon, in the loop's thread. May be called from any thread."""
        self._posted.append(action)
        if threading.get_ident() != self._thread:
            self._wake()

    def on_readable(self, file: HasFileno, action: Action | None) -> None:
        """Run `action` whenever `file` has something to read; None: no more."""
        _register(self._readers, file.fileno(), action)

    def on_writable(self, file: HasFileno, action: Action | None) -> None:
        """Run `action` whenever `file` takes more; None: no more."""
        _register(self._writers, file.fileno(), action)

    def stop(self) -> None:
        """Let `run` return after the action that it is at. May be called from any thread."""
        self._running = False
        self._wake()

    def run(self) -> None:
        """Serve until `stop`; then the loop is closed and cannot run again."""
        self._thread = threading.get_ident()
        self._running = True
        while self._running:
            readable, writable, _ = select.select(
                [self._wake_in, *self._readers], list(self._writers), [], self._wait_s()
            )
            for fd in writable:
                self._run(self._writers.get(fd))
            for fd in readable:
                if fd == self._wake_in:
                    self._swallow_wakes()
                else:
                    self._run(self._readers.get(fd))
            for _ in range(len(self._posted)):
                self._run(self._posted.popleft())
            self._run_timers()
        with self._pipe_lock:
            self._is_closed = True
            os.close(self._wake_in)
            os.close(self._wake_out)

    def _wait_s(self) -> float | None:
        if self._posted:
            return 0
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        return max(0, self._timers[0][0] - now_us()) / 1e6 if self._timers else None

    def _run_timers(self) -> None:
        due_us = now_us()
        while self._timers and self._timers[0][0] <= due_us:
            timer = heapq.heappop(self._timers)[2]
            action, timer.action = timer.action, None
            self._run(action)

    def _run(self, action: Action | None) -> None:
        if self._running and action is not None:
            action()

    def _wake(self) -> None:
        with self._pipe_lock, contextlib.suppress(BlockingIOError):
            if not self._is_closed:
                os.write(self._wake_out, b"\0")

    def _swallow_wakes(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_in, 4096)


def _register(actions: dict[int, Action], fd: int, action: Action | None) -> None:
    if action is None:
        actions.pop(fd, None)
    else:
        actions[fd] = action
