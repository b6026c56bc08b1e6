"""Wall time, and whether it can be trusted.

Durations never come from here. The clock is trusted if an RTC is fitted, if the kernel says that it
is synchronised, or if a named person confirmed it since the last start. It is never trusted if it
is earlier than the last record.
"""

from __future__ import annotations

import ctypes
import threading
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl.ports import Clock
from shaker_ctl.rules.vocabulary import TimeTrust

RTC = Path("/dev/rtc0")
_TIME_ERROR = 5
"""What adjtimex(2) returns while the clock is not synchronised (TIME_ERROR)."""


class WallTime:
    """The wall clock, with the reasons to trust it. For any thread."""

    def __init__(self, clock: Clock, last_record_s: float | None) -> None:
        """`last_record_s`: wall time of the newest record of earlier runs, or None."""
        self._clock = clock
        self._lock = threading.Lock()
        self._newest_s = last_record_s or 0.0
        self._is_confirmed = False

    def now(self) -> datetime:
        """Aware, in UTC."""
        return datetime.fromtimestamp(self._clock.wall(), UTC)

    def confirm(self) -> None:
        """A named person said that the clock is right; holds until the next start."""
        with self._lock:
            self._is_confirmed = True
            self._newest_s = min(self._newest_s, self._clock.wall())

    def trust(self) -> TimeTrust:
        """Why the clock may be believed now."""
        if self._is_confirmed:
            return TimeTrust.CONFIRMED
        if is_synchronised():
            return TimeTrust.SYNCHRONISED
        return TimeTrust.RTC if RTC.exists() else TimeTrust.NONE

    @property
    def stands_behind_records(self) -> bool:
        """Whether the clock stands earlier than a record that exists."""
        return self._clock.wall() < self._newest_s

    def is_behind_last_record(self) -> bool:
        """As `stands_behind_records`, for a record that is written now and counts from then on."""
        with self._lock:
            is_behind = self.stands_behind_records
            self._newest_s = max(self._newest_s, self._clock.wall())
            return is_behind


def is_synchronised() -> bool:
    """Return whether the kernel's clock is disciplined by NTP or PTP (adjtimex, read only)."""
    buffer = ctypes.create_string_buffer(512)  # struct timex; modes = 0 only reads
    try:
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(buffer)
    except (AttributeError, OSError):
        return False
    return bool(0 <= answer < _TIME_ERROR)
