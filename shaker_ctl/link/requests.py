"""What the floor may ask of a table, and the answer: a picture, and no more.

A picture is found through the record that names it, so no path ever comes from the network.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.errors import JournalError, RefusedError
from shaker_ctl.frozen import frozen
from shaker_ctl.link.outbox import opened
from shaker_ctl.link.packing import ProtocolError, digest, from_json, to_json, whole, with_data

MAX_WAITING = 8
"""Requests in hand; what is asked beyond is refused."""
MAX_PICTURE = 4_000_000
"""Bytes: the broker passes no larger message on."""

_FILE = re.compile(r"\d{8}-\d{10}-(frame|overlay)\.jpg")


@frozen
class Want:
    """One request: the picture with this SHA-256, which this record names."""

    sequence: int
    sha256: str


@frozen
class TableFiles:
    """Where the table keeps what may be asked for."""

    journal: Path
    pictures: Path


def want_message(want: Want) -> bytes:
    """Return a request as one message."""
    return to_json({"what": "picture", "sequence": want.sequence, "sha256": want.sha256})


def parsed(payload: bytes) -> Want:
    """Return the request of a message. Raises ProtocolError for every other bytes."""
    plain = from_json(payload)
    if plain.get("what") != "picture":
        raise ProtocolError(f"{plain.get('what')!r:.40} cannot be asked of a table: only `picture`")
    return Want(whole(plain, "sequence"), digest(plain, "sha256").hex())


def answer(want: Want, files: TableFiles) -> bytes:
    """Return the message that answers; where nothing can be given, it says why."""
    header = {"sequence": want.sequence, "sha256": want.sha256}
    try:
        return with_data(header, _picture(want, files))
    except (JournalError, RefusedError, OSError) as error:
        return with_data({**header, "error": str(error)[:300]}, b"")


def _picture(want: Want, files: TableFiles) -> bytes:
    with closing(opened(files.journal)) as book:
        records = list(book.read(want.sequence, want.sequence))
    named = records[0].plain.get("pictures") or {} if records else {}
    for picture in named.values():
        if picture.get("sha256") == want.sha256 and _FILE.fullmatch(str(picture.get("file"))):
            data = recorded_picture(files.pictures, picture["file"], want.sha256)
            if len(data) > MAX_PICTURE:
                raise RefusedError(f"{len(data)} bytes: look at it at the table")
            return data
    raise RefusedError(f"the record {want.sequence} names no picture {want.sha256[:16]}")
