"""What a command's handler may give back.

A number (the result), bytes (a payload; the result is its length), `Later` (the same, after a while
in which only the asking connection or script waits), or nothing, which is answered with 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from virtual_pigpiod.wire import Request


@dataclass(slots=True, frozen=True)
class Later:
    """The result `result`, not before `at_us`."""

    at_us: int
    result: int = 0


Result = int | bytes | Later
Handlers = Mapping[int, Callable[[Request], Result | None]]
