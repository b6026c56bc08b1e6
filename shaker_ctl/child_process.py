"""A process that the service starts: what it gets of its surroundings, and how it is ended.

It gets nothing of the service's own: what that was started with may name other code to load.
"""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the packages that this program runs from; the process takes the same."""

GONE_WITHIN_S = 1.0
"""Longest wait for a process that was killed. At idle priority beside a busy computer it dies as
slowly as it runs, in half a minute; it does nothing more, and the table's end must not wait."""


def environment() -> dict[str, str]:
    """Return the variables for a Python process of this program."""
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and close its pipes; wait for its end no longer than `GONE_WITHIN_S`."""
    process.kill()
    reaper = threading.Thread(target=process.communicate, name="reaper", daemon=True)
    reaper.start()
    reaper.join(GONE_WITHIN_S)
