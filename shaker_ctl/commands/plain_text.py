"""Text from records and files, made harmless for whoever shows it.

Owns the spelling of what a terminal would obey and of what a spreadsheet would calculate. A record
can hold any text: people type some of it, and a forged journal anything.
"""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
