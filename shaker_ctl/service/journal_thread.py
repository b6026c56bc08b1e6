"""The threads that write the journal: record, sync, then say so.

Owns the queue between the state thread, which never waits, and the media, which may take their
time. The main copy comes first and releases; the second copy follows on a thread of its own, so
that a slow stick does not slow the table. A third thread watches the deadlines.

Nothing handed over is forgotten: when the medium fails, what was not written stays queued in order
and nothing later overtakes it. `resume` tries again after a person has mended the medium.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime

from shaker_ctl.errors import JournalError, JournalWriteError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Head, Record, link
from shaker_ctl.ports import Clock, JournalStore


@dataclass(frozen=True, slots=True)
class _Pending:
    entry: Entry
    monotonic_s: float
    wall: str
    synced: Future[Record]


@dataclass(frozen=True, slots=True)
class JournalHealth:
    """How the journal does, for screens. Times in seconds."""

    head: Head
    waiting: int
    slowest_sync_s: float
    second_behind: int
    fault: str


class JournalThread:
    """Appends in order, in batches, and resolves each future when its record is synced."""

    def __init__(
        self,
        *,
        main: JournalStore,
        second: JournalStore | None,
        clock: Clock,
        parameters: JournalParameters,
        digests: Mapping[str, str],
        on_fault: Callable[[JournalError], None],
    ) -> None:
        """`digests`: software, model, settings and profile, put into every record. `on_fault` is
        called from this object's threads, once per fault, and must return at once.
        """
        self._main = main
        self._second = second
        self._clock = clock
        self._p = parameters
        self._digests = dict(digests)
        self._on_fault = on_fault

        self._changed = threading.Condition()
        self._queue: deque[_Pending] = deque()
        self._copies: deque[tuple[float, Record]] = deque()
        self._head = main.head()
        self._writing_since_s: float | None = None
        self._slowest_s = 0.0
        self._fault: JournalError | None = None
        self._second_fault: JournalError | None = None
        self._closing = False
        self._threads = [
            threading.Thread(target=self._write_main, name="journal", daemon=True),
            threading.Thread(target=self._watch, name="journal-watch", daemon=True),
        ]
        if second is not None:
            self._threads.append(
                threading.Thread(target=self._write_second, name="journal-second", daemon=True)
            )

    def start(self) -> None:
        """Begin to write."""
        for thread in self._threads:
            thread.start()

    def append(self, entry: Entry) -> Future[Record]:
        """Queue an entry and return at once. The future resolves when it is synced to the medium.

        It resolves in the writer's thread: let its callback only hand over. While the journal is at
        fault it stays open, for the entry is neither written nor lost.
        """
        wall_s = self._clock.wall()
        pending = _Pending(
            entry,
            self._clock.monotonic(),
            datetime.fromtimestamp(wall_s, UTC).isoformat(timespec="milliseconds"),
            Future(),
        )
        with self._changed:
            self._queue.append(pending)
            self._changed.notify_all()
        return pending.synced

    def health(self) -> JournalHealth:
        """Return how the journal does now."""
        with self._changed:
            fault = self._fault or self._second_fault
            return JournalHealth(
                self._head,
                len(self._queue),
                self._slowest_s,
                len(self._copies),
                "" if fault is None else fault.line(),
            )

    def resume(self) -> None:
        """Try again after a person has mended the medium: what waits is written in its order."""
        with self._changed:
            self._fault = None
            self._second_fault = None
            self._changed.notify_all()

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write what waits, then end. Return False where something could not be written in time.

        A journal at fault gets one last try: the medium may have come back.
        """
        with self._changed:
            self._closing = True
            self._fault = None
            self._second_fault = None
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=timeout_s)
        with self._changed:
            return not self._queue and not self._copies

    # ── The main copy ───────────────────────────────────────────────────────

    def _write_main(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: (self._queue and not self._fault) or self._closing, timeout=None
                )
                if not self._queue or self._fault:
                    return
                batch = [self._queue[i] for i in range(min(len(self._queue), self._p.batch))]
                self._writing_since_s = self._clock.monotonic()
                self._changed.notify_all()
            self._write_batch(batch)

    def _write_batch(self, batch: list[_Pending]) -> None:
        records: list[Record] = []
        head = self._head
        for pending in batch:
            record = link(
                head,
                pending.entry,
                monotonic_s=pending.monotonic_s,
                wall=pending.wall,
                digests=self._digests,
            )
            records.append(record)
            head = Head(record.sequence, record.hash)
        try:
            self._main.write(records)
        except JournalError as error:
            self._end_write(error)
            return
        now_s = self._clock.monotonic()
        with self._changed:
            for _ in batch:
                self._queue.popleft()
            self._head = head
            if self._second is not None:
                self._copies.extend((now_s, record) for record in records)
        self._end_write(None)
        for pending, record in zip(batch, records, strict=True):
            pending.synced.set_result(record)

    def _end_write(self, error: JournalError | None) -> None:
        with self._changed:
            if self._writing_since_s is not None:
                took_s = self._clock.monotonic() - self._writing_since_s
                self._slowest_s = max(self._slowest_s, took_s)
            self._writing_since_s = None
            is_news = error is not None and self._fault is None
            if error is not None:
                self._fault = error
            self._changed.notify_all()
        if is_news and error is not None and not self._closing:
            self._on_fault(error)

    # ── The second copy ─────────────────────────────────────────────────────

    def _write_second(self) -> None:
        assert self._second is not None
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: (self._copies and not self._second_fault) or self._closing
                )
                if not self._copies or self._second_fault:
                    return
                batch = [self._copies[i][1] for i in range(min(len(self._copies), self._p.batch))]
            try:
                self._second.write(batch)
            except JournalError as error:
                self._fault_second(error)
                continue
            with self._changed:
                for _ in batch:
                    self._copies.popleft()
                self._changed.notify_all()

    def _fault_second(self, error: JournalError) -> None:
        with self._changed:
            is_news = self._second_fault is None
            self._second_fault = error
        if is_news and not self._closing:
            self._on_fault(error)

    # ── The deadlines ───────────────────────────────────────────────────────

    def _watch(self) -> None:
        """Notice a medium that neither writes nor refuses.

        It is left to finish: what a late sync has written is released, since it is on the medium.
        What stands behind it waits for `resume`.
        """
        while True:
            with self._changed:
                if self._closing and self._writing_since_s is None:
                    return
                busy = self._writing_since_s is not None or bool(self._copies)
                self._changed.wait(timeout=0.1 if busy else None)
                hung = self._overdue(self._writing_since_s, self._p.sync_deadline_s)
                oldest_s = self._copies[0][0] if self._copies else None
                lags = self._overdue(oldest_s, self._p.second_lag_s)
                hung = hung and self._fault is None
                lags = lags and self._second_fault is None
            if hung:
                self._report_hang()
            if lags:
                self._fault_second(
                    JournalWriteError(
                        f"the second journal {self._p.second} lags "
                        f"{self._p.second_lag_s:g} s behind",
                        remedy="Check its medium, then: shaker-ctl journal rebuild --second",
                    )
                )

    def _overdue(self, since_s: float | None, limit_s: float) -> bool:
        return since_s is not None and self._clock.monotonic() - since_s > limit_s

    def _report_hang(self) -> None:
        error = JournalWriteError(
            f"a sync of the journal {self._p.path} has taken longer than "
            f"{self._p.sync_deadline_s:g} s",
            remedy="Check its medium (dmesg), then clear the fault at the technician's console",
        )
        with self._changed:
            if self._fault is not None:
                return
            self._fault = error
        self._on_fault(error)
