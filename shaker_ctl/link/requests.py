"""What the floor may ask of a table, and the answers: a picture, or a bundle. There is no more.

Owns which words are understood. Every other message is refused by name. A picture is found through
the record that names it, so no path ever comes from the network.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from shaker_ctl import __version__
from shaker_ctl.adapters.disk.picture_folder import newest_pictures, recorded_picture
from shaker_ctl.errors import JournalError, RefusedError
from shaker_ctl.frozen import frozen
from shaker_ctl.link.outbox import opened
from shaker_ctl.link.packing import ProtocolError, digest, from_json, whole, with_data
from shaker_ctl.view.archive import log_bundle

PART_BYTES = 256 * 1024
MAX_WAITING = 8
"""Requests in hand; what is asked beyond is refused."""

_ID = re.compile(r"[0-9a-f]{16}")
_FILE = re.compile(r"\d{8}-\d{10}-(frame|overlay)\.jpg")


@frozen
class Want:
    """One request."""

    id: str
    """Sixteen hexadecimal digits; the answer bears them."""
    what: str
    """`picture` or `bundle`."""
    sequence: int = 0
    """Of the record that names the picture."""
    sha256: str = ""


@frozen
class TableFiles:
    """Where the table keeps what may be asked for."""

    journal: Path
    pictures: Path
    settings: Path


def parsed(payload: bytes) -> Want:
    """Return the request of a message. Raises ProtocolError for every other bytes."""
    plain = from_json(payload)
    marked = plain.get("id")
    if not isinstance(marked, str) or _ID.fullmatch(marked) is None:
        raise ProtocolError("a request without an id")
    match plain.get("what"):
        case "picture":
            wanted = digest(plain, "sha256").hex()
            return Want(marked, "picture", whole(plain, "sequence"), wanted)
        case "bundle":
            return Want(marked, "bundle")
        case other:
            raise ProtocolError(
                f"{other!r:.40} cannot be asked of a table: only `picture` and `bundle` can"
            )


def answer(want: Want, files: TableFiles) -> Iterator[bytes]:
    """Yield the messages that answer, in parts; where nothing can be given, one that says why."""
    try:
        data = _picture(want, files) if want.what == "picture" else _bundle(files)
    except (JournalError, RefusedError, OSError) as error:
        yield with_data({**_header(want), "error": str(error)[:300]}, b"")
        return
    parts = range(0, max(1, len(data)), PART_BYTES)
    for number, start in enumerate(parts):
        header = {**_header(want), "part": number, "of": len(parts)}
        header["sha256"] = hashlib.sha256(data).hexdigest()
        yield with_data(header, data[start : start + PART_BYTES])


def _header(want: Want) -> dict[str, Any]:
    return {"id": want.id, "what": want.what, "sequence": want.sequence}


def _picture(want: Want, files: TableFiles) -> bytes:
    with closing(opened(files.journal)) as book:
        records = list(book.read(want.sequence, want.sequence))
    named = records[0].plain.get("pictures") or {} if records else {}
    for picture in named.values():
        if picture.get("sha256") == want.sha256 and _FILE.fullmatch(str(picture.get("file"))):
            return recorded_picture(files.pictures, picture["file"], want.sha256)
    raise RefusedError(f"the record {want.sequence} names no picture {want.sha256[:16]}")


def _bundle(files: TableFiles) -> bytes:
    versions = f"shaker-ctl {__version__}\npython {platform.python_version()}\n"
    pictures = partial(newest_pictures, files.pictures)
    with closing(opened(files.journal)) as book:
        settings = files.settings.read_text("utf-8")
        return log_bundle(book, settings, versions, pictures).content
