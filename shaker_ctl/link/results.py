"""What displays may show of a round, from the record alone.

Owns when a result exists: from the record that its lamps were read back lit. It is withdrawn by
name when the table corrects it, or when the round ends with other values or none.
"""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.journal.history import Round, mentions, round_of
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.link.messages import Result

log = logging.getLogger(__name__)

ROUNDS = 3
"""Newest rounds that are looked at: of most of them a result is shown."""
_KINDS_READ = ("LampsShown", "RecordRound", "PushLamps")
"""Words of records that can change a result; all others are passed over undecoded."""


class NewestResult:
    """The newest result of a journal. It only reads, and keeps no file open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = Head(0, b"")
        self._newest: Result | None = None
        self.trouble = ""
        """Which round says what this program does not know, and is left out."""

    def now(self) -> Result | None:
        """Return it. Raises JournalError for the journal, and nothing for what a record says."""
        with closing(opened(self._path)) as book:
            came, self._at = self._at, book.head()
            news = book.read(came.sequence + 1) if came.sequence else ()
            if came.sequence and not any(mentions(one.body, *_KINDS_READ) for one in news):
                return self._newest
            rounds = [self._told(book.read_round(one), one) for one in book.last_rounds(ROUNDS)]
        shown = [one for one in rounds if one is not None and one.shown is not None]
        if shown:
            self._newest = plain(max(shown, key=lambda one: one.shown_in))
        return self._newest

    def _told(self, records: list[Record], number: int) -> Round | None:
        try:
            return round_of(records, number)
        except Exception as error:  # noqa: BLE001 - whatever a record holds, the others are told
            self.trouble = f"round {number} tells displays nothing: {error!r:.100}"
            log.warning("%s", self.trouble)
            return None


def plain(one: Round) -> Result:
    """The result of a round as displays get it."""
    assert one.shown is not None
    total = sum(one.shown)
    is_triple = len(set(one.shown)) == 1
    return {
        "round": one.number,
        "values": list(one.shown),
        "total": total,
        "side": "triple" if is_triple else "big" if total > 10 else "small",
        "sequence": one.shown_in,
        "wall": one.shown_wall,
        "withdrawn": one.taken_back,
        "marks": list(one.marks),
    }
