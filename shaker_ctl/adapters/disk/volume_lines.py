"""The lines of one volume's file: one record each, found, read and appended; nothing is verified.

A line is `{"hash":…,"record":…}`, as `Record.exported` makes it. No index is kept. Each record says
its own number and numbers rise along the file, so a record is found by halving the file: some
twenty looks in a million records. So is a round, since rounds rise along the chain.

What is not synced yet is not there for readers: a writer holds a lock on the bytes behind the last
that are synced while it writes more, and a reader asks where that lock begins. Neither waits for
the other. What stands behind the last whole line was cut short before anybody was told that it is
kept: readers pass it over, and the next append moves it into a file of its own.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from shaker_ctl.adapters.disk.kept_aside import IS_A_LINK, MOVE_AWAY
from shaker_ctl.errors import JournalCorruptError, JournalError, JournalWriteError
from shaker_ctl.journal.record import BODY_AT, Record, number_in
from shaker_ctl.whole_file import mode, put, unused_stamp

MODE = 0o640
"""The service's group may read, whatever the umask."""

MAX_LINE_B = 16 << 20
"""A longer line, or torn end, is none that a table wrote."""

REBUILD = (
    "Keep the file; where the other copy is whole, shaker-ctl journal rebuild --main, or --second "
    "for the second copy, writes the last file anew, and shaker-ctl journal fetch a closed volume"
)

_FIRST_LOOK, _CHUNK = 1 << 12, 1 << 18
_NEAR = 1 << 13
"""Bytes that are read through rather than halved."""

_LOCK = struct.Struct("hhqqi4x")
"""`struct flock` of fcntl(2): kind, from where, first byte, length (0: all behind it), process."""


class Lines:
    """One open file of lines. `append` for one thread at a time; reading from any."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        """Raises JournalCorruptError where no ordinary file is there, JournalError where the medium
        refuses."""
        self.path = path
        self._read_only = read_only
        self._file = -1
        how = os.O_RDONLY if read_only else os.O_RDWR | os.O_APPEND
        with medium(path, read_only=read_only):
            self._file = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with medium(path, read_only=read_only):
                state = os.fstat(self._file)
                if not stat.S_ISREG(state.st_mode):
                    raise JournalCorruptError(f"{path} is no ordinary file", remedy=MOVE_AWAY)
                if not read_only:
                    os.fdatasync(self._file)  # what a killed writer wrote is read as kept
                self._end = self._size = 0
        except BaseException:
            self.close()  # once: its number is soon another file's
            raise

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        """Whoever still reads a volume that its writer has closed holds this object."""
        self.close()

    @cached_property
    def header(self) -> bytes:
        """The first line, which is no record."""
        with medium(self.path):
            return next(self.lines(0), b"")

    @property
    def begin(self) -> int:
        """Where the first record stands."""
        return len(self.header) + 1

    @property
    def end(self) -> int:
        """Where the last whole line ends that is synced."""
        if self._end and not self._read_only:
            return self._end
        size = self._synced(os.fstat(self._file).st_size)
        if size != self._size:
            self._end, self._size = self._behind_last_line(size), size
        return self._end

    @property
    def torn(self) -> int:
        """How many bytes stand behind the last whole line."""
        return os.fstat(self._file).st_size - self.end

    def _synced(self, size: int) -> int:
        """How many of so many bytes no writer is at."""
        asked = _LOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        with contextlib.suppress(OSError):  # a file system without locks
            kind, _, at, *_ = _LOCK.unpack(fcntl.fcntl(self._file, fcntl.F_OFD_GETLK, asked))
            return size if kind == fcntl.F_UNLCK else min(size, at)
        return size

    def _behind_last_line(self, size: int) -> int:
        while size > 0:
            first = max(0, size - _CHUNK)
            at = os.pread(self._file, size - first, first).rfind(b"\n")
            if at >= 0:
                return first + at + 1
            size = first
        return 0

    # ── Reading ─────────────────────────────────────────────────────────────

    def lines(self, at: int, end: int | None = None) -> Iterator[bytes]:
        """Yield the lines from a place on, up to `end`, without the ends of lines."""
        for block in self._blocks(at, self.end if end is None else end):
            yield from block.split(b"\n")

    def _blocks(self, at: int, end: int) -> Iterator[bytes]:
        """Yield the same, many lines at once."""
        rest, length = b"", _FIRST_LOOK
        while at < end and (chunk := os.pread(self._file, min(length, end - at), at)):
            at, length = at + len(chunk), min(4 * length, _CHUNK)
            whole, is_whole, chunk = chunk.rpartition(b"\n")
            if is_whole:
                yield rest + whole
                rest = b""
            rest = self._within_bounds(rest + chunk)

    def backwards(self) -> Iterator[bytes]:
        """Yield the lines, the last one first and the file's first line at the end."""
        end, rest = self.end, b""
        while end > 0:
            first = max(0, end - _CHUNK)
            rest, *whole = (os.pread(self._file, end - first, first) + rest).split(b"\n")
            end = first
            yield from (line for line in reversed(whole) if line)
            self._within_bounds(rest)
        yield rest

    def _within_bounds(self, rest: bytes) -> bytes:
        if len(rest) > MAX_LINE_B:
            what = f"{self.path}: a line of more than {MAX_LINE_B} bytes"
            raise JournalCorruptError(what, remedy=REBUILD)
        return rest

    def records(self, first: int, last: int, start: int) -> Iterator[Record]:
        """Yield records as they stand. `start`: the number before the file's first one. From any
        thread. Raises JournalError."""
        with medium(self.path):
            at, sequence, _ = self.place(sequence_in, first, start)
            for line in self.lines(at):
                record = record_in(line, sequence + 1)
                sequence = record.sequence
                if sequence > last:
                    return
                if sequence >= first:
                    yield record

    def newest(self, before: int, start: int) -> Record | None:
        """Return the last record before `before`; None where there is none. Raises JournalError."""
        with medium(self.path):
            at, sequence, line = self.place(sequence_in, before, start)
            found = None if line is None else record_in(line, sequence)
            for line in self.lines(at):
                record = record_in(line, sequence + 1)
                if (sequence := record.sequence) >= before:
                    break
                found = record
            return found

    def place(
        self, says: Callable[[bytes], int | None], wanted: int, start: int
    ) -> tuple[int, int, bytes | None]:
        """Return a place before the first line that says `wanted` or more, and near it; the number
        that the line before it says, and that line. Numbers rise; a line may say none."""
        low, high = self.begin, self.end
        number, before = start, None
        while high - low > _NEAR:
            middle = (low + high) // 2
            at, told = middle, None
            lines = self.lines(at, high)
            at += len(next(lines, b"")) + 1  # the rest of a line
            for line in lines:
                at += len(line) + 1
                if (told := says(line)) is not None:
                    break
            if told is None or told >= wanted:
                high = middle
            else:
                low, number, before = at, told, line
        return low, number, before

    def rounds(self, count: int) -> list[int]:
        """Return the numbers of the last rounds, newest first. Raises JournalError."""
        found: dict[int, None] = {}
        with medium(self.path):
            for line in self.backwards():
                if (number := round_in(line)) is not None:
                    found[number] = None
                    if len(found) > count:
                        break
        return sorted(found, reverse=True)[:count]

    def span_of(self, number: int, start: int) -> tuple[int, int] | None:
        """Return the first and the last record of a round; None where it has none."""
        low = high = None
        with medium(self.path):
            at, _, before = self.place(round_in, number, 0)
            first = start + 1 if before is None else (sequence_in(before) or start) + 1
            for sequence, line in enumerate(self.lines(at), first):
                named = round_in(line)
                if named == number:
                    low, high = low or sequence, sequence
                elif named is not None and named > number:
                    break
        return None if low is None or high is None else (low, high)

    def marked(self, *marks: bytes) -> Iterator[bytes]:
        """Yield the lines of records that hold one of the marks. Raises JournalError."""
        with medium(self.path):
            for block in self._blocks(self.begin, self.end):
                if any(mark in block for mark in marks):
                    yield from (x for x in block.split(b"\n") if any(mark in x for mark in marks))

    # ── Writing ─────────────────────────────────────────────────────────────

    def append(self, data: bytes) -> None:
        """Append whole lines and sync; all or none. Raises JournalWriteError."""
        end = self.end
        with medium(self.path, read_only=False):
            self.move_torn_end()
            self._lock(fcntl.F_WRLCK, end)
            try:
                self._write(data, end)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, end)
                raise
            else:
                self._end = end + len(data)
            finally:
                self._lock(fcntl.F_UNLCK, 0)

    def _write(self, data: bytes, at: int) -> None:
        while data:
            done = os.pwrite(self._file, data, at)
            data, at = data[done:], at + done
        os.fdatasync(self._file)

    def move_torn_end(self) -> None:
        """Move what stands behind the last whole line beside the file. Raises JournalWriteError."""
        if not (length := self.torn):
            return
        if length > MAX_LINE_B:
            what = f"{self.path}: {length} bytes stand behind its last line"
            raise JournalCorruptError(what, remedy=REBUILD)
        with medium(self.path, read_only=False):
            torn = os.pread(self._file, length, self.end)
            aside = self.path.with_name(f"{self.path.name}.torn-{unused_stamp(self.path)}")
            put(aside, torn, mode(MODE))
            os.ftruncate(self._file, self.end)

    def _lock(self, kind: int, at: int) -> None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _LOCK.pack(kind, os.SEEK_SET, at, 0, 0))


