"""A log that nobody waits for: a full disk or a hung journald must not hold up the control loop.

Owns the queue between whoever logs and the stream. A thread whose heartbeat is due every 50 ms may
not write to a file: under heavy load, or on a slow SD card, one write takes longer than that. Lines
beyond the queue's length are dropped and counted, and the count is logged as soon as there is room.
"""

from __future__ import annotations

import atexit
import logging
import logging.handlers
import queue
import sys
from typing import TextIO

MAX_LINES = 4096
"""Lines that may wait: minutes of a busy table."""

FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class WaitlessHandler(logging.handlers.QueueHandler):
    """Leaves records for another thread; never blocks, never raises."""

    def __init__(self, lines: queue.SimpleQueue[logging.LogRecord]) -> None:
        super().__init__(lines)
        self._lines = lines
        self._dropped = 0

    def enqueue(self, record: logging.LogRecord) -> None:
        """Leave `record`, or drop it where too many wait."""
        if self._lines.qsize() >= MAX_LINES:
            self._dropped += 1
            return
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            told = f"{dropped} lines were dropped here: the log could not be written as they came"
            self._lines.put(
                logging.LogRecord(__name__, logging.WARNING, "", 0, told, args=None, exc_info=None)
            )
        self._lines.put(record)


def start(level: int, stream: TextIO | None = None) -> logging.handlers.QueueListener:
    """Send all logging to `stream` (stderr) through a thread of its own; ended at exit."""
    lines: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    writer = logging.StreamHandler(stream or sys.stderr)
    writer.setFormatter(logging.Formatter(FORMAT))
    listener = logging.handlers.QueueListener(lines, writer)
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers[:] = [WaitlessHandler(lines)]
    listener.start()
    atexit.register(end, listener)
    return listener


def end(listener: logging.handlers.QueueListener) -> None:
    """Write what waits. The listener of Python 3.11 fails on a second stop; this does not."""
    if listener._thread is not None:
        listener.stop()
