"""When the rig must end (a signal, a wish, its parent's death), and where it must not run at all.

Owns only that decision. Must not know what is running.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

REAL_TABLE = Path("/etc/shaker-ctl/real-table")
"""The seal that an installed table carries. Where it stands, no rig runs (O-16)."""

PARENT_LOOK_S = 0.25


class RealTableError(Exception):
    """This computer is a real table. Nothing was opened."""


def refuse_on_real_table() -> None:
    """Raise `RealTableError` on a computer that an installed seal says is a real table."""
    if REAL_TABLE.exists():
        raise RealTableError(
            f"{REAL_TABLE} says that this computer is a real table: no rig runs here. "
            "Run the rig on another computer"
        )


@contextmanager
def until_ended(look: Callable[[], bool] | None = None) -> Iterator[threading.Event]:
    """Give an event that is set on SIGTERM, SIGINT, the parent's death, or when `look` says so.

    Both signals have their former handlers again afterwards. Main thread only.
    """
    ended = threading.Event()
    parent = os.getppid()

    def on_signal(number: int, frame: object) -> None:
        ended.set()

    def watch() -> None:
        while not ended.wait(PARENT_LOOK_S):
            if os.getppid() != parent or (look is not None and look()):
                ended.set()

    before = {one: signal.signal(one, on_signal) for one in (signal.SIGTERM, signal.SIGINT)}
    watcher = threading.Thread(target=watch, name="lifetime", daemon=True)
    watcher.start()
    try:
        yield ended
    finally:
        ended.set()
        watcher.join()
        for one, handler in before.items():
            signal.signal(one, handler)
