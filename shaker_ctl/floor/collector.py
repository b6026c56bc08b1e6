"""The collector: takes what tables hand over, proves it, commits it, and only then says so.

Owns the order: judge, commit, acknowledge. The acknowledgement is the floor's word that a database
has the records on its disk; nothing else moves a table's cursor. A table whose history contradicts
the floor's is taken no further until a named person accepts it.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shaker_ctl.errors import JournalError, ShakerError
from shaker_ctl.floor.asking import Asked, Asking
from shaker_ctl.floor.judgement import Contradiction, FollowedJournal, Gap, judge
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.floor.store import Store, StoredTable, StoreError
from shaker_ctl.floor.tables import MAX_CODE, ShownTable, Tables
from shaker_ctl.journal.record import Head, Record, genesis
from shaker_ctl.link import packing, topics
from shaker_ctl.link.connection import Connection, Will
from shaker_ctl.link.packing import Ack, Batch, ProtocolError
from shaker_ctl.link.topics import Place
from shaker_ctl.rules.vocabulary import Ending, Source

log = logging.getLogger(__name__)

TURN_S = 0.05
"""Between two looks at the network: what came meanwhile is read together. A table waits for its
receipt that much longer; to wake for each message would cost a third of the processor time."""
MAX_TOGETHER = 500
"""Batches that share one commit."""
ENOUGH_BYTES = 16 * 1024 * 1024
"""Bytes of records that wait. With more, a commit is due at once, and nothing more is read."""
_ENDINGS = frozenset(word.value for word in Ending)
_SOURCES = frozenset(word.value for word in Source)
"""A table that makes words up must not make figures without end."""
_RECORD_BYTES = 500
"""What Python needs for a record beside its body."""
LOOK_S = 5.0
"""Between two looks at what people decided meanwhile."""
TELL_S = 10.0
"""Between two lines of the log about refused messages of one table."""
PAUSE_S = 1.0
"""After the database refused."""
ASK_AT_ONCE = 4
"""Pictures of disputed rounds that are asked for together."""
ASK_AGAIN_S = 3600.0
"""Before a picture that did not come is asked for again: those of other tables come first."""
MAX_ASKED = 10_000
GIVE_S = 0.2
"""Shortest time between two archives for one table, or its asking would hold up everybody's
receipts. `link --fetch` leaves more (`fetched_records.ASK_S`)."""


@dataclass(slots=True)
class CollectorCounts:
    """Since the start, for figures."""

    messages: int = 0
    """Messages on topics of tables of this house."""
    refused: int = 0
    """Messages among them that no table sends."""
    records: int = 0
    repeats: int = 0
    stale: int = 0
    commits: int = 0
    store_failures: int = 0
    rounds: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Rounds that ended, by table, ending and source of their values."""
    heard_s: float = 0.0
    """When a message last came, by the monotonic clock."""
    observe: Callable[[float], None] = lambda _: None
    """Told how old the newest record of each batch was when it was committed, in seconds."""


