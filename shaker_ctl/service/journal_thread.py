"""The threads that write the journal: record, sync, then report.

Owns the queue between the state thread, which never waits, and the media, which may be slow. One
thread links what was appended to the chain. Each copy has a thread that writes and syncs, and so
have the pictures; a fifth watches the deadlines.

A record is kept, and what waits for it released, once the first of two media has it; so a card that
stalls for seconds delays no lamp. The other medium must follow within `second_lag_s`. With
`kept_by_either` off, or one medium, it is the main copy that keeps, and the second follows it.

No record is lost. If the medium fails, the unwritten records stay queued in order, no later record
overtakes them, and `close` tries once more. What people do meanwhile at the consoles is queued
behind them, up to a bound.

A picture is written before its record, so that a killed service loses none. On a card that stalls
it follows its record: no picture delays a lamp.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from shaker_ctl.errors import JournalError, JournalWriteError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Head, Record, checked, link
from shaker_ctl.journal.recovery import IN_FLIGHT
from shaker_ctl.ports import Clock, JournalHealth, JournalStore, Pictures, PictureStore

log = logging.getLogger(__name__)

Synced = Callable[[int], None]

BATCH = 64
"""Most records that share one sync: more would make a sync after a jam longer."""

MAX_WAITING = 1000
"""Records that say what happened while the journal was at fault. Of more, only the number is kept:
anybody can type wrong passphrases for hours."""

PICTURE_WAIT_S = 0.2
"""How long a record waits for its pictures to be written, unsynced: some milliseconds, unless their
medium stalls."""

NOT_KEPT = {"note": "not-kept", "actor": {"name": "?", "role": None, "port": None}}


@frozen
class _Pending:
    entry: Entry | str
    """What to record; a gaming day where the next volume begins here."""
    monotonic_s: float
    wall: str
    pictures: Pictures | None
    synced: Synced | None


@dataclass(eq=False)
class _Copy:
    """One medium, and what it has yet to write."""

    store: JournalStore
    due: deque[tuple[float, Record]] = field(default_factory=deque)
    """Each since when, seconds of the clock."""
    busy_since_s: float | None = None
    """Since when it is written, or read back."""

    def batch(self) -> list[Record]:
        """What is written next."""
        return [record for _, record in islice(self.due, BATCH)]

    def drop_written(self) -> list[Record]:
        """Forget what the medium has, and return it: of a batch over two volumes that can be a
        part."""
        last, dropped = self.store.head().sequence, []
        while self.due and self.due[0][1].sequence <= last:
            dropped.append(self.due.popleft()[1])
        return dropped


class JournalThread:
    """Appends in order, in batches, and calls back when each record is synced."""

    def __init__(
        self,
        *,
        main: JournalStore,
        second: JournalStore | None,
        pictures: PictureStore | None,
        clock: Clock,
        parameters: JournalParameters,
        digests: Mapping[str, str],
        on_fault: Callable[[JournalError], None],
        run: Mapping[str, Any] | None = None,
    ) -> None:
        """`digests`: software, model, settings and profile, put into every record. `run`: what each
        new volume says of the run that it is written in. `on_fault` is called from this object's
        threads, at most once for the main copy and once for what follows it, and must return at
        once.
        """
        self._main = _Copy(main)
        self._second = None if second is None else _Copy(second)
        self._pictures = pictures
        self._clock = clock
        self._p = parameters
        self._digests = dict(digests)
        self.run: Mapping[str, Any] = dict(run or {})
        """What a start looks back for: the opening says it, and each new volume again."""
        self._on_fault = on_fault

        self._changed = threading.Condition()
        self._queue: deque[_Pending] = deque()
        self._shots: deque[tuple[float, tuple[int, int, Pictures]]] = deque()
        """Pictures to write: since when, and of which round and record."""
        self._unsettled = False
        self._check_wanted = False
        self._linking_since_s: float | None = None
        self._linked = self._kept = main.head()
        """Where the chain ends, and the last record that is on a medium that keeps it."""
        self._unreleased: deque[tuple[int, Synced]] = deque()
        self._releasing = threading.Lock()
        self._keepers = [self._main]
        """The copies of which the first one that has a record keeps it."""
        if self._second is not None and parameters.kept_by_either:
            self._keepers.append(self._second)
        self._fault: JournalError | None = None
        self._second_fault: JournalError | None = None
        self._waiting = self._uncounted = 0
        """Of the records that came while the journal was at fault: how many wait, and the rest."""
        self._closing = self._all_linked = self._main_ended = False
        self._threads = [
            threading.Thread(target=self._link, name="journal-link", daemon=True),
            threading.Thread(target=self._write_main, name="journal", daemon=True),
            threading.Thread(target=self._follow, name="journal-second", daemon=True),
            threading.Thread(target=self._keep_pictures, name="journal-picture", daemon=True),
            threading.Thread(target=self._watch, name="journal-watch", daemon=True),
        ]

    def know_of_run(self, facts: Mapping[str, Any]) -> None:
        """Put more about this run into opening and volumes; see `run`."""
        with self._changed:
            self.run = {**self.run, **facts}

    def start(self) -> None:
        """Begin to write."""
        for thread in self._threads:
            thread.start()

    def append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        pictures: Pictures | None = None,
        synced: Synced | None = None,
        waits: bool = False,
    ) -> None:
        """Queue a record and return at once; `synced(sequence)` follows from the writer's thread,
        in order, once the record is on the medium. Let it only hand over.

        `waits`: it says what has happened already. While the journal is at fault it waits, with its
        time, for the first write that succeeds.

        Else raises JournalWriteError (or JournalCorruptError) when the journal has already failed;
        ValueError or TypeError where `body` has no JSON form or uses a reserved key.
        """
        pending = self._pending(checked(kind, body), pictures, synced)
        with self._changed:
            if self._fault is not None:
                if not waits:
                    raise self._fault
                if self._waiting == MAX_WAITING:
                    self._uncounted += 1
                    return
                self._waiting += 1
            self._queue.append(pending)
            self._changed.notify_all()

    def turn_volume(self, day: str) -> None:
        """Begin the next volume behind what was appended so far; returns at once.

        `day`: its gaming day. Nothing happens in an empty journal, or one that has failed.
        """
        pending = self._pending(day)
        with self._changed:
            if self._fault is None and not self._closing and (self._linked.sequence or self._queue):
                self._queue.append(pending)
                self._changed.notify_all()

    def _pending(
        self, entry: Entry | str, pictures: Pictures | None = None, synced: Synced | None = None
    ) -> _Pending:
        wall = datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="milliseconds")
        return _Pending(entry, self._clock.monotonic(), wall, pictures, synced)

    def check_soon(self) -> None:
        """Have the newest records read back, before and after each round (O-5); returns at once."""
        with self._changed:
            self._check_wanted = True
            self._changed.notify_all()

    def retry_second(self) -> None:
        """Write on to the second copy after a fault of it; a new one is told again.

        Nothing has been forgotten meanwhile: what the main copy has beyond it still waits.
        """
        with self._changed:
            if self._second_fault is None:
                return
            self._second_fault = None
            now_s = self._clock.monotonic()
            self._shots = deque((now_s, shot) for _, shot in self._shots)
            if self._second is not None:
                self._second.due = deque((now_s, record) for _, record in self._second.due)
            self._changed.notify_all()

    def health(self) -> JournalHealth:
        """Return how the journal does now."""
        with self._changed:
            fault = self._fault or self._second_fault
            return JournalHealth(
                self._kept,
                len(self._queue) + len(self._main.due),
                None if self._second is None else len(self._second.due),
                "" if fault is None else fault.line(),
                self._fault is not None,
            )

    def close(self, timeout_s: float = 5.0, *, last: Entry | None = None) -> bool:
        """Write what waits, and `last` behind it, then end. Return False where something could not
        be written in time.

        A journal at fault gets one last try: the medium may have come back.
        """
        with self._changed:
            if self._uncounted and not self._closing:
                text = f"{self._uncounted} more records waited for the journal than it keeps"
                self._queue.append(self._pending(checked("console", {**NOT_KEPT, "text": text})))
            if last is not None and not self._closing:
                self._queue.append(self._pending(last))
            self._closing = True
            self._fault = None
            self._second_fault = None
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=timeout_s)
        with self._changed:
            written = self._second is None or not self._second.due
            return written and not self._queue and not self._main.due and not self._shots

    # ── The chain ───────────────────────────────────────────────────────────

    def _link(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._can_link)
                if self._fault is not None or not self._queue:
                    self._all_linked = True
                    self._changed.notify_all()
                    return
                batch = self._next_batch()
                self._linking_since_s = self._clock.monotonic()
                self._changed.notify_all()
            try:
                records = self._chained(batch)
                with self._changed:
                    self._changed.wait_for(lambda: not self._shots, PICTURE_WAIT_S)
            except JournalError as error:
                self._linking_since_s = None
                self._fail_main(error)
            else:
                self._hand_on(batch, records)

    def _can_link(self) -> bool:
        """Whether something may be linked now. A volume's record says where the one before it ended
        on the main copy. No copy may end farther behind the other than a start catches up."""
        if self._fault is not None or not self._queue:
            return self._closing
        begins_volume = isinstance(self._queue[0].entry, str)
        return len(self._main.due) <= (0 if begins_volume else IN_FLIGHT - BATCH)

    def _next_batch(self) -> list[_Pending]:
        """What is written next: a volume begins a batch, never stands inside of one."""
        batch: list[_Pending] = []
        for pending in islice(self._queue, BATCH):
            if batch and isinstance(pending.entry, str):
                break
            batch.append(pending)
        return batch

    def _chained(self, batch: list[_Pending]) -> list[Record]:
        records: list[Record] = []
        head = self._linked
        for pending in batch:
            saved: Mapping[str, Any] = {}
            entry = pending.entry
            if isinstance(entry, str):
                entry = self._main.store.next_volume(entry, self.run)
            if pending.pictures is not None and self._pictures is not None:
                shot = entry.round or 0, head.sequence + 1, pending.pictures
                saved = self._pictures.named(*shot)
                with self._changed:
                    self._shots.append((self._clock.monotonic(), shot))
                    self._changed.notify_all()
            record = link(
                head,
                entry,
                monotonic_s=pending.monotonic_s,
                wall=pending.wall,
                digests=self._digests,
                pictures=saved,
            )
            records.append(record)
            head = Head(record.sequence, record.hash)
        return records

    def _hand_on(self, batch: list[_Pending], records: list[Record]) -> None:
        with self._changed:
            now_s = self._clock.monotonic()
            for pending, record in zip(batch, records, strict=True):
                self._queue.popleft()
                if pending.synced is not None:
                    self._unreleased.append((record.sequence, pending.synced))
                for copy in self._keepers:
                    copy.due.append((now_s, record))
            self._linking_since_s = None
            self._linked = Head(records[-1].sequence, records[-1].hash)
            self._unsettled = self._unsettled or any(p.pictures for p in batch)
            self._changed.notify_all()

    # ── The main copy ───────────────────────────────────────────────────────

    def _write_main(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._main_has_work)
                if self._fault is not None or not (self._main.due or self._check_wanted):
                    self._main_ended = True
                    self._changed.notify_all()
                    return
                checks, self._check_wanted = self._check_wanted, False
            try:
                self._write(self._main)
                if checks:
                    with self._timed(self._main):
                        self._main.store.check_tail()
            except JournalError as error:
                self._fail_main(error)

    def _main_has_work(self) -> bool:
        if self._fault is not None:
            return self._closing
        return bool(self._main.due or self._check_wanted) or self._all_linked

    def _write(self, copy: _Copy) -> None:
        """Write what is due to a copy, and release what is kept by it."""
        with self._changed:
            batch = copy.batch()
        try:
            if batch:
                with self._timed(copy):
                    copy.store.write(batch)
        finally:
            with self._changed:
                written = copy.drop_written()
                if self._second is not None and self._second not in (copy, *self._keepers):
                    now_s = self._clock.monotonic()
                    self._second.due.extend((now_s, record) for record in written)
                if copy in self._keepers:
                    self._kept = max(self._kept, copy.store.head(), key=lambda head: head.sequence)
                self._changed.notify_all()
            self._release()

    @contextmanager
    def _timed(self, copy: _Copy) -> Iterator[None]:
        """Have the watch see how long something with a copy takes."""
        with self._changed:
            copy.busy_since_s = self._clock.monotonic()
            self._changed.notify_all()
        try:
            yield
        finally:
            copy.busy_since_s = None

    def _release(self) -> None:
        with self._releasing:  # two copies keep in turn, and in order
            with self._changed:
                kept = self._kept.sequence
                released = []
                while self._unreleased and self._unreleased[0][0] <= kept:
                    released.append(self._unreleased.popleft())
            for sequence, synced in released:
                try:
                    synced(sequence)
                except Exception:
                    # The record stands; a defect of the receiver must not end the writing of
                    # others.
                    log.exception("what record %d released has failed", sequence)

    def _fail_main(self, error: JournalError) -> None:
        with self._changed:
            is_news = self._fault is None and not self._closing
            self._fault = self._fault or error
            self._changed.notify_all()
        if is_news:
            self._on_fault(error)

    # ── The second copy ─────────────────────────────────────────────────────

    def _follow(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._follower_has_work)
                if self._second is None or self._second_fault or not self._second.due:
                    return
            try:
                self._write(self._second)
            except JournalError as error:
                self._fail_second(error)

    def _follower_has_work(self) -> bool:
        if self._second_fault is not None:
            return self._closing
        return self._second_due() or self._main_ended

    def _second_due(self) -> bool:
        return self._second is not None and bool(self._second.due)

    def _fail_second(self, error: JournalError) -> None:
        with self._changed:
            is_news = self._second_fault is None and not self._closing
            self._second_fault = error
            self._changed.notify_all()
        if is_news:
            self._on_fault(error)

    # ── The pictures ────────────────────────────────────────────────────────

    def _keep_pictures(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_pictures)
                has_work = self._shots or self._unsettled
                if self._pictures is None or self._second_fault is not None or not has_work:
                    return
                shot = self._shots[0][1] if self._shots else None
            try:
                if shot is not None:
                    self._pictures.save(*shot)
                else:
                    self._unsettled = False
                    self._pictures.settle()
            except JournalError as error:
                self._fail_second(error)
                continue
            with self._changed:
                if shot is not None:
                    self._shots.popleft()
                self._changed.notify_all()

    def _has_pictures(self) -> bool:
        if self._second_fault is not None:
            return self._closing
        return bool(self._shots) or self._unsettled or self._all_linked

    # ── The deadlines ───────────────────────────────────────────────────────

    def _watch(self) -> None:
        """Notice a medium that neither writes nor refuses.

        It is left to finish: what a late sync has written is released, since it is on the medium.
        What stands behind it waits for `close`.
        """
        while True:
            with self._changed:
                if self._closing:
                    return
                began = (self._main.busy_since_s, self._linking_since_s)
                is_due = self._second_due() or bool(self._shots)
                busy = any(each is not None for each in began) or is_due
                self._changed.wait(timeout=0.1 if busy else None)
                if self._closing:  # its last try begins without a fault
                    return
                error = self._hang() if self._is_hung() and self._fault is None else None
                lag = self._lag() if self._second_fault is None else None
                self._fault = self._fault or error
                self._second_fault = self._second_fault or lag
                self._changed.notify_all()
            for fault in filter(None, (error, lag)):
                self._on_fault(fault)

    def _is_hung(self) -> bool:
        """Whether no copy that keeps records answers within its time, the main one lags, or what
        both wait for takes too long: the end of a volume."""
        keepers = self._keepers[:1] if self._second_fault is not None else self._keepers
        stall_s, lag_s = self._p.sync_deadline_s, self._p.second_lag_s
        main_s = self._main.busy_since_s
        return (
            self._overdue(self._linking_since_s, stall_s)
            or all(self._overdue(copy.busy_since_s, stall_s) for copy in keepers)
            or (len(keepers) > 1 and self._overdue(main_s, max(stall_s, lag_s)))
        )

    def _overdue(self, since_s: float | None, limit_s: float) -> bool:
        return since_s is not None and self._clock.monotonic() - since_s > limit_s

    def _hang(self) -> JournalWriteError:
        return JournalWriteError(
            f"a sync of the journal {self._p.path} takes longer than {self._p.sync_deadline_s:g} s",
            remedy="Check its medium (dmesg), then start again",
        )

    def _lag(self) -> JournalWriteError | None:
        """What follows the records too late, if anything does."""
        second = self._second.due if self._second is not None else ()
        rebuild = "Check its medium, then: shaker-ctl journal rebuild --second"
        for due, what, remedy in (
            (second, f"the second journal {self._p.second} lags", rebuild),
            (self._shots, f"pictures in {self._p.pictures} lag", "Check their medium (dmesg)"),
        ):
            if due and self._overdue(due[0][0], self._p.second_lag_s):
                text = f"{what} {self._p.second_lag_s:g} s behind"
                return JournalWriteError(text, remedy=remedy)
        return None
