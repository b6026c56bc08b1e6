"""One volume of one copy of the journal: a file of lines, one a record, only ever appended to.

The first line names the journal and lists the closed volumes before this one. Each other line is a
record as it is exported. `append` syncs before it returns. What the lines are is `volume_lines`'s,
what records mean `journal.record`'s, the chain of volumes `disk_journal`'s.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from shaker_ctl.adapters.disk.kept_aside import clear
from shaker_ctl.adapters.disk.volume_lines import (
    MODE,
    REBUILD,
    Lines,
    medium,
    record_in,
    sequence_in,
)
from shaker_ctl.errors import (
    JournalCorruptError,
    JournalError,
    JournalVersionError,
    JournalWriteError,
)
from shaker_ctl.journal.record import (
    BODY_AT,
    LINE,
    MAX_INTEGER,
    Damage,
    Head,
    Plain,
    Record,
    canonical,
    genesis,
    is_seen_framed,
    misframed,
    newer,
    walk,
)
from shaker_ctl.journal.volume import Volume, as_accepted, broken_list, misfit
from shaker_ctl.whole_file import sync_folder

FORMAT = 3
"""Version of the file, in its first line. Former ones are SQLite files."""

FORMER = b"SQLite format 3\0"
"""How a volume of the former form begins."""

Alive = Callable[[], None]
"""Called now and then while something long is done."""

ALIVE_EVERY = 4000
"""Records between two calls: some 20 ms."""


def found(
    path: Path, identity: str, closed: Sequence[Volume] = (), records: Iterable[Record] = ()
) -> None:
    """Make a new volume aside, with its first `records`, and move it into place whole.

    No crash leaves half a volume: until the rename there is none. Raises JournalWriteError.
    """
    if not path.parent.is_dir():
        raise JournalWriteError(
            f"the folder of the journal does not exist: {path.parent}",
            remedy="Create it or mount its medium; a new journal is founded there",
        )
    if os.path.lexists(path):
        raise JournalWriteError(
            f"a new volume of the journal cannot be begun: {path} is there already",
            remedy="Find out what put it there, move it away, then start again",
        )
    aside = path.with_name(path.name + ".founding")
    with medium(path, read_only=False):
        clear(aside)
        try:
            with aside.open("xb") as file:
                os.fchmod(file.fileno(), MODE)
                file.write(_first_line(identity, closed) + b"\n")
                file.writelines(record.exported for record in records)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            aside.unlink(missing_ok=True)  # it keeps no room on a medium that is full
            raise
        aside.rename(path)
        sync_folder(path.parent)


def _first_line(identity: str, closed: Sequence[Volume]) -> bytes:
    plain = {"journal": identity, "format": FORMAT, "closed": [one.plain() for one in closed]}
    return canonical(plain)


class VolumeFile:
    """One volume. `append` for one thread at a time; reading from any."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open a file that is there. `read_only` leaves every byte as it is: for looking at what
        may be evidence.

        Raises JournalWriteError where the medium refuses, JournalCorruptError where the file is no
        journal, JournalVersionError where another program made it.
        """
        self.path = path
        self.lines = Lines(path, read_only=read_only)
        try:
            self.identity, self.closed = self._described(self.lines.header)
            if wrong := broken_list(self.closed):
                raise JournalCorruptError(f"{path}: {wrong}", remedy=REBUILD)
            self.number = len(self.closed) + 1
            self.start = self.closed[-1].head if self.closed else genesis(self.identity)
            self._head = self.newest()
            self._day = ""
        except BaseException:
            self.lines.close()
            raise

    def _described(self, line: bytes) -> tuple[str, tuple[Volume, ...]]:
        """Return identity and closed volumes, as the first line has them."""
        plain = _json(line)
        if not isinstance(plain, dict) or not isinstance(plain.get("journal"), str):
            if line.startswith(FORMER):
                raise former(self.path)
            raise JournalCorruptError(
                f"{self.path} is not a journal of this table",
                remedy="Give the right path under [journal], or move that file away. If this was "
                f"one: {REBUILD[0].lower()}{REBUILD[1:]}",
            )
        version, identity = plain.get("format"), plain["journal"]
        if isinstance(version, int) and version > FORMAT:
            raise newer(str(self.path), version, FORMAT)
        try:
            closed = tuple(
                Volume(n, day, first, last, bytes.fromhex(link), *rounds)
                for n, day, first, last, link, *rounds in plain["closed"]
            )
            is_typed = all(one.is_typed for one in closed)
            is_whole = is_typed and _first_line(identity, closed) == line
        except (LookupError, TypeError, ValueError, AttributeError):
            is_whole = False
        if not is_whole:
            raise JournalCorruptError(f"{self.path}: its first line is damaged", remedy=REBUILD)
        return identity, closed

    # ── Writing ─────────────────────────────────────────────────────────────

    def head(self) -> Head:
        """Return where the chain ends, as last written or found."""
        return self._head

    def append(self, records: Sequence[Record]) -> None:
        """Append and sync; all or none. Raises JournalWriteError, JournalCorruptError."""
        data = b"".join(record.exported for record in records)
        for step in walk(self._head, records, str(self.path)):
            if isinstance(step, Damage) or b"\n" in step.body:
                what = step.line() if isinstance(step, Damage) else "a record of several lines"
                raise JournalCorruptError(what, remedy="shaker-ctl journal verify")
        self.lines.append(data)
        self._head = Head(records[-1].sequence, records[-1].hash)

    def as_closed(self) -> Volume:
        """Return what the list of closed volumes will say of this one. It must hold records."""
        head, rounds = self._head, [each for each in self._rounds() if each is not None]
        span = (min(rounds), max(rounds)) if rounds else (None, None)
        first = self.start.sequence + 1
        return Volume(self.number, self.day(), first, head.sequence, head.hash, *span)

    def _rounds(self) -> Iterator[int | None]:
        for record in self.read():
            yield record.plain.get("round")

    def day(self) -> str:
        """Gaming day on which it began, as its first record says; empty where it has none.

        A journal that was founded before the first record said a day has that record's date in UTC.

        Raises JournalCorruptError where the first record says neither.
        """
        if self._day or self._head == self.start:
            return self._day
        at = self.start.sequence + 1
        first = next(self.read(at, at), None)
        plain = {} if first is None else first.plain
        self._day = str(plain.get("day") or plain.get("wall", ""))[:10]
        if not self._day:
            damage = Damage(str(self.path), at, None, "says no day")
            raise JournalCorruptError(damage.line(), remedy=REBUILD)
        return self._day

    def close(self) -> None:
        """Let go of the file."""
        self.lines.close()

    # ── Reading ─────────────────────────────────────────────────────────────

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        """Yield records from `first` to `last` as they stand, unverified. From any thread.

        Raises JournalCorruptError where the file cannot be read.
        """
        limit = MAX_INTEGER if last is None else last
        yield from self.lines.records(first, limit, self.start.sequence)

    def newest(self, before: int = MAX_INTEGER) -> Head:
        """Return the last record before `before` that is there now, or what the first follows."""
        found = self.lines.newest(before, self.start.sequence)
        return self.start if found is None else Head(found.sequence, found.hash)

    def marked(self, mark: bytes) -> Iterator[Record]:
        """Yield the first record, and all whose bodies hold `mark`, unverified."""
        number = self.start.sequence + 1
        for line in self.lines.marked(b',"sequence":%d,' % number, mark):
            yield record_in(line, sequence_in(line) or number)

    # ── Verifying ───────────────────────────────────────────────────────────

    def verify(
        self,
        alive: Alive | None = None,
        lost: frozenset[int] = frozenset(),
        *,
        closed: bool = False,
    ) -> tuple[Head, Damage | None]:
        """Walk the whole volume; return its sound head and the first damage, if any.

        `lost`: records whose loss a person has accepted. `closed`: nothing may stand behind the
        last line.

        A tail that was cut off is not seen here: compare the head with another medium. `alive` is
        called now and then.
        """
        head, wrong = self.start, ""
        try:
            if (end := self._end_if_sound(alive)) and not (closed and self.lines.torn):
                return end, None
            records = (as_accepted(record, lost) for record in self.read())
            for step in walk(head, records, str(self.path)):
                if isinstance(step, Damage):
                    return head, step
                is_first = self.closed and head == self.start and not step.is_lost
                if is_first and (wrong := misfit(step.plain, self.closed)):
                    break
                head = Head(step.sequence, step.hash)
            if self.closed and head == self.start:
                wrong = wrong or "missing"
            elif closed and (torn := self.lines.torn):
                wrong = f"{torn} bytes stand behind the last line"
        except JournalVersionError:
            raise
        except JournalError as error:
            wrong = str(error)
        return head, Damage(str(self.path), head.sequence + 1, None, wrong) if wrong else None

    def _end_if_sound(self, alive: Alive | None) -> Head | None:
        """The whole walk in one pass; None where anything is not as usual, or nothing is there.

        Ten million records are read each week, so each line is compared with the one that belongs
        in its place, and a body is decoded only where its frame is not seen without.
        """
        sequence, before = self.start.sequence, self.start.hash
        first = sequence + bool(self.closed)
        with medium(self.path, read_only=True):
            for line in self.lines.lines(self.lines.begin):
                sequence += 1
                body = line[BODY_AT:-1]
                before = sha256(before + body).digest()
                if line != LINE % (before.hex().encode(), body):
                    return None
                if sequence == first or not is_seen_framed(body, sequence):
                    record = Record(sequence, before, body)
                    if misframed(record, "") or (
                        sequence == first and misfit(record.plain, self.closed)
                    ):
                        return None
                if alive is not None and sequence % ALIVE_EVERY == 0:
                    alive()
        return Head(sequence, before) if sequence > self.start.sequence else None


def former(path: Path) -> JournalVersionError:
    """Return the refusal of a file of the former form."""
    return JournalVersionError(
        f"{path} is a journal of the form before 3",
        remedy="Stop the table; then, once: shaker-ctl journal convert",
    )


def _json(text: bytes) -> Plain:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None
