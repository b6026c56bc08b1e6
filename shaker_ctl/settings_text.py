"""One table of a settings file measured anew, and everything that a person wrote there kept.

Owns where a table begins and ends in the file's text, and which of its lines change: keys get their
new values where they stand, with the comments beside and above them; keys that are new follow the
last one; keys that are no more go. Comments in front of the next table are the next table's. Must
not know what the keys mean.

The text is read by `tomllib` itself, a statement at a time: a line in brackets may as well belong
to a list, or to a string of several lines.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_LINE_ENDS = re.compile(r"(?<=\n)")
_COMMENT = re.compile(r"#[^\n\r]*")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header, a key with its value, a comment or an empty line; with its line end."""

    text: str
    holds: Mapping[str, Any]
    """What it says by itself; empty for a comment."""

    @property
    def is_header(self) -> bool:
        return self.text.lstrip().startswith("[")

    @property
    def key(self) -> str:
        """Of a key with its value; empty for the others."""
        return "" if self.is_header else next(iter(self.holds), "")


def spelled(value: str | float | list[Any]) -> str:
    """Return a value as it is written in TOML. Raises ValueError for text that is not Unicode."""
    if isinstance(value, str):
        value.encode("utf-8")
        # JSON's strings are TOML's, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(spelled(item) for item in value)}]"
    return repr(value)


def with_table(
    text: str, path: tuple[str, ...], values: Mapping[str, Any], note: str, marker: str
) -> str:
    """Return the text of a settings file with `values` in the table named by `path`.

    `note` is a comment under the table's header; the one there before, known by its beginning
    `marker`, goes. Raises TOMLDecodeError where `text` is not valid TOML, and KeyError where it has
    that table in another form than under a header of its own.
    """
    statements = list(_statements(text))
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    first = next((n for n, each in enumerate(statements) if _begins(each, path)), None)
    if first is None:
        standing: Any = tomllib.loads(text)
        for name in path:
            standing = standing.get(name) if isinstance(standing, dict) else None
        if standing is not None:
            raise KeyError(".".join(path))
        fresh = [f"[{'.'.join(path)}]", note, *(f"{k} = {spelled(v)}" for k, v in values.items())]
        lines = "".join(line + end_of_line for line in fresh)
        ended = text if not text or text.endswith("\n") else text + end_of_line
        gap = "" if not ended or ended.endswith(end_of_line * 2) else end_of_line
        return ended + gap + lines
    after = next(
        (n for n in range(first + 1, len(statements)) if statements[n].is_header), len(statements)
    )
    body = statements[first + 1 : after]
    last = max((n for n, each in enumerate(body) if each.key), default=-1)
    kept = [_line(statements[first].text, end_of_line), note + end_of_line]
    for each in body[: last + 1]:
        if each.text.lstrip().startswith(marker):
            continue
        if not each.key:
            kept.append(each.text)
        elif each.key in values:
            kept.append(_line(_changed(each, values[each.key]), end_of_line))
    there = {each.key for each in body}
    kept += [f"{k} = {spelled(v)}{end_of_line}" for k, v in values.items() if k not in there]
    rest = [each.text for each in body[last + 1 :] if not each.text.lstrip().startswith(marker)] + [
        each.text for each in statements[after:]
    ]
    return "".join([*(each.text for each in statements[:first]), *kept, *rest])


def _statements(text: str) -> Iterator[_Statement]:
    gathered = ""
    for line in _LINE_ENDS.split(text):
        gathered += line
        try:
            holds = tomllib.loads(gathered)
        except tomllib.TOMLDecodeError:
            continue  # a list or a string that goes on
        if gathered:
            yield _Statement(gathered, holds)
        gathered = ""
    if gathered:
        tomllib.loads(text)  # says what is wrong, and in which line
        raise tomllib.TOMLDecodeError("a statement does not end")


def _begins(statement: _Statement, path: tuple[str, ...]) -> bool:
    expected: dict[str, Any] = {}
    for name in reversed(path):
        expected = {name: expected}
    return statement.is_header and statement.holds == expected


def _line(text: str, end_of_line: str) -> str:
    return text if text.endswith("\n") else text + end_of_line


def _changed(old: _Statement, value: Any) -> str:
    """Return the statement with another value, and its comments."""
    before = old.holds[old.key]
    lines = old.text.rstrip("\r\n")
    end = old.text[len(lines) :]
    indent = lines[: len(lines) - len(lines.lstrip())]
    name = lines.lstrip().partition("=")[0].rstrip()
    inside, beside = "", ""
    if isinstance(before, list):  # of numbers: each # begins a comment
        *within, final = lines.split("\n")
        inside = "".join(
            f"{indent}{found[0].rstrip()}{end or chr(10)}"
            for found in map(_COMMENT.search, within)
            if found
        )
        if found := _COMMENT.search(final):
            beside = final[_blank_before(final, found.start()) :]
    else:
        for found in _COMMENT.finditer(lines):
            if _is_whole(lines[: found.start()]):
                beside = lines[_blank_before(lines, found.start()) :]
                break
    return f"{inside}{indent}{name} = {spelled(value)}{beside}{end}"


def _blank_before(line: str, at: int) -> int:
    """Return where the blanks in front of a comment begin."""
    return len(line[:at].rstrip())


def _is_whole(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return False
