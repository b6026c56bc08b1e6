"""The journal as outbox: what the floor has not committed yet, a batch at a time.

Owns the place in the journal at which the link sends. That place follows from what the floor
acknowledged. The link keeps no copy of it: a link that starts anew asks the floor.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.follower import Follower
from shaker_ctl.adapters.disk.shown_journal import ShownJournal
from shaker_ctl.errors import JournalCorruptError, JournalError
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.link.packing import BATCH_RECORDS, Ack, Batch, within_bounds


class Outbox:
    """One table's journal, for sending. One thread. It only reads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._follower: Follower | None = None
        self._taken: list[Record] = []
        self.acknowledged: Ack | None = None
        """What the floor said last; None: nothing since the connection began."""
        self.contradiction = ""
        """How the floor's word and this journal differ; empty where they agree."""

    def forget(self) -> None:
        """The connection is a new one: the floor has to say again where it stands."""
        self._let_go()
        self.acknowledged, self.contradiction = None, ""

    def acknowledge(self, ack: Ack) -> None:
        """Go on behind what the floor has committed. Raises JournalError where there is none."""
        known = self.acknowledged
        if known is not None and (known.identity, known.head) == (ack.identity, ack.head):
            return
        if self._follower is not None and self._drop_up_to(ack):
            self.acknowledged = ack
            return
        self._let_go()
        self.acknowledged, self.contradiction = None, ""
        after = ack.head if ack.head.sequence else None
        try:
            self._follower = Follower(self._path, after, identity=ack.identity)
        except JournalCorruptError as error:
            self.contradiction = str(error)
        self.acknowledged = ack  # only now: a journal that cannot be read is tried again

    def next_batch(self, session: str) -> Batch | None:
        """Return what follows the acknowledged record; None where there is nothing to say.

        Where the floor's word and this journal differ, a batch without records says where this
        journal stands: the floor decides what that is. Raises JournalError.
        """
        ack = self.acknowledged
        if ack is None:
            return None
        if self.contradiction:
            return self._claim(session, ack)
        assert self._follower is not None
        if not self._taken:
            self._before = self._follower.cursor
            self._taken = self._follower.take(BATCH_RECORDS)
        if not self._taken:
            return None
        chosen = tuple(self._taken[: within_bounds(self._taken)])
        head = self._follower.cursor.sequence
        return Batch(session, ack.identity, self._before, chosen, head)

    def head(self) -> tuple[str, Head]:
        """Return the journal's identity and where it ends now. Raises JournalError."""
        with closing(opened(self._path)) as book:
            return book.identity, book.head()

    def close(self) -> None:
        """Let go of the files."""
        self._let_go()

    def _claim(self, session: str, ack: Ack) -> Batch:
        with closing(opened(self._path)) as book:
            head = book.head()
            at = min(head.sequence, ack.head.sequence)
            before = book.head_before(at + 1) if book.identity == ack.identity else head
            return Batch(session, book.identity, before, (), head.sequence)

    def _drop_up_to(self, ack: Ack) -> bool:
        """Leave out of what was taken whatever is committed; whether the rest follows it."""
        if self._taken and self.acknowledged is not None:
            first = self._taken[0].sequence
            done = ack.head.sequence - first + 1
            if (
                ack.identity == self.acknowledged.identity
                and 0 < done <= len(self._taken)
                and self._taken[done - 1].hash == ack.head.hash
            ):
                self._taken = self._taken[done:]
                self._before = ack.head
                return True
        return False

    def _let_go(self) -> None:
        if self._follower is not None:
            self._follower.close()
        self._follower, self._taken = None, []


def opened(path: Path) -> DiskJournal:
    """Open the journal for looking. Raises JournalError."""
    if not volume_numbers(path):
        raise JournalError(f"there is no journal at {path}", remedy="The first start founds it")
    return ShownJournal(path, read_only=True)
