"""Inside the emulation: tells the counter where one thing ends and the next begins.

Owns the system call that the counter listens for. On any other machine it does nothing.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any

GETPRIORITY = 141
"""Of arm64 Linux; other processors have another call there."""
MARK = 0x5157

_LIBC = ctypes.CDLL(None)


def mark(number: int) -> None:
    """Write what was executed since the last mark, under `number`."""
    _LIBC.syscall(GETPRIORITY, MARK, number)


class Steps:
    """Names for what is executed between marks: of each function named, without those it calls."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._case = ""
        self._inside: list[int] = [self._number("")]

    def begin(self, case: str) -> None:
        """What follows belongs to `case`, until `end`."""
        mark(self._inside[-1])
        self._case = case
        self._inside.append(self._number(case))

    def end(self) -> None:
        mark(self._inside.pop())

    def count(self, step: str, place: str) -> None:
        """Count a function as `step`. `place`: module:Class.function, or module:function."""
        module_name, _, path = place.partition(":")
        holder: Any = importlib.import_module(module_name)
        *parts, name = path.split(".")
        for part in parts:
            holder = getattr(holder, part)
        setattr(holder, name, self.counted(step, getattr(holder, name)))

    def counted(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, counted as `step` of the case that has begun."""

        def run(*arguments: Any, **named: Any) -> Any:
            mark(self._inside[-1])
            self._inside.append(self._number(f"{self._case}/{step}"))
            try:
                return function(*arguments, **named)
            finally:
                self.end()

        return run

    def _number(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)
