"""One user at a time: a lock on a file that says who has the bench, or a folder, and since when.

Owns the file. The lock is the kernel's (flock), so it ends with its process in every case. The text
in the file is only for people. Must not know what is reserved.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import socket
from datetime import datetime
from pathlib import Path


class ReservedError(Exception):
    """The reservation failed: another person has it, or there is no folder for its file. The text
    says who and since when, or which folder, and what to do. Nothing was changed."""


class Reservation:
    """Hold the bench while in the context. Raises `ReservedError` on entering where it is taken."""

    def __init__(
        self,
        path: Path,
        purpose: str,
        *,
        what: str = "the bench",
        remedy: str = "Ask them, or wait",
    ) -> None:
        """`what` and `remedy` are for the text that the second user reads. The file stays
        afterwards, as it may have an owner and rights that somebody gave it."""
        self.path = path
        self._purpose = purpose
        self._what = what
        self._remedy = remedy
        self._fd: int | None = None

    def __enter__(self) -> Reservation:
        """Raises also OSError where this user may not write the file."""
        fd = self._lock()
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

    def _lock(self) -> int:
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            raise ReservedError(
                f"{self._what} cannot be reserved: there is no folder {self.path.parent} for the "
                f"lock {self.path.name}. Make it, or name another lock"
            ) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held = os.read(fd, 4096).decode("utf-8", "replace")
            os.close(fd)
            raise ReservedError(
                f"{self._what} is reserved by {describe(held)}. {self._remedy}; the lock is "
                f"{self.path} and ends with that process"
            ) from None
        return fd

    def __exit__(self, *_: object) -> None:
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
