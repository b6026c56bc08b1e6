"""What can be done to a process beside the rig: killed, or stopped, at an exact moment.

Owns two faults of the controller itself, timed like every other by what happens on the rig's wires:

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
from typing import TYPE_CHECKING

from hil_tests.rig.fault_set import Fault, Value

if TYPE_CHECKING:
    from hil_tests.rig.faults import Order

PROCESS_FAULTS = (
    Fault("process_killed", "SIGKILL", "its lines fall silent; outputs stay", {"pid": 0.0}),
    Fault("process_stopped", "SIGSTOP, until healed", "silent, but connected", {"pid": 0.0}),
)
SIGNALS = {"process_killed": signal.SIGKILL, "process_stopped": signal.SIGSTOP}


class ProcessPart:
    """A process that the rig ends or holds."""

    name = "process"
    events: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.catalogue: Mapping[str, Fault] = {fault.name: fault for fault in PROCESS_FAULTS}
        self._lock = threading.Lock()
        self._stopped: list[int] = []

    def inject(self, order: Order) -> None:
        """Send the signal. Raises ValueError where there is no such process."""
        pid = int(float(order.parameters.get("pid", 0.0)))
        if pid <= 1:
            raise ValueError(f"{order.name} needs pid=NUMBER of a process")
        try:
            os.kill(pid, SIGNALS[order.name])
        except OSError as error:
            raise ValueError(f"{order.name} pid={pid}: {error.strerror}") from error
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

    def active(self) -> dict[str, dict[str, Value]]:
        with self._lock:
            return {"process_stopped": {"pid": float(self._stopped[-1])}} if self._stopped else {}

    def waiting(self) -> dict[str, str]:
        return {}
