"""What the floor may ask of a table, and the answer: a picture, and no more.

A picture is found through the record that names it, so no path ever comes from the network.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.errors import JournalError, RefusedError
from shaker_ctl.frozen import frozen
from shaker_ctl.link.packing import Sha256, Whole, to_json, with_data

MAX_WAITING = 8
"""Requests in hand; what is asked beyond is refused."""
MAX_PICTURE = 4_000_000
"""Bytes: the broker passes no larger message on."""

_FILE = re.compile(r"\d{8}-\d{10}-(frame|overlay)\.jpg")


class Want(TypedDict):
    """One request: the picture with this SHA-256, which this record names."""

    what: Literal["picture"]
    sequence: Whole
    sha256: Sha256


@frozen
class TableFiles:
    """Where the table keeps what may be asked for."""

    journal: Path
    pictures: Path


def want_message(sequence: int, sha256: str) -> bytes:
    """Return a request as one message."""
    want: Want = {"what": "picture", "sequence": sequence, "sha256": sha256}
    return to_json(want)


def answer(want: Want, files: TableFiles) -> bytes:
    """Return the message that answers; where nothing can be given, it says why."""
    try:
        return with_data(want, _picture(want, files))
    except (JournalError, RefusedError, OSError) as error:
        return with_data({**want, "error": str(error)[:300]}, b"")


def _picture(want: Want, files: TableFiles) -> bytes:
    with closing(opened(files.journal)) as book:
        records = list(book.read(want["sequence"], want["sequence"]))
    named = records[0].plain.get("pictures") or {} if records else {}
    for picture in named.values():
        if picture.get("sha256") == want["sha256"] and _FILE.fullmatch(str(picture.get("file"))):
            data = recorded_picture(files.pictures, picture["file"], want["sha256"])
            if len(data) > MAX_PICTURE:
                raise RefusedError(f"{len(data)} bytes: look at it at the table")
            return data
    raise RefusedError(f"the record {want['sequence']} names no picture {want['sha256'][:16]}")
