"""Waiting for something that another thread or process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(is_met: Callable[[], object], seconds: float = 5.0) -> None:
    """Return as soon as `is_met()`; fail when that takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not is_met():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.002)
