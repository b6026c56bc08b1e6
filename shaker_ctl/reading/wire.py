"""The form of messages between the service and the camera process: plain, typed, bounded.

The camera process reads pictures that any person can hold in front of the camera, so a security
hole of a JPEG parser must not reach the service: a message is JSON and never code, and bounded.
"""

from __future__ import annotations

import dataclasses
import json
import typing
from functools import cache
from multiprocessing.connection import Connection
from typing import Any, get_args

from shaker_ctl.plain_form import PlainForm, PlainFormError
from shaker_ctl.reading import messages

MAX_B = 32 << 20
"""Longest message, in bytes. A reading with its two pictures takes 0.5 MB."""


def send(link: Connection, message: object) -> None:
    """Send one message. Raises OSError where the other side is gone."""
    link.send_bytes(encoded(message))


def receive(link: Connection) -> Any:
    """Return the next message. Raises EOFError or OSError where the other side is gone or sends
    more than `MAX_B`, PlainFormError where it sends what is no message."""
    return decoded(link.recv_bytes(MAX_B))


def encoded(message: object) -> bytes:
    """Return a message as bytes."""
    return json.dumps(_FORM.plain(message), separators=(",", ":")).encode()


def decoded(data: bytes) -> Any:
    """Return the message in `data`. Raises PlainFormError."""
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PlainFormError(f"no message: {error}") from error
    name = plain.get("type") if isinstance(plain, dict) else None
    if not isinstance(name, str) or name not in {kind.__name__ for kind in KINDS}:
        raise PlainFormError("no message of this version")
    return _FORM.made(plain, plain["type"])


KINDS = (*get_args(messages.Request), *get_args(messages.Message), messages.CameraSetup)


@cache
def _inside() -> dict[str, type]:
    """Every class of a message, and of what stands in one."""
    found: dict[str, type] = {}

    def add(hint: Any) -> None:
        for each in get_args(hint):
            add(each)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint.__name__ not in found:
            found[hint.__name__] = hint
            for each in typing.get_type_hints(hint).values():
                add(each)

    for kind in KINDS:
        add(kind)
    return found


_FORM = PlainForm(lambda name: _inside().get(name), is_whole=True)
