"""Who looked at what: a chain of records of the page's own, in the form of the table's journal.

Owns the file and its one writer. What cannot be recorded is not shown: `note` raises then.
`shaker-ctl journal verify --journal FILE` walks it like the table's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import JournalError, RefusedError, reraise_as
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.page.people import PageLogin

NAME = "looked.jsonl"

VOLUME_RECORDS = 50_000
"""Records at which a volume ends."""


class LookedLog:
    """The log. From any thread."""

    def __init__(self, path: Path) -> None:
        """Open, or found where no file is. Raises JournalError where it cannot be used."""
        with reraise_as(
            JournalError,
            f"the page's folder {path.parent} cannot be made",
            remedy="Give page.state_dir a folder that the page's user may write",
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._book = DiskJournal(path)
        self._lock = threading.Lock()

    def note(self, kind: str, session: PageLogin, what: str) -> None:
        """Put on record that somebody did something here; on the disk when this returns.

        Raises RefusedError where it cannot be written: then it is not shown either.
        """
        body = {"name": session.name, "role": session.role, "what": what}
        try:
            with self._lock:
                self._write(Entry(kind, body))
        except JournalError as error:
            raise RefusedError(
                f"who looks at what cannot be recorded now, so it is not shown: {error}",
                remedy="Make room on the disk of page.state_dir",
            ) from error

    def _write(self, entry: Entry) -> None:
        book, now = self._book, datetime.now(UTC)
        entries = [entry]
        if book.in_open_volume() >= VOLUME_RECORDS:
            entries.insert(0, book.next_volume(now.date().isoformat(), {}))
        head, records = book.head(), []
        for one in entries:
            wall = now.isoformat(timespec="milliseconds")
            record = link(head, one, monotonic_s=time.monotonic(), wall=wall, digests={})
            head = type(head)(record.sequence, record.hash)
            records.append(record)
        book.write(records)

    def last(self, count: int) -> Iterator[dict[str, Any]]:
        """The newest records, newest first, each proved by the chain. Raises JournalError."""
        for record in islice(self._book.newest_first(), count):
            yield record.plain

    def close(self) -> None:
        """Close the file."""
        self._book.close()
