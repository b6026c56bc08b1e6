"""While modules load, Ctrl-C ends the program at once, with status 130 as in a shell."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

INTERRUPTED = 128 + signal.SIGINT
"""What a shell reports of a program that Ctrl-C has ended."""


@contextlib.contextmanager
def quiet_interruption() -> Iterator[None]:
    """Let Ctrl-C end the program at once while modules load: nothing is open yet, and an exception
    in the middle of an import comes out as anything."""

    def leave(_signal: int, _frame: object) -> None:
        os._exit(INTERRUPTED)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, as in a shell's background job
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
