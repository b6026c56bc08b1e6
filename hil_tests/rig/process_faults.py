"""Faults of a process beside the rig: the rig kills or stops it at an exact moment.

Owns two faults of the controller itself. Events on the rig's wires time them, as for other faults:

    process_killed pid=4711 after 1 commit
    process_stopped pid=4711 after 60 edges

Must not know which process it is, nor what it does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Mapping

from hil_tests.rig.fault_set import Active, Fault, FaultPart, Order, catalogue

SIGNALS = {"process_killed": signal.SIGKILL, "process_stopped": signal.SIGSTOP}


class ProcessPart(FaultPart):
    """A process that the rig ends or holds."""

    name = "process"

    def __init__(self) -> None:
        self.catalogue: Mapping[str, Fault] = catalogue("process")
        self._lock = threading.Lock()
        self._stopped: list[int] = []

    def check(self, order: Order) -> None:
        """Raises ValueError where there is no such process, or none that may be signalled."""
        super().check(order)
        _signal(order, 0)

    def obey(self, order: Order) -> None:
        """Send the signal. Raises ValueError where there is no such process any more."""
        pid = _signal(order, SIGNALS[order.name])
        if order.name == "process_stopped":
            with self._lock:
                self._stopped.append(pid)

    def heal(self, name: str) -> None:
        """Let stopped processes go on; the dead stay dead."""
        if name != "process_stopped":
            return
        with self._lock:
            stopped, self._stopped = self._stopped, []
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    @property
    def active(self) -> Active:
        with self._lock:
            return {"process_stopped": {"pid": float(self._stopped[-1])}} if self._stopped else {}


def _signal(order: Order, number: int) -> int:
    """Send a signal, or with 0 only see whether it could be sent; returns the process id."""
    text = str(order.parameters.get("pid", ""))
    # Digits only: kill(-1) would go to every process of this user, kill(0) to the rig itself.
    if not text.isdecimal() or int(text) <= 1:
        raise ValueError(f"{order.name} needs pid=NUMBER of a process, not pid={text}")
    try:
        os.kill(int(text), number)
    except OverflowError:
        raise ValueError(f"{order.name} pid={text}: no process has such a number") from None
    except OSError as error:
        raise ValueError(f"{order.name} pid={text}: {error.strerror}") from error
    return int(text)
