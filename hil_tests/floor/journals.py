"""Tables without a service: a journal on disk, written by the product's own writer, and settings.

Owns invented rounds in the form of real records. A link follows such a table like a stopped one.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import tomlkit

from hil_tests.reliability.bytes_cut import forged
from hil_tests.reliability.large_journal import a_round
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.record import Entry, Head, Record
from shaker_ctl.link.link import Link
from shaker_ctl.link.parameters import LinkParameters

DIGESTS = dict.fromkeys(("software", "model", "settings", "profile", "seal"), "ab" * 32)


class InventedTable:
    """One table's files in `folder`."""

    def __init__(self, folder: Path, name: str, *, seed: int = 1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.name = name
        self.path = folder / "journal.jsonl"
        self.settings = folder / "settings.toml"
        self._chance = random.Random(seed)
        self.round = 0
        plain = {
            "service": {"table_name": name, "runtime_dir": str(folder / "run")},
            "journal": {"path": str(self.path), "pictures": str(folder / "pictures")},
        }
        self.settings.write_text(tomlkit.dumps(plain), "utf-8")
        with closing(DiskJournal(self.path)) as store:
            self.identity = store.identity

    def play(self, rounds: int = 1) -> Head:
        """Append so many rounds; return the head."""
        with closing(DiskJournal(self.path)) as store:
            for _ in range(rounds):
                self.round += 1
                store.write(self._records(store.head(), a_round(self.round, self._chance)))
            return store.head()

    def turn_volume(self) -> None:
        """Close the open volume and begin the next."""
        with closing(DiskJournal(self.path)) as store:
            entry = store.next_volume(f"2026-11-{10 + len(store.closed):02}", {})
            store.write(self._records(store.head(), [entry]))

    def append(self, entries: Iterable[Entry], *, wall: str = "") -> Head:
        """Append other facts, recorded at `wall` or now; return the head."""
        with closing(DiskJournal(self.path)) as store:
            store.write(self._records(store.head(), entries, wall))
            return store.head()

    @staticmethod
    def _records(head: Head, entries: Iterable[Entry], wall: str = "") -> list[Record]:
        def now(_: int) -> str:
            return wall or datetime.now(UTC).isoformat(timespec="milliseconds")

        return forged(head, entries, now, DIGESTS)

    def head(self) -> Head:
        """Where the journal ends."""
        with closing(DiskJournal(self.path, read_only=True)) as store:
            return store.head()


class RunningLink:
    """A link in a thread of this process. Use as a context."""

    def __init__(self, parameters: LinkParameters) -> None:
        self._over = threading.Event()
        self.link = Link(parameters)
        self._thread = threading.Thread(target=self._run, name="link")
        self.failure: BaseException | None = None

    def _run(self) -> None:
        try:
            self.link.run(self._over.is_set)
        except BaseException as error:
            self.failure = error
            raise

    def __enter__(self) -> RunningLink:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(20)
        assert not self._thread.is_alive(), "the link did not end"
