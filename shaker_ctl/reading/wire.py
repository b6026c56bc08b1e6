"""The form of messages between the service and the camera process: plain, typed, bounded.

Owns the conversion to bytes and back. The camera process reads pictures that any person can hold in
front of the camera, so a security hole of a JPEG parser must not reach the service. So a message is
JSON and never code, and its length is bounded. Only the dataclasses of messages are made from it,
and the type of every field is checked.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from multiprocessing.connection import Connection
from typing import Any, Union, get_args, get_origin

from shaker_ctl.reading import messages

MAX_B = 32 << 20
"""Longest message, in bytes. A reading with its two pictures takes 0.5 MB."""


class WireError(ValueError):
    """The received bytes are no message. The other side is not trusted any more."""


def send(link: Connection, message: object) -> None:
    """Send one message. Raises OSError where the other side is gone."""
    link.send_bytes(encoded(message))


def receive(link: Connection) -> Any:
    """Return the next message. Raises EOFError or OSError where the other side is gone or sends
    more than `MAX_B`, WireError where it sends what is no message."""
    return decoded(link.recv_bytes(MAX_B))


def encoded(message: object) -> bytes:
    """Return a message as bytes."""
    return json.dumps(_plain(message), separators=(",", ":"), default=_number).encode()


def decoded(data: bytes) -> Any:
    """Return the message in `data`. Raises WireError."""
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(f"no message: {error}") from error
    name = plain.get("type") if isinstance(plain, dict) else None
    if not isinstance(name, str) or name not in _spoken():
        raise WireError("no message of this version")
    return _made(plain, _spoken()[name])


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def _number(value: Any) -> Any:
    """A number of numpy's, as its own kind of number."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no part of a message")


@cache
def _spoken() -> dict[str, type]:
    """Every kind of message, by its name."""
    kinds = (*get_args(messages.Request), *get_args(messages.Message), messages.CameraSetup)
    return {kind.__name__: kind for kind in kinds}


@cache
def _fields(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _made(plain: Any, cls: type) -> Any:
    if not isinstance(plain, dict) or plain.get("type") != cls.__name__:
        raise WireError(f"a {cls.__name__} belongs here")
    hints = _fields(cls)
    if plain.keys() - {"type"} != hints.keys():
        raise WireError(f"not the fields of a {cls.__name__}")
    try:
        return cls(**{name: _value(plain[name], hint) for name, hint in hints.items()})
    except WireError as error:
        raise WireError(f"{cls.__name__}: {error}") from error


def _value(plain: Any, hint: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _one_of(plain, get_args(hint))
    if origin is tuple:
        return _tuple(plain, get_args(hint))
    if hint is Any or origin is dict:
        return plain
    if dataclasses.is_dataclass(hint):
        return _made(plain, typing.cast(type, hint))
    if hint is bytes and isinstance(plain, str):
        try:
            return base64.b64decode(plain, validate=True)
        except (binascii.Error, ValueError) as error:
            raise WireError("no bytes") from error
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(plain)
        except ValueError as error:
            raise WireError(str(error)) from error
    if hint is float and type(plain) in (int, float):
        try:
            return float(plain)
        except OverflowError as error:
            raise WireError("a number that no float holds") from error
    if hint in (int, str, bool, types.NoneType) and type(plain) is hint:
        if hint is str and not _is_text(plain):
            raise WireError("half a character, which no record can hold")
        return plain
    raise WireError(f"no {getattr(hint, '__name__', hint)}")


def _is_text(said: str) -> bool:
    try:
        said.encode()
    except UnicodeEncodeError:
        return False
    return True


def _one_of(plain: Any, hints: tuple[Any, ...]) -> Any:
    for hint in hints:
        try:
            return _value(plain, hint)
        except WireError:
            continue
    raise WireError("none of what may stand here")


def _tuple(plain: Any, hints: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise WireError("no list")
    if len(hints) == 2 and hints[1] is Ellipsis:
        hints = (hints[0],) * len(plain)
    if len(hints) != len(plain):
        raise WireError(f"{len(plain)} items instead of {len(hints)}")
    return tuple(_value(item, hint) for item, hint in zip(plain, hints, strict=True))
