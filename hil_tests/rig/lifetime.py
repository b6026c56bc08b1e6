"""When the rig must end (a signal, a request, its parent's death), and where it must not run.

Owns only that decision. Must not know what is running.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

REAL_TABLE = (
    "/etc/shaker-ctl/real-table",
    "/etc/shaker-ctl/seal.pub",
    "/etc/shaker-ctl/seal.json",
    "/etc/systemd/system/shaker-ctl.service",
    "/usr/local/lib/systemd/system/shaker-ctl.service",
    "/usr/lib/systemd/system/shaker-ctl.service",
    "/lib/systemd/system/shaker-ctl.service",
)
"""Files of an installed table: the installer's mark, a seal, the unit. If one of them exists, no
rig runs (O-16)."""

LOOK_S = 0.25


class RealTableError(Exception):
    """This computer is a real table. Nothing was opened."""


def refuse_on_real_table(root: Path = Path("/")) -> None:
    """Raise `RealTableError` on a computer that is installed as a real table.

    A folder that this user may not look into counts: somebody has closed it.
    """
    for name in REAL_TABLE:
        mark = root / name.lstrip("/")
        try:
            mark.lstat()
        except PermissionError:
            pass
        except OSError:
            continue
        raise RealTableError(
            f"{mark} says that this computer is a real table: no rig runs here. "
            "Run the rig on another computer"
        )


class Lifetime:
    """`ended` is set on SIGTERM, SIGINT, the parent's death, or when a condition comes true.

    A context manager for the main thread: both signals have their former handlers again afterwards.
    """

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._conditions: list[Callable[[], bool]] = []
        self._parent = os.getppid()
        self._watcher = threading.Thread(target=self._watch, name="lifetime", daemon=True)
        self._before: dict[signal.Signals, Any] = {}

    def ends_when(self, condition: Callable[[], bool]) -> None:
        """Also end when `condition` is true; it is asked from another thread."""
        self._conditions.append(condition)

    def __enter__(self) -> Lifetime:
        for one in (signal.SIGTERM, signal.SIGINT):
            self._before[one] = signal.signal(one, self._on_signal)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._watcher.join()
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def _on_signal(self, number: int, frame: object) -> None:
        self.ended.set()

    def _watch(self) -> None:
        while not self.ended.wait(LOOK_S):
            if os.getppid() != self._parent or any(came() for came in self._conditions):
                self.ended.set()
