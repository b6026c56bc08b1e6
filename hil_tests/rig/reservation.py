"""One user at a time: a lock on a file that says who has the bench and since when.

Owns the file. The lock is the kernel's (flock), so that it ends with its process however that
ends; what stands in the file is only for people. Must not know what is reserved.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import socket
from datetime import datetime
from pathlib import Path
from types import TracebackType


class ReservedError(Exception):
    """Somebody else has it; the text says who, since when, and what to do."""


class Reservation:
    """Hold the bench while in the context. Raises `ReservedError` on entering where it is taken."""

    def __init__(self, path: Path, purpose: str) -> None:
        self.path = path
        self._purpose = purpose
        self._fd: int | None = None

    def __enter__(self) -> Reservation:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held = os.read(fd, 4096).decode("utf-8", "replace")
            os.close(fd)
            raise ReservedError(
                f"the bench is reserved by {describe(held)}. Ask them, or wait; the lock is "
                f"{self.path} and ends with that process"
            ) from None
        os.ftruncate(fd, 0)
        os.write(
            fd,
            json.dumps(
                {
                    "who": getpass.getuser(),
                    "host": socket.gethostname(),
                    "pid": os.getpid(),
                    "since": datetime.now().astimezone().isoformat(timespec="seconds"),
                    "purpose": self._purpose,
                }
            ).encode(),
        )
        self._fd = fd
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None


def describe(held: str) -> str:
    """What the file says, for a person."""
    try:
        by = json.loads(held)
        who = f"{by['who']} on {by['host']} (process {by['pid']})"
        return f"{who} since {by['since']}: {by['purpose']}"
    except (ValueError, KeyError, TypeError):
        return "somebody who has not written down who they are"
