"""A thousand tables in one process, each with its own certificate, connection and chain.

Owns made-up play in real time. A table sends it as a link does: one batch at a time, beginning
after what the floor has acknowledged, and again if no answer comes. It forgets what was
acknowledged. At the end the floor must hold the newest record (the head) of each table.
"""

from __future__ import annotations

import heapq
import random
import resource
import select
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from hil_tests.floor.house import House
from hil_tests.floor.journals import DIGESTS
from hil_tests.reliability.large_journal import a_round
from shaker_ctl.floor.tests.a_table import alive, birth, result
from shaker_ctl.journal.record import Entry, Head, Record, genesis
from shaker_ctl.journal.record import link as chained
from shaker_ctl.link import packing, topics
from shaker_ctl.link.connection import Connection, Will
from shaker_ctl.link.link import LOOK_S
from shaker_ctl.link.packing import Have
from shaker_ctl.link.parameters import LinkParameters

RECORDS_A_ROUND = 13
AGAIN_S = 5.0
TEND_S = 2.0
"""Between two looks at a connection on which nothing comes."""
_AT_ONCE = 200
"""Acts that are due, before the connections are heard again: some 20 ms."""


class SimulatedTable:
    """One table of the crowd."""

    def __init__(self, parameters: LinkParameters, seed: int) -> None:
        self.name = parameters.table
        self.identity = f"{self.name} founded 2026-11-23T06:00:00+00:00"
        self.head = genesis(self.identity)
        self.acknowledged: Head | None = None
        self.ages_s: list[float] = []
        """Of each record, from its making to the floor's receipt."""
        self.clock = timedelta()
        """How far the table's clock is from ours."""
        self._chance = random.Random(seed)
        self._round = 0
        self._entries: Iterator[Entry] = iter(())
        self._waiting: deque[tuple[Record, float]] = deque()
        self._before = self.head
        self._sent: Head | None = None
        self._sent_s = 0.0
        self._run = ""
        self._place = topics.Place(parameters.site, self.name)
        self.connection = Connection(
            parameters,
            self.name,
            will=lambda session: Will(self._topic(topics.ALIVE), alive("offline", session=session)),
            connected=self._connected,
            received=self._received,
            subscriptions=[(self._topic(topics.ACK), 1)],
        )

    def record(self) -> None:
        """One more record; a state with every second one, a result when lamps are lit."""
        entry = next(self._entries, None)
        if entry is None:
            self._round += 1
            self._entries = a_round(self._round, self._chance)
            entry = next(self._entries)
        wall = (datetime.now(UTC) + self.clock).isoformat(timespec="milliseconds")
        made = chained(self.head, entry, monotonic_s=0.0, wall=wall, digests=DIGESTS)
        self.head = Head(made.sequence, made.hash)
        self._waiting.append((made, time.monotonic()))
        if made.sequence % 2 == 0:
            state = {"service": True, "life": "open", "round_id": self._round, "n": made.sequence}
            self.connection.publish(self._topic(topics.STATE), packing.to_json(state), retain=True)
        if b'"LampsShown"' in made.body:
            told = result(round=self._round, sequence=made.sequence, wall=wall)
            self.connection.publish(self._topic(topics.RESULT), told, qos=1, retain=True)

    def play_for(self, seconds: float, rounds_a_minute: float) -> None:
        """Record so long a time of play at once, by a clock that runs as fast."""
        records = round(seconds / 60.0 * rounds_a_minute * RECORDS_A_ROUND)
        self.clock -= timedelta(seconds=seconds)
        for _ in range(records):
            self.clock += timedelta(seconds=seconds / records)
            self.record()

    def look(self) -> None:
        """Send what waits, where nothing is under way."""
        now_s = time.monotonic()
        is_lost = self._sent is not None and now_s - self._sent_s > AGAIN_S
        if self.acknowledged is None or not self._waiting or (self._sent and not is_lost):
            return
        records = [record for record, _ in self._waiting]
        batch = packing.batch_of(self.identity, self._before, records, self.head.sequence)
        self._sent, self._sent_s = batch.end, now_s
        self.connection.publish(self._topic(topics.JOURNAL), packing.pack(batch), qos=1)

    @property
    def is_even(self) -> bool:
        """Whether the floor has acknowledged all of it."""
        return self.acknowledged == self.head

    def tend(self) -> None:
        """What a quiet connection needs now and then."""
        self.connection.turn(0)
        self.look()

    def _connected(self) -> None:
        self.acknowledged, self._sent = None, None
        session = self.connection.session
        says = birth(self.identity, session=session, table=self.name, digests=DIGESTS)
        self.connection.publish(self._topic(topics.BIRTH), says, qos=1, retain=True)
        self.connection.publish(self._topic(topics.ALIVE), alive(session=session), retain=True)

    def _received(self, topic: str, payload: bytes) -> None:
        if topic == self._topic(topics.ACK):
            self._acknowledge(packing.have_of(payload))

    def _acknowledge(self, have: Have) -> None:
        assert have.identity == self.identity
        if have.head.sequence < self._before.sequence:
            return  # an older word, which the other broker retained
        now_s = time.monotonic()
        while self._waiting and self._waiting[0][0].sequence <= have.head.sequence:
            record, made_s = self._waiting.popleft()
            self.ages_s.append(now_s - made_s)
            self._before = Head(record.sequence, record.hash)
        assert self._before == have.head, f"{self.name}: the floor's receipt went back"
        self.acknowledged = have.head
        if have.head == self._sent or have.run != self._run:
            self._sent, self._run = None, have.run
            self.look()

    def _topic(self, kind: str) -> str:
        return self._place.topic(kind)


