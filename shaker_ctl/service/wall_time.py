"""Wall time, and whether it can be trusted.

Durations never come from here. The clock is trusted if an RTC vouched for it at the start, if the
kernel says that it is synchronised, or if a named person confirmed it since the last start. It is
never trusted if it is earlier than the last record.

A Raspberry Pi 5 always has an RTC. Without a battery it counts from 1970 after each power-on, while
systemd sets the wall clock to the last shutdown: then the two disagree.
"""

from __future__ import annotations

import ctypes
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl.ports import Clock
from shaker_ctl.rules.vocabulary import TimeTrust

RTC = Path("/sys/class/rtc/rtc0/since_epoch")
"""Seconds since 1970 by the RTC from which Linux sets its clock."""

EARLIEST_WALL_S = 1_767_225_600.0
"""1 January 2026: this program did not exist before, so such a clock is wrong."""

AGREES_WITHIN_S = 5.0
DRIFT = 1e-4
"""Share by which two quartz clocks part: a computer that runs for weeks goes by its processor's."""

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
        self._is_vouched_for = rtc_agrees(_said_by_rtc(), clock.wall())

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
        return TimeTrust.RTC if self._is_vouched_for else TimeTrust.NONE

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


def rtc_agrees(said: str | None, wall_s: float) -> bool:
    """Whether an RTC vouches for the wall clock. `said`: what `RTC` says; None where none does."""
    try:
        rtc_s = float(said or "")
    except ValueError:
        return False
    apart_s = AGREES_WITHIN_S + DRIFT * time.monotonic()
    return rtc_s >= EARLIEST_WALL_S and abs(rtc_s - wall_s) <= apart_s


def _said_by_rtc() -> str | None:
    try:
        return RTC.read_text()
    except OSError:
        return None


def is_synchronised() -> bool:
    """Return whether the kernel's clock is disciplined by NTP or PTP (adjtimex, read only)."""
    buffer = ctypes.create_string_buffer(512)  # struct timex; modes = 0 only reads
    try:
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(buffer)
    except (AttributeError, OSError):
        return False
    return bool(0 <= answer < _TIME_ERROR)
