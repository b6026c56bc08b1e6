"""A table's own records, asked back from the floor: what `link --fetch` does.

Owns the asking: the exchange of the records, the other way. What comes is proved against the chain
of the table where there is one, else against what the floor says that it has; it is written as
volumes for `shaker-ctl journal fetch`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

from shaker_ctl import settings
from shaker_ctl.adapters.disk import volume_file
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.record import Head, Record, genesis
from shaker_ctl.link import packing, topics
from shaker_ctl.link.connection import Connection
from shaker_ctl.link.packing import Batch, Have, ProtocolError
from shaker_ctl.link.parameters import LinkParameters

PATIENCE_S = 20.0
ASK_S = 0.25
"""Between two questions: the floor answers one table no faster."""
ASK_AGAIN_S = 2.0
"""What is asked too soon, or lost, has no answer."""


def pull(parameters: LinkParameters, folder: Path) -> Iterator[str]:
    """Write what the table's journal lacks into `folder`; yield a line for each volume.

    Raises RefusedError where the floor does not answer or has not got it; JournalCorruptError.
    """
    path = settings.load(parameters.settings).journal.path
    folder.mkdir(parents=True, exist_ok=True)
    with closing(_Floor(parameters)) as floor:
        if volume_numbers(path):
            yield from _missing(floor, path, folder)
        else:
            yield _whole(floor, folder / path.name)


def _missing(floor: _Floor, path: Path, folder: Path) -> Iterator[str]:
    with closing(DiskJournal(path, read_only=True)) as journal:
        wanted = [one for one in journal.closed if journal.verify_closed(one)[1] is not None]
        if not wanted:
            yield "every closed volume is here and whole; nothing was asked for"
        for one in wanted:
            before = journal.closed[one.number - 2].head if one.number > 1 else journal.start
            records = list(floor.records(journal.identity, before, one.last))
            target = folder / volume_path(path, one.number).name
            target.unlink(missing_ok=True)
            volume_file.found(target, journal.identity, journal.closed[: one.number - 1], records)
            _, damage = journal.verify_closed(one, file=target)
            if damage is not None:
                target.unlink()
                raise RefusedError(
                    f"what the floor holds is not what this table sealed in: {damage.line()}",
                    remedy="Take the volume from another copy or archive",
                )
            yield f"volume {one.number}: {len(records)} records in {target}"


def _whole(floor: _Floor, target: Path) -> str:
    """No journal is left: all that the floor acknowledged."""
    if volume_numbers(target):
        raise RefusedError(f"{target} is there already", remedy="Give an empty folder")
    have = floor.has()
    records = floor.records(have.identity, genesis(have.identity), have.head.sequence)
    with closing(DiskJournal(target, identity=have.identity)) as made:
        while batch := list(islice(records, packing.BATCH_RECORDS)):
            made.write(batch)
        if made.head() != have.head:
            raise RefusedError(
                f"the floor gave {made.head().sequence} of {have.head.sequence} records",
                remedy="Try again; shaker-floor verify walks what it holds",
            )
    return f"the whole journal: {have.head.sequence} records in {target}"


class _Floor:
    """The floor's answers, one at a time."""

    def __init__(self, parameters: LinkParameters) -> None:
        self._place = topics.Place(parameters.site, parameters.table)
        self._has: Have | None = None
        self._batch: Batch | None = None
        self._asked_s = 0.0
        self._connection = Connection(
            parameters,
            f"{parameters.table}-fetch",
            connected=lambda: None,
            received=self._received,
            subscriptions=[
                (self._place.topic(topics.ACK), 1),
                (self._place.topic(topics.ARCHIVE), 1),
            ],
        )

    def close(self) -> None:
        self._connection.close()

    def has(self) -> Have:
        """What the floor says that it has of this table. Raises RefusedError."""
        self._wait(lambda: self._has is not None)
        assert self._has is not None
        return self._has

    def records(self, identity: str, before: Head, last: int) -> Iterator[Record]:
        """Yield the records behind `before` up to `last`, each proved by the one before it."""
        head = before
        while head.sequence < last:
            batch = self._behind(Have(identity, head))
            yield from batch.records[: last - head.sequence]
            head = batch.end

    def _behind(self, have: Have) -> Batch:
        self._wait(lambda: self._connection.is_connected)
        self._batch = None
        due_s = self._asked_s + ASK_S

        def is_there() -> bool:
            nonlocal due_s
            if (now_s := time.monotonic()) >= due_s:
                self._asked_s, due_s = now_s, now_s + ASK_AGAIN_S
                topic = self._place.topic(topics.ASK)
                self._connection.publish(topic, packing.have_message(have), qos=1)
            return self._batch is not None and self._batch.before.sequence == have.head.sequence

        self._wait(is_there)
        batch = self._batch
        assert batch is not None
        if (batch.identity, batch.before) != (have.identity, have.head) or not batch.records:
            raise RefusedError(
                f"the floor does not hold record {have.head.sequence + 1} of the journal "
                f"{have.identity}",
                remedy="shaker-floor tables says what it holds",
            )
        return batch

    def _received(self, topic: str, payload: bytes) -> None:
        with suppress(ProtocolError):  # the wait for an answer ends with a line of its own
            if topic == self._place.topic(topics.ACK):
                self._has = packing.have_of(payload)
            else:
                self._batch = packing.unpack(payload)

    def _wait(self, is_there: Callable[[], bool]) -> None:
        ends_s = time.monotonic() + PATIENCE_S
        while not is_there():
            if time.monotonic() > ends_s:
                raise RefusedError(
                    f"the floor does not answer: {self._connection.trouble or 'no word of it'}",
                    remedy="shaker-ctl link --check; does the floor's collector run?",
                )
            self._connection.turn(0.1)
