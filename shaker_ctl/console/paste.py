"""Tells a person's typing from a paste, and stops listening to a flood.

Owns the two questions "has the line been quiet long enough?" and "is this too much at once?". Must
not know what the bytes say. Time is handed in.

A command that acts is taken only when the line stays quiet after it: nobody types the next
character within 30 ms of Enter, but a paste, a modem's chatter and line noise do. A flood, more
bytes than a person or a script that waits for its answers sends, is dropped until the line falls
silent: every line of it would otherwise be answered, for minutes.
"""

from __future__ import annotations

QUIET_S = 0.03
"""Silence after Enter before an act is taken. At 9600 baud a byte lasts 1 ms, a fast typist's gap
is 50 ms; the pause of a USB adapter between packets, up to 16 ms, lies between."""

SILENCE_S = 0.25
"""A flood has ended when nothing came for this long."""

MAX_LEVEL = 1024
"""Bytes that may come at once. Seven times the longest command."""

ONE_LINE = 256
"""A piece up to this size that is one whole line is a script's next command, not a flood."""


class Burst:
    """The input as it arrives, seen only as amounts and times: a bucket that leaks.

    `bytes_per_s` is what the line can carry; a quarter of it may come for ever.
    """

    def __init__(self, bytes_per_s: float) -> None:
        self._leak = bytes_per_s / 4
        self._last_at = float("-inf")
        self._level = 0.0
        self._is_flooded = False
        self._dropped = 0

    def admit(self, data: bytes, now: float) -> bool:
        """Count `data`; False while it belongs to a flood and is to be dropped."""
        elapsed, self._last_at = now - self._last_at, now
        self._level = max(0.0, self._level - elapsed * self._leak)
        if self._is_flooded:
            self._dropped += len(data)
            return False
        if not _is_one_line(data):
            self._level += len(data)
        if self._level > MAX_LEVEL:
            self._is_flooded = True
            self._dropped = len(data)
        return not self._is_flooded

    def is_quiet(self, now: float) -> bool:
        return now - self._last_at >= QUIET_S

    def flood_ended(self, now: float) -> int:
        """Return how many bytes of a flood that is now over were dropped; 0 if there was none."""
        if not self._is_flooded or now - self._last_at < SILENCE_S:
            return 0
        self._is_flooded, self._level = False, 0.0
        return self._dropped


def _is_one_line(data: bytes) -> bool:
    body = data.rstrip(b"\r\n")
    return (
        len(data) <= ONE_LINE
        and 0 < len(data) - len(body) <= 2
        and b"\r" not in body
        and b"\n" not in body
    )
