"""A recorder of chosen pins: every edge with its microsecond, from any kind of driver.

Owns: collecting while it is open. Must not know: the daemon (it records on when that dies), files.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.timeline import Event

COLLECT_S = 0.1
"""Shorter than the lines remember their past (timeline.HISTORY_US)."""


class Trace:
    """Records from its creation until `stop`, or as a context manager.

    An edge costs about a microsecond of one core and 100 bytes: a 20 kHz PWM takes 4 % and 4 MB a
    second while it is recorded.
    """

    def __init__(self, board: Board, gpios: Iterable[int]) -> None:
        self.gpios = sorted(set(gpios))
        self._board = board
        with board.locked():
            self.start_us = board.now_us()
            self._taps = {gpio: board.tap(gpio) for gpio in self.gpios}
        self.end_us = self.start_us
        self._first = {gpio: tap.level for gpio, tap in self._taps.items()}
        self._edges: dict[int, list[Event]] = {gpio: [] for gpio in self.gpios}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._record, name="pin-trace", daemon=True)
        self._thread.start()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the recording now; what was recorded stays readable."""
        if not self._stop.is_set():
            self._stop.set()
            self._thread.join()
            self._collect()

    def first_level(self, gpio: int) -> int:
        """Level when the recording began."""
        return self._first[gpio]

    def edges(self, gpio: int) -> list[Event]:
        """Edges so far as `(microsecond, level after it)`."""
        return list(self._edges[gpio])

    def _record(self) -> None:
        while not self._stop.wait(COLLECT_S):
            self._collect()

    def _collect(self) -> None:
        with self._board.locked():
            self.end_us = self._board.now_us()
            for gpio, tap in self._taps.items():
                self._board.pins[gpio].settle(self.end_us)
                self._edges[gpio] += tap.take(self.end_us)