@contextlib.contextmanager
def medium(path: Path, *, read_only: bool = True) -> Iterator[None]:
    """Say what the system refuses as a JournalError."""
    try:
        yield
    except (OSError, MemoryError) as error:
        what = getattr(error, "strerror", "") or str(error) or type(error).__name__
        if getattr(error, "errno", 0) == errno.ELOOP:
            raise JournalCorruptError(f"{path} {IS_A_LINK}", remedy=MOVE_AWAY) from error
        if read_only:
            raise JournalError(
                f"the journal {path} cannot be read: {what}",
                remedy="Read it as the service's user: sudo -u shaker shaker-ctl journal ...",
            ) from error
        raise JournalWriteError(
            f"the journal {path} cannot be written: {what}",
            remedy="Free space or mount its medium writable (df, dmesg), then start again",
        ) from error


# ── What a line says ────────────────────────────────────────────────────────


def record_in(line: bytes, sequence: int) -> Record:
    """Return what a line holds; one that nobody wrote has a hash that fits no chain.

    `sequence`: its number by its place, which it may contradict.
    """
    body = line[BODY_AT:-1]
    if b',"sequence":%d,' % sequence not in body:
        said = sequence_in(line)
        sequence = sequence if said is None else said
    try:
        record = Record(sequence, bytes.fromhex(line[9:73].decode("ascii")), body)
    except ValueError:
        return Record(sequence, b"", body)
    return record if record.exported[:-1] == line else Record(sequence, b"", body)


def sequence_in(line: bytes) -> int | None:
    """Return the number that the record of a line says it has; None where it says none."""
    return number_in(line[BODY_AT:-1], "sequence")


def round_in(line: bytes) -> int | None:
    """Return the round that the record of a line names; None where it names none."""
    return number_in(line[BODY_AT:-1], "round")