class Collector:
    """One collector. `run` until told to stop."""

    def __init__(self, parameters: FloorParameters) -> None:
        """Raises SettingsError, StoreError."""
        self._p = parameters
        self.run_id = secrets.token_hex(8)
        self.tables = Tables(parameters.site)
        self.counts = CollectorCounts()
        self.named: dict[str, Any] = {}
        """Newest named version of each table."""
        self._store = Store(parameters.store)
        self._kept: dict[Place, StoredTable] = {}
        self._pending: list[tuple[Place, Batch]] = []
        self._pending_bytes = 0
        self._first_s = 0.0
        self._not_before_s = 0.0
        self._looked_s = 0.0
        self._asking = Asking()
        self._listening: set[Place] = set()
        self._told_s: dict[Place, float] = {}
        self._asked_s: dict[str, float] = {}
        """When each picture of a disputed round was asked for last."""
        self._gave_s: dict[Place, float] = {}
        here = topics.floor_state(parameters.site, parameters.collector)
        everything = f"{topics.ROOT}/{parameters.site}/+/"
        self._connection = Connection(
            parameters,
            f"collector-{parameters.collector}",
            will=lambda _: Will(here, packing.to_json({"is": "offline", "run": self.run_id})),
            connected=self._connected,
            received=self._received,
            # Neither this nor the journal needs more than QoS 0: what is lost is sent again, and
            # each message is one packet less.
            subscriptions=[(everything + kind, 0) for kind in topics.SHOWN],
        )
        self._here = here

    @property
    def is_connected(self) -> bool:
        """Whether the broker is there."""
        return self._connection.is_connected

    def run(self, is_over: Callable[[], bool]) -> None:
        """Collect until `is_over` says so, whatever broker and database do."""
        try:
            while not is_over():
                self.turn()
        finally:
            offline = Will(self._here, packing.to_json({"is": "offline", "run": self.run_id}))
            self._connection.close(offline)
            self._store.close()

    def turn(self) -> None:
        """Take what has come, and commit what is due."""
        if self._connection.is_connected:
            time.sleep(TURN_S)
            self._connection.turn(0.0, self._has_enough)
        else:
            self._connection.turn(TURN_S)
        now_s = time.monotonic()
        is_due = (
            now_s >= self._first_s + self._p.commit_s
            or len(self._pending) >= MAX_TOGETHER
            or self._has_enough()
        )
        if self._pending and is_due and now_s >= self._not_before_s:
            pending, self._pending, self._pending_bytes = self._pending, [], 0
            self._commit(pending)
        if now_s - self._looked_s >= LOOK_S and self._connection.is_connected:
            self._looked_s = now_s
            self._look()

    def _has_enough(self) -> bool:
        return self._pending_bytes >= ENOUGH_BYTES

    def histories(self) -> dict[str, str]:
        """Tables whose history contradicts the floor's, and how. From any thread."""
        return {place.table: kept.alarm for place, kept in list(self._kept.items()) if kept.alarm}

    def is_ours(self, table: str) -> bool:
        """Whether this collector has the table: by the hash of its name."""
        number = int.from_bytes(hashlib.sha256(table.encode()).digest()[:8], "big")
        return number % self._p.collectors == self._p.collector

    # ── What comes ──────────────────────────────────────────────────────────

    def _connected(self) -> None:
        self._listening.clear()
        self._kept.clear()
        self.tables.forget()
        online = packing.to_json({"is": "online", "run": self.run_id})
        self._connection.publish(self._here, online, retain=True)
        for name in self.tables.by_name:
            self._welcome(Place(self._p.site, name))
        log.info("connected to %s:%d", self._p.host, self._p.port)

    def _received(self, topic: str, payload: bytes) -> None:
        self.counts.heard_s = time.monotonic()
        found = topics.parsed(topic)
        if found is None or not self.is_ours(found[0].table):
            return
        place, kind = found
        self.counts.messages += 1
        shown = self.tables.take(topic, payload)
        if shown is None:
            return
        refused_before = shown.refused
        try:
            if kind == topics.JOURNAL:
                self._take(place, shown, packing.unpack(payload))
            elif kind == topics.BIRTH:
                self._welcome(place)
            elif kind == topics.ANSWER:
                self._answered(place, payload)
            elif kind == topics.ASK:
                self._give(place, payload)
        except ProtocolError as error:
            shown.refuse(error)
        except StoreError as error:
            self._failed(error)
        if shown.refused > refused_before:
            self.counts.refused += 1
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

    def _take(self, place: Place, shown: ShownTable, batch: Batch) -> None:
        if batch.session != shown.session:
            self.counts.stale += 1  # of an earlier connection: it will come again
            return
        if not self._pending:
            self._first_s = time.monotonic()
        self._pending.append((place, batch))
        self._pending_bytes += sum(_RECORD_BYTES + len(r.body) for r in batch.records)

    def _welcome(self, place: Place) -> None:
        """A table is there: listen to it, and say where the floor stands with its journal."""
        if place not in self._listening:
            self._listening.add(place)
            for kind in (topics.JOURNAL, topics.ANSWER, topics.ASK):
                self._connection.subscribe(place.topic(kind), 0)
        self._kept.pop(place, None)
        try:
            kept = self._stands(place)
        except StoreError as error:
            self._failed(error)
            return
        if kept.line is not None:
            self._acknowledge(place, kept.line)
            return
        try:
            identity = packing.named(self.tables.by_name[place.table].birth.get("identity"))
        except ProtocolError:
            return
        self._acknowledge(place, FollowedJournal(identity, genesis(identity)))

    # ── Judge, commit, acknowledge ──────────────────────────────────────────

    def _commit(self, pending: list[tuple[Place, Batch]]) -> None:
        try:
            stands = self._committed(pending)
        except StoreError as error:
            self._kept.clear()
            if len(pending) > 1 and not error.is_away:
                # One table's records may be what the database refuses: the others go on.
                for each in pending:
                    self._commit([each])
                return
            self._failed(error, is_all=error.is_away)
            return
        self.counts.commits += 1
        for place, line in stands.items():
            self._acknowledge(place, line)
        self._count_ages(batch for place, batch in pending if place in stands)

    def _committed(self, pending: list[tuple[Place, Batch]]) -> dict[Place, FollowedJournal]:
        """Commit what continues, in one transaction; return where each table taken now stands."""
        stands: dict[Place, StoredTable] = {}
        added: dict[Place, tuple[int, Head, list[Record]]] = {}
        # Before the transaction: a second connection would wait for it with SQLite.
        for place, _ in pending:
            stands[place] = self._stands(place)
        answered: dict[Place, FollowedJournal] = {}
        count = repeats = 0
        with self._store.committing() as db:
            for place, batch in pending:
                kept = stands[place]
                if kept.alarm:
                    continue
                if kept.line is None or kept.id is None:
                    kept.id, kept.line = self._store.found(
                        db, place.site, place.table, batch.identity
                    )
                id_, line = kept.id, kept.line
                so_far = added[place][2] if place in added else []

                def hash_at(
                    sequence: int, id_: int = id_, so_far: list[Record] = so_far
                ) -> bytes | None:
                    if so_far and sequence >= so_far[0].sequence:
                        return so_far[sequence - so_far[0].sequence].hash
                    return self._store.hash_at(db, id_, sequence)

                verdict = judge(line, batch, hash_at)
                if isinstance(verdict, Contradiction):
                    log.error("%s: %s", place.table, verdict.text)
                    kept.alarm = verdict.trouble.value
                    self._store.raise_alarm(db, place.site, place.table, batch.identity, verdict)
                    continue
                answered[place] = line
                if isinstance(verdict, Gap):
                    continue
                repeats += len(batch.records) - len(verdict.records)
                if verdict.records:
                    _, _, all_of_it = added.setdefault(place, (id_, line.head, []))
                    all_of_it += verdict.records
                    last = verdict.records[-1]
                    kept.line = FollowedJournal(line.identity, Head(last.sequence, last.hash))
                    answered[place] = kept.line
                    count += len(verdict.records)
            ended = self._store.add(db, list(added.values()))
        names = {id_: place.table for place, (id_, _, _) in added.items()}
        for row in ended:
            ending = row["ending"] if row["ending"] in _ENDINGS else "other"
            source = row["source"] if row["source"] in _SOURCES else ""
            self.counts.rounds[names[row["line"]], ending, source] += 1
        self.counts.records += count
        self.counts.repeats += repeats
        self._kept.update(stands)
        return answered

    def _stands(self, place: Place) -> StoredTable:
        """Where the store stands with a table; asked again while an alarm stands. A copy."""
        kept = self._kept.get(place)
        if kept is None or kept.alarm:
            kept = self._kept[place] = self._store.kept(place.site, place.table)
        return StoredTable(kept.id, kept.line, kept.alarm)

    def _acknowledge(self, place: Place, line: FollowedJournal) -> None:
        message = packing.ack_message(Ack(line.identity, line.head, self.run_id))
        self._connection.publish(place.topic(topics.ACK), message, retain=True)

    def _failed(self, error: StoreError, *, is_all: bool = True) -> None:
        """Note it; `is_all`: every table waits for the database, not only the one refused."""
        self.counts.store_failures += 1
        self._kept.clear()
        if is_all:
            self._not_before_s = time.monotonic() + PAUSE_S
        log.error("%s", error.line())

    def _count_ages(self, batches: Iterable[Batch]) -> None:
        now = time.time()
        for batch in batches:
            if batch.records:
                try:
                    wall = datetime.fromisoformat(batch.records[-1].plain["wall"])
                    self.counts.observe(max(0.0, now - wall.timestamp()))
                except (ShakerError, KeyError, TypeError, ValueError, OverflowError):
                    continue  # a record need not tell a time

    # ── What people decided, pictures, archives ─────────────────────────────

    def _look(self) -> None:
        try:
            for place in [p for p, kept in self._kept.items() if kept.alarm]:
                if not self._stands(place).alarm:
                    log.info("%s: accepted; its journal begins a new line", place.table)
                    self._welcome(place)
            named = self._store.named_versions(self._p.site)
            for table, version in named.items():
                if self.is_ours(table) and self.named.get(table) != version:
                    told = {key: version[key] for key in ("version", "digest", "by", "wall")}
                    topic = Place(self._p.site, table).topic(topics.VERSION)
                    self._connection.publish(topic, packing.to_json(told), qos=1, retain=True)
            self.named = named
            self._ask_for_disputed()
        except StoreError as error:
            self._failed(error)

    def _ask_for_disputed(self) -> None:
        """Pictures of disputed rounds are kept here, too, whether anybody asks for them or not."""
        asked = 0
        for table in list(self.tables.by_name.values()):
            disputed = table.alive.get("disputed")
            for number in disputed[:100] if isinstance(disputed, list) else ():
                if type(number) is not int or not table.is_online:
                    continue
                records = self._store.round_records(table.place.site, table.place.table, number)
                for sequence, sha256 in pictures_named(records):
                    if asked >= ASK_AT_ONCE:
                        return
                    if self._store.has_picture(sha256) or self._was_asked_for(sha256):
                        continue
                    want = Asked(table.place, "picture", sequence, sha256)
                    message = self._asking.request(want)
                    self._connection.publish(table.place.topic(topics.WANT), message, qos=1)
                    asked += 1

    def _was_asked_for(self, sha256: str) -> bool:
        """Whether a picture was asked for lately: it is on its way, or lost at the table."""
        now_s = time.monotonic()
        if now_s < self._asked_s.get(sha256, -ASK_AGAIN_S) + ASK_AGAIN_S:
            return True
        while len(self._asked_s) >= MAX_ASKED:
            del self._asked_s[next(iter(self._asked_s))]
        self._asked_s[sha256] = now_s
        return False

    def _answered(self, place: Place, payload: bytes) -> None:
        answer = self._asking.take(place, payload)
        if answer is None:
            return
        if answer.error:
            log.warning("%s gives no picture: %s", place.table, answer.error)
            return
        asked = answer.asked
        self._store.keep_picture(place.site, place.table, asked.sequence, asked.sha256, answer.data)

    def _give(self, place: Place, payload: bytes) -> None:
        """A table asks for records of its own that it no longer has; too soon, it asks again."""
        now_s = time.monotonic()
        if now_s < self._gave_s.get(place, -GIVE_S) + GIVE_S:
            return
        self._gave_s[place] = now_s
        plain = packing.from_json(payload)
        first, marked = packing.whole(plain, "from"), str(plain.get("id", ""))[:16]
        kept = self._stands(place)
        if kept.id is None or kept.line is None:
            return
        records = self._store.records(kept.id, first, first + packing.BATCH_RECORDS - 1)
        records = records[: packing.within_bounds(records)]
        header = {
            "id": marked,
            "identity": kept.line.identity,
            "from": first,
            "count": len(records),
            "head": kept.line.head.sequence,
        }
        message = packing.with_data(header, packing.packed(records))
        self._connection.publish(place.topic(topics.ARCHIVE), message, qos=1)


def pictures_named(records: list[Record]) -> list[tuple[int, str]]:
    """Return sequence number and SHA-256 of each picture that records name."""
    found = []
    for each in records:
        if b'"pictures":{}' in each.body:
            continue
        try:
            named = each.plain.get("pictures")
        except JournalError:
            continue
        for picture in named.values() if isinstance(named, dict) else ():
            sha256 = picture.get("sha256") if isinstance(picture, dict) else None
            if isinstance(sha256, str) and re.fullmatch(r"[0-9a-f]{64}", sha256):
                found.append((each.sequence, sha256))
    return found
