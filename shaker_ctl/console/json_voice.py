"""The scripts' voice: one JSON object a line, pure ASCII.

Owns the form of replies, events and parcels. Must not know commands or sessions.

Three kinds of line; the first key says which:

- `{"status": "ok", "command": ..., "code": "ok", "text": ..., ...}` or
  `{"status": "error", "command": ..., "code": ..., "text": ...}`: exactly one per command;
- `{"event": KIND, "text": ..., ...}`: unasked, at any time between other lines;
- `{"parcel": NAME, "part": n, "of": N, "base64": ...}`: a file, before its command's reply, which
  repeats its name with `size` and `sha256`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping

from shaker_ctl.console.desk import NOTHING, Announcement, Parcel, TableView
from shaker_ctl.plain_form import PlainForm

PIECE = 720
"""Bytes of a parcel in one line: 960 characters, a twelfth of a second at 115200 baud, so that
events and Ctrl-C are never far away."""


plain = PlainForm(lambda _: None, is_spoken=True).plain


def line(fields: Mapping[str, object]) -> str:
    return json.dumps(plain(fields), separators=(",", ":")) + "\r\n"


def ok(command: str, text: str = "", fields: Mapping[str, object] = NOTHING) -> str:
    return line({"status": "ok", "command": command, "code": "ok", "text": text, **fields})


def error(command: str, code: str, text: str) -> str:
    return line({"status": "error", "command": command, "code": code, "text": text})


def event(announcement: Announcement) -> str:
    return line(
        {
            "event": announcement.kind,
            "text": announcement.text,
            **({"alarm": True} if announcement.is_alarm else {}),
            **announcement.fields,
        }
    )


def brief(view: TableView) -> dict[str, object]:
    """`status` for scripts: what decides the next step, in well under 1000 characters.

    The line carries 11 characters a millisecond, so the whole view would take half a second.
    """
    return {
        "table": view.table,
        "life": view.life,
        "phase": view.phase,
        "says": view.says,
        "marks": view.marks,
        "round": view.round_id,
        "last_result": view.last_result,
        "pending": view.pending,
        "faults": [fault.code for fault in view.faults],
        "inspection": view.inspection.stage,
    }


def parcel(content: Parcel) -> Iterator[str]:
    """Yield the lines that carry a file to a script."""
    pieces = range(0, len(content.content), PIECE)
    for number, start in enumerate(pieces, start=1):
        piece = content.content[start : start + PIECE]
        yield line(
            {
                "parcel": content.name,
                "part": number,
                "of": len(pieces),
                "base64": base64.b64encode(piece).decode(),
            }
        )


def parcel_facts(content: Parcel) -> dict[str, object]:
    return {
        "name": content.name,
        "size": len(content.content),
        "sha256": hashlib.sha256(content.content).hexdigest(),
    }
