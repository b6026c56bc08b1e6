"""Plain JSON form of events, commands and states, for the journal, and back.

Owns one generic translation. A dataclass becomes an object whose `type` names the class, an Enum
its value, a tuple a list, a frozenset a sorted list, a datetime its ISO text. Reading back checks
the type of every field, so that a damaged record is an error and not a strange state.

The names of classes, fields and enum values are therefore a file format: a journal from years ago
must still replay. Adding a field with a default is fine; renaming one needs a translation here.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

Plain = Any
"""What `json.loads` returns."""

T = TypeVar("T")


class RecordError(ValueError):
    """A record does not describe what it should. Nothing was changed; the journal names it."""


_REGISTRY: dict[str, type] = {}


def recorded(cls: type[T]) -> type[T]:
    """Class decorator: let `from_record` find this dataclass by its name."""
    if _REGISTRY.setdefault(cls.__name__, cls) is not cls:
        raise TypeError(f"two recorded classes are called {cls.__name__}")
    return cls


def to_record(value: object) -> Plain:
    """Return the plain form of an event, a command, a state, or anything inside one."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [to_record(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(to_record(item) for item in value)
    if dataclasses.is_dataclass(value) and type(value).__name__ in _REGISTRY:
        return {
            "type": type(value).__name__,
            **{f.name: to_record(getattr(value, f.name)) for f in dataclasses.fields(value)},
        }
    raise RecordError(f"{type(value).__name__} has no place in a record")


def from_record(plain: Plain, expected: type[T]) -> T:
    """Return what `to_record` was given. Raises RecordError naming the field that does not fit.

    `expected` is a recorded class or a base of several: `from_record(line, Event)`.
    """
    value = _object(plain, "record")
    if not isinstance(value, expected):
        raise RecordError(f"record: a {type(value).__name__} where a {expected.__name__} belongs")
    return value


def _object(plain: Plain, where: str) -> object:
    if not isinstance(plain, dict) or not isinstance(plain.get("type"), str):
        raise RecordError(f"{where}: an object with a `type` belongs here")
    cls = _REGISTRY.get(plain["type"])
    if cls is None:
        raise RecordError(f"{where}: `{plain['type']}` is unknown to this version")
    hints = _hints(cls)
    unknown = plain.keys() - hints.keys() - {"type"}
    if unknown:
        raise RecordError(f"{where}: `{cls.__name__}` has no field `{min(unknown)}`")
    given = {
        name: _value(plain[name], hint, f"{where}.{name}")
        for name, hint in hints.items()
        if name in plain
    }
    try:
        return cls(**given)
    except (TypeError, ValueError) as error:
        raise RecordError(f"{where}: {error}") from error


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    fields = dataclasses.fields(cls)
    return {f.name: hints[f.name] for f in fields}


def _value(plain: Plain, hint: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _one_of(plain, get_args(hint), where)
    if origin is tuple:
        return _tuple(plain, get_args(hint), where)
    if origin is frozenset:
        return frozenset(_tuple(plain, (get_args(hint)[0], ...), where))
    if hint is None or hint is types.NoneType:
        return _expect(plain is None, plain, None, where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(plain)
        except ValueError as error:
            raise RecordError(f"{where}: {error}") from error
    if hint is datetime:
        try:
            return datetime.fromisoformat(plain)
        except (TypeError, ValueError) as error:
            raise RecordError(f"{where}: {error}") from error
    if hint is float:
        return _expect(isinstance(plain, int | float), plain, float, where)
    if hint in (int, str, bool):
        return _expect(type(plain) is hint, plain, hint, where)
    value = _object(plain, where)
    return _expect(isinstance(value, hint), value, hint, where)


def _one_of(plain: Plain, hints: tuple[Any, ...], where: str) -> Any:
    refusals = []
    for hint in hints:
        try:
            return _value(plain, hint, where)
        except RecordError as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _tuple(plain: Plain, hints: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise RecordError(f"{where}: a list belongs here")
    if len(hints) == 2 and hints[1] is Ellipsis:
        hints = (hints[0],) * len(plain)
    if len(hints) != len(plain):
        raise RecordError(f"{where}: {len(hints)} items belong here, {len(plain)} were given")
    return tuple(
        _value(item, hint, f"{where}[{index}]")
        for index, (item, hint) in enumerate(zip(plain, hints, strict=True))
    )


def _expect(fits: bool, plain: Any, hint: Any, where: str) -> Any:
    if not fits:
        raise RecordError(f"{where}: {plain!r} is not {getattr(hint, '__name__', hint)}")
    return plain
