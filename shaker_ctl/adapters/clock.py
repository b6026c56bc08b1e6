"""Time from the operating system."""

from __future__ import annotations

import time


class SystemClock:
    """`ports.Clock`. `monotonic` never steps; `wall` does, and is for records and dates only."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()
