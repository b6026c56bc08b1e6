"""Dataclasses as plain JSON and back, the type of every field checked.

Owns the one form of records, of messages to and from the camera process, and of what scripts are
told. A dataclass becomes an object whose `type` names the class, an Enum its value, a tuple a list,
a set a sorted list, a datetime its ISO text, bytes base64. What was damaged or invented on the way
is an error that names the field, and never a strange object.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin

from shaker_ctl.frozen import frozen

Plain = Any
"""What `json.loads` returns."""


class PlainFormError(ValueError):
    """What was read is not what belongs there. Nothing was made of it."""


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    names = (each.name for each in dataclasses.fields(cls))
    return {name: hints[name] for name in names if not name.startswith("_")}


@frozen
class PlainForm:
    """The form of some classes, and of nothing else."""

    named: Callable[[str], type | None]
    """The class of a name; None: it has no place here."""
    is_whole: bool = False
    """Every field must be there; else those with a default may be missing."""
    texts: Mapping[type, str] = dataclasses.field(default_factory=dict)
    """Classes of which one field is kept, with their `text`; their `of` makes one of it."""
    is_spoken: bool = False
    """For scripts, and never read back: objects name no type, numbers have four digits after the
    point, and what has no form is a text."""

    def plain(self, value: Any) -> Plain:
        """Return the plain form of a value. Raises PlainFormError."""
        if isinstance(value, Enum):
            return value.value
        if self.is_spoken and isinstance(value, float):
            return round(value, 4) if math.isfinite(value) else None  # JSON has no infinity
        if value is None or isinstance(value, bool | str | int | float):
            return value
        if isinstance(value, tuple | list):
            return [self.plain(item) for item in value]
        if isinstance(value, Set):
            return sorted(self.plain(item) for item in value)
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        if isinstance(value, Mapping):
            return {str(key): self.plain(item) for key, item in value.items()}
        cls: Any = type(value)
        if self.is_spoken:
            return self._fields_of(value) if dataclasses.is_dataclass(cls) else str(value)
        name = cls.__name__
        if self.named(name) is cls:
            if kept := self.texts.get(type(value)):
                return {"type": name, kept: value.text}
            return {"type": name, **self._fields_of(value)}
        if hasattr(value, "item"):  # a number of numpy's
            return value.item()
        raise PlainFormError(f"{name} has no place here")

    def _fields_of(self, value: Any) -> dict[str, Plain]:
        return {name: self.plain(getattr(value, name)) for name in _hints(value.__class__)}

    def made(self, plain: Plain, where: str) -> Any:
        """Return the dataclass that an object describes. Raises PlainFormError."""
        name = plain.get("type") if isinstance(plain, dict) else None
        if not isinstance(name, str):
            raise PlainFormError(f"{where}: an object with a `type` belongs here")
        if (cls := self.named(name)) is None:
            raise PlainFormError(f"{where}: `{name}` is unknown to this version")
        kept = self.texts.get(cls)
        hints = {kept: str} if kept else _hints(cls)
        if unknown := plain.keys() - hints.keys() - {"type"}:
            raise PlainFormError(f"{where}: `{name}` has no field `{min(unknown)}`")
        if self.is_whole and (missing := hints.keys() - plain.keys()):
            raise PlainFormError(f"{where}: `{name}` lacks its field `{min(missing)}`")
        given = {
            field: self._value(plain[field], hint, f"{where}.{field}")
            for field, hint in hints.items()
            if field in plain
        }
        try:
            make: Any = cls
            return make.of(*given.values()) if kept else make(**given)
        except (TypeError, ValueError) as error:
            raise PlainFormError(f"{where}: {error}") from error

    def _value(self, plain: Plain, hint: Any, where: str) -> Any:
        origin = get_origin(hint)
        if origin in (Union, types.UnionType):
            return self._one_of(plain, get_args(hint), where)
        if origin is tuple:
            return self._tuple(plain, get_args(hint), where)
        if origin is frozenset:
            return frozenset(self._tuple(plain, (get_args(hint)[0], ...), where))
        if hint is Any:
            return plain
        if origin is dict:
            named = self._value(plain, dict, where)
            of = get_args(hint)[1]
            return {key: self._value(one, of, f"{where}[{key}]") for key, one in named.items()}
        if dataclasses.is_dataclass(hint) or (hint not in _READ and not _is_enum(hint)):
            value = self.made(plain, where)
            return _expect(isinstance(value, hint), value, hint, where)
        try:
            return hint(plain) if _is_enum(hint) else _READ[hint](plain)
        except (TypeError, ValueError, OverflowError) as error:
            name = getattr(hint, "__name__", hint)
            raise PlainFormError(f"{where}: {error or f'{plain!r} is not {name}'}") from error

    def _one_of(self, plain: Plain, hints: tuple[Any, ...], where: str) -> Any:
        refusals = []
        for hint in hints:
            try:
                return self._value(plain, hint, where)
            except PlainFormError as refusal:
                refusals.append(refusal)
        raise refusals[0]

    def _tuple(self, plain: Plain, hints: tuple[Any, ...], where: str) -> tuple[Any, ...]:
        if not isinstance(plain, list):
            raise PlainFormError(f"{where}: a list belongs here")
        if len(hints) == 2 and hints[1] is Ellipsis:
            hints = (hints[0],) * len(plain)
        if len(hints) != len(plain):
            raise PlainFormError(f"{where}: {len(plain)} items instead of {len(hints)}")
        return tuple(
            self._value(item, hint, f"{where}[{index}]")
            for index, (item, hint) in enumerate(zip(plain, hints, strict=True))
        )


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)


def _exactly(kind: type) -> Callable[[Any], Any]:
    def read(plain: Any) -> Any:
        if type(plain) is not kind:
            raise ValueError(f"{plain!r:.60} is not {kind.__name__}")
        if isinstance(plain, str):
            plain.encode()  # half a character is a ValueError
        return plain

    return read


def _float(plain: Any) -> Any:
    if type(plain) not in (int, float):
        raise ValueError(f"{plain!r} is not float")
    float(plain)
    return plain


_READ: dict[Any, Callable[[Any], Any]] = {
    **{kind: _exactly(kind) for kind in (int, str, bool, dict, types.NoneType)},
    None: _exactly(types.NoneType),
    float: _float,
    datetime: datetime.fromisoformat,
    bytes: lambda plain: base64.b64decode(plain, validate=True),
}


def _expect(fits: bool, value: Any, hint: Any, where: str) -> Any:
    if not fits:
        raise PlainFormError(f"{where}: a {type(value).__name__} where a {hint.__name__} belongs")
    return value
