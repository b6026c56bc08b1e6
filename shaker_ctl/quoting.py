"""Words of other people: quoted in an error, kept on record, and shown.

Owns the spelling of what a terminal would obey and of what a spreadsheet would calculate. A record
can hold any text: people type some of it, and a forged journal anything.
"""

from __future__ import annotations

import unicodedata
from reprlib import Repr

from shaker_ctl.errors import RefusedError

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 120

_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_NO_TEXT = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: controls, which a terminal obeys; what is not seen, or turns the order of
letters round; lone surrogates, which are bytes of another encoding; ends of lines."""


def quoted(value: object) -> str:
    """Return a value for a message, of a line at most."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # in base 16 a number can be read that has too many digits to be printed
        return "a number of thousands of digits"


def require_words(option: str, words: str) -> None:
    """Raise RefusedError for nothing at all, and for what is no text or is not seen."""
    if not words.strip():
        raise RefusedError(f"{option} is empty", remedy="Say in a few words who acts, and why")
    if any(unicodedata.category(letter) in _NO_TEXT for letter in words):
        raise RefusedError(
            f"{option} holds what is no text: {words!a}", remedy="Write it on one line, in UTF-8"
        )


def visible(text: object) -> str:
    """Return the text on one line, with what is no printable letter written out (`\\x1b`)."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in str(text)
    )


def cell(value: object) -> object:
    """Return a value for a table file: text that a spreadsheet takes for a formula is quoted."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
