"""The records process: `python -P -m shaker_ctl.adapters.disk.records_process`.

Owns what is done with the journal beside the play, by reading alone. It follows the chain and keeps
the tables beside it up to date; and it verifies every closed volume of both copies, again and
again. It is started by the service and ends with it: its standard input closes then. What it finds,
it leaves in files beside the journal. One such process is at them: the next one waits at a lock
until it has ended.

The two take turns, a volume and some records at a time. If one fails, it logs the reason and
retries; the other one goes on.

It works at a low priority, far below the service's, and not at the idle one: a table is not
opened before every closed volume is verified, and on a busy computer an idle process would never
get there.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shaker_ctl.adapters.disk import volume_proofs
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.record_tables import RecordTables, place
from shaker_ctl.errors import JournalError, RefusedError

PAUSE_S = 1.0
"""Seconds between two looks for work. The figures on screens may be as old as this."""

NICE = 10
"""As page and link; the service has -10 (its unit), which weighs ninety times as much."""

_AGAIN_AFTER_S = 10.0
"""Seconds before a file that could not be used is tried again."""


def wait(seconds: float = 0.0) -> None:
    """Wait, and end the process where the service has ended. Call now and then during long work."""
    if select.select([sys.stdin], [], [], seconds)[0]:
        raise SystemExit(0)


@contextlib.contextmanager
def opened(paths: list[Path]) -> Iterator[list[DiskJournal]]:
    """Open the copies that are there, for looking. Raises JournalError."""
    with contextlib.ExitStack() as stack:
        copies = []
        for path in paths:
            if volume_numbers(path):
                copy = DiskJournal(path, read_only=True)
                stack.callback(copy.close)
                copies.append(copy)
        yield copies


def verify_next(paths: list[Path]) -> bool:
    """Verify one volume that is due; return whether there was one."""
    kept = volume_proofs.place(paths[0])
    proofs = volume_proofs.load(kept)
    with opened(paths) as copies:
        due = volume_proofs.next_due(copies, proofs, time.time())
        if due is None:
            return False
        volume_proofs.save(kept, volume_proofs.prove(due, proofs, time.time, wait))
    return True


class RecordsJob:
    """One of the two things done here, piece by piece; what hinders it is said once."""

    def __init__(self, trouble: str, begin: Callable[[], Iterator[bool]]) -> None:
        """`trouble`: what is told where it is hindered. `begin`: yields after each piece whether
        there may be more; it is called again after it raised JournalError or OSError."""
        self._trouble = trouble
        self._begin = begin
        self._pieces = begin()
        self._again_s = 0.0
        self._said = ""
        self._is_hindered = False

    def __call__(self) -> bool:
        """Do a piece; return whether there may be more."""
        if self._is_hindered and time.monotonic() < self._again_s:
            return False
        try:
            has_more = next(self._pieces)
        except (JournalError, OSError) as error:
            line = error.line() if isinstance(error, JournalError) else str(error)
            if line != self._said:
                sys.stderr.write(f"records: {self._trouble}: {line}\n")
            self._said, self._is_hindered = line, True
            self._pieces = self._begin()
            self._again_s = time.monotonic() + _AGAIN_AFTER_S
            return False
        self._said, self._is_hindered = "", False
        return has_more


def _verifying(paths: list[Path]) -> Iterator[bool]:
    while True:
        yield verify_next(paths)


def _following(journal: Path) -> Iterator[bool]:
    with contextlib.closing(RecordTables(journal)) as tables:
        while True:
            yield tables.keep_up()


def main() -> None:
    """Run until the service ends. The first line of standard input names the copies."""
    paths = [Path(path) for path in json.loads(sys.stdin.readline())]
    os.setpriority(os.PRIO_PROCESS, 0, max(NICE, os.getpriority(os.PRIO_PROCESS, 0)))
    while True:
        try:
            with contextlib.closing(JournalLock(place(paths[0]))):
                _work(paths)
        except RefusedError:  # that of a service which was killed has not ended yet
            wait(PAUSE_S)
        except (JournalError, OSError) as error:
            # The service notices by itself what it needs to know of; here it is tried again.
            sys.stderr.write(f"records: {error}\n")
            wait(_AGAIN_AFTER_S)


def _work(paths: list[Path]) -> None:
    """Verify and keep up until the service ends. A volume goes first: `open` may wait for it."""
    verify = RecordsJob("the volumes are not verified", lambda: _verifying(paths))
    follow = RecordsJob("the tables are not kept up", lambda: _following(paths[0]))
    while True:
        is_due, has_more = verify(), follow()
        wait(0.0 if is_due or has_more else PAUSE_S)


if __name__ == "__main__":
    main()
