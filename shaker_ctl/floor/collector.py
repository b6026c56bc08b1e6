"""The collector: takes what tables hand over, proves it, commits it, and only then says so.

Owns the order: judge, commit, acknowledge. The acknowledgement is the floor's word that a database
has the records on its disk; nothing else moves a table's cursor. A table whose history contradicts
the floor's is taken no further until a named person accepts it.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

from shaker_ctl.errors import ShakerError
from shaker_ctl.floor.judgement import Contradiction, judge
from shaker_ctl.floor.leases import Leases
from shaker_ctl.floor.metrics import Figures, TableFigures
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.floor.store import Store, StoredTable, StoreError
from shaker_ctl.floor.tables import MAX_CODE, ShownTable, Tables
from shaker_ctl.journal.record import Head, genesis
from shaker_ctl.link import packing, topics
from shaker_ctl.link.connection import Connection
from shaker_ctl.link.packing import Batch, Have, ProtocolError
from shaker_ctl.link.topics import Place
from shaker_ctl.rules.vocabulary import Ending, Source

log = logging.getLogger(__name__)

TURN_S = 0.05
"""Between two looks at the network: what came meanwhile is read together. A table waits for its
receipt that much longer; to wake for each message would cost a third of the processor time."""
COMMIT_S = 0.2
"""Records wait so long for others to share a commit."""
ENOUGH_BYTES = 16 * 1024 * 1024
"""Bytes of records that wait. With more, a commit is due at once, and nothing more is read."""
_ENDINGS = frozenset(word.value for word in Ending)
_SOURCES = frozenset(word.value for word in Source)
"""A table that makes words up must not make figures without end."""
_RECORD_BYTES = 500
"""What Python needs for a record beside its body."""
LOOK_S = 5.0
"""Between two looks at what people decided meanwhile, and at which tables are whose."""
TAKE_S = 0.5
"""Between two looks at which tables are whose while new ones come."""
REMOVE_S = 3600.0
"""Between two looks for records that are too old."""
TELL_S = 10.0
"""Between two lines of the log about refused messages of one table."""
PAUSE_S = 1.0
"""After the database refused."""


class Collector:
    """One collector. `run` until told to stop."""

    def __init__(self, parameters: FloorParameters) -> None:
        """Raises SettingsError, StoreError."""
        self._p = parameters
        self.run_id = secrets.token_hex(8)
        self.tables = Tables(parameters.site)
        self.figures = Figures(lambda: self._connection.is_connected)
        self.figures.registry.register(TableFigures(self.shown, self.histories))
        self._store = Store(parameters.store, parameters.site)
        self._leases = Leases(parameters.store, parameters.site)
        self._ours: set[str] = set()
        """Tables that we listen to."""
        self._kept: dict[Place, StoredTable] = {}
        self._pending: dict[Place, Batch] = {}
        """The newest batch of each table: what came before it, it says again."""
        self._pending_bytes = 0
        self._first_s = 0.0
        self._not_before_s = 0.0
        self._look_s = 0.0
        self._divide_s = 0.0
        self._remove_s = 0.0
        self._told_s: dict[Place, float] = {}
        self._connection = Connection(
            parameters,
            f"collector-{self.run_id}",
            connected=self._connected,
            received=self._received,
            # No topic needs more than QoS 0: what is lost is sent again, and each message is one
            # packet less.
            subscriptions=[(f"{topics.ROOT}/{parameters.site}/+/{topics.BIRTH}", 0)],
        )

    def run(self, is_over: Callable[[], bool]) -> None:
        """Collect until `is_over` says so, whatever broker and database do."""
        try:
            while not is_over():
                self.turn()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of broker, tables and database."""
        self._connection.close()
        self._leases.close()
        self._store.close()

    def turn(self) -> None:
        """Take what has come, and commit what is due."""
        if self._connection.is_connected:
            time.sleep(TURN_S)
            self._connection.turn(0.0, self._has_enough)
        else:
            self._connection.turn(TURN_S)
        now_s = time.monotonic()
        is_due = now_s >= self._first_s + COMMIT_S or self._has_enough()
        if self._pending and is_due and now_s >= self._not_before_s:
            pending, self._pending, self._pending_bytes = self._pending, {}, 0
            self._commit(pending)
        if self._connection.is_connected:
            if now_s >= self._divide_s:
                self._divide_s = now_s + LOOK_S
                self._divide()
            if now_s >= self._look_s:
                self._look_s = now_s + LOOK_S
                self._look()

    def _has_enough(self) -> bool:
        return self._pending_bytes >= ENOUGH_BYTES

    def histories(self) -> dict[str, str]:
        """Tables whose history contradicts the floor's, and how. From any thread."""
        return {place.table: kept.alarm for place, kept in list(self._kept.items()) if kept.alarm}

    def shown(self) -> dict[str, ShownTable]:
        """The tables that this collector has. From any thread."""
        return {name: one for name, one in list(self.tables.by_name.items()) if name in self._ours}

    # ── Which tables are ours ───────────────────────────────────────────────

    def _connected(self) -> None:
        self._ours = set()
        self._kept.clear()
        self.tables.forget()
        self._divide_s = 0.0
        log.info("connected to %s", self._connection.at)

    def _divide(self) -> None:
        """Listen to the tables that are ours from now on, and no more to those that are not."""
        self._leases.divide(self.tables.by_name)
        ours = set(self._leases.held)
        gone, new = self._ours - ours, ours - self._ours
        self._ours = ours
        for table in gone:
            place = Place(self._p.site, table)
            self._connection.unsubscribe(_heard(place))
            self._kept.pop(place, None)
            if (left := self._pending.pop(place, None)) is not None:
                self._pending_bytes -= _bytes_of(left)
            self.tables.by_name[table] = ShownTable(place, self.tables.by_name[table].birth)
        for table in new:
            place = Place(self._p.site, table)
            self._connection.subscribe(_heard(place))
            self._welcome(place)
        if gone or new:
            log.info("%d tables are taken, %d left, %d ours", len(new), len(gone), len(ours))

    def _welcome(self, place: Place) -> None:
        """Say what the floor has of a table's journal: it sends what follows."""
        self._kept.pop(place, None)
        try:
            kept = self._stands(place)
        except StoreError as error:
            self._failed(error)
            return
        if kept.line is not None:
            self._acknowledge(place, kept.line)
            return
        if (birth := self.tables.by_name[place.table].birth) is not None:
            identity = birth["identity"]
            self._acknowledge(place, Have(identity, genesis(identity)))

    # ── What comes ──────────────────────────────────────────────────────────

    def _received(self, topic: str, payload: bytes) -> None:
        self.figures.heard_s = time.monotonic()
        found = topics.parsed(topic)
        if found is None or found[0].site != self._p.site:
            return
        place, kind = found
        is_ours = place.table in self._ours
        if not is_ours and kind != topics.BIRTH:
            return
        self.figures.messages.inc()
        shown = self.tables.take(topic, payload)
        if shown is None:
            return
        refused_before = shown.refused
        try:
            if kind == topics.JOURNAL:
                self._take(place, packing.unpack(payload))
            elif kind == topics.BIRTH and is_ours:
                self._welcome(place)
            elif kind == topics.BIRTH:
                self._divide_s = min(self._divide_s, time.monotonic() + TAKE_S)
        except ProtocolError as error:
            shown.refuse(error)
        except StoreError as error:
            self._failed(error)
        if shown.refused > refused_before:
            self.figures.refused.inc()
            self._tell_refused(shown, kind[:MAX_CODE])

    def _tell_refused(self, shown: ShownTable, kind: str) -> None:
        """Name who sent what none of ours sends; a flood of it must not fill the log."""
        now_s = time.monotonic()
        if now_s >= self._told_s.get(shown.place, 0.0) + TELL_S:
            self._told_s[shown.place] = now_s
            log.warning(
                "refused from %s on %s, %d so far: %s",
                *(shown.place.table, kind, shown.refused, shown.why_refused),
            )

    def _take(self, place: Place, batch: Batch) -> None:
        if not self._pending:
            self._first_s = time.monotonic()
        if (older := self._pending.get(place)) is not None:
            self._pending_bytes -= _bytes_of(older)
        self._pending[place] = batch
        self._pending_bytes += _bytes_of(batch)

    # ── Judge, commit, acknowledge ──────────────────────────────────────────

    def _commit(self, pending: dict[Place, Batch]) -> None:
        try:
            stands = self._committed(pending)
        except StoreError as error:
            self._kept.clear()
            if len(pending) > 1 and not error.is_away:
                # One table's records may be what the database refuses: the others go on.
                for place, batch in pending.items():
                    self._commit({place: batch})
                return
            self._failed(error, is_all=error.is_away)
            return
        self.figures.commits.inc()
        for place, line in stands.items():
            self._acknowledge(place, line)
        self._count_ages(batch for place, batch in pending.items() if place in stands)

    def _committed(self, pending: Mapping[Place, Batch]) -> dict[Place, Have]:
        """Commit what continues, in one transaction; return what the floor has now of each table
        that was taken."""
        stands = {place: self._stands(place) for place in pending}
        parts: list[tuple[int, Head, Batch]] = []
        names: dict[int, str] = {}
        answered: dict[Place, Have] = {}
        with self._store.committing() as db:
            for place, batch in pending.items():
                kept = stands[place]
                if kept.alarm:
                    continue
                if kept.line is None or kept.id is None:
                    found = self._store.found(db, place.table, batch.identity)
                    kept.id, kept.line = found
                follows = judge(kept.line, batch, partial(self._store.hash_at, db, kept.id))
                if isinstance(follows, Contradiction):
                    log.error("%s: %s", place.table, follows.text)
                    kept.alarm = follows.trouble.value
                    self._store.raise_alarm(db, place.table, batch.identity, follows)
                    continue
                if follows.records:
                    parts.append((kept.id, kept.line.head, follows))
                    names[kept.id] = place.table
                    kept.line = Have(batch.identity, follows.end)
                answered[place] = kept.line
            ended = self._store.add(db, parts)
        for row in ended:
            ending = row["ending"] if row["ending"] in _ENDINGS else "other"
            source = row["source"] if row["source"] in _SOURCES else ""
            self.figures.rounds.labels(names[row["line"]], ending, source).inc()
        taken = sum(len(batch.records) for _, _, batch in parts)
        self.figures.records.inc(taken)
        came = sum(len(pending[place].records) for place in answered)
        self.figures.repeats.inc(came - taken)
        self._kept.update(stands)
        return answered

    def _stands(self, place: Place) -> StoredTable:
        """Where the store stands with a table; asked again while an alarm stands. A copy."""
        kept = self._kept.get(place)
        if kept is None or kept.alarm:
            kept = self._kept[place] = self._store.kept(place.table)
        return StoredTable(kept.id, kept.line, kept.alarm)

    def _acknowledge(self, place: Place, line: Have) -> None:
        message = packing.have_message(Have(line.identity, line.head, self.run_id))
        self._connection.publish(place.topic(topics.ACK), message, retain=True)

    def _failed(self, error: StoreError, *, is_all: bool = True) -> None:
        """Note it; `is_all`: every table waits for the database, not only the one refused."""
        self.figures.store_failures.inc()
        self._kept.clear()
        if is_all:
            self._not_before_s = time.monotonic() + PAUSE_S
        log.error("%s", error.line())

    def _count_ages(self, batches: Iterable[Batch]) -> None:
        now = time.time()
        for record in (batch.records[-1] for batch in batches if batch.records):
            # A record need not tell a time.
            with suppress(ShakerError, KeyError, TypeError, ValueError, OverflowError):
                wall = datetime.fromisoformat(record.plain["wall"])
                self.figures.age.observe(max(0.0, now - wall.timestamp()))

    # ── What people decided ─────────────────────────────────────────────────

    def _look(self) -> None:
        try:
            for place in [p for p, kept in self._kept.items() if kept.alarm]:
                if not self._stands(place).alarm:
                    log.info("%s: accepted; its journal begins a new line", place.table)
                    self._welcome(place)
            self._remove_old()
        except StoreError as error:
            self._failed(error)

    def _remove_old(self) -> None:
        now_s = time.monotonic()
        if self._p.keep_months and now_s >= self._remove_s:
            self._remove_s = now_s + REMOVE_S
            before = datetime.now(UTC) - timedelta(days=31 * self._p.keep_months)
            told = before.isoformat(timespec="milliseconds")
            count = self._store.remove(before=told, by=self._p.removed_by)
            if count:
                log.info("%d records that came before %s are removed", count, told)


def _heard(place: Place) -> list[str]:
    """What a collector listens to of its own table, beside its birth."""
    kinds = (topics.JOURNAL, topics.ALIVE, topics.STATE, f"{topics.ALARM}/+")
    return [place.topic(kind) for kind in kinds]


def _bytes_of(batch: Batch) -> int:
    return len(batch.packed) + sum(_RECORD_BYTES + len(record.body) for record in batch.records)
