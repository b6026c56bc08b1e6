"""Threads under their own names in the system's tools (`top -H`, `ps -L`, py-spy, a debugger).

Owns only that. Python names its threads for itself alone; whoever looks for the one that hangs sees
them all as `python3`.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

LONGEST = 15
"""Characters that the kernel keeps of a thread's name (proc(5), comm)."""


def publish(tasks: Path = Path("/proc/self/task")) -> None:
    """Give every thread of now its name in the kernel; where that is not possible, nothing."""
    for thread in threading.enumerate():
        if thread is threading.main_thread():
            continue  # its name is the program's
        with contextlib.suppress(OSError):
            (tasks / str(thread.native_id) / "comm").write_text(thread.name[:LONGEST])
