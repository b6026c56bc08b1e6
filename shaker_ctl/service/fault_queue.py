"""The queue of faults that consoles and screens show: code, time, cause, remedy.

Owns the words for every fault code (`fault_words.toml`) and the order in which faults came. Must
not know how a fault was found, nor what follows from it: only the rules decide that.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable
from pathlib import Path

from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import FaultKind

_TABLE = tomllib.loads(Path(__file__).with_name("fault_words.toml").read_text("utf-8"))

WORDS: dict[str, tuple[str, str]] = {
    code: (row["cause"], row["remedy"]) for code, row in _TABLE.items()
}
"""Cause and remedy of every fault, by its code."""

_KIND_WORDS = {
    FaultKind.SHAKER: ("the shaker failed", "see `motor`, then clear the fault and jog"),
    FaultKind.LAMP: ("the lamps failed", "see `lamps`, then clear the fault and inspect"),
    FaultKind.READER: ("the reader failed", "see `camera`, then clear the fault"),
    FaultKind.CONTROLLER: ("the controller failed", "see `health` and the log"),
}


@frozen
class QueuedFault:
    """One entry."""

    kind: FaultKind
    code: str
    wall_s: float
    cause: str
    remedy: str


class FaultQueue:
    """Faults that stand, oldest first. Any thread may read."""

    def __init__(self, raised: Callable[[QueuedFault], None] = lambda _: None) -> None:
        """`raised` is told of each new fault, in the thread that raised it; it returns at once."""
        self._raised = raised
        self._lock = threading.Lock()
        self._faults: tuple[QueuedFault, ...] = ()

    def raise_(self, kind: FaultKind, code: str, wall_s: float) -> None:
        """Add a fault; one that stands already keeps its time."""
        cause, remedy = WORDS.get(code, _KIND_WORDS[kind])
        fault = QueuedFault(kind, code, wall_s, cause, remedy)
        with self._lock:
            if any(f.kind is kind and f.code == code for f in self._faults):
                return
            self._faults = (*self._faults, fault)
        self._raised(fault)

    def clear(self, kind: FaultKind) -> None:
        """Take away every fault of this kind."""
        with self._lock:
            self._faults = tuple(f for f in self._faults if f.kind is not kind)

    def standing(self) -> tuple[QueuedFault, ...]:
        """Faults that stand now."""
        return self._faults

    def kind_of(self, code: str) -> FaultKind | None:
        """The kind of a standing fault, by its code or by the kind's own word."""
        for fault in self._faults:
            if code in (fault.code, fault.kind.value):
                return fault.kind
        return None
