"""Plain JSON form of events, commands and states, for the journal, and back.

The names of classes, fields and enum values are a file format: a journal from years ago must still
replay. Adding a field with a default is fine; renaming one needs a translation here (`_as_now`).
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar, dataclass_transform

from shaker_ctl.frozen import frozen
from shaker_ctl.plain_form import Plain, PlainForm, PlainFormError
from vision.reading import NoRoll, Unreadable, Verified

T = TypeVar("T")

_REGISTRY: dict[str, type] = {each.__name__: each for each in (Verified, NoRoll, Unreadable)}
_FORM = PlainForm(_REGISTRY.get, texts={Unreadable: "reason"})
to_record = _FORM.plain


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def recorded(cls: type[T]) -> type[T]:
    """Class decorator: frozen, and `from_record` finds it by its name."""
    return known(frozen(cls))


def known(cls: type[T]) -> type[T]:
    """Class decorator: let `from_record` find this dataclass by its name."""
    if _REGISTRY.setdefault(cls.__name__, cls) is not cls:
        raise TypeError(f"two recorded classes are called {cls.__name__}")
    return cls


def is_recorded(cls: type) -> bool:
    """Whether `from_record` finds this class, and not only kinds of it."""
    return _REGISTRY.get(cls.__name__) is cls


def from_record(plain: Plain, expected: type[T]) -> T:
    """Return what `to_record` was given. Raises PlainFormError: it names the field that is wrong.

    `expected` is a recorded class or a base of several: `from_record(line, Event)`.
    """
    value = _FORM.made(_as_now(plain), "record")
    if not isinstance(value, expected):
        raise PlainFormError(
            f"record: a {type(value).__name__} where a {expected.__name__} belongs"
        )
    return value


_FORMERLY = {"dice_named": ("dice", "serials"), "named": ("result", "values")}
"""Fields of a former state that held what was stated: about what, and where the words stood."""


def _as_now(plain: Plain) -> Plain:
    """Bring a state of a former version to one field for all that a second person repeats."""
    if not isinstance(plain, dict) or plain.get("type") != "TableState" or "enterer" not in plain:
        return plain
    now = dict(plain)
    by, said, first = (now.pop(name, None) for name in ("enterer", "entered", "said_first"))
    stated = by and {"about": "values", "by": by, "said": said}
    stated = {"about": "seen", "by": first} if first else stated
    for name, (about, what) in _FORMERLY.items():
        if named := now.pop(name, None):
            stated = {**named, "about": about, "said": named[what]}
            del stated[what]
    return {**now, "stated": stated and {**stated, "type": "Agreement"}}
