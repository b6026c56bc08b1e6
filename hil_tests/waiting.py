"""Waiting for what another thread, process or machine brings about, in tests of all packages."""

from __future__ import annotations

import time
from collections.abc import Callable

from virtual_pigpiod.waiting import PATIENCE_S
from virtual_pigpiod.waiting import until as until


def seconds_until_off(is_on: Callable[[], bool], limit_s: float) -> float:
    """Return how long it took until `is_on` was false, and stayed so for 30 ms."""
    began_s = time.monotonic()
    off_since_s: float | None = None
    while (now_s := time.monotonic()) - began_s < limit_s:
        if is_on():
            off_since_s = None
        elif off_since_s is None:
            off_since_s = now_s
        elif now_s - off_since_s > 0.03:
            return off_since_s - began_s
        time.sleep(0.0005)
    raise AssertionError(f"it is still on after {limit_s:g} s")


def seconds_until(said: Callable[[], object], limit_s: float = PATIENCE_S) -> float:
    """Return how long it took until `said` was true."""
    began_s = time.monotonic()
    until(said, limit_s)
    return time.monotonic() - began_s
