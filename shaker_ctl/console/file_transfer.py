"""A file inside a person's terminal session: base64 between two marks, and out of it again.

Owns the marks. Must not know lines or disks. Made to be cut out of any terminal's log and given to
`base64 -d`; the laptop's side of the console takes it out by itself.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator

from shaker_ctl.console.desk import Parcel
from shaker_ctl.frozen import frozen

ROW = 57
"""Bytes in a row of 76 characters."""
ROWS = 12
"""Rows handed over at once, about a twelfth of a second at 115200 baud: Ctrl-C is never far."""
MAX_BYTES = 64_000_000

_BEGIN = re.compile(rb"-----BEGIN ([A-Za-z0-9][A-Za-z0-9._-]{0,99}) (\d{1,9}) bytes-----")
_END = re.compile(rb"-----END [A-Za-z0-9._-]+ sha256 ([0-9a-f]{64})-----")


def wrap(parcel: Parcel) -> Iterator[str]:
    """Yield the lines that carry `parcel`; the closing mark carries its digest."""
    yield f"-----BEGIN {parcel.name} {len(parcel.content)} bytes-----\r\n"
    for start in range(0, len(parcel.content), ROW * ROWS):
        block = parcel.content[start : start + ROW * ROWS]
        rows = (block[at : at + ROW] for at in range(0, len(block), ROW))
        yield "".join(base64.b64encode(row).decode() + "\r\n" for row in rows)
    digest = hashlib.sha256(parcel.content).hexdigest()
    yield f"-----END {parcel.name} sha256 {digest}-----\r\n"


@frozen
class BrokenFile:
    """A file that did not arrive whole."""

    name: str
    reason: str


Piece = bytes | Parcel | BrokenFile


class Unwrapper:
    """Takes files out of a stream of terminal output; everything else passes through at once."""

    def __init__(self) -> None:
        self._pending = b""
        self._name = ""
        self._size = 0
        self._rows: list[bytes] | None = None
        self._held = 0
        self._is_begun = False
        """Part of the present line is on the screen already: it is no mark."""

    @property
    def under_way(self) -> tuple[str, float] | None:
        """Name of the file that is coming and the share of it that is here; None between files."""
        if self._rows is None:
            return None
        return self._name, min(1.0, self._held * 0.75 / max(self._size, 1))

    def feed(self, data: bytes) -> list[Piece]:
        """Return, in order, what belongs on the screen and the files that are complete now."""
        pieces: list[Piece] = []
        self._pending += data
        while b"\n" in self._pending:
            line, self._pending = self._pending.split(b"\n", 1)
            pieces += [line + b"\n"] if self._is_begun else self._line(line + b"\n")
            self._is_begun = False
        # An unfinished line is somebody's typing, unless it may become the mark of a file.
        if self._rows is None and (self._is_begun or not _may_be_mark(self._pending)):
            pieces.append(self._pending)
            self._is_begun = self._is_begun or bool(self._pending)
            self._pending = b""
        return [piece for piece in pieces if piece]

    def _line(self, line: bytes) -> list[Piece]:
        text = line.strip()
        if self._rows is None:
            if begin := _BEGIN.fullmatch(text):
                self._name, self._size = begin[1].decode(), int(begin[2])
                self._rows, self._held = [], 0
                return []
            return [line]
        if end := _END.fullmatch(text):
            return [self._finish(end[1].decode())]
        self._held += len(text)
        if self._held > MAX_BYTES or not re.fullmatch(rb"[A-Za-z0-9+/=]+", text):
            self._rows = None
            return [BrokenFile(self._name, "other text came in between"), line]
        self._rows.append(text)
        return []

    def _finish(self, digest: str) -> Parcel | BrokenFile:
        rows, self._rows = self._rows or [], None
        try:
            content = base64.b64decode(b"".join(rows), validate=True)
        except binascii.Error:
            return BrokenFile(self._name, "it is not base64")
        if hashlib.sha256(content).hexdigest() != digest:
            return BrokenFile(self._name, "its digest differs: bytes were lost on the line")
        return Parcel(self._name, content)


def _may_be_mark(start: bytes) -> bool:
    return b"-----".startswith(start[:5])
