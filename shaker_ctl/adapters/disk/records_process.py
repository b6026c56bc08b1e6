"""The records process: `python -P -m shaker_ctl.adapters.disk.records_process`.

Owns what is done with the journal beside the play, by reading alone. It follows the chain and keeps
the tables beside it up to date; and it verifies every closed volume of both copies, again and
again. It looks over the tables when it takes them up, and every half hour. It is started by the
service and ends with it: its standard input closes then. What it finds, it leaves in files beside
the journal. One such process is at them: the next one waits at a lock until it has ended.

The two take turns, a volume and some records at a time. If one fails, it logs the reason and
retries; the other one goes on.

A table is not opened before every closed volume is verified, so nothing is played then, and the
process works at the priority of any other program: on a busy computer an idle one would never get
there. From then on it works at idle priority.
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

LOOK_OVER_S = 1800.0
"""Seconds between two looks at every row of the tables. In between, a reader that meets damage
answers nothing."""

_AGAIN_AFTER_S = 10.0
"""Seconds before a file that could not be used is tried again."""

_REST_SHARE = 3.0
"""If the system refuses idle priority: rest so many times as long as the last work took."""


class Backoff:
    """Keeps this process out of the way of the one that plays, and ends it with that."""

    def __init__(self) -> None:
        self._is_beside_play = False
        self._is_granted = _ordinary_priority()
        self._began_s = time.monotonic()

    def begin_play(self) -> None:
        """Turn to idle priority, for good: from now on the table may be played."""
        if not self._is_beside_play:
            self._is_beside_play = True
            self._is_granted = _idle_priority()

    def __call__(self) -> None:
        """Call now and then during long work."""
        if self._is_granted:
            self.wait(0.0)
            return
        worked_s = time.monotonic() - self._began_s
        self.wait(min(1.0, _REST_SHARE * worked_s))
        self._began_s = time.monotonic()

    @staticmethod
    def wait(seconds: float) -> None:
        """Wait, and end the process where the service has ended."""
        if select.select([sys.stdin], [], [], seconds)[0]:
            raise SystemExit(0)


def _ordinary_priority() -> bool:
    """Run as any other program, below the service; return whether the system agreed."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, max(0, os.getpriority(os.PRIO_PROCESS, 0)))
    except OSError:
        return False
    return True


def _idle_priority() -> bool:
    """Run only when nobody else wants to; return whether the system agreed."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:
        with contextlib.suppress(OSError):
            os.nice(19)
            return True
        return False
    return True


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


def verify_next(paths: list[Path], rest: Backoff) -> bool:
    """Verify one volume that is due; return whether there was one."""
    kept = volume_proofs.place(paths[0])
    proofs = volume_proofs.load(kept)
    with opened(paths) as copies:
        due = volume_proofs.next_due(copies, proofs, time.time())
        if due is None:
            return False
        volume_proofs.save(kept, volume_proofs.prove(due, proofs, time.time, rest))
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
        self.is_hindered = False

    def __call__(self) -> bool:
        """Do a piece; return whether there may be more."""
        if self.is_hindered and time.monotonic() < self._again_s:
            return False
        try:
            has_more = next(self._pieces)
        except (JournalError, OSError) as error:
            line = error.line() if isinstance(error, JournalError) else str(error)
            if line != self._said:
                sys.stderr.write(f"records: {self._trouble}: {line}\n")
            self._said, self.is_hindered = line, True
            self._pieces = self._begin()
            self._again_s = time.monotonic() + _AGAIN_AFTER_S
            return False
        self._said, self.is_hindered = "", False
        return has_more


def _verifying(paths: list[Path], rest: Backoff) -> Iterator[bool]:
    while True:
        yield verify_next(paths, rest)


def _following(journal: Path) -> Iterator[bool]:
    with contextlib.closing(RecordTables(journal)) as tables:
        looked_s = time.monotonic()
        while True:
            yield tables.keep_up()
            if time.monotonic() - looked_s > LOOK_OVER_S:
                tables.look_over()
                looked_s = time.monotonic()


def main() -> None:
    """Run until the service ends. The first line of standard input names the copies."""
    paths = [Path(path) for path in json.loads(sys.stdin.readline())]
    rest = Backoff()
    while True:
        try:
            with contextlib.closing(JournalLock(place(paths[0]))):
                _work(paths, rest)
        except RefusedError:  # that of a service which was killed has not ended yet
            rest.wait(PAUSE_S)
        except (JournalError, OSError) as error:
            # The service notices by itself what it needs to know of; here it is tried again.
            sys.stderr.write(f"records: {error}\n")
            rest.wait(_AGAIN_AFTER_S)


def _work(paths: list[Path], rest: Backoff) -> None:
    """Verify and keep up until the service ends. A volume goes first: `open` may wait for it."""
    verify = RecordsJob("the volumes are not verified", lambda: _verifying(paths, rest))
    follow = RecordsJob("the tables are not kept up", lambda: _following(paths[0]))
    while True:
        is_due = verify()
        if not is_due and not verify.is_hindered:
            rest.begin_play()
        has_more = follow()
        rest()
        if not is_due and not has_more:
            rest.wait(PAUSE_S)


if __name__ == "__main__":
    main()
