"""How a wrong value is quoted in an error: cut short, as a file may hold one of any length."""

from __future__ import annotations

from reprlib import Repr

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 120


def quoted(value: object) -> str:
    """Return a value for a message, of a line at most."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # in base 16 a number can be read that has too many digits to be printed
        return "a number of thousands of digits"
