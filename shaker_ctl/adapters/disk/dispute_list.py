"""Rounds with an open dispute: their pictures stay, whatever the quota says.

Owns one file beside the pictures, in the form of a volume, one record an act, only ever appended:
who opened or closed a dispute, when and why. It is no part of the journal's chain, so that it can
be written while the service holds the journal. The journal remembers how the list stood, so it is
noticed where the list was changed, emptied or taken away. Must not know pictures.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from shaker_ctl.adapters.disk.kept_aside import move_aside
from shaker_ctl.adapters.disk.volume_file import VolumeFile, found
from shaker_ctl.adapters.disk.volume_proofs import mark_of
from shaker_ctl.errors import (
    DisputesError,
    JournalError,
    JournalWriteError,
    RefusedError,
    reraise_as,
)
from shaker_ctl.frozen import frozen
from shaker_ctl.journal import volume
from shaker_ctl.journal.record import Entry, Plain, Record, checked, link, names_its_record
from shaker_ctl.plain_form import PlainForm, PlainFormError
from shaker_ctl.quoting import require_words

NAME = "disputes.jsonl"
MAX_BYTES = 64_000_000
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


_FORM = PlainForm({"Dispute": Dispute}.get, is_whole=True)

ACT = "dispute"
"""Kind of the record of an act in the list, and the key of the act there."""

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
        self._is_torn = False

    def add(self, act: Dispute) -> None:
        """Append and sync. Raises JournalWriteError, and RefusedError where who or why is missing
        or no text."""
        require_words("the dispute's --by", act.by)
        require_words("the dispute's --reason", act.reason)
        entry = checked(ACT, {ACT: _FORM.plain(act), "round": act.round})
        with self.held() as list_:
            at_s = time.monotonic()
            list_.append([link(list_.head(), entry, monotonic_s=at_s, wall=act.wall, digests={})])

    @contextlib.contextmanager
    def held(self) -> Iterator[VolumeFile]:
        """Let nobody else add an act meanwhile. Raises JournalError."""
        folder = self._path.parent
        with contextlib.ExitStack() as stack:
            with reraise_as(
                JournalWriteError,
                f"the dispute cannot be kept in {self._path}",
                remedy="Run as the service's user: sudo -u shaker shaker-ctl journal dispute",
            ):
                folder.mkdir(parents=True, exist_ok=True)
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                stack.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.lexists(self._path):
                found(self._path, KEY)
            yield stack.enter_context(closing(VolumeFile(self._path)))

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
        if self._is_torn:
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
        rounds = sorted({*self.known.open, *_open(self._lines()[0])})
        why = "the list was damaged, and is written anew from the journal"
        wall = datetime.now(UTC).isoformat(timespec="seconds")
        move_aside(self._path)
        self.known = NOTHING
        for number in rounds:
            self.add(Dispute(number, True, "journal rebuild", why, wall))
        return self.listed()

    def _read(self) -> tuple[tuple[Dispute, ...], DisputeHead]:
        known = self.known  # before the file is read: another thread may learn more meanwhile
        lines, wrong = self._lines()
        heads = ["", *(hash_.hex() for hash_, _ in lines)]
        if not wrong and heads[known.acts : known.acts + 1] != [known.head]:
            wrong = f"it is not the one that the journal knows, with {known.acts} acts"
        if wrong:
            raise DisputesError(
                f"the list of disputes {self._path} is damaged: {wrong}; open disputes: "
                f"{known.words()}",
                remedy="Bring it back from a copy; without one, stop the table and run: "
                "shaker-ctl journal rebuild --disputes",
            )
        return tuple(act for _, act in lines), DisputeHead(len(lines), heads[-1], _open(lines))

    def _lines(self) -> tuple[list[tuple[bytes, Dispute]], str]:
        """Return hash and act of each line that can be read, and what is wrong, if anything is."""
        lines = list[tuple[bytes, Dispute]]()
        self._is_torn = False
        if not os.path.lexists(self._path):
            return lines, ""
        if self._path.lstat().st_size > MAX_BYTES:
            return lines, f"more than {MAX_BYTES} bytes"
        try:
            with closing(VolumeFile(self._path, read_only=True)) as list_:
                end, damage = list_.verify()
                wrong = "" if damage is None else damage.line()
                self._is_torn = bool(list_.lines.torn)
                for record in list_.read(last=None if wrong else end.sequence):
                    try:
                        act = _FORM.made(record.plain.get(ACT), f"record {record.sequence}")
                        lines.append((record.hash, act))
                    except (JournalError, PlainFormError) as error:
                        wrong = wrong or f"{error}: it is no act of a dispute"
        except JournalError as error:
            wrong = str(error)
        return lines, wrong


def _open(lines: Iterable[tuple[bytes, Dispute]]) -> tuple[int, ...]:
    newest = {act.round: act.is_open for _, act in lines}
    return tuple(sorted(number for number, is_open in newest.items() if is_open))
