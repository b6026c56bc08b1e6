"""Words of other people: a wrong value quoted in an error, cut short; and words that are kept."""

from __future__ import annotations

import unicodedata
from reprlib import Repr

from shaker_ctl.errors import RefusedError

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 120


def quoted(value: object) -> str:
    """Return a value for a message, of a line at most."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # in base 16 a number can be read that has too many digits to be printed
        return "a number of thousands of digits"


def require_words(option: str, words: str) -> None:
    """Raise RefusedError for nothing at all, and for what is no text: bytes of another encoding,
    which come as lone surrogates, and control characters, which a terminal would obey."""
    if not words.strip():
        raise RefusedError(f"{option} is empty", remedy="Say in a few words who acts, and why")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in words):
        raise RefusedError(
            f"{option} holds what is no text: {words!a}", remedy="Write it on one line, in UTF-8"
        )
