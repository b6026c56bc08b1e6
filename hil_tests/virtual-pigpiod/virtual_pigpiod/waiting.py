"""Waiting for what another thread or process brings about, in tests of programs that use pins."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 30.0
"""Only ends a test that is broken: a machine that is busy with other work may take seconds."""

Answer = TypeVar("Answer")


def until(
    said: Callable[[], Answer | None], limit_s: float = PATIENCE_S, every_s: float = 0.002
) -> Answer:
    """Return the first true answer of `said`; AssertionError if there is none within `limit_s`."""
    ends_s = time.monotonic() + limit_s
    while not (answer := said()):
        assert time.monotonic() < ends_s, f"it did not happen within {limit_s:g} s"
        time.sleep(every_s)
    return answer
