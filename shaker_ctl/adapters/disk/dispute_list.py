"""Rounds with an open dispute: their pictures stay, whatever the quota says.

Owns one file beside the pictures, one line of JSON an act, only ever appended: who opened or closed
a dispute, when and why. It is no part of the journal's chain, so that it can be written while the
service holds the journal. The journal remembers how the list stood, so it is noticed where the list
was changed, emptied or taken away. A last line without its end was cut by a power cut and never
acknowledged: it is passed over, and the next act takes its place. Must not know pictures.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from shaker_ctl.adapters.disk.volume_proofs import mark_of
from shaker_ctl.errors import DisputesError, JournalWriteError, RefusedError, reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.journal import volume
from shaker_ctl.journal.record import Entry, Plain, Record, chain_hash, names_its_record
from shaker_ctl.quoting import require_words
from shaker_ctl.whole_file import put, read_bounded, unused_stamp

NAME = "disputes.jsonl"
MAX_BYTES = 16_000_000
"""Some hundred thousand acts; a table has a few a month."""


@frozen
class Dispute:
    """One act."""

    round: int
    is_open: bool
    by: str
    reason: str
    wall: str
    """ISO 8601 with offset."""


TYPES = {"round": int, "is_open": bool, "by": str, "reason": str, "wall": str}


def _act(plain: object) -> Dispute:
    """Raises ValueError for what is no act."""
    if not isinstance(plain, dict) or {key: type(value) for key, value in plain.items()} != TYPES:
        raise ValueError(f"{str(plain)[:80]!r} is no act of a dispute")
    return Dispute(**plain)


KEY = "disputes"
"""Kind of the record that says how the list stands, and the key under which it stands there. Each
opening and each volume record say it again, so that a start reads back no further."""


@frozen
class DisputeHead:
    """How the list stands."""

    acts: int
    head: str
    """Last hash of the chain over the lines, in hexadecimal digits; empty without a line."""
    open: tuple[int, ...]
    """Rounds whose newest act opens a dispute, ascending."""

    def plain(self) -> dict[str, Plain]:
        """As a record has it."""
        return {"acts": self.acts, "head": self.head, "open": list(self.open)}

    def entry(self) -> Entry:
        """Return the record of it."""
        note = f"list of disputes: {self.acts} acts; open: {self.words()}"
        return Entry(KEY, {KEY: self.plain(), "note": note})

    def words(self) -> str:
        """The open rounds, for people."""
        return ", ".join(map(str, self.open)) or "none"


NOTHING = DisputeHead(0, "", ())


@names_its_record
def known(milestones: Iterable[Record]) -> DisputeHead:
    """Return how the list stood when the journal last heard of it. `milestones`: newest first.

    `NOTHING` where a program wrote the last opening that did not know of this: the list is then
    taken as it stands.
    """
    for record in milestones:
        plain = record.plain
        if KEY in plain:
            told = plain[KEY]
            return DisputeHead(told["acts"], told["head"], tuple(told["open"]))
        if plain["kind"] in ("opening", volume.KIND):
            break
    return NOTHING


class DisputeList:
    """The acts in one folder of pictures. Read afresh each time: another program may append.

    Reading raises DisputesError where the file is damaged, or does not go on from `known`.
    """

    def __init__(self, folder: Path, known: DisputeHead = NOTHING) -> None:
        """`known`: what the journal says of it."""
        self._path = folder / NAME
        self.known = known
        """How the list stood last."""
        self._mark: tuple[int, ...] | None = None

    def add(self, act: Dispute) -> None:
        """Append and sync. Raises JournalWriteError, and RefusedError where who or why is missing
        or no text."""
        require_words("the dispute's --by", act.by)
        require_words("the dispute's --reason", act.reason)
        with self.held() as file:
            file.truncate(file.seek(file.read().rfind(b"\n") + 1))
            file.write(_line(act))
            file.flush()
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def held(self) -> Iterator[BinaryIO]:
        """Let nobody else add an act meanwhile. Raises JournalWriteError."""
        with self._writing():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(self._path, flags, 0o640), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file

    def acts(self) -> tuple[Dispute, ...]:
        """Return every act, oldest first."""
        return self._read()[0]

    def listed(self) -> DisputeHead:
        """Return how the list stands."""
        return self._read()[1]

    def open_rounds(self) -> frozenset[int]:
        """Return the rounds whose newest act opens a dispute."""
        return frozenset(self.listed().open)

    def grown(self) -> DisputeHead | None:
        """Return how the list stands, where it has grown since it was last known; it is known now.

        Looks into a file only once it has changed, so a damaged one is told once.
        """
        before, self._mark = self._mark, mark_of(self._path)
        if self._mark == before or (now := self.listed()) == self.known:
            return None
        self.known = now
        return now

    def require_whole(self) -> None:
        """Raise DisputesError where the last line has lost its end, or the file is damaged.

        That act may have been acknowledged: nothing is removed for good without it.
        """
        self._read()
        content = self._content()
        if content and not content.endswith(b"\n"):
            raise DisputesError(
                f"the last line of the list of disputes {self._path} has no end",
                remedy="Look at that line; write its act again: shaker-ctl journal dispute",
            )

    def write_anew(self) -> DisputeHead:
        """Open the disputes anew that the journal, or a line that can be read, says are open.

        What stood there is moved aside. Raises RefusedError where nothing is wrong with the list,
        and JournalWriteError.
        """
        try:
            self._read()
        except DisputesError:
            pass
        else:
            what = f"the list of disputes {self._path} is whole"
            raise RefusedError(what, remedy="Start the table")
        now = datetime.now(UTC)
        rounds = sorted({*self.known.open, *_open_rounds(self._readable())})
        why = "the list was damaged, and is written anew from the journal"
        wall = now.isoformat(timespec="seconds")
        with self._writing():
            if os.path.lexists(self._path):
                os.replace(self._path, f"{self._path}.replaced-{unused_stamp(self._path)}")
            acts = [Dispute(number, True, "journal rebuild", why, wall) for number in rounds]
            put(self._path, b"".join(map(_line, acts)), lambda number: os.fchmod(number, 0o640))
        self.known = NOTHING
        return self.listed()

    def _read(self) -> tuple[tuple[Dispute, ...], DisputeHead]:
        known = self.known  # before the file is read: another thread may learn more meanwhile
        lines = _lines(self._content())
        try:
            acts = tuple(_act(json.loads(line)) for line in lines)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(f"cannot be read: {error}") from error
        heads = [head.hex() for head in accumulate(lines, chain_hash, initial=b"")]
        if heads[known.acts : known.acts + 1] != [known.head]:
            raise self._damaged(
                f"is not the one that the journal knows, with {known.acts} acts; "
                f"open disputes: {known.words()}"
            )
        return acts, DisputeHead(len(acts), heads[-1], tuple(sorted(_open_rounds(acts))))

    def _content(self) -> bytes:
        """Return what stands in the file; nothing without one."""
        try:
            return read_bounded(self._path, MAX_BYTES)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._damaged(f"cannot be read: {error}") from error

    def _readable(self) -> Iterable[Dispute]:
        """Yield the acts of the lines that can be read."""
        with contextlib.suppress(DisputesError):
            for line in _lines(self._content()):
                with contextlib.suppress(ValueError, TypeError, RecursionError):
                    yield _act(json.loads(line))

    def _damaged(self, what: str) -> DisputesError:
        return DisputesError(
            f"the list of disputes {self._path} {what}",
            remedy="Bring it back from a copy; without one, stop the table and run: "
            "shaker-ctl journal rebuild --disputes",
        )

    def _writing(self) -> AbstractContextManager[None]:
        return reraise_as(
            JournalWriteError,
            f"the dispute cannot be kept in {self._path}",
            remedy="Run as the service's user: sudo -u shaker shaker-ctl journal dispute",
        )


def _lines(content: bytes) -> list[bytes]:
    """Return the whole lines. Not `splitlines`: a reason may hold a line separator that is no end
    of a line here."""
    return [line for line in content.split(b"\n")[:-1] if line]


def _line(act: Dispute) -> bytes:
    return (json.dumps(asdict(act), ensure_ascii=False) + "\n").encode()


def _open_rounds(acts: Iterable[Dispute]) -> set[int]:
    newest = {act.round: act.is_open for act in acts}
    return {number for number, is_open in newest.items() if is_open}
