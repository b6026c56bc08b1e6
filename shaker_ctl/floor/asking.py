"""Requests to tables, and their answers put together.

Owns which request an answer belongs to, and its bounds: nobody sends what was not asked for.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.link.packing import ProtocolError, digest, split, to_json, whole
from shaker_ctl.link.topics import Place

MAX_BYTES = 64 * 1024 * 1024
MAX_PARTS = 1024
GIVE_UP_S = 60.0


@dataclass(slots=True)
class Asked:
    """One request under way."""

    place: Place
    what: str
    sequence: int = 0
    sha256: str = ""
    since_s: float = field(default_factory=time.monotonic)
    parts: list[bytes] = field(default_factory=list)


@frozen
class TableAnswer:
    """What a table gave, or why it gave nothing."""

    asked: Asked
    data: bytes
    error: str = ""


class Asking:
    """All requests of one program."""

    def __init__(self) -> None:
        self._asked: dict[str, Asked] = {}

    def request(self, asked: Asked) -> bytes:
        """Return the message that asks."""
        self._forget_old()
        marked = secrets.token_hex(8)
        self._asked[marked] = asked
        wanted: dict[str, Any] = {"id": marked, "what": asked.what}
        if asked.what == "picture":
            wanted |= {"sequence": asked.sequence, "sha256": asked.sha256}
        return to_json(wanted)

    def _forget_old(self) -> None:
        now_s = time.monotonic()
        for marked in [m for m, a in self._asked.items() if now_s - a.since_s > GIVE_UP_S]:
            del self._asked[marked]

    def take(self, place: Place, payload: bytes) -> TableAnswer | None:
        """Return the whole answer when its last part is here; None before, and for what nobody
        asked. Raises ProtocolError for what is no answer."""
        header, data = split(payload)
        asked = self._asked.get(str(header.get("id")))
        if asked is None or asked.place != place:
            return None
        marked = str(header["id"])
        if "error" in header:
            del self._asked[marked]
            return TableAnswer(asked, b"", str(header["error"])[:300])
        part, of = whole(header, "part"), whole(header, "of")
        held = sum(len(each) for each in asked.parts)
        if part != len(asked.parts) or of > MAX_PARTS or held + len(data) > MAX_BYTES:
            del self._asked[marked]
            raise ProtocolError("an answer whose parts do not follow each other")
        asked.parts.append(data)
        if part + 1 < of:
            return None
        del self._asked[marked]
        whole_answer = b"".join(asked.parts)
        found = hashlib.sha256(whole_answer).digest()
        if found != digest(header, "sha256") or asked.sha256 not in ("", found.hex()):
            raise ProtocolError("an answer that is not what was asked for")
        return TableAnswer(asked, whole_answer)