class Crowd:
    """Many simulated tables, played from one thread."""

    def __init__(self, house: House, count: int, *, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        nowhere = house.folder / "none.toml"
        self.tables = [
            SimulatedTable(house.link_parameters(f"pit-{n}", nowhere), seed + n)
            for n in range(count)
        ]
        self._epoll = select.epoll()
        self._by_descriptor: dict[int, SimulatedTable] = {}
        self._due: list[tuple[float, int, str, SimulatedTable]] = []
        self._count = 0
        now_s = time.monotonic()
        for table in self.tables:
            self._at(now_s + self._chance.uniform(0, TEND_S), "tend", table)

    def begin(self, rounds_a_minute: float) -> None:
        """Have every table play at this pace from now on, none in step with another."""
        self._every_s = 60.0 / rounds_a_minute / RECORDS_A_ROUND
        now_s = time.monotonic()
        for table in self.tables:
            self._at(now_s + self._chance.uniform(0, self._every_s), "record", table)

    def end(self) -> None:
        """No table records any more."""
        self._due = [due for due in self._due if due[2] != "record"]
        heapq.heapify(self._due)

    def run(self, seconds: float) -> None:
        """Play on so long."""
        ends_s = time.monotonic() + seconds
        while (now_s := time.monotonic()) < ends_s:
            for _ in range(_AT_ONCE):
                if not self._due or self._due[0][0] > now_s:
                    break
                at_s, _, what, table = heapq.heappop(self._due)
                self._do(what, table, at_s)
            next_s = self._due[0][0] if self._due else ends_s
            wait_s = max(0.0, min(next_s, ends_s) - time.monotonic())
            for descriptor, _ in self._epoll.poll(min(wait_s, 0.05)):
                self._by_descriptor[descriptor].connection.turn(0)

    def run_until_even(self, limit_s: float) -> bool:
        """Play nothing more; whether the floor has acknowledged everything within the limit."""
        ends_s = time.monotonic() + limit_s
        while not all(table.is_even for table in self.tables):
            if time.monotonic() > ends_s:
                return False
            self.run(0.1)
        return True

    def close(self) -> None:
        """Leave in order."""
        for table in self.tables:
            table.connection.close()
        self._epoll.close()

    def _do(self, what: str, table: SimulatedTable, at_s: float) -> None:
        if what == "record":
            table.record()
            self._at(at_s + self._every_s * self._chance.uniform(0.5, 1.5), "record", table)
            self._at(time.monotonic() + self._chance.uniform(0, LOOK_S), "look", table)
        elif what == "look":
            table.look()
        else:
            table.tend()
            self._hear(table)
            self._at(time.monotonic() + TEND_S, "tend", table)

    def _hear(self, table: SimulatedTable) -> None:
        """Be woken by its socket, which is another one after each connect."""
        if (descriptor := table.connection.fileno()) >= 0:
            self._by_descriptor[descriptor] = table
            with suppress(FileExistsError):
                self._epoll.register(descriptor, select.EPOLLIN)

    def _at(self, at_s: float, what: str, table: SimulatedTable) -> None:
        self._count += 1
        heapq.heappush(self._due, (at_s, self._count, what, table))


def more_descriptors() -> None:
    """A thousand connections need more than the usual 1,024; whoever is started inherits it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
