"""The journal as outbox: what follows the record up to which the floor has it.

Owns the place in the journal at which the link sends. That place follows from what the floor says
that it has. The link keeps no copy of it: a link that starts anew asks the floor.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from shaker_ctl.adapters.disk.follower import Follower
from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import Head
from shaker_ctl.link.packing import BATCH_RECORDS, Batch, Have, batch_of


class Outbox:
    """One table's journal, for sending. One thread. It only reads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._follower: Follower | None = None
        self._sent: tuple[str, Head] | None = None
        """Identity, and the end of the batch that was sent last."""
        self.floor: Have | None = None
        """What the floor has; None: it has said nothing since the connection began."""
        self.contradiction = ""
        """How the floor's word and this journal differ; empty where they agree."""

    def forget(self) -> None:
        """The connection is a new one: the floor has to say again what it has."""
        self.close()
        self.floor, self.contradiction = None, ""

    def go_on(self, have: Have) -> None:
        """Go on behind what the floor has. Raises JournalError where there is no journal."""
        known = None if self.floor is None else (self.floor.identity, self.floor.head)
        if self._follower is None or (have.identity, have.head) not in (known, self._sent):
            self.forget()
            after = have.head if have.head.sequence else None
            try:
                self._follower = Follower(self._path, after, identity=have.identity)
            except JournalCorruptError as error:
                self.contradiction = str(error)
        self.floor = have  # only now: a journal that cannot be read is tried again

    def next_batch(self) -> Batch | None:
        """Return what follows what the floor has; None where there is nothing to say.

        Where the floor's word and this journal differ, a batch without records says where this
        journal stands: the floor decides what that is. Raises JournalError.
        """
        if self.floor is None:
            return None
        if self._follower is None:
            return self._claim(self.floor)
        self._follower.cursor = self.floor.head
        taken = self._follower.take(BATCH_RECORDS)
        if not taken:
            return None
        batch = batch_of(self.floor.identity, self.floor.head, taken, taken[-1].sequence)
        self._sent = batch.identity, batch.end
        return batch

    def close(self) -> None:
        """Let go of the files."""
        if self._follower is not None:
            self._follower.close()
        self._follower = self._sent = None

    def _claim(self, floor: Have) -> Batch:
        with closing(opened(self._path)) as book:
            head = book.head()
            at = min(head.sequence, floor.head.sequence)
            before = book.head_before(at + 1) if book.identity == floor.identity else head
            return Batch(book.identity, before, (), head.sequence)
