"""The names of threads in the system's tools (`top -H`, `ps -L`, py-spy, a debugger).

Owns only these names. Python does not tell the kernel the names of its threads. Without this module
a person who looks for a thread that hangs sees each thread as `python3`.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

MAX_LENGTH = 15
"""Characters that the kernel keeps of a thread's name (proc(5), comm)."""


def publish(tasks: Path = Path("/proc/self/task")) -> None:
    """Give every running thread its name in the kernel; do nothing where that is not possible."""
    for thread in threading.enumerate():
        if thread is threading.main_thread():
            continue  # its name is the program's
        with contextlib.suppress(OSError):
            (tasks / str(thread.native_id) / "comm").write_text(thread.name[:MAX_LENGTH])
